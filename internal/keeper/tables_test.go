package keeper

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Each of many that read the process table at once finds what was started before it asked,
// and not what was gone by then (spec terminal P5.1).
func TestTablesAreFresh(t *testing.T) {
	t.Parallel()
	var shared tables
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 5 {
				cmd := exec.Command("sleep", "60")
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				listed := func() bool {
					table, err := shared.read()
					if err != nil {
						t.Error(err)
					}
					q, there := byNumber(table)[cmd.Process.Pid]
					return there && q.parent == os.Getpid()
				}
				if !listed() {
					t.Errorf("a reading does not have process %d, which was started before", cmd.Process.Pid)
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				if listed() {
					t.Errorf("a reading has process %d, which was gone before", cmd.Process.Pid)
				}
			}
		})
	}
	group.Wait()
}
