// Package web serves the page: the built files of this directory, embedded in the binary.
//
// It holds no state and starts nothing. It answers GET and HEAD only, never lists a
// directory, and refuses nothing else than what is not there: who may call is decided
// before it (spec interfaces A2). The page itself is public: it holds no secret, and can
// do nothing without a login.
package web

import (
	"bytes"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// `make web` fills dist; without it only .keep is there, and Handler says how to build.
//
//go:embed all:dist
var files embed.FS

// CSP is the content security policy of the page (spec interfaces A2.2). Scripts come
// from the binary only: none inline, none evaluated. Styles may be inline because the
// terminal's DOM renderer writes style elements (its theme) and style attributes (true
// colours); see README.md.
const CSP = "default-src 'none'; " +
	"script-src 'self'; " +
	"style-src 'self' 'unsafe-inline'; " +
	"font-src 'self'; " +
	"img-src 'self'; " +
	"connect-src 'self'; " +
	"manifest-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// Built tells whether a page was built into this binary.
func Built() bool {
	_, err := fs.Stat(files, "dist/index.html")
	return err == nil
}

// Handler serves the page at / and its files below it. Names under /assets/ carry a hash
// of their content and are cached for ever; the page itself is asked for each time. The
// headers of a page (CSP and its kin) are set here, so that no caller can forget them.
func Handler() http.Handler { return handler(files) }

func handler(all fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", CSP)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		body, err := fs.ReadFile(all, path.Join("dist", name))
		switch {
		case err == nil && !strings.HasPrefix(path.Base(name), "."):
			serve(w, r, name, body)
		case name == "index.html":
			header.Set("Content-Type", "text/plain; charset=utf-8")
			header.Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(unbuilt))
		default:
			http.NotFound(w, r)
		}
	})
}

const unbuilt = `davit runs, but this binary was built without its page.

Build it and start davit again:

    make web && make build

Everything else works meanwhile: see "davit help".
`

func serve(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	header := w.Header()
	// Not from the machine's mime tables: they differ, and a wrong type with nosniff is a
	// page that does not start.
	header.Set("Content-Type", contentType(path.Ext(name)))
	header.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}

func contentType(ext string) string {
	switch ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	if known := mime.TypeByExtension(ext); known != "" {
		return known
	}
	return "application/octet-stream"
}
