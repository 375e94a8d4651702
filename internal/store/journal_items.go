package store

import (
	"context"

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
	text davit.StreamedText
}

func streamed(kind davit.JournalKind) bool {
	return kind == davit.JournalMessage || kind == davit.JournalThought
}

func (it *item) add(row davit.JournalRow, body string) {
	it.row, it.body = row, body
	if streamed(row.Kind) {
		readBody(&it.row, body)
		it.text.Put(it.row.Body.At, it.row.Body.Text)
	}
}

func (it *item) whole() davit.JournalRow {
	if !streamed(it.row.Kind) {
		readBody(&it.row, it.body)
		return it.row
	}
	it.row.Body.At, it.row.Body.Text = 0, it.text.String()
	return it.row
}
