package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"davit"
)

// The ways in which a build is asked to take a table over, or whether it could.
const (
	tableFlag = "--table="
	checkFlag = "--check-table="
)

const (
	gateWait  = 2 * time.Second  // for acts that are under way
	checkWait = 10 * time.Second // for the other build to read the table
)

// swap is one upgrade on its way to the loop.
type swap struct {
	path   string
	answer func()      // called when nothing but the exec is left
	failed func(error) // called when the exec then failed
	done   chan error
}

// Readable is what a build says that can take a table over.
type Readable struct {
	Table int    `json:"davitKeeperTable"`
	Build string `json:"build"`
}

// CheckTable reads the table in descriptor cfg.Table as Run would, and says why it could
// not take it over. It touches nothing.
func CheckTable(cfg Config) (Readable, error) {
	file := os.NewFile(uintptr(cfg.Table), "table")
	if file == nil {
		return Readable{}, davit.Errorf(davit.CodeUsage, "there is no table in descriptor %d", cfg.Table)
	}
	defer file.Close()
	if _, err := cfg.readTable(file); err != nil {
		return Readable{}, davit.Errorf(davit.CodeUnsupported, "davit %s cannot take the keeper over: %w", cfg.Build, err)
	}
	return Readable{Table: tableVersion, Build: cfg.Build}, nil
}

// askUpgrade replaces the keeper's program: same pid, children and terminals (P1.7). It
// is answered when the other build has read the table; the connection then ends, with the
// reason when the exec failed after all.
func (k *Keeper) askUpgrade(r *request) {
	body, ok := parse[ControlBody](r)
	if !ok {
		return
	}
	k.wg.Go(func() {
		if err := k.upgrade(body.Path, r); err != nil {
			k.cfg.Log.Warn("no upgrade", "path", body.Path, "err", err)
			r.reply(nil, err)
		}
	})
}

func (k *Keeper) upgrade(path string, r *request) error {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 || !filepath.IsAbs(path) {
		return davit.Errorf(davit.CodeInvalid, "upgrade: %q is not the absolute path of a program", path)
	}
	if !k.gate.close(gateWait) {
		return davit.Errorf(davit.CodePaneBusy, "upgrade: something that was asked for is still under way").
			WithHint("Try again in a moment.")
	}
	defer k.gate.open()
	s := &swap{path: path, done: make(chan error, 1), answer: func() {
		r.c.c.SetWriteDeadline(time.Now().Add(time.Second))
		r.reply(struct{}{}, nil)
		r.c.flushed()
	}, failed: func(err error) {
		_ = r.c.refuse(err)
		r.c.hangUp()
	}}
	select {
	case k.swaps <- s:
		return <-s.done
	case <-r.c.ended: // the keeper ends, or the asker has gone
		return davit.Errorf(davit.CodeShuttingDown, "upgrade: who asked has gone")
	}
}

// swap stops everything that moves, writes the table, lets the other build read it, and
// becomes that build. It returns only when that was not to be, and then everything moves
// again as before. By the loop.
func (k *Keeper) swap(ctx context.Context, s *swap) error {
	k.mu.Lock()
	closing := k.closing
	k.mu.Unlock()
	if closing {
		return davit.Errorf(davit.CodeShuttingDown, "the keeper is shutting down")
	}
	k.socket.listener.SetDeadline(time.Unix(1, 0)) // who comes now waits for the next build
	k.reap()
	k.endings.Wait()
	for _, p := range k.allPanes() {
		p.in.freeze()
		for _, o := range p.outputs() {
			o.turn.Lock()
		}
	}
	k.children.mu.Lock()
	err := k.replace(s)
	k.children.mu.Unlock()
	for _, p := range k.allPanes() {
		for _, o := range p.outputs() {
			o.turn.Unlock()
		}
		p.in.thaw()
	}
	k.socket.listener.SetDeadline(time.Time{})
	k.accept(ctx, k.socket.listener)
	k.nudge()
	return err
}

// replace is swap's part in which nothing moves.
func (k *Keeper) replace(s *swap) error {
	path := s.path
	before, err := markOf(path)
	if err != nil {
		return davit.Errorf(davit.CodeInvalid, "upgrade: %w", err)
	}
	t := k.capture(time.Now())
	file, err := writeTable(t, k.cfg.StateDir)
	if err != nil {
		return davit.Errorf(davit.CodeInternal, "upgrade: write the table: %w", err)
	}
	defer file.Close()
	if err := k.tryTable(path, file); err != nil {
		return err
	}
	if now, err := markOf(path); err != nil || now != before {
		return davit.Errorf(davit.CodeUnsupported, "upgrade: %s was changed while it was looked at", path).WithHint("Try again when it is in place.")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return davit.Errorf(davit.CodeInternal, "upgrade: %w", err)
	}
	fd := descriptorOf(file)
	kept := append(t.descriptors(), fd)
	back, running, err := wayBack()
	if err != nil {
		k.cfg.Log.Warn("there is no way back from this upgrade", "err", err)
	}
	if running != nil {
		defer running.Close()
		kept = append(kept, descriptorOf(running))
	}
	for _, n := range kept {
		if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, 0); err != nil {
			closeOnExec()
			return davit.Errorf(davit.CodeInternal, "upgrade: keep descriptor %d: %w", n, err)
		}
	}
	k.cfg.Log.Info("upgrade", "path", path, "panes", len(t.Panes))
	s.answer()
	// Ignored signals stay ignored over exec: one that came before the next build has its
	// handlers would end it. SIGCHLD is not ignored, or exit statuses would be lost.
	signal.Ignore(caught[:]...)
	argv := append([]string{path}, k.cfg.Args...)
	err = syscall.Exec(path, append(argv, fmt.Sprint(tableFlag, fd)), handOver(backEnv+"="+back))
	k.catch()
	closeOnExec()
	k.cfg.Log.Error("the upgrade was answered and did not happen", "path", path, "err", err)
	s.failed(davit.Errorf(davit.CodeUnsupported, "upgrade: execute %s: %w", path, err).
		WithHint("Programs go on under davit %s.", k.cfg.Build))
	return nil
}

// descriptors are all that the next build needs.
func (t *table) descriptors() []int {
	list := []int{t.Lock, t.Socket.File}
	for i := range t.Panes {
		p := &t.Panes[i]
		list = append(list, p.Input.File)
		for _, o := range p.outputs() {
			list = append(list, o.File, o.Index, o.Segment)
		}
	}
	open := list[:0]
	for _, n := range list {
		if n >= 0 {
			open = append(open, n)
		}
	}
	return open
}

func writeTable(t *table, dir string) (*os.File, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	file, err := memoryFile(dir)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(b); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// unlinkedFile makes a file that has no name any more.
func unlinkedFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "table")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tryTable starts the other build to read the table and no more. Under children.mu, so
// that the loop does not take its status.
func (k *Keeper) tryTable(path string, file *os.File) error {
	said, err := memoryFile(k.cfg.StateDir)
	if err != nil {
		return davit.Errorf(davit.CodeInternal, "upgrade: %w", err)
	}
	defer said.Close()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return davit.Errorf(davit.CodeInternal, "upgrade: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return davit.Errorf(davit.CodeInternal, "upgrade: %w", err)
	}
	defer null.Close()
	out := uintptr(descriptorOf(said))
	argv := append([]string{path}, k.cfg.Args...)
	pid, err := syscall.ForkExec(path, append(argv, checkFlag+"3"), &syscall.ProcAttr{
		Dir: "/", Env: os.Environ(), Sys: &syscall.SysProcAttr{Setsid: true},
		Files: []uintptr{null.Fd(), out, out, uintptr(descriptorOf(file))},
	})
	if err != nil {
		return davit.Errorf(davit.CodeUnsupported, "upgrade: start %s: %w", path, err)
	}
	status, ended := awaitChild(pid, checkWait)
	answer := make([]byte, 4<<10)
	n, _ := said.ReadAt(answer, 0) // EOF is the rule
	text := strings.TrimSpace(string(answer[:n]))
	var can Readable
	switch {
	case !ended:
		text = "it did not answer within " + checkWait.String()
	case status.ExitStatus() == 0 && json.Unmarshal([]byte(text), &can) == nil && can.Table == tableVersion:
		return nil
	case status.ExitStatus() == 0:
		text = "it does not know how to"
	case text == "":
		text = fmt.Sprintf("it ended with status %d", status.ExitStatus())
	}
	return davit.Errorf(davit.CodeUnsupported, "upgrade: %s cannot take this keeper over: %s", path, text).
		WithHint("Programs go on under davit %s.", k.cfg.Build)
}

// awaitChild waits for one child of its own, and kills it when that takes too long.
func awaitChild(pid int, most time.Duration) (status syscall.WaitStatus, ended bool) {
	deadline := time.Now().Add(most)
	options := syscall.WNOHANG
	for {
		got, err := syscall.Wait4(pid, &status, options, nil)
		switch {
		case got == pid:
			return status, options != 0
		case err != nil && !errors.Is(err, syscall.EINTR):
			return status, false
		case options != 0 && time.Now().After(deadline):
			_ = unix.Kill(pid, unix.SIGKILL) // it is ours and has not been waited for
			options = 0
		case options != 0:
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// takeOver makes this process, whose program has just been replaced, go on.
func (k *Keeper) takeOver(t *table) error {
	k.lock = openDescriptor(t.Lock, lockName)
	if err := k.restore(t); err != nil {
		return davit.Errorf(davit.CodeInternal, "take the keeper over: %w", err)
	}
	k.hello.Refused = os.Getenv(refusedEnv)
	os.Unsetenv(refusedEnv)
	if k.hello.Refused != "" {
		k.cfg.Log.Error("the build that was to take over gave the keeper back", "reason", k.hello.Refused)
	}
	if err := k.noteHome(t.Socket.Path); err != nil {
		k.cfg.Log.Warn("note whose the socket's directory is", "err", err)
	}
	if err := k.writeRecord(t.Socket.Path); err != nil { // the old one still finds this process
		k.cfg.Log.Warn("write the keeper's record", "err", err)
	}
	return nil
}
