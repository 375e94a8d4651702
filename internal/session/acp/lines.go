package acp

import "bytes"

// Position is a place in a spawn's output, stored with the fold (spec session S1.1, S1.3).
type Position struct {
	Offset   uint64
	Skipping bool   // the line that Offset is in is being skipped
	SkipFrom uint64 // where that line began
}

// Line is one line. From is the offset of its first byte, To the one after its newline.
type Line struct {
	Data    []byte // without the newline
	From    uint64
	To      uint64
	Skipped bool // it was longer than MaxLine; Data is nil
}

// Lines cuts output into lines. It holds at most MaxLine bytes besides what it is fed.
type Lines struct {
	begin    uint64 // of the line that is being read
	read     uint64 // everything read
	rest     []byte
	skipping bool
}

// NewLines begins at a position: a line's begin, or a place inside of a skipped line.
func NewLines(at Position) *Lines {
	l := &Lines{begin: at.Offset, read: at.Offset}
	if at.Skipping {
		l.begin, l.skipping = at.SkipFrom, true
	}
	return l
}

// Feed takes the output that follows what was fed before and gives the lines that it ends.
// A Line's Data is its own: the caller may keep it and may reuse data.
func (l *Lines) Feed(data []byte) []Line {
	var lines []Line
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			l.hold(data)
			return lines
		}
		lines = append(lines, l.line(data[:end]))
		data = data[end+1:]
	}
	return lines
}

// line ends the current line with its last bytes.
func (l *Lines) line(last []byte) Line {
	l.read += uint64(len(last)) + 1
	line := Line{From: l.begin, To: l.read}
	if l.skipping || len(l.rest)+len(last) > MaxLine {
		line.Skipped = true
	} else {
		line.Data = append(l.rest[:len(l.rest):len(l.rest)], last...)
		if line.Data == nil {
			line.Data = []byte{}
		}
	}
	l.begin, l.rest, l.skipping = l.read, nil, false
	return line
}

// hold keeps a piece of a line that has not ended, or drops it with the whole line.
func (l *Lines) hold(data []byte) {
	l.read += uint64(len(data))
	switch {
	case l.skipping:
	case len(l.rest)+len(data) > MaxLine:
		l.rest, l.skipping = nil, true
	default:
		l.rest = append(l.rest, data...)
	}
}

// Position is how far the output is folded when every line given so far is: the end of the
// last whole line or, inside of a skipped one, everything read.
func (l *Lines) Position() Position {
	if l.skipping {
		return Position{Offset: l.read, Skipping: true, SkipFrom: l.begin}
	}
	return Position{Offset: l.begin}
}

// Read is the offset after everything fed: what to read next.
func (l *Lines) Read() uint64 { return l.read }

// Rest is what was read of a line that has not ended. It is the Lines' own.
func (l *Lines) Rest() []byte { return l.rest }
