package screen

import (
	"encoding/base64"
	"strconv"
	"strings"
)

const (
	maxTitle = 1024     // bytes of a title or directory that are kept
	maxValue = 64 << 10 // bytes of a property or a command line
)

// osc runs an operating system command.
func (s *Screen) osc(data []byte) {
	text := strings.Map(printable, strings.ToValidUTF8(string(data), "\uFFFD"))
	number, rest, _ := strings.Cut(text, ";")
	code, err := strconv.Atoi(number)
	if err != nil || code < 0 {
		return
	}
	switch code {
	case 0:
		s.setTitle(rest)
		s.setIcon(rest)
	case 1:
		s.setIcon(rest)
	case 2:
		s.setTitle(rest)
	case 4:
		s.oscPalette(rest)
	case 7:
		s.oscDirectory(rest)
	case 8:
		params, uri, found := strings.Cut(rest, ";")
		if found {
			s.setLink(colonParams(params)["id"], uri)
		}
	case 9:
		s.oscNine(rest)
	case 10, 11, 12:
		s.oscColors(code, rest)
	case 52:
		s.oscClipboard(rest)
	case 99:
		s.oscNotify(rest)
	case 104:
		s.oscResetPalette(rest)
	case 110, 111, 112:
		delete(s.palette, code-110+paletteFg)
	case 133, 633:
		s.oscShell(rest)
	case 777:
		s.oscNotify777(rest)
	case 1337:
		s.oscITerm(rest)
	case 7501:
		params := colonParams(strings.ReplaceAll(rest, ";", ":"))
		if state := params["state"]; state != "" {
			s.effect(Effect{Kind: AgentState, Text: state, Params: params})
		}
	default:
		if strings.HasSuffix(rest, "?") {
			s.query() // a colour or font that nobody here tells
		}
	}
}

// printable drops DEL and the C1 controls: what is kept of a string must not
// act as a control when it is written into another one.
func printable(r rune) rune {
	if r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

func (s *Screen) setTitle(title string) {
	if title = cut(title, maxTitle); title != s.title {
		s.title = title
		s.effect(Effect{Kind: Title, Text: title})
	}
}

func (s *Screen) setIcon(icon string) {
	if icon = cut(icon, maxTitle); icon != s.icon {
		s.icon = icon
		s.effect(Effect{Kind: IconName, Text: icon})
	}
}

func (s *Screen) setDirectory(path, host string) {
	if path == "" {
		return
	}
	s.dir, s.host = cut(path, 4*maxTitle), cut(host, maxTitle)
	e := Effect{Kind: Directory, Text: s.dir}
	if s.host != "" {
		e.Params = map[string]string{"host": s.host}
	}
	s.effect(e)
}

// oscDirectory is OSC 7: file://host/percent-encoded-path.
func (s *Screen) oscDirectory(text string) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		if strings.HasPrefix(text, "/") {
			s.setDirectory(text, "")
		}
		return
	}
	host, path := "", rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	switch scheme {
	case "file":
		s.setDirectory(unescapePercent(path), host)
	case "kitty-shell-cwd":
		s.setDirectory(path, host)
	}
}

// unescapePercent is lenient: what is no escape stays.
func unescapePercent(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if v, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(v))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return strings.ToValidUTF8(string(out), "\uFFFD")
}

// oscNine is OSC 9: a notification, or ConEmu's numbered commands.
func (s *Screen) oscNine(text string) {
	command, rest, found := strings.Cut(text, ";")
	number, err := strconv.Atoi(command)
	switch {
	case !found || err != nil:
		s.effect(Effect{Kind: Notification, Text: cut(text, 4*maxTitle), Params: map[string]string{"source": "9"}})
	case number == 9:
		s.setDirectory(strings.Trim(rest, `"`), "")
	case number == 4:
		state, value, _ := strings.Cut(rest, ";")
		names := map[string]string{"0": "none", "1": "normal", "2": "error", "3": "busy", "4": "paused"}
		if name := names[state]; name != "" {
			params := map[string]string{"state": name}
			if v, err := strconv.Atoi(value); err == nil && name != "none" {
				params["value"] = strconv.Itoa(clamp(v, 0, 100))
			}
			s.effect(Effect{Kind: Progress, Params: params})
		}
	}
}

// oscClipboard is OSC 52. Reading the clipboard is off (spec terminal P2.3).
func (s *Screen) oscClipboard(text string) {
	selection, data, found := strings.Cut(text, ";")
	if !found {
		return
	}
	if data == "?" {
		s.query()
		return
	}
	plain, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		if plain, err = base64.RawStdEncoding.DecodeString(data); err != nil {
			return
		}
	}
	if selection == "" {
		selection = "s0"
	}
	s.effect(Effect{
		Kind: Clipboard, Text: strings.ToValidUTF8(string(plain), "\uFFFD"),
		Params: map[string]string{"selection": cut(selection, 16)},
	})
}

// oscNotify is kitty's OSC 99: metadata ; payload, in one or more parts.
func (s *Screen) oscNotify(text string) {
	meta, payload, _ := strings.Cut(text, ";")
	params := colonParams(meta)
	if params["e"] == "1" {
		plain, err := base64.StdEncoding.DecodeString(payload)
		if err != nil {
			return
		}
		payload = strings.ToValidUTF8(string(plain), "\uFFFD")
	}
	n := &s.notice
	if id := cut(params["i"], maxTitle); n.id != id {
		*n = notice{id: id}
	}
	switch params["p"] {
	case "", "title":
		n.title = cut(n.title+payload, 4*maxTitle)
	case "body":
		n.body = cut(n.body+payload, 4*maxTitle)
	case "?", "alive":
		s.query()
		return
	default:
		return
	}
	if params["d"] == "0" {
		return
	}
	e := Effect{Kind: Notification, Text: n.body, Params: map[string]string{"source": "99"}}
	if n.body == "" {
		e.Text = n.title
	} else {
		e.Params["title"] = n.title
	}
	if n.id != "" {
		e.Params["id"] = n.id
	}
	*n = notice{}
	s.effect(e)
}

// notice is an OSC 99 notification whose parts are coming in.
type notice struct{ id, title, body string }

func (s *Screen) oscNotify777(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	if kind != "notify" {
		return
	}
	title, body, _ := strings.Cut(rest, ";")
	s.effect(Effect{
		Kind: Notification, Text: cut(body, 4*maxTitle),
		Params: map[string]string{"source": "777", "title": cut(title, maxTitle)},
	})
}

// oscShell is OSC 133 and VS Code's 633: the marks of a shell's integration
// (spec terminal P4).
func (s *Screen) oscShell(text string) {
	kind, rest, _ := strings.Cut(text, ";")
	switch kind {
	case "A", "N":
		s.effect(Effect{Kind: PromptStart, Params: semicolonParams(rest)})
	case "B":
		s.effect(Effect{Kind: CommandStart, Params: semicolonParams(rest)})
	case "C":
		s.effect(Effect{Kind: OutputStart, Params: semicolonParams(rest)})
	case "D":
		status, more, _ := strings.Cut(rest, ";")
		params := semicolonParams(more)
		if _, err := strconv.Atoi(status); err == nil {
			if params == nil {
				params = map[string]string{}
			}
			params["exit"] = status
		} else if params == nil {
			params = semicolonParams(status)
		}
		s.effect(Effect{Kind: CommandEnd, Params: params})
	case "P":
		if params := semicolonParams(rest); params != nil {
			s.effect(Effect{Kind: ShellProperty, Params: params})
			if cwd := params["Cwd"]; cwd != "" {
				s.setDirectory(cwd, "")
			}
		}
	case "E":
		command, _, _ := strings.Cut(rest, ";")
		s.effect(Effect{Kind: ShellProperty, Text: unescapeVSCode(cut(command, maxValue))})
	}
}

// unescapeVSCode reads \\ and \xHH, as VS Code's shell scripts write them.
func unescapeVSCode(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == '\\' {
				out.WriteByte('\\')
				i++
				continue
			}
			if text[i+1] == 'x' && i+3 < len(text) {
				if v, err := strconv.ParseUint(text[i+2:i+4], 16, 8); err == nil {
					out.WriteByte(byte(v))
					i += 3
					continue
				}
			}
		}
		out.WriteByte(text[i])
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

// oscITerm is OSC 1337, of which the directory and the host are known.
func (s *Screen) oscITerm(text string) {
	key, value, found := strings.Cut(text, "=")
	switch {
	case key == "CurrentDir" && found:
		s.setDirectory(value, "")
	case key == "RemoteHost" && found:
		s.effect(Effect{Kind: RemoteHost, Text: cut(value, maxTitle)})
	case key == "Capabilities" || key == "ReportCellSize" || strings.HasPrefix(key, "ReportVariable"):
		s.query()
	}
}

const maxPairs = 64

// colonParams reads key=value pairs between colons.
func colonParams(text string) map[string]string { return pairs(text, ":") }

// semicolonParams reads key=value pairs between semicolons; nil for none. A
// value may hold anything but a semicolon; "\x3b" and "\\" are unescaped.
func semicolonParams(text string) map[string]string {
	m := pairs(text, ";")
	if len(m) == 0 {
		return nil
	}
	for k, v := range m {
		m[k] = unescapeVSCode(v)
	}
	return m
}

func pairs(text, separator string) map[string]string {
	m := map[string]string{}
	for len(m) < maxPairs && text != "" {
		var pair string
		pair, text, _ = strings.Cut(text, separator)
		if key, value, found := strings.Cut(pair, "="); found && key != "" && len(key) <= maxTitle {
			m[key] = cut(value, maxValue)
		}
	}
	return m
}
