package practice

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func signalNamed(name string) (string, error) {
	switch name {
	case "SEGV", "KILL", "ABRT", "TERM":
		return name, nil
	}
	return "", fmt.Errorf("no signal that a crash can have")
}

// crash ends the process by the signal. Go's runtime would turn most of them into a
// report and an exit status, so a shell takes the process over first.
func crash(name string) {
	line := "ulimit -c 0; kill -" + name + " $$"
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", line}, os.Environ())
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// startChild leaves a process that outlives this one: own session, deaf to SIGHUP.
func startChild() (int, error) {
	command := exec.Command("/bin/sh", "-c", `trap "" HUP; sleep 300 & wait`)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return 0, err
	}
	pid := command.Process.Pid
	return pid, command.Process.Release()
}
