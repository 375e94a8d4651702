package acp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"

	"davit"
)

// content is one content block as it is shown: text, or a blob with what it stands for.
type content struct {
	isText  bool
	text    string
	blob    davit.Blob
	payload *Payload
}

// readContent reads a content block by its discriminator. False with what it was: it is of
// a kind that davit does not know, or cannot be read.
func readContent(raw json.RawMessage) (content, string, bool) {
	o, ok := readObject(raw)
	if !ok {
		return content{}, "content that is no object", false
	}
	kind := word(o, "type", maxName)
	switch kind {
	case "text":
		if text, ok := get[string](o, "text"); ok {
			return content{isText: true, text: text}, "", true
		}
	case "image", "audio":
		data, _ := get[string](o, "data")
		if c, ok := binary(data, word(o, "mimeType", maxName)); ok {
			c.blob.URI = word(o, "uri", maxPath)
			return c, "", true
		}
	case "resource_link":
		head := word(o, "title", maxName)
		if head == "" {
			head = word(o, "description", maxName)
		}
		return content{blob: davit.Blob{
			Head: head, Size: len(head), Name: word(o, "name", maxName), URI: word(o, "uri", maxPath), Mime: mime(word(o, "mimeType", maxName), ""),
		}}, "", true
	case "resource":
		if c, ok := resource(o.fields["resource"]); ok {
			return c, "", true
		}
	case "":
		return content{}, "content without a type", false
	default:
		return content{}, "content of the unknown type " + kind, false
	}
	return content{}, "content of type " + kind + " that cannot be read", false
}

// resource reads an embedded resource: a file with its text or its bytes.
func resource(raw json.RawMessage) (content, bool) {
	o, ok := readObject(raw)
	if !ok {
		return content{}, false
	}
	kind := word(o, "mimeType", maxName)
	var c content
	if text, ok := get[string](o, "text"); ok {
		c.blob, c.payload = textBlob(text, mime(kind, "text/plain"))
	} else if data, ok := get[string](o, "blob"); ok {
		if c, ok = binary(data, kind); !ok {
			return content{}, false
		}
	} else {
		return content{}, false
	}
	c.blob.URI = word(o, "uri", maxPath)
	return c, true
}

func binary(data, kind string) (content, bool) {
	if data == "" || len(data) > maxImageBytes*4/3+4 {
		return content{}, false
	}
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return content{}, false
	}
	p := payload(bytes, mime(kind, "application/octet-stream"))
	return content{blob: davit.Blob{Size: len(bytes), Digest: p.Digest, Mime: p.Mime}, payload: p}, true
}

var mimePattern = regexp.MustCompile(`^[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,60}$`)

// mime lets through what is a media type and gives the fallback for everything else.
func mime(kind, fallback string) string {
	if mimePattern.MatchString(kind) {
		return kind
	}
	return fallback
}

func payload(data []byte, kind string) *Payload {
	sum := sha256.Sum256(data)
	return &Payload{Digest: hex.EncodeToString(sum[:]), Mime: kind, Data: data}
}

// textBlob gives text as a blob: whole when it is short, else its head and what it stands
// for (spec session S1.4).
func textBlob(text, kind string) (davit.Blob, *Payload) {
	text = valid(text)
	blob := davit.Blob{Head: text, Size: len(text), Mime: kind}
	if len(text) <= blobWhole {
		return blob, nil
	}
	p := payload([]byte(text), kind)
	blob.Head, _ = cut(text, blobHead)
	blob.Digest = p.Digest
	return blob, p
}

// asBlob is content as a blob, text included.
func (c content) asBlob() (davit.Blob, *Payload) {
	if c.isText {
		return textBlob(c.text, "text/plain")
	}
	return c.blob, c.payload
}

func (s *Step) keep(p *Payload) {
	if p != nil {
		s.Payloads = append(s.Payloads, *p)
	}
}
