package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/model"
	"davit/internal/session/acp"
	"davit/internal/store"
)

// phase is where the process of a session is.
type phase string

// The phases. Only a ready agent is sent messages.
const (
	phaseNone     phase = "none"     // no process
	phaseSpawning phase = "spawning" // the keeper is asked for it
	phaseGreeting phase = "greeting" // initialize is asked
	phaseOpening  phase = "opening"  // session/new or session/load is asked
	phaseReady    phase = "ready"
	phaseEnding   phase = "ending" // its end is asked for
)

func (p phase) next() []phase {
	switch p {
	case phaseNone:
		return []phase{phaseSpawning}
	case phaseSpawning:
		return []phase{phaseGreeting, phaseEnding, phaseNone}
	case phaseGreeting:
		return []phase{phaseOpening, phaseEnding, phaseNone}
	case phaseOpening:
		return []phase{phaseReady, phaseEnding, phaseNone}
	case phaseReady:
		return []phase{phaseEnding, phaseNone}
	case phaseEnding:
		return []phase{phaseNone}
	}
	return nil
}

const (
	mailboxSize = 64 // callers wait when it is full
	owedMost    = 512
	queueMost   = 32              // messages that wait for a turn to end; then agent_session_busy
	cursorEvery = 1 * time.Second // how often clients hear of a session of which only the cursor moved
)

// chat is one session. Its goroutine owns everything but what mu guards.
type chat struct {
	s       *Service
	id      davit.SessionID
	log     *slog.Logger
	ctx     context.Context // of the goroutine; set before anything uses it
	mailbox chan func()     // from callers
	events  chan func()     // from the chat's own helpers and timers; they wait while it is full
	done    chan struct{}   // closed when the goroutine has ended
	known   chan struct{}   // closed when it is known whether the agent of a former host lives

	mu        sync.Mutex // guards what follows; a leaf
	view      davit.Session
	changed   chan struct{} // closed and replaced when the view changes
	followers int

	row   store.ChatRow
	conv  *acp.Conversation // nil until a process needs it
	phase phase
	proc  *process // of the phases but none
	turn  *turn
	queue []davit.Submission      // that wait, oldest first
	asks  map[uint64]store.RPCRow // requests of ours that are open
	owed  []store.ActRow          // inputs that the keeper has not answered, in order
	paid  []string                // acts done that no row says yet

	starts   []chan error        // who wait for the agent to be ready
	ends     []chan error        // who wait for its process to have ended
	settings map[uint64]*setting // options that are being set, by rpc id
	decided  []decision          // the last answers to permission questions
	told     davit.Session       // what the model knows
	toldAt   time.Time
	lastAsk  time.Time    // see askedAt
	gave     *davit.Error // why the loop ended by itself; read after done
	took     func()       // takes up what a former host left; nil for a new session
}

// turn is the one prompt that the agent works on.
type turn struct {
	id         string // also of the rows
	rpc        uint64
	act        string
	submission davit.Submission
	taken      bool // the keeper has given it to the agent
	cancelled  bool
}

// step is what is to be stored together, with what follows once it is.
type step struct {
	rows  []acp.Row
	batch store.JournalBatch
	then  []func()
}

func newChat(s *Service, row store.ChatRow) *chat {
	c := &chat{
		s: s, id: row.Session.ID, log: s.cfg.Log.With("session", row.Session.ID), row: row, phase: phaseNone,
		mailbox: make(chan func(), mailboxSize), events: make(chan func()), done: make(chan struct{}), known: make(chan struct{}),
		changed: make(chan struct{}), view: row.Session, settings: map[uint64]*setting{}, asks: map[uint64]store.RPCRow{},
	}
	return c
}

// run is the loop. Everything of the chat happens here, one thing after the other.
func (c *chat) run(ctx context.Context) {
	defer close(c.done)
	ctx, cancel := context.WithCancelCause(ctx)
	c.ctx = ctx
	defer cancel(errStopped)
	defer c.broke()
	if c.took != nil {
		c.took()
	}
	cursor := time.NewTicker(cursorEvery)
	defer cursor.Stop()
	for ctx.Err() == nil {
		p := c.proc
		var inbox <-chan feed
		var out chan<- store.ActRow
		var act store.ActRow
		if p != nil && !c.holds(p) && len(p.pending) < 2*foldBytes {
			inbox = p.inbox
		}
		if p != nil && p.link != nil && p.exit == nil && p.sent < len(c.owed) {
			out, act = p.out, c.owed[p.sent]
		}
		select {
		case <-ctx.Done():
		case f := <-c.mailbox:
			f()
		case f := <-c.events:
			f()
		case fd := <-inbox:
			c.hear(p, fd)
		case out <- act:
			p.sent++
		case <-cursor.C:
			c.tell(false)
			c.pay()
		}
	}
	if c.proc != nil {
		c.proc.leave()
	}
}

// broke keeps a mistake of ours within the one session (STYLE 16). Its agent goes on; the
// next host takes it up again.
func (c *chat) broke() {
	p := recover()
	if p == nil {
		return
	}
	c.log.Error("a chat is not served any more", "panic", p, "stack", string(debug.Stack()))
	c.gave = davit.Errorf(davit.CodeInternal, "davit made a mistake in this chat and does not serve it any more: %v", p).
		WithHint("restart davit to take it up again; its agent goes on meanwhile")
	v := c.seen()
	v.Fault = c.gave
	c.publish(v)
	c.mu.Lock()
	c.view = v
	c.mu.Unlock()
}

// ended is the answer of a loop that has ended; done is closed.
func (c *chat) ended() error {
	if c.gave != nil {
		return c.gave
	}
	return errStopped
}

// do has the loop call f and gives its answer: exactly one (STYLE 10). When ctx ends first
// f may still be called.
func (c *chat) do(ctx context.Context, f func() error) error {
	answer := make(chan error, 1)
	select {
	case c.mailbox <- func() { answer <- f() }:
	case <-ctx.Done():
		return davit.AsError(context.Cause(ctx))
	case <-c.done:
		return c.ended()
	}
	return c.await(ctx, answer)
}

// await waits for an answer of the loop.
func (c *chat) await(ctx context.Context, answer <-chan error) error {
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return davit.AsError(context.Cause(ctx))
	case <-c.done:
		select {
		case err := <-answer:
			return err
		default:
			return c.ended()
		}
	}
}

// post gives the loop something to do from a helper; it is dropped when the loop ends.
func (c *chat) post(f func()) {
	select {
	case c.events <- f:
	case <-c.ctx.Done():
	}
}

// help runs work beside the loop. It must end with c.ctx.
func (c *chat) help(work func()) { c.s.group.Go(work) }

// after has the loop call f later.
func (c *chat) after(d time.Duration, f func()) {
	c.help(func() {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			c.post(f)
		case <-c.ctx.Done():
		}
	})
}

// to moves the phase.
func (c *chat) to(p phase) {
	if !slices.Contains(c.phase.next(), p) {
		panic("session: " + string(c.id) + " cannot go from " + string(c.phase) + " to " + string(p))
	}
	c.phase = p
}

// status sets what clients see the agent do. The same again keeps its time (S3).
func (c *chat) status(s davit.AgentStatus, waiting davit.WaitingFor) {
	v := &c.row.Session
	if v.Status == s && v.Waiting == waiting {
		return
	}
	v.Status, v.Waiting, v.Since, v.Source = s, waiting, c.s.cfg.Now().UTC(), "protocol"
}

// settle sets the status that follows from the phase, the turn and what is open.
func (c *chat) settle() {
	switch {
	case c.phase != phaseReady:
		return
	case c.turn == nil:
		if s := c.row.Session.Status; s != davit.AgentIdle && s != davit.AgentDone && s != davit.AgentError {
			c.status(davit.AgentIdle, "")
		}
	case len(c.conv.Open()) > 0:
		c.status(davit.AgentWaiting, davit.WaitingPermission)
	default:
		c.status(davit.AgentWorking, "")
	}
}

// add puts rows into a step.
func (st *step) add(rows ...acp.Row) { st.rows = append(st.rows, rows...) }

// commit stores a step, then does what follows from it and tells everyone (STYLE 11). It
// tries until it is stored: what a session holds in memory is never ahead of its rows for
// longer than the disk is in trouble. An error means that the host stops.
func (c *chat) commit(st *step) error {
	b := &st.batch
	b.Session = c.id
	cursor := c.row.Session.Cursor
	cursor.Epoch = max(cursor.Epoch, 1)
	for _, r := range acp.Merge(st.rows) {
		cursor.Seq++
		b.Rows = append(b.Rows, davit.JournalRow{
			Session: c.id, Epoch: cursor.Epoch, Seq: cursor.Seq, Fence: c.row.Session.Fence, Time: c.s.cfg.Now().UTC(),
			Kind: r.Kind, Item: r.Item, Revision: r.Revision, Turn: r.Turn, Body: r.Body,
		})
	}
	c.row.Session.Cursor = cursor
	c.row.Session.Queued = len(c.queue)
	row := c.row
	b.Put = &row
	b.DoneActs = append(b.DoneActs, c.paid...)
	if err := c.store(*b); err != nil {
		return err
	}
	c.paid = nil
	c.show()
	for _, f := range st.then {
		f()
	}
	c.tell(true)
	return nil
}

// store appends, again and again while the store refuses.
func (c *chat) store(b store.JournalBatch) error {
	// Without a deadline: a step whose answer is not waited for may be stored or not.
	ctx := context.WithoutCancel(c.ctx)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := c.s.cfg.Store.AppendJournal(ctx, b)
		if err == nil || wait > 50*time.Millisecond && c.stored(ctx, b) {
			return nil
		}
		c.log.Error("a step of a chat could not be stored; it is tried again", "err", err)
		v := c.row.Session
		v.Fault = davit.Errorf(davit.CodeInternal, "the chat's journal cannot be written: %v", err).WithHint("check that the disk of the state directory has room and can be written")
		c.publish(v)
		c.told = v
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return errStopped
		}
	}
}

// stored says that a step which the store called failed is there after all.
func (c *chat) stored(ctx context.Context, b store.JournalBatch) bool {
	if len(b.Rows) == 0 {
		return false // the same again is harmless
	}
	first := b.Rows[0]
	rows, err := c.s.cfg.Store.Journal(ctx, c.id, davit.Cursor{Epoch: first.Epoch, Seq: first.Seq - 1}, 1)
	return err == nil && len(rows) == 1 && rows[0].Seq == first.Seq && rows[0].Item == first.Item && rows[0].Revision == first.Revision
}

// pay stores which acts are done, when nothing else was to be stored since.
func (c *chat) pay() {
	if len(c.paid) > 0 {
		_ = c.commit(&step{}) // an error is the host's stop
	}
}

// show lets readers see the session as stored, and wakes subscribers.
func (c *chat) show() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.view = c.row.Session
	close(c.changed)
	c.changed = make(chan struct{})
}

// seen is the session as stored.
func (c *chat) seen() davit.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view
}

// watch gives what tells of the next change, and the end of the journal as of now.
func (c *chat) watch() (<-chan struct{}, davit.Cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed, c.view.Cursor
}

// look counts subscribers that somebody looks at. The first one to come turns done into idle: somebody looks.
func (c *chat) look(n int) {
	c.mu.Lock()
	c.followers += n
	done := c.view.Status == davit.AgentDone
	c.mu.Unlock()
	if n > 0 && done {
		select {
		case c.mailbox <- func() {
			if c.row.Session.Status == davit.AgentDone {
				c.status(davit.AgentIdle, "")
				_ = c.commit(&step{}) // an error is the host's stop
			}
		}:
		default: // the next subscriber, or the next turn, does it
		}
	}
}

func (c *chat) followed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.followers > 0
}

// tell gives the model the session as stored; one of which only the cursor moved at most
// once in cursorEvery.
func (c *chat) tell(now bool) {
	v := c.seen()
	last := c.told
	if equalSessions(v, last) {
		if v.Cursor == last.Cursor || now && time.Since(c.toldAt) < cursorEvery {
			return
		}
	}
	c.publish(v)
	c.told, c.toldAt = v, time.Now()
}

func (c *chat) publish(v davit.Session) {
	c.change(func(m host.Model) []davit.Event {
		events := []davit.Event{{Kind: davit.EventSession, Session: &v}}
		if p, ok := m.State.Panes[v.Pane]; ok && v.Title != "" && p.Title != v.Title {
			p.Title = v.Title
			events = append(events, davit.Event{Kind: davit.EventPane, Pane: &p})
		}
		// A tab that is all this chat's is called by what is said in it.
		if t, ok := model.Tab(m.State, v.Tab); ok && t.Given == "" && v.Title != "" && t.Title != v.Title && t.Tree != nil && t.Tree.Pane == v.Pane {
			t.Title = v.Title
			events = append(events, davit.Event{Kind: davit.EventTab, Tab: &t})
		}
		return events
	})
}

// pane changes the session's pane in the model.
func (c *chat) pane(edit func(*davit.Pane)) {
	id := c.row.Session.Pane
	c.change(func(m host.Model) []davit.Event {
		p, ok := m.State.Panes[id]
		if !ok {
			return nil
		}
		edit(&p)
		return []davit.Event{{Kind: davit.EventPane, Pane: &p}}
	})
}

func (c *chat) change(decide func(host.Model) []davit.Event) {
	err := c.s.cfg.Host.Change(c.ctx, func(m host.Model) (host.Change, error) {
		return host.Change{Events: decide(m), Volatile: true}, nil
	})
	if err != nil && c.ctx.Err() == nil {
		c.log.Warn("clients were not told of a chat's change", "err", err)
	}
}

// fenced refuses a change that was made for a state that is over (S1.6).
func (c *chat) fenced(m Mutation) error {
	if m.Fence == nil || *m.Fence == c.row.Session.Fence {
		return nil
	}
	return davit.Errorf(davit.CodeSessionStaleFence, "the chat's agent was started or ended since: its fence is %d, not %d", c.row.Session.Fence, *m.Fence).
		WithHint("look at the chat as it is now, then ask again").With("fence", c.row.Session.Fence)
}

// rpc gives the next id for a request of ours (S1.2).
func (c *chat) rpc() uint64 {
	id := max(c.row.NextRPC, 1)
	c.row.NextRPC = id + 1
	return id
}

// ask puts a request of ours into a step: its row, and the input that carries it.
func (c *chat) ask(st *step, id uint64, method, item string, line []byte) string {
	act := c.input(st, line)
	rpc := strconv.FormatUint(id, 10)
	row := store.RPCRow{
		Direction: "ours", ID: rpc, Method: method, Act: act, Item: item, State: "open", Asked: c.s.cfg.Now(), Spawn: c.row.Spawn,
	}
	c.asks[id] = row
	st.batch.Requests = append(st.batch.Requests, row)
	st.add(c.conv.Note(davit.JournalRequest, davit.JournalBody{Request: &davit.RPCRequest{Direction: "ours", ID: rpc, Method: method, State: "open"}}))
	return act
}

// input puts a line for the agent into a step. It is sent when the step is stored.
func (c *chat) input(st *step, line []byte) string {
	act := store.ActRow{ID: mint("ca_"), Pane: davit.PaneID(c.row.Keeper), Kind: "input", Body: line, Created: c.s.cfg.Now()}
	st.batch.PutActs = append(st.batch.PutActs, act)
	st.then = append(st.then, func() { c.owed = append(c.owed, act) })
	return act.ID
}

func mint(prefix string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand does not fail
	return prefix + hex.EncodeToString(b[:])
}
