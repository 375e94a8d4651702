package template

import "strings"

// place is where a placeholder stands in the command.
type place struct {
	where string // why no quoting is right here; "" when one is
	quote quote
	force bool   // quote even a bare value
	tail  string // the text before it in the same word and quotes
	next  byte   // the byte after it; 0 at the end and before a placeholder
}

type quote int

const (
	unquoted quote = iota
	singleQuoted
	doubleQuoted
	ansiQuoted // $'…'
)

// word is the value as it stands at this place. prev is the byte before it.
func (p place) word(shell Shell, value string, prev byte) string {
	if p.where != "" {
		return value // Quoted has made sure that it is bare
	}
	bare := Bare(value) && !p.force && !(value[0] == ':' && strings.Contains(p.tail, "$"))
	switch p.quote {
	case singleQuoted:
		return escapeSingle(shell, value)
	case ansiQuoted:
		return "'" + Quote(shell, value) + "$'"
	case doubleQuoted:
		if bare {
			return value
		}
		if shell == PowerShell {
			return escapeDoublePowerShell(value)
		}
		return `"` + Quote(shell, value) + `"`
	}
	if bare && !reserved(value) && !(shell == PowerShell && numeric(value)) {
		return value
	}
	word := Quote(shell, value)
	if shell == Zsh { // with rc_quotes, '' inside of quotes is a quote
		if prev == '\'' {
			word = `""` + word
		}
		if p.next == '\'' {
			word += `""`
		}
	}
	return word
}

// numeric: PowerShell reads 1kb and .5 as numbers.
func numeric(value string) bool {
	return strings.IndexByte("0123456789.", value[0]) >= 0 && strings.ContainsAny(value, "0123456789")
}

// lexer walks a command and notes where its placeholders stand. It knows just
// enough of each shell's quoting; where it cannot be sure, everything after is
// "unknown" and refused, never guessed.
type lexer struct {
	shell  Shell
	text   string
	refs   []Ref
	places []place

	at     int
	frames []frame
	tail   []byte
	start  bool // at the start of a word
	here   []hereDoc
	before byte // the byte before, 0 at the start and after a placeholder
}

type frame struct {
	kind  frameKind
	where string // not "" = no quoting is right inside
	depth int    // of parentheses
}

type frameKind int

const (
	frameBare frameKind = iota
	frameSingle
	frameDouble
	frameAnsi
	frameCommand // $(…), fish (…)
	frameArith   // $((…)), ((…))
	frameBacktick
	frameBrace // ${…}
	frameComment
	frameUnknown // until the end
)

func places(shell Shell, t Template) []place {
	if len(t.refs) == 0 {
		return nil
	}
	l := lexer{shell: shell, text: t.text, refs: t.refs, frames: []frame{{}}, start: true}
	for l.at < len(l.text) && len(l.places) < len(l.refs) {
		if r := l.refs[len(l.places)]; r.Offset == l.at {
			l.places = append(l.places, l.place(r))
			l.at = r.end()
			l.tail, l.start, l.before = l.tail[:0], false, 0
			continue
		}
		switch shell {
		case Fish:
			l.fish()
		case PowerShell:
			l.powerShell()
		default:
			l.posix()
		}
	}
	return l.places
}

func (l *lexer) top() *frame { return &l.frames[len(l.frames)-1] }

func (l *lexer) push(kind frameKind, where string) {
	l.frames = append(l.frames, frame{kind: kind, where: where, depth: 1})
	l.tail, l.start = l.tail[:0], true
}

func (l *lexer) pop() {
	l.frames = l.frames[:len(l.frames)-1]
	l.tail, l.start = append(l.tail[:0], 'x'), false
}

// unknown gives up on the rest of the command.
func (l *lexer) unknown(where string) {
	l.push(frameUnknown, where)
}

// peek is the byte n after the present one; a placeholder reads as 0.
func (l *lexer) peek(n int) byte {
	i := l.at + n
	if i >= len(l.text) || len(l.places) < len(l.refs) && i >= l.refs[len(l.places)].Offset {
		return 0
	}
	return l.text[i]
}

// take passes n bytes that mean nothing to the lexer.
func (l *lexer) take(n int) {
	for range n {
		c := l.text[l.at]
		if strings.IndexByte(" \t\n;|&", c) >= 0 {
			l.tail = l.tail[:0]
		} else {
			l.tail = append(l.tail, c)
		}
		l.start = strings.IndexByte(" \t\r\n;&|()<>", c) >= 0
		l.before = c
		l.at++
	}
}

// escape passes an escaping byte and what it escapes; when that is a
// placeholder, nothing can be quoted there.
func (l *lexer) escape() {
	if l.at+1 < len(l.text) && l.peek(1) == 0 {
		l.take(1) // the tail now ends in the escaping byte: see place
		return
	}
	continuation := l.peek(1) == '\n'
	l.at = min(l.at+2, len(l.text))
	if continuation {
		return // the word goes on as if nothing stood here
	}
	l.tail, l.start, l.before = append(l.tail, 'x'), false, 'x'
}

func (l *lexer) skip(n int) {
	l.before = l.text[l.at+n-1]
	l.at += n
}

// place notes where the placeholder at the present position stands.
func (l *lexer) place(r Ref) place {
	p := place{tail: string(l.tail)}
	if r.end() < len(l.text) && !l.refAt(r.end()) {
		p.next = l.text[r.end()]
	}
	for _, f := range l.frames {
		if f.where != "" {
			p.where = f.where
			return p
		}
	}
	switch l.top().kind {
	case frameSingle:
		p.quote = singleQuoted
	case frameDouble:
		p.quote = doubleQuoted
	case frameAnsi:
		p.quote = ansiQuoted
	}
	escaping := byte('\\')
	if l.shell == PowerShell {
		escaping = '`'
	}
	variable := endsInVariable(p.tail)
	switch {
	case p.quote == singleQuoted && l.shell != Fish:
		return p
	case strings.HasSuffix(p.tail, string(escaping)):
		p.where = "right after an escaping " + string(escaping)
	case (p.quote == unquoted || l.shell == Fish && p.quote == doubleQuoted) && strings.HasSuffix(p.tail, "$"):
		p.where = "right after a $"
	case l.shell == PowerShell && variable:
		p.where = "right after a variable (write ${name})"
	case l.shell == PowerShell && p.quote == unquoted && !l.wholePowerShellWord(p):
		p.where = `in a word that is quoted in part (put the whole word in double quotes)`
	}
	p.force = variable || p.quote == unquoted && (p.next == '<' || p.next == '>')
	return p
}

// refAt says whether the placeholder after the present one starts at offset.
func (l *lexer) refAt(offset int) bool {
	next := len(l.places) + 1
	return next < len(l.refs) && l.refs[next].Offset == offset
}

// endsInVariable says whether more letters after the tail would change which
// variable it names.
func endsInVariable(tail string) bool {
	i := len(tail)
	for i > 0 && (tail[i-1] == '_' || tail[i-1] >= 0x80 || isAlnum(tail[i-1])) {
		i--
	}
	if i > 0 && tail[i-1] == '$' {
		return true
	}
	return i > 1 && i == len(tail) && tail[i-2] == '$' && strings.IndexByte("@*#?$!-", tail[i-1]) >= 0
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
