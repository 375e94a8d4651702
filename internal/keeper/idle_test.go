package keeper_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"davit/internal/testenv"
)

// Idle panes cost no processor time, and no thread each (spec terminal P1.8, P6).
func TestIdlePanes(t *testing.T) {
	in := startKeeper(t, nil)
	c := in.dial()
	for i := range 40 {
		pane := fmt.Sprint("p", i)
		in.spawn(c, in.shell(pane, "echo ready; exec cat"))
		in.follow(c, pane, 0, "").waitFor(t, "ready")
	}
	read := func(file string) string {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", in.rec.Pid, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	ticks := func() (n int) {
		stat := read("stat")
		var user, system int
		f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		fmt.Sscan(f[11], &user)
		fmt.Sscan(f[12], &system)
		return user + system
	}
	// The best of some windows: what the garbage collector still does after the start is
	// not what is measured.
	testenv.Eventually(t, 15*time.Second, func() (bool, string) {
		before := ticks()
		time.Sleep(time.Second) // the window
		used := ticks() - before
		return used == 0, fmt.Sprint(used, " ticks in a second")
	})
	var threads int
	_, after, _ := strings.Cut(read("status"), "Threads:")
	fmt.Sscan(after, &threads)
	if threads > 25 {
		t.Errorf("%d threads for 40 idle panes", threads)
	}
}
