package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) psCommand() *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use: "ps", Short: "List the agents, in terminals and chats: what each does, those that wait first", Args: cobra.NoArgs,
		Long: "Lists the agents, in terminals and chats, those that wait for you first. A status in brackets is a guess, from the window\n" +
			"title or the screen; `davit agent hooks install` lets agents tell. One with ? is as a former host knew it.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return a.watchAgents(cmd.Context())
			}
			l, err := call[wire.AgentStatuses](cmd.Context(), a, "agent.status", wire.None{})
			if err != nil {
				return err
			}
			return a.print(l.Agents, func(w io.Writer) { printAgents(w, l.Agents, time.Now(), a.getenv("HOME")) })
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "go on, and print the list again when it changes")
	return cmd
}

// watchEvery is how often the list is asked for.
const watchEvery = 500 * time.Millisecond

// watchAgents prints the list whenever it has changed: over the former one on a terminal,
// else as one line of JSON or as a list after an empty line. A host that restarts is
// waited for.
func (a *app) watchAgents(ctx context.Context) error {
	if _, err := call[wire.HostInfo](ctx, a, "host.info", wire.None{}); err != nil {
		return err
	}
	var host restarts
	var before []byte
	for {
		l, err := call[wire.AgentStatuses](ctx, a, "agent.status", wire.None{})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && host.again(ctx, err):
			continue
		case err != nil:
			return err
		}
		host.answered()
		shown, err := a.agentsShown(l.Agents, before == nil)
		if err != nil {
			return err
		}
		if !bytes.Equal(shown, before) {
			before = shown
			if _, err := a.out.Write(shown); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}

func (a *app) agentsShown(agents []davit.AgentRow, first bool) ([]byte, error) {
	if a.json {
		line, err := json.Marshal(agents)
		return append(line, '\n'), err
	}
	var out bytes.Buffer
	terminal := a.isTerminal()
	switch {
	case terminal:
		out.WriteString("\x1b[H\x1b[2J")
	case !first:
		out.WriteByte('\n')
	}
	printAgents(&out, agents, time.Now(), a.getenv("HOME"))
	return out.Bytes(), nil
}

// shapes tell the status without colour.
var shapes = map[davit.AgentStatus]string{
	davit.AgentWaiting: "◆", davit.AgentError: "✖", davit.AgentDone: "✔", davit.AgentWorking: "●", davit.AgentStarting: "◌",
	davit.AgentIdle: "○", davit.AgentUnknown: "?", davit.AgentExited: "×", davit.AgentResumable: "‖",
}

func printAgents(w io.Writer, agents []davit.AgentRow, now time.Time, home string) {
	if len(agents) == 0 {
		fmt.Fprintln(w, "no agents; `davit launch` starts one")
		return
	}
	rows := newTable(w)
	for _, r := range agents {
		kind := ""
		if r.Kind == davit.Structured {
			kind = " (chat)"
		}
		rows.row(shapes[r.Status]+" "+statusWords(r), ago(now.Sub(r.Since)), visible(r.AgentName)+kind, visible(cmp.Or(r.TabTitle, "-")), visible(place(r, home)), visible(aboutAgent(r)))
	}
	_ = rows.flush()
}

// statusWords is the status as a person reads it: what it waits for, and how sure it is.
func statusWords(r davit.AgentRow) string {
	words := string(r.Status)
	if r.Status == davit.AgentWaiting {
		words = map[davit.WaitingFor]string{davit.WaitingPermission: "wants permission", davit.WaitingQuestion: "asks you"}[r.Waiting]
		words = cmp.Or(words, "waits for you")
	}
	switch {
	case r.Unconfirmed:
		return words + "?"
	case r.Source == davit.StatusFromTitle || r.Source == davit.StatusFromScreen:
		return "(" + words + ")"
	}
	return words
}

func place(r davit.AgentRow, home string) string {
	dir := r.Directory
	if rest, below := strings.CutPrefix(dir, home+string(filepath.Separator)); below && home != "" {
		dir = "~/" + rest
	}
	if r.Branch != "" {
		dir += " (" + r.Branch + ")"
	}
	return dir
}

// aboutAgent is one line of what it is about.
func aboutAgent(r davit.AgentRow) string {
	text := r.Message
	if r.Tool != "" && (r.Status == davit.AgentWorking || text == "") {
		text = strings.TrimSpace(r.Tool + " " + r.Input)
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if n := len(r.Children); n > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s [%d more inside]", text, n))
	}
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:59]) + "…"
	}
	return text
}

// ago is a time that has passed, in its largest unit.
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
