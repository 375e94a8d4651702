package attach

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// reopen gives another description of the terminal that in is, which can be waited for
// with a deadline; nil where that is not possible (a terminal of another user, after su).
func reopen(in *os.File) *os.File {
	own, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", in.Fd()), os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	if own.SetReadDeadline(time.Time{}) != nil {
		own.Close()
		return nil
	}
	return own
}
