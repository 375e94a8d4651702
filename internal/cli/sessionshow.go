package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) sessionShowCommand() *cobra.Command {
	var follow, all bool
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "Print a chat; with --follow as it goes on", Args: cobra.ExactArgs(1),
		Long: "Prints a chat as text: messages, tool calls with their state, and open questions with how to answer them.\n" +
			"--follow goes on until the chat ends, through restarts of the host. With --json the rows of its journal are\nprinted, with --follow one on each line.",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.json && !follow {
				return a.showJSON(cmd.Context(), s, all)
			}
			return a.showText(cmd.Context(), s, all, follow)
		},
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the chat ends")
	cmd.Flags().BoolVar(&all, "all", false, fmt.Sprintf("from the beginning, not the newest %d rows alone", pageRows))
	return cmd
}

// shown is `davit session show --json`.
type shown struct {
	Session davit.Session      `json:"session"`
	Rows    []davit.JournalRow `json:"rows"`
}

func (a *app) showJSON(ctx context.Context, s davit.Session, all bool) error {
	rows, err := a.readTail(ctx, s.ID, pageRows, func([]davit.JournalRow) bool { return !all })
	if err != nil {
		return err
	}
	return a.printJSON(shown{Session: s, Rows: append([]davit.JournalRow{}, rows...)})
}

func (a *app) showText(ctx context.Context, s davit.Session, all, follow bool) error {
	rows, err := a.readTail(ctx, s.ID, pageRows, func([]davit.JournalRow) bool { return !all })
	if err != nil {
		return err
	}
	p := newChatPrinter(a.out, s)
	var at davit.Cursor
	for _, row := range rows {
		p.log.apply(row)
		at = davit.Cursor{Epoch: row.Epoch, Seq: row.Seq}
		if a.json {
			a.printLine(row)
		}
	}
	if !a.json {
		// What has been is told as it turned out, not state by state.
		for _, it := range p.log.items {
			p.item(it)
		}
	}
	if follow {
		if s, err = call[davit.Session](ctx, a, "agentSession.get", wire.SessionRef{Session: s.ID}); err != nil {
			return err
		}
	}
	if !follow || (ended(s.Status) && !after(s.Cursor, at)) {
		p.endLine()
		a.showEnd(s)
		return nil
	}
	err = a.follow(ctx, s.ID, at, func(row davit.JournalRow) bool {
		if a.json {
			a.printLine(row)
		} else {
			p.row(row)
		}
		return lastRow(row)
	})
	p.endLine()
	return err
}

// showEnd says on stderr how the chat stands when its text does not tell.
func (a *app) showEnd(s davit.Session) {
	if a.json {
		return
	}
	if draft := oneLine(s.Draft.Text); draft != "" {
		a.note("draft, not sent: %s", draft)
	}
	a.note("%s is %s", s.ID, sessionStatus(s))
	if s.Fault != nil {
		a.note("%s", s.Fault.Message)
		if s.Fault.Hint != "" {
			a.note("hint: %s", s.Fault.Hint)
		}
	}
}

func ended(status davit.AgentStatus) bool {
	return status == davit.AgentExited || status == davit.AgentResumable
}

// lastRow is what the journal has when the agent's process has ended.
func lastRow(row davit.JournalRow) bool {
	l := row.Body.Lifecycle
	return l != nil && (l.Event == "exited" || l.Event == "lost")
}

// printLine prints one value as one line of JSON.
func (a *app) printLine(v any) {
	encoder := json.NewEncoder(a.out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
}

// follow calls visit for each row after a cursor as it comes, until visit says that it is
// enough. A host that goes away is waited for, and the rows go on after the last.
func (a *app) follow(ctx context.Context, id davit.SessionID, at davit.Cursor, visit func(davit.JournalRow) bool) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	a.onOneCore()
	var host restarts
	for {
		rows, err := c.Follow(ctx, "davit session", id, &at, 0)
		if err == nil {
			err = func() error {
				defer rows.Close()
				for {
					next, err := rows.Next(ctx)
					if err != nil {
						return err
					}
					host.answered()
					for _, row := range next.Rows {
						place := davit.Cursor{Epoch: row.Epoch, Seq: row.Seq}
						if next.Reset != "" && !after(place, at) {
							continue // the whole came again: this much is known
						}
						at = place
						if visit(row) {
							return io.EOF
						}
					}
				}
			}()
		}
		if err == io.EOF {
			return nil
		}
		if !host.again(ctx, err) {
			return err
		}
	}
}

func after(a, b davit.Cursor) bool {
	return a.Epoch > b.Epoch || (a.Epoch == b.Epoch && a.Seq > b.Seq)
}
