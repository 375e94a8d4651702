package template

import (
	"strings"
	"unicode/utf8"
)

// fish takes one step in a command for fish.
func (l *lexer) fish() {
	c := l.text[l.at]
	top := l.top()
	switch {
	case top.kind == frameUnknown:
		l.take(1)
	case top.kind == frameComment:
		if c == '\n' {
			l.pop()
			return
		}
		l.take(1)
	case c == '\\':
		l.escape()
	case top.kind == frameSingle:
		l.closeOn('\'')
	case c == '$' && l.peek(1) == '(':
		l.skip(2)
		l.push(frameCommand, whereCommand)
	case top.kind == frameDouble:
		l.closeOn('"')
	case c == '\'':
		l.skip(1)
		l.push(frameSingle, "")
	case c == '"':
		l.skip(1)
		l.push(frameDouble, "")
	case c == '#' && l.start && top.kind == frameCommand:
		l.unknown(whereComment)
	case c == '#' && l.start:
		l.push(frameComment, whereComment)
	case c == '(':
		l.skip(1)
		l.push(frameCommand, "inside (…)")
	case c == ')' && top.kind == frameCommand:
		l.skip(1)
		l.pop()
	default:
		l.take(1)
	}
}

// powerShell takes one step in a command for PowerShell, from its documented
// grammar (about_Quoting_Rules, about_Parsing).
func (l *lexer) powerShell() {
	c := l.text[l.at]
	q, size := l.powerShellQuote()
	top := l.top()
	switch {
	case top.kind == frameUnknown:
		l.take(1)
	case top.kind == frameComment:
		if c == '\n' {
			l.pop()
			return
		}
		l.take(1)
	case top.kind == frameSingle:
		l.powerShellClose(q == '\'', size)
	case c == '`':
		l.escape()
	case (c == '$' || c == '@') && l.peek(1) == '(' && (c == '$' || top.kind != frameDouble):
		l.skip(2)
		l.push(frameCommand, "inside "+string(c)+"(…)")
	case c == '$' && l.peek(1) == '{':
		l.skip(2)
		l.push(frameBrace, whereBrace)
	case top.kind == frameBrace:
		l.closeOn('}')
		l.tail = append(l.tail[:0], '}')
	case top.kind == frameDouble:
		l.powerShellClose(q == '"', size)
	case c == '@' && (l.peek(1) == '\'' || l.peek(1) == '"' || l.peek(1) >= 0x80):
		l.unknown("in a here-string")
	case q == '\'':
		l.skip(size)
		l.push(frameSingle, "")
	case q == '"':
		l.skip(size)
		l.push(frameDouble, "")
	case c == '<' && l.peek(1) == '#', strings.HasPrefix(l.text[l.at:], "--%"):
		l.unknown(whereUnknown)
	case c == '#' && l.start && top.kind == frameCommand:
		l.unknown(whereComment)
	case c == '#' && l.start:
		l.push(frameComment, whereComment)
	case c == '(':
		l.skip(1)
		l.push(frameCommand, "inside (…)")
	case c == ')' && top.kind == frameCommand:
		l.skip(1)
		l.pop()
		l.tail = append(l.tail[:0], ')')
	default:
		l.take(1)
	}
}

// powerShellQuote reads a quote, typographic ones included.
func (l *lexer) powerShellQuote() (quote rune, size int) {
	r, size := utf8.DecodeRuneInString(l.text[l.at:])
	switch r {
	case '\'', '‘', '’', '‚', '‛':
		return '\'', size
	case '"', '“', '”', '„':
		return '"', size
	}
	return 0, 1
}

// powerShellClose ends a quoted string. A doubled quote closes and opens again,
// which is the same for everything that is asked here.
func (l *lexer) powerShellClose(quote bool, size int) {
	if !quote {
		l.take(1)
		return
	}
	l.skip(size)
	l.pop()
	l.tail = append(l.tail[:0], '"')
}

// wholePowerShellWord says whether quotes put around the value at p are read as
// part of the word: when it is the whole word, or goes on from bare text.
func (l *lexer) wholePowerShellWord(p place) bool {
	separator := func(c byte) bool { return strings.IndexByte(" \t\r\n;|&{}", c) >= 0 }
	end := p.next == 0 && !l.refAt(l.refs[len(l.places)].end()) || p.next != 0 && separator(p.next)
	if p.tail == "" {
		return end && (l.before == 0 && l.at == 0 || separator(l.before))
	}
	for i := range len(p.tail) {
		if c := p.tail[i]; !isAlnum(c) && strings.IndexByte(`_-=/\.:+~%`, c) < 0 {
			return false
		}
	}
	return p.next == 0 && end || p.next != 0 && strings.IndexByte("'\"", p.next) < 0 && p.next < 0x80
}
