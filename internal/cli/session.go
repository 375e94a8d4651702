package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) sessionCommand() *cobra.Command {
	cmd := noun("session", "The chats with agents",
		a.sessionListCommand(), a.sessionShowCommand(), a.sessionSendCommand(), a.sessionAnswerCommand(),
		a.sessionCancelCommand(), a.sessionStopCommand(), a.sessionResumeCommand(), a.sessionExportCommand())
	cmd.Long = "The chats with agents. SESSION is an id, or as much of one as only one chat has; or the title of a tab."
	return cmd
}

func (a *app) sessionListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the chats, newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := call[wire.SessionList](cmd.Context(), a, "agentSession.list", wire.None{})
			if err != nil {
				return err
			}
			return a.print(l.Sessions, func(w io.Writer) {
				rows := newTable(w)
				for _, s := range l.Sessions {
					rows.row(string(s.ID), sessionAgent(s), sessionStatus(s), s.Directory, s.Title)
				}
				_ = rows.flush()
			})
		},
	}
}

// sessionAgent names the agent; the practice agent never passes for a model.
func sessionAgent(s davit.Session) string {
	if s.Practice {
		return s.Agent + " (practice)"
	}
	return s.Agent
}

func sessionStatus(s davit.Session) string {
	text := string(s.Status)
	if s.Status == davit.AgentWaiting && s.Waiting != "" {
		text += " for " + string(s.Waiting)
	}
	if s.Queued > 0 {
		text += fmt.Sprintf(", %d queued", s.Queued)
	}
	return text
}

// session finds a chat by its id, by as much of one as is enough, or by the title of its
// tab.
func (a *app) session(ctx context.Context, arg string) (davit.Session, error) {
	l, err := call[wire.SessionList](ctx, a, "agentSession.list", wire.None{})
	if err != nil {
		return davit.Session{}, err
	}
	tabs, err := call[wire.TabList](ctx, a, "tab.list", wire.None{})
	if err != nil {
		return davit.Session{}, err
	}
	return findSession(l.Sessions, tabs.Tabs, arg)
}

func findSession(sessions []davit.Session, tabs []wire.TabSummary, arg string) (davit.Session, error) {
	titled := map[davit.TabID]bool{}
	for _, t := range tabs {
		if t.Title == arg || string(t.ID) == arg {
			titled[t.ID] = true
		}
	}
	var byPrefix, byTab []davit.Session
	for _, s := range sessions {
		switch {
		case string(s.ID) == arg:
			return s, nil
		case arg != "" && strings.HasPrefix(string(s.ID), arg):
			byPrefix = append(byPrefix, s)
		case s.Tab != "" && titled[s.Tab]:
			byTab = append(byTab, s)
		}
	}
	found := byPrefix
	if len(found) == 0 {
		found = byTab
	}
	switch len(found) {
	case 0:
		return davit.Session{}, davit.Errorf(davit.CodeSessionNotFound, "there is no chat %q", arg).WithHint("`davit session list` shows what there is")
	case 1:
		return found[0], nil
	}
	var candidates []string
	for _, s := range found {
		candidates = append(candidates, string(s.ID))
	}
	slices.Sort(candidates)
	return davit.Session{}, davit.Errorf(davit.CodeSessionAmbiguous, "%d chats fit %q", len(found), arg).
		WithHint("use more of the id").With("candidates", candidates)
}

// mutate makes one change of a chat under one operation id (spec session S1.6). The fence
// is the chat's as it was looked up; when the agent was started or ended in between,
// nothing was done, and it is asked again with the fence of now.
func mutate[O any](ctx context.Context, a *app, s davit.Session, operation, name string, request func(wire.SessionMutation) any) (O, error) {
	m := wire.SessionMutation{Session: s.ID, Operation: cmp.Or(operation, newOperationID(time.Now())), Fence: s.Fence}
	for tries := 3; ; tries-- {
		out, err := call[O](ctx, a, name, request(m))
		if davit.CodeOf(err) != davit.CodeSessionStaleFence || tries == 0 {
			return out, err
		}
		now, err := call[davit.Session](ctx, a, "agentSession.get", wire.SessionRef{Session: s.ID})
		if err != nil {
			return out, err
		}
		m.Fence = now.Fence
	}
}

// cancelled is `davit session cancel --json`: the chat, and whether its agent was asked.
type cancelled struct {
	davit.Session
	Asked bool `json:"asked"`
}

func plainMutation(m wire.SessionMutation) any { return m }

func (a *app) sessionCancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel SESSION", Short: "End the running turn; the agent stays", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			answer, err := mutate[wire.SessionCancelled](cmd.Context(), a, s, "", "agentSession.cancel", plainMutation)
			if err != nil {
				return err
			}
			if s, err = call[davit.Session](cmd.Context(), a, "agentSession.get", wire.SessionRef{Session: s.ID}); err != nil {
				return err
			}
			return a.print(cancelled{s, answer.Asked}, func(w io.Writer) {
				if !answer.Asked {
					fmt.Fprintf(w, "no turn of %s runs: there is nothing to cancel\n", s.AgentName)
					return
				}
				fmt.Fprintf(w, "asked %s to end its turn\n", s.AgentName)
			})
		},
	}
}

func (a *app) sessionStopCommand() *cobra.Command {
	return a.sessionChange("stop", "End the turn and the agent's process; the chat can be resumed", "agentSession.stop", func(w io.Writer, s davit.Session) {
		fmt.Fprintf(w, "%s is %s\n", s.ID, sessionStatus(s))
		if s.Resume != "" {
			fmt.Fprintf(w, "  go on with: davit session resume %s\n", s.ID)
		}
	})
}

func (a *app) sessionResumeCommand() *cobra.Command {
	return a.sessionChange("resume", "Start the agent anew and go on where the chat was", "agentSession.resume", func(w io.Writer, s davit.Session) {
		fmt.Fprintf(w, "%s is %s\n", s.ID, sessionStatus(s))
	})
}

// sessionChange is a verb that needs a chat and nothing else; it answers with the chat as
// it is then.
func (a *app) sessionChange(verb, short, operation string, words func(io.Writer, davit.Session)) *cobra.Command {
	return &cobra.Command{
		Use: verb + " SESSION", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if _, err := mutate[map[string]any](cmd.Context(), a, s, "", operation, plainMutation); err != nil {
				return err
			}
			if s, err = call[davit.Session](cmd.Context(), a, "agentSession.get", wire.SessionRef{Session: s.ID}); err != nil {
				return err
			}
			return a.print(s, func(w io.Writer) { words(w, s) })
		},
	}
}

// plain takes out what would move a terminal's cursor or change its colours: what an agent
// says is text.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)) {
			return r
		}
		return -1
	}, text)
}
