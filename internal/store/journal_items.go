package store

import (
	"context"
	"unicode/utf8"

	"davit"
)

// JournalItems reads, for each item, what its rows say together as one row: the newest,
// with the whole text for messages and thoughts. In order of each item's first row.
func (s *Store) JournalItems(ctx context.Context, id davit.SessionID) ([]davit.JournalRow, error) {
	var items []*item
	at := map[string]*item{}
	query := journalColumns + `WHERE session = ? ORDER BY epoch, seq`
	err := s.eachRow(ctx, id, query, []any{string(id)}, func(row davit.JournalRow, body string) {
		it := at[row.Item]
		if it == nil {
			it = new(item)
			at[row.Item] = it
			items = append(items, it)
		}
		it.add(row, body)
	})
	if err != nil {
		return nil, err
	}
	rows := make([]davit.JournalRow, 0, len(items))
	for _, it := range items {
		rows = append(rows, it.whole())
	}
	return rows, nil
}

// item gathers the rows of one item. Only pieces of text are decoded as they come: of
// everything else the newest row says it all.
type item struct {
	row  davit.JournalRow
	body string // of the newest row, of what has no pieces
	text text
}

func streamed(kind davit.JournalKind) bool {
	return kind == davit.JournalMessage || kind == davit.JournalThought
}

func (it *item) add(row davit.JournalRow, body string) {
	it.row, it.body = row, body
	if streamed(row.Kind) {
		readBody(&it.row, body)
		it.text.put(it.row.Body.At, it.row.Body.Text)
	}
}

func (it *item) whole() davit.JournalRow {
	if !streamed(it.row.Kind) {
		readBody(&it.row, it.body)
		return it.row
	}
	it.row.Body.At, it.row.Body.Text = 0, string(it.text.bytes)
	return it.row
}

// text is a text that is written from a place on, counted in UTF-16 code units as
// browsers do. The end is the usual place and costs nothing to find.
type text struct {
	bytes []byte
	units int
}

// put replaces what stands from at on. A place beyond the end is the end; one inside of
// a character is before it.
func (t *text) put(at int, s string) {
	if at < t.units {
		t.cut(max(at, 0))
	}
	t.bytes = append(t.bytes, s...)
	for _, r := range s {
		t.units += unitsOf(r)
	}
}

func (t *text) cut(at int) {
	units, i := 0, 0
	for i < len(t.bytes) {
		r, size := utf8.DecodeRune(t.bytes[i:])
		if units+unitsOf(r) > at {
			break
		}
		units += unitsOf(r)
		i += size
	}
	t.bytes, t.units = t.bytes[:i], units
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}
