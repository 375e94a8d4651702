package pane

import (
	"context"
	"fmt"
	"testing"
	"time"

	"davit/internal/keeper"
	"davit/internal/testenv"
)

// A query is folded, and the host ends with its answer under way: a checkpoint stands
// behind the query, so that it is not folded again. The next host gives the answer (spec
// terminal P2.3).
func TestAnAnswerUnderWayOutlivesTheHost(t *testing.T) {
	l := newLog()
	dir := t.TempDir()
	first := start(t, deaf{l}, func(c *Config) { c.Dir = dir })
	l.print("a\x1b[6n", "b\x1b[5n")
	first.folded(l.head())
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		k, _, err := first.load()
		return err == nil && k.Offset == l.head(), fmt.Sprintf("the checkpoint is at %d, %v", k.Offset, err)
	})
	first.stop()

	second := start(t, l, func(c *Config) { c.Dir = dir })
	answers := func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		text := ""
		for _, in := range l.replies {
			text += string(in.Data)
		}
		return text
	}
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return answers() == "\x1b[1;2R\x1b[0n", fmt.Sprintf("%q", answers()) })
	l.print("\x1b[6n")
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		return answers() == "\x1b[1;2R\x1b[0n\x1b[1;3R", fmt.Sprintf("%q", answers())
	})
	testenv.Eventually(t, 5*time.Second, func() (bool, string) {
		k, _, err := second.load()
		return err == nil && k.Offset == l.head() && len(k.Replies) == 0, fmt.Sprintf("%+v is owed in the checkpoint of %d", k.Replies, k.Offset)
	})
}

// deaf does not say that it has taken a reply.
type deaf struct{ *scriptedLog }

func (d deaf) Inputs(ctx context.Context, _ []keeper.Input) error {
	<-ctx.Done()
	return context.Cause(ctx)
}
