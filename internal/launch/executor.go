package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"davit"
	"davit/internal/launch/intent"
	"davit/internal/store"
)

// Executor carries launches out. It may be used from any goroutine.
type Executor struct {
	cfg  Config
	ctx  context.Context // of every launch: it outlives the callers (L5.9)
	stop context.CancelCauseFunc
	runs sync.WaitGroup

	mu      sync.Mutex // guards the two below; never held over work
	flights map[flightKey]*flight
	drained bool
}

type flightKey struct{ caller, operation string }

// flight is a launch that runs. Those who wait read result and err after done.
type flight struct {
	fingerprint string
	done        chan struct{}
	result      davit.Result
	err         error
}

var errDrained = &davit.Error{Code: davit.CodeShuttingDown, Message: "the host is stopping: nothing was launched", Hint: "ask again when it is back"}

// New makes an executor. It starts nothing.
func New(cfg Config) *Executor {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Failpoint == nil {
		cfg.Failpoint = func(string) {}
	}
	if cfg.Started == nil {
		cfg.Started = func(davit.Launched) {}
	}
	if cfg.SupportLimit == 0 {
		cfg.SupportLimit = 10 * time.Second
	}
	if cfg.SetupLimit == 0 {
		cfg.SetupLimit = time.Minute
	}
	if cfg.DefaultSurface == nil {
		cfg.DefaultSurface = func(context.Context) davit.Surface { return davit.Structured }
	}
	if cfg.DefaultAgent == nil {
		cfg.DefaultAgent = func(context.Context) string { return "" }
	}
	ctx, stop := context.WithCancelCause(context.Background())
	return &Executor{cfg: cfg, ctx: ctx, stop: stop, flights: map[flightKey]*flight{}}
}

// Drain takes no more launches and waits for those that run; when ctx ends first, they
// are told to stop and waited for all the same.
func (x *Executor) Drain(ctx context.Context) {
	x.mu.Lock()
	x.drained = true
	x.mu.Unlock()
	unhook := context.AfterFunc(ctx, func() { x.stop(errDrained) })
	defer unhook()
	x.runs.Wait()
	x.stop(errDrained)
}

// Launch starts the agent that the intent asks for, or gives the stored answer when its
// operation was let in before (L6.2). Identical calls in flight share one answer. When
// ctx ends the launch goes on, and the same call finds its result (L5.9).
func (x *Executor) Launch(ctx context.Context, caller Caller, in davit.Intent) (davit.Result, error) {
	in, err := x.name(ctx, caller, in)
	if err != nil {
		return davit.Result{}, err
	}
	r, err := x.check(in)
	if err != nil {
		return davit.Result{}, err
	}
	f, err := x.begin(caller, r)
	if err != nil {
		return davit.Result{}, err
	}
	return f.wait(ctx)
}

// name fills in the agent of an intent that names none: that of the stored operation, whatever
// has become of the setting since, else the setting's.
func (x *Executor) name(ctx context.Context, caller Caller, in davit.Intent) (davit.Intent, error) {
	if in.Agent != "" {
		return in, nil
	}
	if in.OperationID != "" {
		row, ok, err := x.cfg.Ledger.Operation(ctx, caller.Key, in.OperationID)
		if err != nil {
			return in, err
		}
		var stored struct{ Agent string }
		if ok && json.Unmarshal(row.Intent, &stored) == nil && stored.Agent != "" {
			in.Agent = stored.Agent
			return in, nil
		}
	}
	if in.Agent = x.cfg.DefaultAgent(ctx); in.Agent == "" {
		return in, davit.Errorf(davit.CodeInvalid, "the launch names no agent, and no default agent is set").
			WithHint("name one, or set one with `davit agent default NAME`; `davit agent list` shows them").With("field", "agent")
	}
	return in, nil
}

// check adds to the package's check what only this host knows.
func (x *Executor) check(in davit.Intent) (intent.Checked, error) {
	r, err := intent.Check(in)
	if err == nil && in.Host != "" && in.Host != x.cfg.Host {
		return r, intent.NotServed("host", "launching on another host than "+string(x.cfg.Host))
	}
	return r, err
}

func (f *flight) wait(ctx context.Context) (davit.Result, error) {
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return davit.Result{}, fmt.Errorf("the launch goes on without its caller: %w", context.Cause(ctx))
	}
}

// begin joins the flight of an identical call, or starts one.
func (x *Executor) begin(caller Caller, r intent.Checked) (*flight, error) {
	key := flightKey{caller.Key, r.Intent.OperationID}
	print := intent.Fingerprint(r.Intent, x.cfg.Key)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.drained {
		return nil, errDrained
	}
	if running, ok := x.flights[key]; ok && key.operation != "" {
		if running.fingerprint != print {
			return nil, conflict(key.operation)
		}
		return running, nil
	}
	f := &flight{fingerprint: print, done: make(chan struct{})}
	if key.operation != "" {
		x.flights[key] = f
	}
	x.runs.Add(1)
	go func() {
		defer x.runs.Done()
		f.result, f.err = x.fly(caller, r, print)
		x.mu.Lock()
		if key.operation != "" {
			delete(x.flights, key)
		}
		x.mu.Unlock()
		close(f.done)
	}()
	return f, nil
}

// fly is the whole of one launch. A panic in it is one launch's end, not the host's.
func (x *Executor) fly(caller Caller, r intent.Checked, print string) (result davit.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			x.cfg.Log.Error("a launch panicked", "operation", r.Intent.OperationID, "panic", p, "stack", string(debug.Stack()))
			result, err = davit.Result{}, davit.Errorf(davit.CodeInternal, "the launch ended in a fault of davit's own: %v", p)
		}
	}()
	op := r.Intent.OperationID
	if op != "" {
		// A stored operation is answered whatever has become of its agent since.
		row, ok, err := x.cfg.Ledger.Operation(x.ctx, caller.Key, op)
		switch {
		case err != nil:
			return davit.Result{}, err
		case ok && row.Fingerprint != print:
			return davit.Result{}, conflict(op)
		case ok:
			return x.replay(x.ctx, caller, row)
		}
	}
	run := &run{x: x, caller: caller, req: r, in: r.Intent, minted: mint(r.Intent)}
	if err := run.validate(x.ctx); err != nil {
		return davit.Result{}, err
	}
	x.cfg.Failpoint("after-validate")
	if op != "" {
		admission, err := x.cfg.Ledger.Admit(x.ctx, store.AdmitRequest{
			Caller: caller.Key, OperationID: op, Fingerprint: print, Intent: intent.Stored(r.Intent, x.cfg.Key),
			Minted: run.minted, Now: x.cfg.Now(),
		})
		if err != nil {
			return davit.Result{}, err
		}
		if admission.Kind != store.AdmitFresh {
			return x.answer(x.ctx, caller, op, admission)
		}
	}
	x.cfg.Failpoint("after-claim")
	return run.do(x.ctx)
}

// answer turns an admission that is not fresh into what the caller gets (L6.2).
func (x *Executor) answer(ctx context.Context, caller Caller, op string, a store.Admission) (davit.Result, error) {
	switch a.Kind {
	case store.AdmitReplay:
		return x.replay(ctx, caller, a.Row)
	case store.AdmitConflict:
		return davit.Result{}, conflict(op)
	case store.AdmitExpired:
		return davit.Result{}, davit.Errorf(davit.CodeOperationExpired, "the operation id %s is older than 24 hours, and nothing is stored under it", op).
			WithHint("mint a new id").With("operationId", op)
	case store.AdmitInvalid:
		if fault := store.OperationFault(op, x.cfg.Now()); fault != nil {
			return davit.Result{}, fault
		}
		return davit.Result{}, davit.Errorf(davit.CodeOperationInvalid, "the operation id %q is not taken", op).With("operationId", op)
	case store.AdmitLost:
		return davit.Result{}, davit.Errorf(davit.CodeOperationUnknown, "it cannot be known what operation %s did: its row may have been lost with a damaged store", op).
			WithHint("look at the tabs and worktrees that there are, then launch with a new id").With("operationId", op)
	case store.AdmitMissing:
		return davit.Result{}, davit.Errorf(davit.CodeNotFound, "no launch with the operation id %s is stored: nothing was made under it", op).
			WithHint("launch with the same id to run it").With("operationId", op)
	}
	return davit.Result{}, davit.Errorf(davit.CodeInternal, "the ledger answered %q", a.Kind)
}

func conflict(op string) error {
	return davit.Errorf(davit.CodeOperationConflict, "the operation id %s was used for another launch; nothing of this one was done", op).
		WithHint("mint a new id for each launch").With("operationId", op)
}
