package session

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"davit"
	"davit/internal/keeper"
	"davit/internal/session/acp"
	"davit/internal/store"
)

// stderrGrace is how long the end of a process waits for the last of its stderr.
const stderrGrace = time.Second

// skipEvery is how often the place in a line that is skipped is stored.
const skipEvery = 4 << 20

// answerKeep is how much of an answer to a request of ours is stored with it.
const answerKeep = 64 << 10

// A step holds at most so many inputs and one piece's: each is several rows.
const (
	foldPiece = 8 << 10
	foldActs  = 64
)

// hear takes what followers tell, as much as there is at once: a burst is one step (S1.1),
// so that streaming is cheap.
func (c *chat) hear(p *process, fd feed) {
	c.take(p, fd)
	for len(p.pending) > 0 && len(p.pending) < foldBytes {
		select {
		case fd = <-p.inbox:
			c.take(p, fd)
			continue
		default:
		}
		break
	}
	if c.proc == p && p.link != nil {
		c.foldDue(p)
	}
}

// take takes what one follower tells.
func (c *chat) take(p *process, fd feed) {
	if c.proc != p || p.link == nil || p.link != fd.link {
		return
	}
	switch {
	case fd.which == keeper.Stderr:
		c.hearStderr(p, fd)
	default:
		c.hearStdout(p, fd)
	}
	if fd.trouble != nil && c.proc == p {
		c.unlinked(p, fd.link, fd.link.client, fd.trouble)
	}
}

func (c *chat) hearStderr(p *process, fd feed) {
	if len(fd.data) > 0 {
		p.stderr.add(fd.data, fd.to)
		p.link.err.Ack(fd.to)
	}
	if fd.exit != nil || fd.end {
		p.quiet = true
		c.over(p)
	}
}

// hearStdout gathers output.
func (c *chat) hearStdout(p *process, fd feed) {
	p.pending = append(p.pending, fd.data...)
	if fd.gap > 0 {
		c.foldAll(p)
		c.lostOutput(p, fd)
	}
	if fd.exit != nil || fd.end {
		if fd.exit != nil {
			p.exit = fd.exit
		}
		c.foldAll(p)
		if p.exit != nil && !p.quiet {
			c.after(stderrGrace, func() { p.silent = true; c.over(p) })
		}
		c.over(p)
	}
}

// foldDue folds what was gathered, now or when its time has come.
func (c *chat) foldDue(p *process) {
	if len(p.pending) == 0 || p.exit != nil {
		return
	}
	if wait := foldEvery - time.Since(p.folded); wait > 0 && len(p.pending) < foldBytes {
		c.foldLater(p, wait)
		return
	}
	c.fold(p)
	c.foldLater(p, 0)
}

// lostOutput tells of output that the keeper does not have any more.
func (c *chat) lostOutput(p *process, fd feed) {
	st := &step{}
	st.add(c.conv.Note(davit.JournalLifecycle, davit.JournalBody{
		Text: fmt.Sprintf("%d bytes of the agent's output are lost", fd.gap), Lifecycle: &davit.Lifecycle{Event: "skipped", Bytes: fd.gap},
	}))
	p.lines = acp.NewLines(acp.Position{Offset: fd.to})
	c.folded(st, p)
	_ = c.commit(st) // an error is the host's stop
}

// fold makes rows of what was read: one step, with the place up to which it goes (S1.1).
func (c *chat) fold(p *process) {
	if c.proc != p || len(p.pending) == 0 {
		return
	}
	before := p.lines.Position()
	st := &step{}
	data := p.pending
	for len(data) > 0 && len(st.batch.PutActs) < foldActs {
		n := min(len(data), foldPiece)
		for _, line := range p.lines.Feed(data[:n]) {
			c.frame(st, p, acp.Decode(line))
		}
		data = data[n:]
	}
	p.pending, p.folded = append(p.pending[:0], data...), time.Now()
	at := p.lines.Position()
	if at == before || at.Skipping && len(st.rows) == 0 && at.Offset < p.stored+skipEvery {
		return // in the middle of a line
	}
	c.folded(st, p)
	c.settle()
	_ = c.commit(st) // an error is the host's stop
}

// foldAll folds all that was read.
func (c *chat) foldAll(p *process) {
	for c.proc == p && len(p.pending) > 0 && c.ctx.Err() == nil {
		c.fold(p)
	}
}

// foldLater folds what is left when its time has come and the agent takes what it is owed.
func (c *chat) foldLater(p *process, wait time.Duration) {
	if p.due || len(p.pending) == 0 {
		return
	}
	p.due = true
	c.after(wait, func() {
		p.due = false
		if c.holds(p) {
			c.foldLater(p, foldEvery)
			return
		}
		c.fold(p)
		c.foldLater(p, 0)
	})
}

// holds says that an agent that does not read is not read either.
func (c *chat) holds(p *process) bool {
	return len(c.owed) >= owedMost && p.exit == nil && c.phase != phaseEnding
}

// folded puts the place of the fold into a step, and tells the keeper once it is stored.
func (c *chat) folded(st *step, p *process) {
	at := p.lines.Position()
	st.batch.Folded = []store.FoldRow{{Keeper: p.keeper, Stream: "stdout", Offset: at.Offset, Skip: at.SkipFrom, Skipping: at.Skipping}}
	p.stored = at.Offset
	st.then = append(st.then, func() {
		c.s.failpoint("chat-folded")
		l := p.link
		if l == nil {
			return
		}
		l.out.Ack(at.Offset)
		if at.Offset < p.retained+retainEvery {
			return
		}
		p.retained = at.Offset
		errKept := p.stderr.end - min(p.stderr.end, stderrKeep)
		c.help(func() {
			ctx, cancel := context.WithTimeout(c.ctx, 10*time.Second)
			defer cancel()
			// What is not told now is told after the next megabyte.
			_ = l.client.Retain(ctx, p.keeper, at.Offset)
			_ = l.client.RetainOf(ctx, p.keeper, keeper.Stderr, errKept)
		})
	})
}

// frame folds one line.
func (c *chat) frame(st *step, p *process, f acp.Frame) {
	if f.Blank() {
		return
	}
	s := c.conv.Take(f)
	st.add(s.Rows...)
	for _, pl := range s.Payloads {
		st.batch.Payloads = append(st.batch.Payloads, store.PayloadRow{Digest: pl.Digest, Mime: pl.Mime, Data: pl.Data})
	}
	if s.View {
		c.viewed()
	}
	if s.Ask != nil {
		st.batch.Requests = append(st.batch.Requests, c.asked(s.Ask, "open", "", nil))
	}
	if s.Reply != nil && c.phase != phaseEnding { // who is being ended is not answered any more
		c.reply(st, s)
	}
	if c.turn != nil && (f.Kind == acp.Notification || f.Kind == acp.Request) {
		c.accept(st)
	}
	if s.Answered != nil {
		c.answered(st, p, *s.Answered)
	}
}

const permissionMethod = "session/request_permission"

// asked is the row of a permission question.
func (c *chat) asked(a *acp.Ask, state, act string, answer []byte) store.RPCRow {
	row := store.RPCRow{
		Direction: "agent", ID: string(a.RPCID), Method: permissionMethod, Act: act, Item: a.Item, State: state, Answer: answer, Spawn: c.row.Spawn,
	}
	if state == "open" {
		row.Asked = c.askedAt()
	}
	return row
}

// askedAt is a time that no other request has: an agent that uses an id again asks another
// thing, and the time tells the two apart. Times are stored to the millisecond.
func (c *chat) askedAt() time.Time {
	at := c.s.cfg.Now().Truncate(time.Millisecond)
	if !at.After(c.lastAsk) {
		at = c.lastAsk.Add(time.Millisecond)
	}
	c.lastAsk = at
	return at
}

// reply sends at once what needs nobody's decision: the row holds the answer first (S1.2).
func (c *chat) reply(st *step, s acp.Step) {
	act := c.input(st, s.Reply)
	switch {
	case s.Closed != nil:
		st.batch.Requests = append(st.batch.Requests, c.asked(s.Closed, "cancelled", act, s.Reply))
	case len(s.ReplyTo) > 0 && !slices.ContainsFunc(c.conv.Open(), func(a acp.Ask) bool { return string(a.RPCID) == string(s.ReplyTo) }):
		st.batch.Requests = append(st.batch.Requests, store.RPCRow{
			Direction: "agent", ID: string(s.ReplyTo), Method: s.Method, Act: act, State: "answered", Answer: s.Reply, Asked: c.askedAt(), Spawn: c.row.Spawn,
		})
	}
}

// viewed takes over what the agent says of itself.
func (c *chat) viewed() {
	v, s := c.conv.View(), &c.row.Session
	s.Options, s.Commands, s.Usage = v.Options, v.Commands, v.Usage
	if v.Title != "" {
		s.Title = v.Title
	}
}

// answered hears the answer to a request of ours.
func (c *chat) answered(st *step, p *process, a acp.Answered) {
	row := c.asks[a.ID]
	delete(c.asks, a.ID)
	row.State, row.Answer, row.Asked = "answered", a.Result, time.Time{}
	if a.Err != nil {
		row.State = "failed"
		row.Answer, _ = json.Marshal(a.Err) // plain values: cannot fail
	}
	if len(row.Answer) > answerKeep {
		row.Answer = []byte(fmt.Sprintf(`{"davit":"an answer of %d bytes"}`, len(row.Answer)))
	}
	row.Direction, row.ID, row.Method, row.Spawn = "ours", strconv.FormatUint(a.ID, 10), a.Method, c.row.Spawn
	st.batch.Requests = append(st.batch.Requests, row)
	switch {
	case a.Method == "initialize":
		c.greeted(st, p, a)
	case a.Method == "session/new", a.Method == "session/load":
		c.opened(st, p, a)
	case a.Method == "session/prompt":
		c.endTurn(st, a)
	default:
		c.optionSet(st, a)
	}
}

// tail is the last of stderr, for a person.
func (p *process) tail() string { return strings.ToValidUTF8(string(p.stderr.text), "\uFFFD") }

func equalSessions(a, b davit.Session) bool {
	a.Cursor, b.Cursor = davit.Cursor{}, davit.Cursor{}
	return reflect.DeepEqual(a, b)
}
