// Package run types a command for the user into a pane's shell, at its prompt: what a click
// in a menu runs, the user sees in their own shell and finds in its history (spec chips
// C5.2). A half-typed line is put aside by the shell itself and comes back at the next
// prompt, text and cursor.
//
//	request ─► ledger ─► prompt? ─► offer (a file) ─► davit's key ─► the shell claims it ─► command begins
//	                                                    └─ no answer: withdrawn ─► nothing ran, for certain
//
// The command itself never goes through the terminal: a program that has come in front
// meanwhile gets a key that it does not know, and no text. Whoever makes the claim's file
// first decides, the shell or davit, so that it is known after a crash too whether the
// command ran. The same operation id never runs twice.
//
// It starts no goroutine. A lock for each pane is held over one request. It refuses panes
// without a shell, shells whose prompt is not open, and shells that cannot put a line aside
// unless nothing is typed for certain.
package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"davit"
	"davit/internal/host"
	"davit/internal/pane"
	"davit/internal/shell"
	"davit/internal/store"
	"davit/internal/template"
	"davit/internal/wire"
)

// Ledger is what the service needs of the store (spec launch L6.2).
type Ledger interface {
	Admit(ctx context.Context, r store.AdmitRequest) (store.Admission, error)
	Settle(ctx context.Context, caller, id string, result []byte) error
	Fail(ctx context.Context, caller, id string, failure []byte) error
}

// Panes finds live panes.
type Panes interface {
	Get(id davit.PaneID) (*pane.Pane, error)
}

// Config is what the service needs.
type Config struct {
	Host    *host.Host
	Panes   Panes
	Ledger  Ledger
	Scripts string // where the shell integration lies; "" = none
	Now     func() time.Time
	Log     *slog.Logger
}

// Service runs commands. It may be used from any goroutine.
type Service struct {
	cfg Config

	mu    sync.Mutex // guards panes; a leaf
	panes map[davit.PaneID]*turn
}

// turn is who waits for a pane.
type turn struct {
	free  chan struct{} // capacity 1: holds a token while nobody runs
	users int
}

// New makes a service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, panes: map[davit.PaneID]*turn{}}
}

// promptWait is how long a shell between two prompts is waited for.
const promptWait = 2 * time.Second

// Run is pane.run. What a refusal says before the ledger has the id leaves the id unused.
func (s *Service) Run(ctx context.Context, caller string, in wire.PaneRun) (wire.PaneRan, error) {
	if len(in.Argv) == 0 || in.Argv[0] == "" {
		return wire.PaneRan{}, davit.Errorf(davit.CodeInvalid, "there is no command to run").WithHint("give its words as argv")
	}
	done, err := s.take(ctx, in.Pane)
	if err != nil {
		return wire.PaneRan{}, err
	}
	defer done()
	admit := store.AdmitRequest{
		Caller: caller, OperationID: in.ClientOperationID, Fingerprint: fingerprint(in), Now: s.cfg.Now(), ReplayOnly: true,
		Minted: store.Minted{PaneID: in.Pane},
	}
	a, err := s.cfg.Ledger.Admit(ctx, admit)
	if err != nil {
		return wire.PaneRan{}, err
	}
	if a.Kind != store.AdmitMissing {
		return s.answer(ctx, in, a, s.cfg.Now())
	}
	w, err := s.look(ctx, in)
	if err != nil {
		return wire.PaneRan{}, err
	}
	admit.ReplayOnly, admit.Intent = false, intentOf(w)
	if a, err = s.cfg.Ledger.Admit(ctx, admit); err != nil {
		return wire.PaneRan{}, err
	}
	if a.Kind != store.AdmitFresh {
		return s.answer(ctx, in, a, s.cfg.Now())
	}
	// From here on it goes to its end, whether the caller still listens or not.
	ran, err := s.act(context.WithoutCancel(ctx), w)
	s.settle(context.WithoutCancel(ctx), a.Row, ran, err)
	return ran, err
}

// take waits for a pane's turn.
func (s *Service) take(ctx context.Context, id davit.PaneID) (done func(), err error) {
	s.mu.Lock()
	t := s.panes[id]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		s.panes[id] = t
	}
	t.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(s.panes, id)
		}
	}
	select {
	case <-t.free:
		return func() { t.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

func fingerprint(in wire.PaneRun) string {
	text, _ := json.Marshal([]any{"pane.run", in.Pane, in.Argv})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// work is one command that may be run.
type work struct {
	in   wire.PaneRun
	pane *pane.Pane
	at   pane.Prompt
	line string
}

// look says what would be typed where, or why not.
func (s *Service) look(ctx context.Context, in wire.PaneRun) (work, error) {
	w := work{in: in}
	var err error
	if w.pane, err = s.cfg.Panes.Get(in.Pane); err != nil {
		return w, err
	}
	model := s.cfg.Host.Model()
	row := model.Rows.Panes[in.Pane]
	if v := w.pane.View(); v.Status != davit.PaneRunning {
		return w, notRunning(v)
	}
	if row.Spec.Agent != "" || len(row.Spec.Argv) > 0 {
		return w, davit.Errorf(davit.CodePaneNotShell, "the pane %s holds a program and no shell", in.Pane).
			WithHint("`davit pane split %s` opens a shell beside it", in.Pane)
	}
	if row.Spec.Startup != nil {
		return w, noPrompt(in.Pane, "startup", "the tab's startup commands are still being typed into pane %s", in.Pane)
	}
	if w.at, err = w.pane.Prompt(ctx, promptWait); err != nil {
		return w, err
	}
	front, err := w.pane.InFront(ctx)
	if err != nil {
		return w, err
	}
	known := w.at.Keys != "" && s.cfg.Scripts != ""
	switch {
	case !front.OwnChild || w.at.Marks && !w.at.Open:
		program := cmp.Or(w.at.Command, front.Name, "a program")
		return w, noPrompt(in.Pane, "running", "%s runs in pane %s: its shell has no prompt open", program, in.Pane).With("program", program)
	case w.at.Kept:
		return w, noPrompt(in.Pane, "kept", "the shell of pane %s has not put back the line of an earlier command yet", in.Pane)
	case !w.at.Marks:
		return w, davit.Errorf(davit.CodePaneLineUnknown, "the shell of pane %s tells davit nothing of its prompt, so davit cannot know whether something is typed there", in.Pane).
			WithHint("type the command yourself; bash, zsh and fish tell it when davit starts them").With("reason", "no_integration")
	case !known && !w.at.Empty:
		return w, davit.Errorf(davit.CodePaneLineUnknown, "something may be typed at the prompt of pane %s, and its shell cannot put it aside", in.Pane).
			WithHint("empty the line, or open a new shell: one that this davit starts can").With("reason", "line_not_empty")
	}
	kind := string(w.at.Keys)
	if !known {
		w.at.Keys, kind = "", row.Pane.Shell
	}
	language, ok := template.ShellOf(kind)
	if !ok {
		return w, davit.Errorf(davit.CodePaneLineUnknown, "davit does not know how %s quotes", kind).WithHint("type the command yourself").With("reason", "unknown_shell")
	}
	if w.line, err = template.CommandLine(language, in.Argv); err != nil {
		return w, davit.Errorf(davit.CodeInvalid, "the command cannot be typed: %w", err).With("reason", "argument")
	}
	return w, nil
}

func notRunning(v davit.Pane) error {
	if v.Status == davit.PaneLost {
		return davit.Errorf(davit.CodePaneLost, "pane %s was lost: nothing can be typed into it", v.ID)
	}
	return davit.Errorf(davit.CodePaneEnded, "the shell of pane %s does not run", v.ID).WithHint("`davit pane restart %s` starts it again", v.ID)
}

func noPrompt(id davit.PaneID, reason, format string, args ...any) *davit.Error {
	return davit.Errorf(davit.CodePaneNoPrompt, format, args...).
		WithHint("wait for the prompt (`davit pane wait %s --for prompt`), or split the pane", id).With("reason", reason)
}

// intent is what a row says of a command, so that a host which finds it knows whether the
// shell makes a claim.
type intent struct {
	Operation string `json:"operation"`
	How       string `json:"how"`
}

func intentOf(w work) []byte {
	how := wire.RanByKey
	if w.at.Keys == "" {
		how = wire.RanTyped
	}
	text, _ := json.Marshal(intent{"pane.run", how})
	return text
}

// act has the shell run the command, and says what came of it.
func (s *Service) act(ctx context.Context, w work) (wire.PaneRan, error) {
	ran := wire.PaneRan{Pane: w.in.Pane, Line: w.line}
	press := pane.Press{ID: "run-" + w.in.ClientOperationID}
	if w.at.Keys == "" {
		press.Data = shell.TypedLine("", w.line, w.at.Framed)
		pressed, err := w.pane.PressKeys(ctx, press)
		ran.How, ran.Block = wire.RanTyped, pressed.Block
		return ran, err
	}
	ran.How = wire.RanByKey
	offer := s.offer(w.in)
	if err := offer.Put(w.line); err != nil {
		return ran, davit.Errorf(davit.CodeHomeUnusable, "the command could not be given to the shell of pane %s: %w", w.in.Pane, err)
	}
	defer offer.Forget()
	press.Data, press.Answer = shell.TakeKeys(w.at.Keys), w.in.ClientOperationID
	pressed, err := w.pane.PressKeys(ctx, press)
	switch ran.Block = pressed.Block; pressed.Answer {
	case shell.AnswerTaken, shell.AnswerKeptAndTaken:
		ran.Kept = pressed.Answer == shell.AnswerKeptAndTaken
		return ran, nil
	}
	withdrawn, failed := offer.Withdraw()
	switch {
	case failed != nil:
		return ran, davit.Errorf(davit.CodeOperationUnknown, "whether the shell of pane %s ran the command is not known: %w", w.in.Pane, failed)
	case !withdrawn: // it did, and its word was not heard
		return ran, nil
	case err != nil:
		return ran, err
	}
	return ran, refusal(w.in.Pane, pressed.Answer)
}

// refusal says why a shell did not take a command; nothing ran.
func refusal(id davit.PaneID, answer string) error {
	switch answer {
	case shell.AnswerContinuation:
		return noPrompt(id, "continuation", "the shell of pane %s waits for the rest of a command", id).
			WithHint("finish that command, or press Ctrl-C there")
	case shell.AnswerKept:
		return noPrompt(id, "kept", "the shell of pane %s has not put back the line of an earlier command yet", id)
	}
	return noPrompt(id, "no_answer", "the shell of pane %s did not take the command: nothing was run", id).
		WithHint("it may be in a search or a menu of its own: leave that with Ctrl-C, and try again")
}

func (s *Service) offer(in wire.PaneRun) shell.Offer {
	return shell.NewOffer(s.cfg.Scripts, string(in.Pane), in.ClientOperationID)
}
