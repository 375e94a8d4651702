package template

import "strings"

// hereDoc is a here-document whose body starts after the line.
type hereDoc struct {
	end  string
	tabs bool // <<-
}

const (
	whereCommand  = "inside $(…)"
	whereBacktick = "inside backticks"
	whereBrace    = "inside ${…}"
	whereArith    = "inside ((…))"
	whereHere     = "in a here-document"
	whereComment  = "in a comment"
	whereUnknown  = "after text whose quoting is not understood"
)

// posix takes one step in a command for sh, bash or zsh.
func (l *lexer) posix() {
	c := l.text[l.at]
	switch l.top().kind {
	case frameUnknown:
		l.take(1)
	case frameComment:
		if c == '\n' {
			l.pop()
			return
		}
		l.take(1)
	case frameSingle:
		l.closeOn('\'')
	case frameAnsi:
		if c == '\\' {
			l.escape()
			return
		}
		l.closeOn('\'')
	case frameBacktick:
		if c == '\\' {
			l.escape()
			return
		}
		l.closeOn('`')
	case frameDouble:
		if !l.posixEscapeOrExpansion(c) {
			l.closeOn('"')
		}
	case frameBrace:
		l.posixBrace(c)
	case frameArith:
		l.posixArith(c)
	default:
		l.posixCommand(c)
	}
}

// closeOn ends the frame at its closing byte.
func (l *lexer) closeOn(end byte) {
	if l.text[l.at] != end {
		l.take(1)
		return
	}
	l.skip(1)
	l.pop()
}

// posixEscapeOrExpansion handles what has a meaning in and out of double quotes.
func (l *lexer) posixEscapeOrExpansion(c byte) bool {
	switch {
	case c == '\\':
		l.escape()
	case c == '`':
		l.skip(1)
		l.push(frameBacktick, whereBacktick)
	case c == '$' && l.peek(1) == '(' && l.peek(2) == '(':
		l.skip(3)
		l.push(frameArith, whereArith)
		l.top().depth = 2
	case c == '$' && l.peek(1) == '(':
		l.skip(2)
		l.push(frameCommand, whereCommand)
	case c == '$' && l.peek(1) == '{':
		l.skip(2)
		l.push(frameBrace, whereBrace)
	case c == '$' && l.peek(1) == '[':
		l.skip(2)
		l.unknown(whereUnknown)
	default:
		return false
	}
	return true
}

// posixCommand is a step in command text: the top level, or inside of $(…).
func (l *lexer) posixCommand(c byte) {
	nested := l.top().kind == frameCommand
	switch {
	case c == '$' && l.peek(1) == '\'' && l.shell == Sh:
		l.skip(1)
		l.unknown(whereUnknown) // dash and ksh do not agree on $'…'
	case c == '$' && l.peek(1) == '\'':
		l.skip(2)
		l.push(frameAnsi, "")
	case l.posixEscapeOrExpansion(c):
	case c == '\'':
		l.skip(1)
		l.push(frameSingle, "")
	case c == '"':
		l.skip(1)
		l.push(frameDouble, "")
	case c == '#' && l.start && (nested || l.shell == Zsh):
		l.unknown(whereComment) // interactive zsh reads on
	case c == '#' && l.start:
		l.push(frameComment, whereComment)
	case c == '<' && l.peek(1) == '<' && l.peek(2) == '<':
		l.take(3)
	case c == '<' && l.peek(1) == '<':
		if nested {
			l.unknown(whereUnknown)
			return
		}
		l.posixHereDoc()
	case c == '\n' && len(l.here) > 0:
		if nested {
			l.unknown(whereHere)
			return
		}
		l.take(1)
		l.posixHereBody()
	case nested && l.start && strings.HasPrefix(l.text[l.at:], "case"):
		l.unknown(whereUnknown) // its patterns have parentheses without partner
	case c == '(' && l.peek(1) == '(' && !nested:
		l.skip(2)
		l.push(frameArith, whereArith)
		l.top().depth = 2
	case nested && c == '(':
		l.top().depth++
		l.take(1)
	case nested && c == ')':
		l.top().depth--
		l.take(1)
		if l.top().depth == 0 {
			l.pop()
		}
	default:
		l.take(1)
	}
}

func (l *lexer) posixBrace(c byte) {
	switch {
	case l.posixEscapeOrExpansion(c):
	case c == '\'':
		l.unknown(whereUnknown) // a quote or not, as the shell and the quotes around have it
	case c == '"':
		l.skip(1)
		l.push(frameDouble, "")
	default:
		l.closeOn('}')
	}
}

func (l *lexer) posixArith(c byte) {
	f := l.top()
	switch {
	case l.posixEscapeOrExpansion(c):
	case c == '\'' || c == '"':
		l.unknown(whereUnknown)
	case c == '(':
		f.depth++
		l.take(1)
	case c == ')' && f.depth == 2 && l.peek(1) != ')':
		l.unknown(whereUnknown) // it was a subshell in a subshell
	case c == ')':
		f.depth--
		l.take(1)
		if f.depth == 0 {
			l.pop()
		}
	default:
		l.take(1)
	}
}

// posixHereDoc reads << and the word that ends the document.
func (l *lexer) posixHereDoc() {
	doc := hereDoc{}
	l.skip(2)
	if l.peek(0) == '-' {
		doc.tabs = true
		l.skip(1)
	}
	for l.peek(0) == ' ' || l.peek(0) == '\t' {
		l.skip(1)
	}
	var word []byte
	var quoted byte
	for {
		c := l.peek(0)
		switch {
		case c == quoted && c != 0:
			quoted = 0
			l.skip(1)
			continue
		case quoted != 0 && (c == 0 || c == '\n'):
			l.unknown(whereHere)
			return
		case quoted != 0:
			word = append(word, c)
			l.skip(1)
			continue
		}
		if c == 0 && l.at < len(l.text) || strings.IndexByte("$`\\", c) >= 0 && c != 0 {
			l.unknown(whereHere) // the word is a placeholder, or more than a plain one
			return
		}
		if c == 0 || strings.IndexByte(" \t\n;&|<>()", c) >= 0 {
			break
		}
		if c == '\'' || c == '"' {
			quoted = c
		} else {
			word = append(word, c)
		}
		l.skip(1)
	}
	doc.end = string(word)
	l.here = append(l.here, doc)
	l.tail = l.tail[:0]
}

// posixHereBody reads the bodies of the line's here-documents.
func (l *lexer) posixHereBody() {
	from := l.at
	for _, doc := range l.here {
		for {
			line, _, more := strings.Cut(l.text[from:], "\n")
			from = min(from+len(line)+1, len(l.text))
			if doc.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == doc.end || !more {
				break
			}
		}
	}
	l.here = nil
	for len(l.places) < len(l.refs) && l.refs[len(l.places)].Offset < from {
		l.places = append(l.places, place{where: whereHere})
	}
	l.at = max(l.at, from)
	l.tail, l.start, l.before = l.tail[:0], true, '\n'
}
