package keeper

import (
	"encoding/json"
	"sync"

	"davit"
)

const (
	rememberActs   = 1024 // of a pane (P1.2)
	rememberSpawns = 4096 // of all panes, forgotten and failed ones too
)

// act is one asked act: under way, or done with its answer.
type act struct {
	verb, pane string
	done       bool
	body       json.RawMessage
	err        *WireError
	waiting    []func(json.RawMessage, *WireError)
}

// acts does each id once and answers a repeat with the first answer (P1.2). mu is a
// leaf; answers are given outside of it.
type acts struct {
	most int

	mu    sync.Mutex
	byID  map[string]*act
	order []string
}

func newActs(most int) *acts { return &acts{most: most, byID: map[string]*act{}} }

// begin says whether id is new, and so to be done by the caller, who then calls settle.
// In any case answer is called once, now or when the act is done.
func (a *acts) begin(id, verb, pane string, answer func(json.RawMessage, *WireError)) bool {
	if id == "" || len(id) > 256 {
		answer(nil, ErrorToWire(davit.Errorf(davit.CodeInvalid, "%s without a usable id", verb)))
		return false
	}
	a.mu.Lock()
	known := a.byID[id]
	switch {
	case known == nil:
		a.byID[id] = &act{verb: verb, pane: pane, waiting: []func(json.RawMessage, *WireError){answer}}
		a.order = append(a.order, id)
		a.evict()
		a.mu.Unlock()
		return true
	case known.verb != verb || known.pane != pane:
		a.mu.Unlock()
		answer(nil, ErrorToWire(davit.Errorf(davit.CodeKeeperIDReused,
			"the id %s was used for %s of pane %s", id, known.verb, known.pane)))
	case !known.done:
		known.waiting = append(known.waiting, answer)
		a.mu.Unlock()
	default:
		body, err := known.body, known.err
		a.mu.Unlock()
		answer(body, err)
	}
	return false
}

// evict forgets the oldest done acts beyond the bound. Under mu.
func (a *acts) evict() {
	for len(a.order) > a.most && a.byID[a.order[0]].done {
		delete(a.byID, a.order[0])
		a.order = a.order[1:]
	}
}

// settle stores the answer of an act and gives it to all that wait. An err that says
// that nothing was taken is given but not remembered, so that the id may come again.
func (a *acts) settle(id string, result any, err error) {
	var body json.RawMessage
	var wire *WireError
	if err == nil {
		body, err = json.Marshal(result)
	}
	if err != nil {
		wire = ErrorToWire(err)
	}
	a.mu.Lock()
	done := a.byID[id]
	waiting := done.waiting
	done.waiting, done.done, done.body, done.err = nil, true, body, wire
	if wire != nil && takenNothing(err) {
		a.forget(id)
	}
	a.mu.Unlock()
	for _, answer := range waiting {
		answer(body, wire)
	}
}

func (a *acts) forget(id string) {
	delete(a.byID, id)
	for i, known := range a.order {
		if known == id {
			a.order = append(a.order[:i:i], a.order[i+1:]...)
			return
		}
	}
}

func takenNothing(err error) bool {
	switch davit.CodeOf(err) {
	case davit.CodePaneBusy, davit.CodeInvalid, davit.CodeKeeperSuperseded,
		davit.CodePaneInputTooLarge, davit.CodeShuttingDown:
		return true
	}
	return false
}
