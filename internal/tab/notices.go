package tab

import (
	"context"
	"fmt"
	"strings"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/keeper"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/wire"
)

// Kinds of notices that tabs raise.
const (
	NoticeClosed           = "tab_closed"
	NoticeCleanupFailed    = "cleanup_failed"
	NoticeCleanupHeld      = "cleanup_held"
	NoticeDirectoryMissing = "directory_missing"
	NoticeStillRunning     = "still_running"
	NoticeRestore          = "restore"
)

// notify stores and shows a notice; one with the same id is replaced.
func (s *Service) notify(ctx context.Context, n davit.Notice) {
	n.Created = s.cfg.Now()
	err := s.cfg.Host.Change(ctx, func(host.Model) (host.Change, error) {
		return host.Change{Events: []davit.Event{{Kind: davit.EventNotice, Notice: &n}}}, nil
	})
	if err != nil {
		s.cfg.Log.Error("a notice could not be stored", "title", n.Title, "body", n.Body, "err", err)
	}
}

func (s *Service) dismiss(ctx context.Context, id string) {
	_ = s.Dismiss(ctx, id)
}

// Dismiss takes a notice away.
func (s *Service) Dismiss(ctx context.Context, id string) error {
	return s.cfg.Host.Change(ctx, func(m host.Model) (host.Change, error) {
		if _, ok := model.Notice(m.State, id); !ok {
			return host.Change{}, davit.Errorf(davit.CodeNoticeNotFound, "there is no notice %q", id).WithHint("`davit notice list` shows what there is")
		}
		return host.Change{Events: []davit.Event{{Kind: davit.EventNoticeRemoved, NoticeID: id}}}, nil
	})
}

// Act does what a notice's button says.
func (s *Service) Act(ctx context.Context, req wire.NoticeAct) error {
	n, ok := model.Notice(s.cfg.Host.State(), req.ID)
	if !ok {
		return davit.Errorf(davit.CodeNoticeNotFound, "there is no notice %q", req.ID)
	}
	for _, a := range n.Actions {
		if a.ID != req.Action {
			continue
		}
		switch a.ID {
		case "undo":
			_, err := s.Undo(ctx, wire.TabRef{Batch: a.Text})
			return err
		case "run_again":
			return s.runAgain(ctx, a.Text)
		case "open_terminal":
			_, err := s.OpenPlain(ctx, wire.TabOpen{Directory: a.Text})
			return err
		case "end_processes":
			return s.endSurvivors(ctx, n.ID, a.Text)
		case "open_panes":
			return s.openStrangers(ctx, n.ID, a.Text)
		case "create_and_open":
			return s.createAndOpen(ctx, n)
		case "dismiss":
			return s.Dismiss(ctx, n.ID)
		}
		return davit.Errorf(davit.CodeNoticeActionUnknown, "%q is the client's own to do", a.ID)
	}
	return davit.Errorf(davit.CodeNoticeActionUnknown, "the notice %q has no action %q", req.ID, req.Action)
}

// noticeFailure tells a cleanup that failed, was interrupted or could not begin: which
// tab, which command, how it ended, the tail of its output, what was skipped (T5.5).
func failureNotice(row store.CleanupRow, report cleanup.Report, cause string) davit.Notice {
	n := davit.Notice{
		ID: "cleanup-" + row.ID, Kind: NoticeCleanupFailed, Level: "error", Persistent: true, Tab: row.Tab,
		Title: fmt.Sprintf("Cleanup of %q failed", row.TabTitle),
		Actions: []davit.NoticeAction{
			{ID: "copy_commands", Label: "Copy commands", Kind: "copy", Text: strings.Join(commandLines(row.Plan), "\n")},
			{ID: "run_again", Label: "Run again", Kind: "host", Text: row.ID},
			{ID: "open_terminal", Label: "Open terminal there", Kind: "host", Text: row.Plan.Directory},
			{ID: "dismiss", Label: "Dismiss", Kind: "host"},
		},
	}
	details := map[string]any{"directory": row.Plan.Directory, "skipped": report.Skipped}
	var body []string
	if cause != "" {
		body = append(body, cause)
	}
	if report.CutOff() {
		body = append(body, "What carried it out is gone: davit's keeper was ended, or the machine was restarted. It is not run again by itself.")
	}
	if step, failed := report.Failed(); failed {
		what := step.Error
		if report.CutOff() {
			what = "it was interrupted: whether it took effect is not known"
			n.Title = fmt.Sprintf("Cleanup of %q was interrupted", row.TabTitle)
		}
		body = append(body, fmt.Sprintf("%s\n%s", step.Command, what))
		details["command"], details["exit"] = step.Command, step.Exit
		if out := lastLines(step.Head+step.Tail, 12); out != "" {
			details["output"] = out
		}
	} else if report.CutOff() {
		n.Title = fmt.Sprintf("Cleanup of %q was interrupted", row.TabTitle)
		body = append(body, "what it ran last has ended well: "+report.Steps[len(report.Steps)-1].Command)
	}
	if report.Skipped > 0 {
		body = append(body, plural(report.Skipped, "command was skipped", "commands were skipped"))
	}
	n.Body, n.Details = strings.Join(body, "\n"), details
	return n
}

func commandLines(plan davit.OnClose) []string {
	var lines []string
	for _, step := range cleanup.Steps(plan) {
		lines = append(lines, step.Command)
	}
	return lines
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// noticeRemaining tells of what a close left, one notice a pane, with a button to end it
// (spec terminal P5.1).
func (s *Service) noticeRemaining(ctx context.Context, t davit.Tab, left []keeper.Process) {
	names, which := listed(left)
	s.notify(ctx, davit.Notice{
		ID: fmt.Sprintf("running-%s-%d", t.ID, left[0].Pid), Kind: NoticeStillRunning, Level: "info", Persistent: true, Tab: t.ID,
		Title: "Still running: " + names, Body: "It was started from a tab that is closed, and keeps to itself.",
		Actions: []davit.NoticeAction{
			{ID: "end_processes", Label: "End", Kind: "host", Text: which}, {ID: "dismiss", Label: "Dismiss", Kind: "host"},
		},
	})
}

func (s *Service) noticeMissing(ctx context.Context, t davit.Tab, o *opening, missing []string) {
	values := map[string]any{}
	for name, value := range o.in.Values {
		values[name] = value
	}
	s.notify(ctx, davit.Notice{
		ID: "missing-" + string(t.ID), Kind: NoticeDirectoryMissing, Level: "warning", Persistent: true, Tab: t.ID,
		Title: fmt.Sprintf("%s: %s", t.Title, plural(len(missing), "directory does not exist", "directories do not exist")),
		Body:  strings.Join(missing, "\n"),
		Actions: []davit.NoticeAction{
			{ID: "create_and_open", Label: "Create and open", Kind: "host"}, {ID: "dismiss", Label: "Dismiss", Kind: "host"},
		},
		Details: map[string]any{"config": o.loaded.Path, "params": values, "dir": o.in.StartDir},
	})
}

// createAndOpen opens the config of a notice again, with its directories made.
func (s *Service) createAndOpen(ctx context.Context, n davit.Notice) error {
	req := wire.OpenRequest{CreateDirectories: true, Params: map[string]string{}}
	req.Config, _ = n.Details["config"].(string)
	req.Dir, _ = n.Details["dir"].(string)
	if params, ok := n.Details["params"].(map[string]any); ok {
		for name, value := range params {
			req.Params[name], _ = value.(string)
		}
	}
	if _, err := s.OpenConfig(ctx, req); err != nil {
		return err
	}
	return s.Dismiss(ctx, n.ID)
}
