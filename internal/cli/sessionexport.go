package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) sessionExportCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "export SESSION", Short: "Print a whole chat as Markdown or JSON", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.json {
				format = "json"
			}
			if format != "md" && format != "json" {
				return usagef("--format is md or json")
			}
			s, err := a.session(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			log, _, err := a.readAll(cmd.Context(), s.ID)
			if err != nil {
				return err
			}
			items := make([]davit.JournalRow, 0, len(log.items))
			for _, it := range log.items {
				items = append(items, it.whole())
			}
			if format == "json" {
				return a.printJSON(exported{Session: s, Items: items})
			}
			m := markdown{session: s, payload: func(digest string) (string, error) { return a.payload(cmd.Context(), s.ID, digest) }}
			text, err := m.render(items)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "md", "md or json")
	return cmd
}

// exported is `davit session export --format json`: each item once, as it turned out.
type exported struct {
	Session davit.Session      `json:"session"`
	Items   []davit.JournalRow `json:"items"`
}

func (a *app) payload(ctx context.Context, id davit.SessionID, digest string) (string, error) {
	p, err := call[wire.Payload](ctx, a, "agentSession.payload", wire.SessionPayload{Session: id, Digest: digest})
	return string(p.Data), err
}

// markdown renders a chat for people.
type markdown struct {
	strings.Builder
	session davit.Session
	payload func(digest string) (string, error)
}

func (m *markdown) render(items []davit.JournalRow) (string, error) {
	title := m.session.Title
	if title == "" {
		title = "Chat with " + m.session.AgentName
	}
	fmt.Fprintf(m, "# %s\n\n%s, %s in `%s`\n", oneLine(title), m.session.AgentName, m.session.Created.UTC().Format(time.DateOnly), m.session.Directory)
	for _, row := range items {
		if err := m.item(row); err != nil {
			return "", err
		}
	}
	return m.String(), nil
}

func (m *markdown) item(row davit.JournalRow) error {
	b := row.Body
	switch {
	case row.Kind == davit.JournalMessage, row.Kind == davit.JournalThought:
		return m.message(row)
	case b.Tool != nil:
		fmt.Fprintf(m, "\n**Tool** %s (%s): %s\n", oneLine(b.Tool.Title), b.Tool.Kind, b.Tool.State)
		for _, blob := range b.Tool.Output {
			if err := m.blob(blob); err != nil {
				return err
			}
		}
	case b.Diff != nil:
		fmt.Fprintf(m, "\n**Change** `%s` (+%d -%d)\n", oneLine(b.Diff.Path), b.Diff.Added, b.Diff.Removed)
		return m.blob(b.Diff.New)
	default:
		if line := (&chatPrinter{session: m.session}).line(row); line != "" && !isOpen(row) {
			fmt.Fprintf(m, "\n> %s\n", strings.ReplaceAll(line, "\n", "\n> "))
		}
	}
	return nil
}

func (m *markdown) message(row davit.JournalRow) error {
	switch {
	case row.Kind == davit.JournalThought:
		fmt.Fprintf(m, "\n<details><summary>Thought</summary>\n\n%s\n\n</details>\n", strings.TrimSpace(plain(row.Body.Text)))
		return nil
	case row.Body.Role == "user":
		fmt.Fprint(m, "\n## You\n")
	default:
		fmt.Fprintf(m, "\n## %s\n", m.session.AgentName)
	}
	if text := strings.TrimSpace(plain(row.Body.Text)); text != "" {
		fmt.Fprintf(m, "\n%s\n", text)
	}
	if row.Body.Blob != nil {
		return m.blob(*row.Body.Blob)
	}
	return nil
}

// blob writes a payload as a whole when it is text, else what it is.
func (m *markdown) blob(b davit.Blob) error {
	text := b.Head
	isText := b.Mime == "" || strings.HasPrefix(b.Mime, "text/") || strings.HasSuffix(b.Mime, "json")
	if !isText || b.URI != "" {
		fmt.Fprintf(m, "\n%s\n", blobWords(b))
		return nil
	}
	if b.Digest != "" {
		whole, err := m.payload(b.Digest)
		if err != nil {
			return err
		}
		text = whole
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(m, "\n%s\n%s\n%s\n", fence, strings.TrimRight(plain(text), "\n"), fence)
	return nil
}
