package acp

import (
	"strings"

	"davit"
)

// Merge joins neighbouring rows of one step of the store: pieces of the same message or
// thought become one row, and of the same item of garbage the last one stays. What the rows
// say together does not change.
func Merge(rows []Row) []Row {
	merged := make([]Row, 0, len(rows))
	for i := 0; i < len(rows); {
		row, text, end := rows[i], strings.Builder{}, i+1
		if isPiece(row) {
			text.WriteString(row.Body.Text)
			at := row.Body.At + units(row.Body.Text)
			for end < len(rows) && isPiece(rows[end]) && rows[end].Item == row.Item && rows[end].Body.At == at {
				text.WriteString(rows[end].Body.Text)
				at += units(rows[end].Body.Text)
				end++
			}
			row = rows[end-1]
			row.Body.At, row.Body.Text = rows[i].Body.At, text.String()
		} else if isGarbage(row) {
			for end < len(rows) && isGarbage(rows[end]) && rows[end].Item == row.Item {
				end++
			}
			row = rows[end-1]
		}
		merged = append(merged, row)
		i = end
	}
	return merged
}

func isPiece(r Row) bool {
	return (r.Kind == davit.JournalMessage || r.Kind == davit.JournalThought) && r.Body.Blob == nil
}

func isGarbage(r Row) bool {
	return r.Body.Lifecycle != nil && r.Body.Lifecycle.Event == "garbage"
}
