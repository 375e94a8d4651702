package pane

import (
	"testing"
	"time"

	"davit/internal/testenv"
)

// A reader of every byte is behind the checkpoint when its host dies. The next host keeps
// what it needs until it is back, whatever checkpoints it writes meanwhile (spec terminal
// P3.2); without a host before it, a checkpoint lets the log go as ever.
func TestReadersOfAFormerHost(t *testing.T) {
	for _, adopted := range []bool{true, false} {
		l := newLog()
		l.print("what a reader has still to come for\r\n")
		r := start(t, l, func(c *Config) { c.Adopted = adopted })
		r.folded(l.head())
		var checkpoint uint64
		testenv.Eventually(t, 10*time.Second, func() (bool, string) {
			k, _, err := r.load()
			checkpoint = k.Offset
			return err == nil && k.Offset == l.head(), "no checkpoint"
		})
		if adopted {
			r.stop() // everything that it had to tell the keeper is told
			if l.retained != 0 {
				t.Errorf("a new host let %d of %d bytes go at once", l.retained, checkpoint)
			}
			continue
		}
		testenv.Eventually(t, 10*time.Second, func() (bool, string) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.retained == checkpoint, "the log is kept for nobody"
		})
	}
}
