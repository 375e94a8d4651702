package keeper

import (
	"bytes"
	"encoding/json"
	"syscall"
	"time"

	"davit"
)

// dispatch does one request or starts it. Requests of a connection take effect in order;
// what takes long answers from a goroutine of its own.
func (c *conn) dispatch(r *request) {
	if c.open.Add(1) > openMost {
		r.reply(nil, davit.Errorf(davit.CodePaneBusy, "more than %d requests are open", openMost))
		return
	}
	verb, known := verbs[r.verb]
	var err error
	switch {
	case !known:
		err = davit.Errorf(davit.CodeUnsupported, "this keeper (%s) does not know %q", c.k.cfg.Build, r.verb).
			WithHint("The keeper is of another build than the host; upgrade it or end it with `davit down --all`.")
	case verb.reads:
		verb.do(c.k, r)
		return
	case c.kind != KindHost:
		err = davit.Errorf(davit.CodeKeeperReadOnly, "this connection may only look, not %s", r.verb)
	default:
		err = c.k.host.check(c.fence)
	}
	if err != nil {
		r.reply(nil, err)
		return
	}
	c.k.gate.enter()
	verb.do(c.k, r)
	c.k.gate.leave()
}

// act runs what takes long beside the connection; the gate counts it until it is done.
func (k *Keeper) act(do func()) {
	k.gate.stay()
	k.wg.Go(func() {
		defer k.gate.leave()
		do()
	})
}

type verb struct {
	reads bool // anyone may, and it changes nothing of a pane
	do    func(*Keeper, *request)
}

// verbs is the protocol's table (docs/keeper.md, Verbs); follow has a connection of its own.
var verbs = map[string]verb{
	"list":       {reads: true, do: (*Keeper).list},
	"status":     {reads: true, do: (*Keeper).status},
	"foreground": {reads: true, do: (*Keeper).askForeground},
	"spawn":      {do: (*Keeper).askSpawn},
	"input":      {do: (*Keeper).askInput},
	"resize":     {do: (*Keeper).askResize},
	"signal":     {do: (*Keeper).askSignal},
	"close":      {do: (*Keeper).askClose},
	"retain":     {do: (*Keeper).askRetain},
	"forget":     {do: (*Keeper).askForget},
	"bye":        {do: (*Keeper).bye},
	"shutdown":   {do: (*Keeper).askShutdown},
	"upgrade":    {reads: true, do: (*Keeper).askUpgrade}, // a person's, who is not the host
}

// parse reads a body; it answers itself when it cannot.
func parse[T any](r *request) (body T, ok bool) {
	if err := json.Unmarshal(r.body, &body); err != nil {
		r.reply(nil, davit.Errorf(davit.CodeInvalid, "%s: %w", r.verb, err))
		return body, false
	}
	return body, true
}

// parsePane reads a body that names a pane, and finds it.
func parsePane(k *Keeper, r *request) (PaneBody, *pane, bool) {
	body, ok := parse[PaneBody](r)
	if !ok {
		return body, nil, false
	}
	p, err := k.pane(body.Pane)
	if err != nil {
		r.reply(nil, err)
		return body, nil, false
	}
	return body, p, true
}

// parseAct reads an act of a pane and begins it; false when it is not to be done (again).
func parseAct(k *Keeper, r *request) (ActBody, *pane, bool) {
	body, ok := parse[ActBody](r)
	if !ok {
		return body, nil, false
	}
	p, err := k.pane(body.Pane)
	if err != nil {
		r.reply(nil, err)
		return body, nil, false
	}
	return body, p, p.acts.begin(body.ID, r.verb, body.Pane, r.answer)
}

func (k *Keeper) list(r *request) {
	answer := ListAnswer{Panes: []PaneInfo{}}
	for _, p := range k.allPanes() {
		answer.Panes = append(answer.Panes, p.info())
	}
	r.reply(answer, nil)
}

func (k *Keeper) status(r *request) {
	k.wg.Go(func() {
		s := Status{Hello: k.hello, Started: k.started, Host: k.host.info(time.Now()),
			Panes: []PaneInfo{}, Adopted: []Process{}, Files: openFiles()}
		s.Fence = k.host.current()
		if rec, err := ReadRecord(k.cfg.StateDir); err == nil {
			s.Socket = rec.Socket
		}
		for _, p := range k.allPanes() {
			s.Panes = append(s.Panes, p.info())
		}
		s.Cgroup = k.groups.status()
		table, err := processes()
		byPid := byNumber(table)
		for _, q := range table {
			if q.parent == k.hello.Pid && !q.zombie && !k.children.own(q.pid) {
				s.Adopted = append(s.Adopted, k.adopted(q, byPid))
			}
		}
		r.reply(s, err)
	})
}

// adopted tells of an orphan which pane made it, when that can be told (P5.1).
func (k *Keeper) adopted(q process, byPid map[int]process) Process {
	public := q.public()
	public.Since = startedAt(q.start)
	for _, p := range k.allPanes() {
		c := k.newClosing(p)
		c.byPid = byPid
		if c.inSession(q) || p.made(q.pid) {
			public.Pane = p.name
			break
		}
	}
	return public
}

func (k *Keeper) askForeground(r *request) {
	_, p, ok := parsePane(k, r)
	if ok {
		k.wg.Go(func() { r.reply(p.foreground(), nil) })
	}
}

func (k *Keeper) askSpawn(r *request) {
	body, ok := parse[SpawnBody](r)
	if !ok || !k.spawns.begin(body.ID, r.verb, body.Pane, r.answer) {
		return
	}
	req, err := spawnRequest(body, r.payload)
	if err != nil {
		k.spawns.settle(body.ID, nil, err)
		return
	}
	k.act(func() {
		info, err := k.spawn(req)
		k.spawns.settle(body.ID, info, err)
		k.nudge()
	})
}

// spawnRequest checks what a spawn asks for.
func spawnRequest(b SpawnBody, payload []byte) (*SpawnRequest, error) {
	total := 2 + b.Argc + b.Envc
	strings, ok := ParseStrings(payload, total)
	switch {
	case b.Argc < 1 || b.Envc < 0 || total > len(payload) || !ok:
		return nil, davit.Errorf(davit.CodeInvalid, "spawn: the payload is not path, directory, %d arguments and %d variables", b.Argc, b.Envc)
	case !paneName.MatchString(b.Pane):
		return nil, davit.Errorf(davit.CodeInvalid, "spawn: %q cannot name a pane", b.Pane)
	case !b.Pipes && !sizeOK(b.Cols, b.Rows):
		return nil, davit.Errorf(davit.CodeInvalid, "spawn: a terminal of %d×%d", b.Cols, b.Rows)
	case len(strings[0]) == 0 || strings[0][0] != '/' || len(strings[1]) == 0 || strings[1][0] != '/':
		return nil, davit.Errorf(davit.CodeInvalid, "spawn: the program and its directory are to be absolute")
	}
	if b.Pipes {
		b.Cols, b.Rows = 0, 0
	}
	return &SpawnRequest{
		ID: b.ID, Pane: b.Pane, Kind: b.Kind, Path: strings[0], Dir: strings[1],
		Argv: strings[2 : 2+b.Argc], Env: strings[2+b.Argc:],
		Cols: b.Cols, Rows: b.Rows, Pipes: b.Pipes, Labels: b.Labels,
	}, nil
}

func sizeOK(cols, rows int) bool { return cols >= 1 && rows >= 1 && cols <= 0xffff && rows <= 0xffff }

func (k *Keeper) askInput(r *request) {
	body, ok := parse[InputBody](r)
	if !ok {
		return
	}
	p, err := k.pane(body.Pane)
	if err == nil {
		err = r.c.stage(body, r.payload)
	}
	if err == nil && body.EOF && !p.pipes {
		err = davit.Errorf(davit.CodeInvalid, "input: a terminal has no end of input; send its end-of-file character")
	}
	if err != nil {
		r.c.unstage(body.ID)
		r.reply(nil, err)
		return
	}
	if body.More {
		r.reply(InputAnswer{}, nil)
		return
	}
	data := bytes.Clone(r.payload)
	if body.At > 0 {
		data = r.c.unstage(body.ID)
	}
	if p.acts.begin(body.ID, r.verb, body.Pane, r.answer) {
		p.in.put(body.ReplyTo, inputItem{id: body.ID, data: data, eof: body.EOF, done: func(a InputAnswer, err error) {
			p.acts.settle(body.ID, a, err)
		}})
	}
}

// stage keeps a part of an input until its last one; parts go with the connection. One
// that begins again at 0 replaces what was left of an earlier try.
func (c *conn) stage(body InputBody, payload []byte) error {
	if body.At == 0 {
		c.unstage(body.ID)
		if !body.More {
			return nil // the whole input is in this frame
		}
	}
	before := c.staged[body.ID]
	switch {
	case len(before) != body.At:
		return davit.Errorf(davit.CodeInvalid, "input: a part at %d, expected at %d", body.At, len(before))
	case len(before)+len(payload) > inputBytes:
		return davit.Errorf(davit.CodePaneInputTooLarge, "one input of more than %d bytes", inputBytes)
	case c.held+len(payload) > stagedMost:
		return davit.Errorf(davit.CodePaneBusy, "too much input is under way in parts")
	}
	c.staged[body.ID] = append(before, payload...)
	c.held += len(payload)
	return nil
}

func (c *conn) unstage(id string) []byte {
	data := c.staged[id]
	c.held -= len(data)
	delete(c.staged, id)
	return data
}

func (k *Keeper) askResize(r *request) {
	body, p, fresh := parseAct(k, r)
	if !fresh {
		return
	}
	if p.pipes || !sizeOK(body.Cols, body.Rows) {
		p.acts.settle(body.ID, nil, davit.Errorf(davit.CodeInvalid, "resize: no terminal, or a size of %d×%d", body.Cols, body.Rows))
		return
	}
	k.gate.stay()
	p.resize(body.Cols, body.Rows, func(err error) {
		p.acts.settle(body.ID, struct{}{}, err)
		k.gate.leave()
	})
}

func (k *Keeper) askSignal(r *request) {
	body, p, fresh := parseAct(k, r)
	if !fresh {
		return
	}
	if body.Signal < 1 || body.Signal > 64 {
		p.acts.settle(body.ID, nil, davit.Errorf(davit.CodeInvalid, "signal: there is no signal %d", body.Signal))
		return
	}
	err := k.children.signal(p, syscall.Signal(body.Signal), body.Group)
	if err != nil && davit.CodeOf(err) == davit.CodeInternal {
		err = davit.Errorf(davit.CodeInternal, "signal %d: %w", body.Signal, err)
	}
	p.acts.settle(body.ID, struct{}{}, err)
}

func (k *Keeper) askClose(r *request) {
	body, p, fresh := parseAct(k, r)
	if !fresh {
		return
	}
	k.act(func() {
		report, err := k.closePane(p, CloseOptions{
			Foreground: body.Foreground,
			Hangup:     time.Duration(body.HangupMs) * time.Millisecond,
			Term:       time.Duration(body.TermMs) * time.Millisecond,
		})
		p.acts.settle(body.ID, report, err)
	})
}

func (k *Keeper) askRetain(r *request) {
	body, p, ok := parsePane(k, r)
	if !ok {
		return
	}
	o := p.output(body.Which)
	if o == nil {
		r.reply(nil, davit.Errorf(davit.CodeInvalid, "retain: pane %s has no log %q", body.Pane, body.Which))
		return
	}
	o.cut(body.Offset)
	o.turn.Lock()
	o.compact()
	o.turn.Unlock()
	r.reply(struct{}{}, nil)
}

func (k *Keeper) askForget(r *request) {
	body, ok := parse[PaneBody](r)
	if !ok {
		return
	}
	if !paneName.MatchString(body.Pane) {
		r.reply(nil, davit.Errorf(davit.CodeInvalid, "forget: %q cannot name a pane", body.Pane))
		return
	}
	k.act(func() { r.reply(struct{}{}, k.forget(body.Pane)) })
}

func (k *Keeper) bye(r *request) {
	k.host.leave(r.c, true, time.Now())
	k.nudge()
	r.reply(struct{}{}, nil)
}

func (k *Keeper) askShutdown(r *request) {
	body, ok := parse[ControlBody](r)
	if !ok {
		return
	}
	if !body.Force {
		var running []string
		for _, p := range k.allPanes() {
			if p.exited() == nil {
				running = append(running, p.name)
			}
		}
		if len(running) > 0 {
			r.reply(nil, davit.Errorf(davit.CodeKeeperRunning, "%d programs still run", len(running)).With("panes", running))
			return
		}
	}
	k.act(func() {
		k.closeAll()
		r.reply(struct{}{}, nil)
		r.c.flushed()
		k.shutdown()
	})
}
