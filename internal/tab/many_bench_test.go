package tab

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/pane"
	"davit/internal/wire"
)

// Sixty panes of one config: from the opening to the last prompt, which is the time that
// sixty shells need to start, and from the close to the end of the last program.
func BenchmarkSixtyPanes(b *testing.B) {
	st := newStage(b)
	st.undo = 0
	x := st.start()
	var children, panes strings.Builder
	for i := range 60 {
		fmt.Fprintf(&children, "\"p%d\", ", i)
		fmt.Fprintf(&panes, "[[panes]]\nid = \"p%d\"\ntype = \"terminal\"\n", i)
	}
	st.config("many", "[[panes]]\nid = \"root\"\nsplit = \"horizontal\"\nchildren = ["+children.String()+"]\n"+panes.String())
	var opening, closing time.Duration
	for b.Loop() {
		begun := time.Now()
		opened, err := x.s.OpenConfig(b.Context(), wire.OpenRequest{Config: "many", Dir: st.repo})
		x.must(err)
		for _, id := range opened.Panes {
			x.wait(id, pane.Condition{For: "prompt"})
		}
		opening += time.Since(begun)
		begun = time.Now()
		_, err = x.s.Close(b.Context(), wire.TabClose{Tabs: []davit.TabID{opened.TabID}}, ReasonUser)
		x.must(err)
		x.eventually("every program has ended", func() bool { return len(x.host.Model().Rows.Panes) == 0 })
		closing += time.Since(begun)
	}
	b.ReportMetric(opening.Seconds()/float64(b.N), "s-open/op")
	b.ReportMetric(closing.Seconds()/float64(b.N), "s-close/op")
}
