package keeper

import (
	"golang.org/x/sys/unix"
)

// foreground says who the pane's terminal listens to and how it takes input. A pane with
// pipes has only its own child.
func (p *pane) foreground() Foreground {
	var fg Foreground
	if p.pipes {
		fg.Group = p.pid
	} else if p.out.raw != nil { // nil: it had ended before an upgrade
		_ = p.out.raw.Control(func(fd uintptr) { // an error: closed, nobody listens
			if group, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP); err == nil {
				fg.Group = group
			}
			if t, err := unix.IoctlGetTermios(int(fd), getTermios); err == nil {
				fg.Canonical = t.Lflag&unix.ICANON != 0
				fg.Echo = t.Lflag&unix.ECHO != 0
			}
		})
	}
	if p.exited() != nil && fg.Group == p.pid {
		return Foreground{}
	}
	q, ok := leaderOf(fg.Group, p.pid)
	if !ok {
		return fg
	}
	fg.Pid, fg.Name, fg.StartTime = q.pid, q.name, q.start
	fg.Argv, fg.Dir = argvOf(q.pid), dirOf(q.pid)
	fg.OwnChild = q.pid == p.pid && q.start == p.start
	return fg
}

// leaderOf gives the process that stands for a group: its leader, or when that has ended
// the first that is left of it in the session.
func leaderOf(group, session int) (process, bool) {
	if group <= 0 {
		return process{}, false
	}
	if q, ok := lookUp(group); ok && !q.zombie && q.group == group {
		return q, true
	}
	table, err := processes()
	if err != nil {
		return process{}, false
	}
	for _, q := range table {
		if q.group == group && q.session == session && !q.zombie {
			return q, true
		}
	}
	return process{}, false
}
