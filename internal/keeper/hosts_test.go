package keeper_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"davit"
	"davit/internal/keeper"
	"davit/internal/keeper/client"
)

// Hosts that race for a keeper end with one that acts: every other is told or refused
// (spec terminal P1.2, P1.6).
func TestHostsRace(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	in.spawn(in.dial(), in.shell("p", "stty -echo; echo ready; while read x; do echo \"<$x>\"; done"))
	const n = 8
	hosts := make([]*client.Client, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { hosts[i] = in.dial() })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	acting := 0
	for i, c := range hosts {
		err := c.Input(ctx(t), keeper.Input{ID: fmt.Sprint("race-", i), Pane: "p", Data: fmt.Appendf(nil, "host %d\n", i)})
		switch {
		case err == nil && c.Hello().Fence == n+1:
			acting++
		case davit.CodeOf(err) != davit.CodeKeeperSuperseded:
			t.Errorf("host %d with fence %d: %v", i, c.Hello().Fence, err)
		}
	}
	if acting != 1 {
		t.Errorf("%d hosts act", acting)
	}
	f := in.follow(in.reader(), "p", 0, "")
	f.waitFor(t, "<host ")
	if got := strings.Count(f.output(), "<host "); got != 1 {
		t.Errorf("%d inputs arrived: %q", got, f.output())
	}
}
