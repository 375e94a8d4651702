package keeper

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"davit"
)

// resizeEvery is P1.5's 20 a second.
const resizeEvery = time.Second / 20

var paneName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// pane is one child with its terminal or pipes. Its goroutines: one for each output, one
// for input, and a short one for pending resizes; wg waits for them.
type pane struct {
	name, kind string
	labels     map[string]string
	pipes      bool
	program    string // as the process table names it while it has not executed another
	mark       string // DAVIT_PANE of its environment (P5.1)
	dir        string // of its logs
	group      string // its control group's directory, "" when it has none (P5.1)
	pid        int
	start      uint64
	started    time.Time

	out, err *output // err only of pipes
	in       *input
	acts     *acts
	went     chan struct{} // closed when the child has been reaped
	told     chan struct{} // closed when the exit is in the log
	wg       sync.WaitGroup

	mu         sync.Mutex // guards what follows; a leaf
	cols, rows int
	exit       *ExitStatus
	resizing   bool // a goroutine is at it
	wanted     *size
	waiting    []func(error)
	resized    time.Time
}

type size struct{ cols, rows int }

// paneConfig is what a pane needs of its keeper.
type paneConfig struct {
	root      string // panes directory
	now       func() time.Time
	hold      func() bool
	ptyAhead  uint64
	pipeAhead uint64
	log       *slog.Logger
}

func (c paneConfig) dirOf(pane string) string { return filepath.Join(c.root, pane) }

// newPane makes everything but the child: the directory, the logs, the terminal.
func newPane(cfg paneConfig, req *SpawnRequest) (_ *pane, _ *ends, err error) {
	p := &pane{
		name: req.Pane, kind: req.Kind, labels: req.Labels, pipes: req.Pipes,
		program: processName(req.Path), cols: req.Cols, rows: req.Rows, dir: cfg.dirOf(req.Pane),
		acts: newActs(rememberActs), went: make(chan struct{}), told: make(chan struct{}),
	}
	for _, kv := range req.Env {
		if v, ok := strings.CutPrefix(kv, "DAVIT_PANE="); ok {
			p.mark = v
		}
	}
	if err := os.Mkdir(p.dir, 0o700); err != nil && !(os.IsExist(err) && noLogs(p.dir)) {
		if os.IsExist(err) {
			return nil, nil, davit.Errorf(davit.CodePaneExists, "there is a log of a pane %s already", p.name)
		}
		return nil, nil, davit.Errorf(davit.CodeHomeUnusable, "make the pane's directory: %w", err)
	}
	defer func() {
		if err != nil {
			removeFresh(p.dir)
		}
	}()
	open := func() (*ends, error) { return openTerminal(req.Cols, req.Rows) }
	if req.Pipes {
		open = openPipes
	}
	e, err := open()
	if err != nil {
		return nil, nil, davit.Errorf(davit.CodePaneSpawnFailed, "%w", err)
	}
	if err := p.openOutputs(cfg, e); err != nil {
		e.close()
		return nil, nil, davit.Errorf(davit.CodeHomeUnusable, "open the pane's log: %w", err)
	}
	return p, e, nil
}

func (p *pane) openOutputs(cfg paneConfig, e *ends) error {
	ahead := cfg.ptyAhead
	if p.pipes {
		ahead = cfg.pipeAhead
	}
	log := cfg.log.With("pane", p.name)
	open := func(f *os.File, prefix, index string) (*output, error) {
		l, err := newOutlog(p.dir, prefix, index, cfg.now)
		if err != nil {
			return nil, err
		}
		l.mark(MarkStart, packSize(p.cols, p.rows))
		return newOutput(l, f, !p.pipes, ahead, cfg.hold, p.went, log)
	}
	var err error
	if p.out, err = open(e.out, "log", "index"); err != nil {
		return err
	}
	if e.err != nil {
		if p.err, err = open(e.err, "err", "errindex"); err != nil {
			return err
		}
	}
	p.in = newInput(e.in, p.out.log)
	return nil
}

// run starts the goroutines of a pane whose child runs.
func (p *pane) run() {
	for _, o := range p.outputs() {
		if !o.gone { // only after an upgrade, of a program that had ended before
			p.wg.Go(o.run)
		}
	}
	p.wg.Go(p.in.run)
}

func (p *pane) outputs() []*output {
	if p.err != nil {
		return []*output{p.out, p.err}
	}
	return []*output{p.out}
}

func (p *pane) output(which string) *output {
	switch {
	case which == "":
		return p.out
	case which == Stderr:
		return p.err
	}
	return nil
}

// ended records the end of the child behind everything that it printed: each output is
// read to EAGAIN or its end first (P1.8).
func (p *pane) ended(status syscall.WaitStatus, at time.Time) {
	exit := &ExitStatus{Code: status.ExitStatus(), Time: at}
	if status.Signaled() {
		exit.Code, exit.Signal, exit.Core = -1, int(status.Signal()), status.CoreDump()
	}
	close(p.went)
	p.in.end()
	for i, o := range p.outputs() {
		o.barrier(func(int) {
			m := o.log.mark(MarkExit, packExit(exit))
			if i == 0 {
				exit.Offset = m.Offset
			}
		})
	}
	p.mu.Lock()
	p.exit = exit
	p.mu.Unlock()
	close(p.told)
}

func (p *pane) exited() *ExitStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// resize asks for a size; done is called when this one or a later one is in force. At
// most 20 a second reach the terminal, the last always does (P1.5).
func (p *pane) resize(cols, rows int, done func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = &size{cols, rows}
	p.waiting = append(p.waiting, done)
	if !p.resizing {
		p.resizing = true
		p.wg.Go(p.applySizes)
	}
}

func (p *pane) applySizes() {
	for {
		p.mu.Lock()
		wait := resizeEvery - time.Since(p.resized)
		p.mu.Unlock()
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-p.told:
			}
		}
		p.mu.Lock()
		want, waiting := p.wanted, p.waiting
		p.wanted, p.waiting = nil, nil
		if want == nil {
			p.resizing = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		err := p.applySize(*want)
		for _, done := range waiting {
			done(err)
		}
	}
}

func (p *pane) applySize(want size) (err error) {
	if p.exited() != nil {
		return endedError(0)
	}
	p.out.barrier(func(fd int) {
		if fd < 0 {
			err = endedError(0)
			return
		}
		p.out.log.mark(MarkResize, packSize(want.cols, want.rows))
		if err = setSize(fd, want.cols, want.rows); err != nil {
			err = davit.Errorf(davit.CodeInternal, "set the terminal's size: %w", err)
		}
	})
	p.mu.Lock()
	p.resized = time.Now()
	if err == nil {
		p.cols, p.rows = want.cols, want.rows
	}
	p.mu.Unlock()
	return err
}

// info is the pane's row.
func (p *pane) info() PaneInfo {
	span := p.out.log.span()
	i := PaneInfo{
		Pane: p.name, Kind: p.kind, Pid: p.pid, StartTime: p.start, Started: p.started,
		Pipes: p.pipes, Start: span.Start, End: span.End, Acked: p.out.ackedTo(),
		Queued: p.in.queued(), Labels: p.labels,
	}
	if p.err != nil {
		span := p.err.log.span()
		i.Stderr = &span
	}
	for _, o := range p.outputs() {
		if err := o.log.troubled(); err != nil {
			i.Trouble = err.Error()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i.Cols, i.Rows, i.Exit = p.cols, p.rows, p.exit
	return i
}

// quit lets go of an ended pane: whoever still holds its terminal loses it.
func (p *pane) quit() {
	for _, o := range p.outputs() {
		o.quitNow()
	}
	p.in.file.Close()
	p.wg.Wait()
	for _, o := range p.outputs() {
		o.turn.Lock()
		o.log.retry() // the last chance of what trouble kept from the disk
		o.log.closeFiles()
		o.log.discard()
		o.turn.Unlock()
	}
}

// removeFresh takes back what newPane made. It lists nothing: there may be no descriptor.
func removeFresh(dir string) {
	for _, name := range []string{"index", "errindex", ""} {
		_ = os.Remove(filepath.Join(dir, name)) // one that was not made, or holds what others put there
	}
}

// noLogs says that a pane's directory is there and holds nothing that the keeper makes: the
// pane was forgotten, and a host keeps its checkpoint for another start.
func noLogs(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return logFile.MatchString(e.Name()) })
}

var logFile = regexp.MustCompile(`^((log|err)\.[0-9a-f]{16}|(err)?index(\.new)?)$`)

// removeLogs removes from a pane's directory the files that the keeper makes, by name,
// and the directory when that leaves it empty. Anything else in it stays.
func removeLogs(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	left := 0
	for _, e := range entries {
		if !e.Type().IsRegular() || !logFile.MatchString(e.Name()) {
			left++
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if left > 0 {
		return nil
	}
	return os.Remove(dir)
}
