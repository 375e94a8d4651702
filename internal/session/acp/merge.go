package acp

import (
	"strings"

	"davit"
)

// Merge joins the rows of one step of the store: pieces of the same message or thought with
// nothing but garbage between them become one row, and of an item of garbage the last row
// stays, each in the place of the first. What the rows say together does not change.
func Merge(rows []Row) []Row {
	merged := make([]Row, 0, len(rows))
	garbage := map[string]int{} // where an item of it stands
	piece := -1                 // where the message stands that is being joined
	var text strings.Builder    // of it
	end := 0                    // of its text, in UTF-16 units
	flush := func() {
		if piece >= 0 {
			merged[piece].Body.Text = text.String()
		}
		piece = -1
	}
	for _, row := range rows {
		switch {
		case isGarbage(row):
			if at, seen := garbage[row.Item]; seen {
				merged[at] = row
				continue
			}
			garbage[row.Item] = len(merged)
		case isPiece(row) && piece >= 0 && merged[piece].Item == row.Item && row.Body.At == end:
			text.WriteString(row.Body.Text)
			end += units(row.Body.Text)
			row.Body.At = merged[piece].Body.At
			merged[piece] = row
			continue
		default:
			if flush(); isPiece(row) {
				piece, text = len(merged), strings.Builder{}
				text.WriteString(row.Body.Text)
				end = row.Body.At + units(row.Body.Text)
			}
		}
		merged = append(merged, row)
	}
	flush()
	return merged
}

func isPiece(r Row) bool {
	return (r.Kind == davit.JournalMessage || r.Kind == davit.JournalThought) && r.Body.Blob == nil
}

func isGarbage(r Row) bool {
	return r.Body.Lifecycle != nil && r.Body.Lifecycle.Event == "garbage"
}
