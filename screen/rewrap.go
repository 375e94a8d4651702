package screen

import (
	"bytes"
	"encoding/binary"
)

// rewrapper cuts logical lines anew. It works on packed lines: styles and
// clusters are copied as bytes and never interned.
type rewrapper struct {
	to        *history
	cols, old int // columns to cut at, and those of the input

	// The line being written.
	text, runs []byte
	width      int
	runLen     int
	run        []byte // packed style, nil = default
	wrapped    bool
	emptyTail  int // empty default cells at the end, not yet written
	line       []byte
}

// group wraps the rows of one logical line; first is the index of the first,
// places (sorted by line) lie on them.
func (w *rewrapper) group(rows [][]byte, first int, places []*place) {
	if len(rows) == 1 && (w.cols >= w.old || w.fits(rows[0])) {
		w.copy(rows[0], places)
		return
	}
	w.begin(rows[0][0]&lineWrapped != 0)
	for i, row := range rows {
		n := 0
		for n < len(places) && places[n].line == first+i {
			n++
		}
		w.row(row, i == len(rows)-1, next(rows, i), places[:n])
		places = places[n:]
	}
	w.end()
}

func next(rows [][]byte, i int) []byte {
	if i+1 < len(rows) {
		return rows[i+1]
	}
	return nil
}

// copy takes a line over that needs no cut.
func (w *rewrapper) copy(row []byte, places []*place) {
	for _, p := range places {
		p.toLine, p.toCol, p.found = w.to.lines, p.col, true
	}
	w.to.append(row)
}

func (w *rewrapper) fits(row []byte) bool {
	if len(row)-lineHeader <= w.cols/2 {
		return true // at most one column a byte of text, two a wide character
	}
	lr, _ := readLine(row)
	for width := 0; ; {
		_, n, _, ok := lr.next()
		if !ok {
			return true
		}
		if width += n; width > w.cols {
			return false
		}
	}
}

// row appends the cells of one old row. Every row but the last is as wide as
// the old screen: what is missing was empty, unless a wide character that
// follows left its last column free.
func (w *rewrapper) row(row []byte, last bool, following []byte, places []*place) {
	lr, _ := readLine(row)
	x := 0
	for {
		text, width, packed, ok := lr.next()
		if !ok {
			break
		}
		if !last && x == w.old-1 && text[len(text)-1] == markEmpty && startsWide(following) {
			break
		}
		w.cell(text, width, packed, x, places)
		x += width
	}
	if !last {
		end := w.old
		if startsWide(following) && x == w.old-1 {
			end--
		}
		for ; x < end; x++ {
			w.cell(emptyText, 1, nil, x, places)
		}
		for _, p := range places {
			if !p.found {
				// Past the end of a full row: where the next one goes on.
				p.toLine, p.toCol, p.found = w.to.lines, w.width+w.emptyTail, true
			}
		}
		return
	}
	for _, p := range places {
		if !p.found {
			p.toLine, p.found = w.to.lines, true
			p.toCol = w.width + w.emptyTail + p.col - x
		}
	}
}

var emptyText = []byte{markEmpty}

func startsWide(row []byte) bool {
	if row == nil {
		return false
	}
	lr, _ := readLine(row)
	_, width, _, ok := lr.next()
	return ok && width == 2
}

func (w *rewrapper) cell(text []byte, width int, packed []byte, x int, places []*place) {
	if w.width+w.emptyTail+width > w.cols && w.width+w.emptyTail > 0 {
		w.end()
		w.begin(true)
	}
	for _, p := range places {
		if !p.found && p.col < x+width {
			p.toLine, p.toCol, p.found = w.to.lines, w.width+w.emptyTail+p.col-x, true
		}
	}
	if len(packed) == 0 && len(text) == 1 && text[0] == markEmpty {
		w.emptyTail++
		return
	}
	w.flushEmpty()
	w.text = append(w.text, text...)
	w.width += width
	w.style(packed)
}

func (w *rewrapper) flushEmpty() {
	for ; w.emptyTail > 0; w.emptyTail-- {
		w.text = append(w.text, markEmpty)
		w.width++
		w.style(nil)
	}
}

func (w *rewrapper) style(packed []byte) {
	if w.runLen > 0 && !bytes.Equal(packed, w.run) {
		w.flushRun()
	}
	w.run = packed
	w.runLen++
}

func (w *rewrapper) flushRun() {
	if w.runLen == 0 {
		return
	}
	w.runs = binary.AppendUvarint(w.runs, uint64(w.runLen))
	if len(w.run) == 0 {
		w.runs = append(w.runs, 0)
	} else {
		w.runs = append(w.runs, w.run...)
	}
	w.runLen = 0
}

func (w *rewrapper) begin(wrapped bool) {
	w.text, w.runs = w.text[:0], w.runs[:0]
	w.width, w.runLen, w.run, w.emptyTail = 0, 0, nil, 0
	w.wrapped = wrapped
}

func (w *rewrapper) end() {
	if len(w.run) > 0 {
		w.flushRun()
	}
	w.line = append(w.line[:0], 0, 0, 0, 0)
	if w.wrapped {
		w.line[0] = lineWrapped
	}
	putTextLen(w.line, len(w.text))
	w.line = append(w.line, w.text...)
	w.line = append(w.line, w.runs...)
	w.to.append(w.line)
}
