package keeper

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// descriptor is what os.File and net.UnixListener have in common.
type descriptor interface {
	SyscallConn() (syscall.RawConn, error)
}

// descriptorOf gives a file's number, -1 when it is closed. Fd would make it blocking.
func descriptorOf(f descriptor) int {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1
	}
	n := -1
	if err := raw.Control(func(fd uintptr) { n = int(fd) }); err != nil {
		return -1
	}
	return n
}

// capture writes down the keeper while nothing of it moves: the gate is shut, the panes
// are frozen and children.mu is held.
func (k *Keeper) capture(now time.Time) *table {
	t := &table{
		Version: tableVersion, Build: k.cfg.Build, StateDir: k.cfg.StateDir, Home: k.cfg.Home,
		Started: k.started, Generation: k.hello.Generation + 1, Lock: descriptorOf(k.lock),
		Socket: tableSocket{k.socket.path, k.socket.dev, k.socket.ino, descriptorOf(k.socket.listener)},
		Spawns: k.spawns.capture(), Panes: []tablePane{}, Cgroup: k.groups.path(),
	}
	t.Fence, t.Bye, t.Lost = k.host.capture(now)
	for _, p := range k.allPanes() {
		t.Panes = append(t.Panes, p.capture())
	}
	return t
}

// capture says how the host is waited for: a connected one will have been cut off.
func (p *presence) capture(now time.Time) (fence uint64, bye bool, lost time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		return p.fence, false, now
	}
	return p.fence, p.bye, p.lost
}

func (a *acts) capture() []tableAct {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []tableAct{}
	for _, id := range a.order {
		act := a.byID[id]
		list = append(list, tableAct{id, act.verb, act.pane, act.done, act.body, act.err})
	}
	return list
}

func restoreActs(most int, list []tableAct) *acts {
	a := newActs(most)
	for _, t := range list {
		a.byID[t.ID] = &act{verb: t.Verb, pane: t.Pane, done: t.Done, body: t.Body, err: t.Err}
		a.order = append(a.order, t.ID)
	}
	return a
}

func (p *pane) capture() tablePane {
	t := tablePane{
		Name: p.name, Kind: p.kind, Labels: p.labels, Pipes: p.pipes, Program: []byte(p.program), Mark: []byte(p.mark),
		Pid: p.pid, Start: p.start, Started: p.started, Exit: p.exited(), Acts: p.acts.capture(), Cgroup: p.group,
		Out: p.out.capture(), Input: p.in.capture(p.pipes),
	}
	if p.err != nil {
		e := p.err.capture()
		t.Err = &e
	}
	p.mu.Lock()
	t.Cols, t.Rows = p.cols, p.rows
	p.mu.Unlock()
	return t
}

func (q *input) capture(pipe bool) tableInput {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := tableInput{File: -1, Replied: q.replied, Queue: []tableItem{}}
	if pipe && !q.ended && !q.closed {
		t.File = descriptorOf(q.file)
	}
	for _, it := range q.queue {
		t.Queue = append(t.Queue, tableItem{it.id, it.data, it.written, it.eof})
	}
	return t
}

// capture is for the turn's holder.
func (o *output) capture() tableOutput {
	t := o.log.capture()
	t.File, t.Acked = -1, o.ackedTo()
	if !o.gone {
		t.File = descriptorOf(o.file)
	}
	return t
}

func (l *outlog) capture() tableOutput {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := tableOutput{
		Index: descriptorOf(l.idx), Segment: -1, SegFrom: l.segFrom, SegLen: l.segLen, Unsaved: l.unsaved,
		Start: l.start, End: l.end, Logged: l.logged, Segments: []tableSegment{}, Marks: []tableMark{},
		MarkBase: l.markBase, Size: l.size, Forgotten: l.forgotten, EOF: l.eof, Exited: l.exited,
	}
	if l.seg != nil {
		t.Segment = descriptorOf(l.seg)
	}
	if l.trouble != nil { // otherwise the segments have it all
		t.Trouble = l.trouble.Error()
		for _, c := range l.chunks {
			t.Held = append(t.Held, c.data...)
		}
	}
	for _, s := range l.segments {
		t.Segments = append(t.Segments, tableSegment{s.start, s.length})
	}
	for _, m := range l.marks {
		t.Marks = append(t.Marks, tableMark{m.Kind, m.Offset, m.Value, m.Time})
	}
	for _, m := range l.moments {
		t.Moments = append(t.Moments, tableMoment{m.end, m.at})
	}
	return t
}

// restore makes the keeper of a table. Nothing in it may fail that CheckTable could have
// found: there is no way back.
func (k *Keeper) restore(t *table) error {
	file := openDescriptor(t.Socket.File, "socket")
	listener, err := net.FileListener(file) // of a duplicate
	file.Close()
	if err != nil {
		return err
	}
	l, ok := listener.(*net.UnixListener)
	if !ok {
		return errors.New("the socket is of another kind")
	}
	l.SetUnlinkOnClose(false)
	k.socket = &socket{path: t.Socket.Path, listener: l, dev: t.Socket.Dev, ino: t.Socket.Ino}
	k.started, k.hello.Generation = t.Started, t.Generation
	k.host.fence, k.host.bye, k.host.lost = t.Fence, t.Bye, t.Lost
	k.spawns = restoreActs(rememberSpawns, t.Spawns)
	k.groups = openGroups(k.cfg.Home, t.Cgroup, k.cfg.Log)
	for i := range t.Panes {
		p, err := restorePane(k.paneConfig(), &t.Panes[i])
		if err != nil {
			return err
		}
		k.panes[p.name] = p
		if p.exit == nil {
			k.children.byPid[p.pid] = p
		}
	}
	return nil
}

func restorePane(cfg paneConfig, t *tablePane) (*pane, error) {
	p := &pane{
		name: t.Name, kind: t.Kind, labels: t.Labels, pipes: t.Pipes, program: string(t.Program), mark: string(t.Mark),
		dir: cfg.dirOf(t.Name), group: t.Cgroup, pid: t.Pid, start: t.Start, started: t.Started, cols: t.Cols, rows: t.Rows, exit: t.Exit,
		acts: restoreActs(rememberActs, t.Acts), went: make(chan struct{}), told: make(chan struct{}),
	}
	if p.exit != nil {
		close(p.went)
		close(p.told)
	}
	var err error
	if p.out, err = restoreOutput(cfg, p, "log", "index", &t.Out); err != nil {
		return nil, err
	}
	if t.Err != nil {
		if p.err, err = restoreOutput(cfg, p, "err", "errindex", t.Err); err != nil {
			return nil, err
		}
	}
	file := p.out.file
	if p.pipes {
		file = openDescriptor(t.Input.File, "pipe")
	}
	p.in = newInput(file, p.out.log)
	p.in.replied, p.in.ended, p.in.closed = t.Input.Replied, p.exit != nil, p.pipes && file == nil
	for _, it := range t.Input.Queue {
		p.in.bytes += len(it.Data)
		p.in.queue = append(p.in.queue, inputItem{
			id: it.ID, data: it.Data, written: it.Written, eof: it.EOF,
			done: func(a InputAnswer, err error) { p.acts.settle(it.ID, a, err) },
		})
	}
	return p, nil
}

// openDescriptor gives an inherited descriptor its file; nil stands for a closed one.
func openDescriptor(fd int, name string) *os.File {
	if fd < 0 {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}

func restoreOutput(cfg paneConfig, p *pane, prefix, index string, t *tableOutput) (*output, error) {
	l := &outlog{
		dir: p.dir, prefix: prefix, index: index, now: cfg.now, create: createFile,
		segMost: segmentSize, ringMost: ringKeep, spareMarks: spareMarks, tails: map[*tail]struct{}{},
		idx: openDescriptor(t.Index, index), seg: openDescriptor(t.Segment, prefix),
		segFrom: t.SegFrom, segLen: t.SegLen, unsaved: t.Unsaved,
		start: t.Start, end: t.End, logged: t.Logged, markBase: t.MarkBase, size: t.Size,
		forgotten: t.Forgotten, eof: t.EOF, exited: t.Exited,
	}
	if t.Trouble != "" {
		l.trouble = errors.New(t.Trouble)
		l.chunks = []chunk{{start: t.End - uint64(len(t.Held)), data: t.Held}}
	}
	for _, s := range t.Segments {
		l.segments = append(l.segments, segment{s.Start, s.Length})
	}
	for _, m := range t.Marks {
		l.marks = append(l.marks, Mark{m.Kind, m.Offset, m.Value, m.Time})
	}
	for _, m := range t.Moments {
		l.moments = append(l.moments, moment{m.End, m.At})
	}
	ahead := cfg.ptyAhead
	if p.pipes {
		ahead = cfg.pipeAhead
	}
	log := cfg.log.With("pane", p.name)
	file := openDescriptor(t.File, "output")
	o := &output{
		log: l, pty: !p.pipes, ahead: ahead, hold: cfg.hold, went: p.went, gone: true,
		news: make(chan struct{}, 1), quit: make(chan struct{}), slog: log,
	}
	if file != nil {
		var err error
		if o, err = newOutput(l, file, !p.pipes, ahead, cfg.hold, p.went, log); err != nil {
			return nil, err
		}
	}
	o.acked = t.Acked
	o.turn.Lock()
	o.settle() // a log in trouble is tried again
	o.turn.Unlock()
	return o, nil
}
