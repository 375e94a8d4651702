package agent

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a child into a session of its own and makes its end the end of the
// whole group: an agent's launcher often leaves its real program behind.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
