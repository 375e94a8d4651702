package screen

import "strings"

// Report is what `davit screen render` prints (spec interfaces A3.5).
type Report struct {
	Rows    []string `json:"rows"`
	Cursor  [2]int   `json:"cursor"`
	Title   string   `json:"title"`
	Replies string   `json:"replies"`
}

// RenderReport folds input into a fresh screen and tells what is seen. With
// scrollback the rows begin with the lines above the screen. Line feeds are
// taken as they are: a tty would have made CR LF of them.
func RenderReport(input []byte, cols, rows int, scrollback bool) Report {
	s := New(cols, rows, Options{})
	var replies strings.Builder
	for _, r := range s.Write(input).Replies {
		replies.Write(r.Data)
	}
	report := Report{Title: s.Title(), Replies: replies.String()}
	if scrollback && !s.AltScreen() {
		report.Rows = s.ScrollbackText()
	}
	report.Rows = append(report.Rows, s.Text()...)
	report.Cursor[0], report.Cursor[1] = s.Cursor()
	return report
}
