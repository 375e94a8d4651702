package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"davit"
	"davit/internal/wire"
)

// pageRows is how many rows are asked for at once.
const pageRows = 2000

// chatLog folds the rows of a journal into its items, as JournalRow says.
type chatLog struct {
	items  []*chatItem // in order of their first row; a turn, of its end; a message that waited, of its turn's beginning
	at     map[string]*chatItem
	queued map[string]bool // submissions that wait, by id
}

// chatItem is one item as its newest row has it; of messages and thoughts the text is whole.
type chatItem struct {
	row  davit.JournalRow
	text davit.StreamedText
	cut  bool // its beginning lies before the rows that were read
}

func newChatLog() *chatLog { return &chatLog{at: map[string]*chatItem{}, queued: map[string]bool{}} }

func streams(kind davit.JournalKind) bool {
	return kind == davit.JournalMessage || kind == davit.JournalThought
}

// apply takes the next row and gives its item.
func (l *chatLog) apply(row davit.JournalRow) *chatItem {
	it := l.at[row.Item]
	if it == nil {
		it = &chatItem{cut: streams(row.Kind) && row.Body.At > 0}
		l.at[row.Item] = it
		l.items = append(l.items, it)
	}
	if streams(row.Kind) {
		it.text.Put(row.Body.At, row.Body.Text)
	}
	it.row = row
	if row.Body.TurnState != nil {
		l.toEnd(it)
	}
	if s := row.Body.Submission; s != nil {
		l.submitted(it, *s)
	}
	return it
}

// submitted moves a message that has waited behind the turn that it waited for.
func (l *chatLog) submitted(it *chatItem, s davit.Submission) {
	waited := l.queued[s.ID]
	l.queued[s.ID] = s.State == davit.SubmissionQueued
	if message := l.at[s.Item]; waited && message != nil && !l.queued[s.ID] {
		l.toEnd(message)
		l.toEnd(it)
	}
}

// toEnd moves an item: what a turn came to stands where it ended.
func (l *chatLog) toEnd(it *chatItem) {
	for i := len(l.items) - 1; i >= 0; i-- {
		if l.items[i] == it {
			l.items = append(append(l.items[:i], l.items[i+1:]...), it)
			return
		}
	}
}

// whole is the item as one row.
func (it *chatItem) whole() davit.JournalRow {
	row := it.row
	if streams(row.Kind) {
		row.Body.At, row.Body.Text = 0, it.text.String()
	}
	return row
}

// said is the agent's text of a turn.
func (l *chatLog) said(turn string) string {
	var parts []string
	for _, it := range l.items {
		if it.row.Kind == davit.JournalMessage && it.row.Body.Role == "agent" && it.row.Turn == turn {
			parts = append(parts, it.text.String())
		}
	}
	return strings.Join(parts, "\n\n")
}

// readAll reads a whole journal into a log, in pages.
func (a *app) readAll(ctx context.Context, id davit.SessionID) (*chatLog, davit.Cursor, error) {
	log, at := newChatLog(), davit.Cursor{}
	for {
		page, err := call[wire.SessionRows](ctx, a, "agentSession.history", wire.SessionHistory{Session: id, After: &at, Limit: pageRows})
		if err != nil {
			return nil, at, err
		}
		if page.Reset != "" {
			log = newChatLog()
		}
		for _, row := range page.Rows {
			log.apply(row)
		}
		if len(page.Rows) == 0 {
			return log, at, nil
		}
		at = page.Cursor
		if !page.More {
			return log, at, nil
		}
	}
}

// readTail reads the newest rows, as many as enough says (of the oldest that was read).
func (a *app) readTail(ctx context.Context, id davit.SessionID, limit int, enough func([]davit.JournalRow) bool) ([]davit.JournalRow, error) {
	var rows []davit.JournalRow
	var before *davit.Cursor
	for {
		page, err := call[wire.SessionRows](ctx, a, "agentSession.history", wire.SessionHistory{Session: id, Before: before, Limit: limit})
		if err != nil {
			return nil, err
		}
		rows = append(page.Rows[:len(page.Rows):len(page.Rows)], rows...)
		if !page.More || len(page.Rows) == 0 || enough(page.Rows) {
			return rows, nil
		}
		before = &davit.Cursor{Epoch: page.Rows[0].Epoch, Seq: page.Rows[0].Seq}
	}
}

// openQuestions are the permission questions that wait for an answer. They end with their
// turn, so that the rows from its beginning on have them all.
func (a *app) openQuestions(ctx context.Context, id davit.SessionID) ([]davit.JournalRow, error) {
	rows, err := a.readTail(ctx, id, 500, func(page []davit.JournalRow) bool {
		for _, row := range page {
			if row.Body.TurnState != nil && row.Body.TurnState.State == "running" {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	log := newChatLog()
	for _, row := range rows {
		log.apply(row)
	}
	var open []davit.JournalRow
	for _, it := range log.items {
		if isOpen(it.row) {
			open = append(open, it.row)
		}
	}
	return open, nil
}

func isOpen(row davit.JournalRow) bool {
	return row.Body.Approval != nil && row.Body.Approval.State == "open"
}

// chatPrinter prints a chat as text while it comes: messages as they are, all else as one
// line for each state. It repeats nothing that it has printed.
type chatPrinter struct {
	w       io.Writer
	session davit.Session
	log     *chatLog
	printed map[string]string // of each item: its text so far, or its last line
	current string            // the message whose line is not ended
}

func newChatPrinter(w io.Writer, s davit.Session) *chatPrinter {
	return &chatPrinter{w: w, session: s, log: newChatLog(), printed: map[string]string{}}
}

// row prints what a row brings.
func (p *chatPrinter) row(row davit.JournalRow) { p.item(p.log.apply(row)) }

func (p *chatPrinter) item(it *chatItem) {
	if streams(it.row.Kind) {
		p.text(it)
		return
	}
	line := p.line(it.row)
	if line == "" || p.printed[it.row.Item] == line {
		return
	}
	p.printed[it.row.Item] = line
	p.endLine()
	fmt.Fprintln(p.w, line)
}

// text prints what is new of a message or thought; one that was interrupted or written
// anew begins a paragraph of its own.
func (p *chatPrinter) text(it *chatItem) {
	id, text := it.row.Item, plain(it.text.String())
	if blob := it.row.Body.Blob; blob != nil && text == "" {
		text = blobWords(*blob)
	}
	more, goesOn := strings.CutPrefix(text, p.printed[id])
	if goesOn && more == "" {
		return
	}
	p.printed[id] = text
	if p.current != id || !goesOn {
		p.endLine()
		head := p.speaker(it.row)
		if !goesOn {
			more = text
		} else if it.cut || more != text {
			head += "…"
		}
		fmt.Fprint(p.w, head)
		p.current = id
	}
	fmt.Fprint(p.w, more)
}

func (p *chatPrinter) speaker(row davit.JournalRow) string {
	switch {
	case row.Kind == davit.JournalThought:
		return "(thinks) "
	case row.Body.Role == "user":
		return "you: "
	}
	return p.session.AgentName + ": "
}

// endLine ends the message that is being printed.
func (p *chatPrinter) endLine() {
	if p.current == "" {
		return
	}
	if !strings.HasSuffix(p.printed[p.current], "\n") {
		fmt.Fprintln(p.w)
	}
	p.current = ""
}

// line is one item in one line, or with its answers in some; "" for what is not shown.
func (p *chatPrinter) line(row davit.JournalRow) string {
	b := row.Body
	switch {
	case b.Tool != nil:
		return fmt.Sprintf("* %s (%s): %s", oneLine(b.Tool.Title), b.Tool.Kind, b.Tool.State)
	case b.Diff != nil:
		return fmt.Sprintf("  %s: +%d -%d", oneLine(b.Diff.Path), b.Diff.Added, b.Diff.Removed)
	case b.Approval != nil:
		return p.question(row)
	case len(b.Plan) > 0:
		return planWords(b.Plan)
	case b.TurnState != nil:
		return turnWords(*b.TurnState)
	case b.Submission != nil:
		return submissionWords(*b.Submission)
	case b.Lifecycle != nil:
		return lifecycleWords(b)
	case row.Kind == davit.JournalQuestion && b.Text != "":
		return "? " + oneLine(b.Text)
	}
	return ""
}

func planWords(plan []davit.PlanStep) string {
	marks := map[string]string{"done": "x", "running": ">"}
	lines := []string{"plan"}
	for _, step := range plan {
		lines = append(lines, fmt.Sprintf("  [%s] %s", cmp.Or(marks[step.State], " "), oneLine(step.Text)))
	}
	return strings.Join(lines, "\n")
}

// question is a permission question with how to answer it, or what became of it.
func (p *chatPrinter) question(row davit.JournalRow) string {
	q := row.Body.Approval
	switch q.State {
	case "open":
		lines := []string{"? " + oneLine(q.Title)}
		for _, o := range q.Options {
			lines = append(lines, fmt.Sprintf("    %s: davit session answer %s %s %s", oneLine(o.Name), p.session.ID, row.Item, oneLine(o.ID)))
		}
		return strings.Join(lines, "\n")
	case "answered":
		choice := q.Choice
		for _, o := range q.Options {
			if o.ID == q.Choice {
				choice = o.Name
			}
		}
		return fmt.Sprintf("? %s: %s", oneLine(q.Title), oneLine(choice))
	}
	line := fmt.Sprintf("? %s: %s", oneLine(q.Title), q.State)
	if q.Reason != "" {
		line += ", " + oneLine(q.Reason)
	}
	return line
}

// turnWords is silent about a turn that goes well.
func turnWords(t davit.TurnState) string {
	if t.State != "ended" || t.Reason == "end_turn" {
		return ""
	}
	line := "- the turn ended: " + oneLine(t.Reason)
	if t.Message != "" {
		line += ": " + oneLine(t.Message)
	}
	return line + printedWords(t.Stderr)
}

func submissionWords(s davit.Submission) string {
	switch s.State {
	case davit.SubmissionQueued:
		return "- queued until the turn has ended"
	case davit.SubmissionRejected:
		return "- the message was not taken: " + oneLine(s.Reason)
	case davit.SubmissionUnknown:
		return "- whether the agent got the message is not known; look before you send it again"
	}
	return ""
}

func lifecycleWords(b davit.JournalBody) string {
	l := b.Lifecycle
	if l.Event == "started" || l.Event == "initialized" || l.Event == "created" {
		return ""
	}
	line := "- " + oneLine(cmp.Or(b.Text, lifecycleEvents[l.Event], l.Event))
	if l.Exit != nil && l.Exit.Signal != "" {
		line += " (" + l.Exit.Signal + ")"
	} else if l.Exit != nil {
		line += fmt.Sprintf(" (exit %d)", l.Exit.Code)
	}
	if b.Blob != nil {
		head := blobWords(*b.Blob)
		if len(head) > headMost {
			head = strings.ToValidUTF8(head[:headMost], "")
		}
		line += printedWords(head)
		if strings.HasPrefix(b.Blob.Mime, "text/") && b.Blob.Size > min(len(b.Blob.Head), headMost) {
			line += fmt.Sprintf("\n    | … (%d bytes in all)", b.Blob.Size)
		}
	}
	return line + printedWords(l.Stderr)
}

// headMost is how much of what an agent printed is shown in a line of the chat.
const headMost = 500

// lifecycleEvents are what happened, when the row does not say it in words of its own.
var lifecycleEvents = map[string]string{
	"loaded": "the agent was started anew and goes on with this chat", "resumed": "the agent was started anew and goes on with this chat",
	"stopped": "the agent was stopped", "exited": "the agent ended", "lost": "the agent is gone, and how it ended is not known",
	"skipped": "some of the agent's output was skipped", "garbage": "the agent printed what is no message",
	"flooded": "the agent printed more than could be read", "option": "an option was changed",
	"unknown": "the agent said something that davit does not know", "cancel": "the agent is asked to end its turn",
	"slow": "the agent has not opened its session yet",
}

// printedWords are what a program printed, a line of it on each line.
func printedWords(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line = oneLine(line); line != "" {
			out.WriteString("\n    | " + line)
		}
	}
	return out.String()
}

func blobWords(b davit.Blob) string {
	switch {
	case b.URI != "":
		return "[" + plain(b.URI) + "]"
	case b.Mime != "" && !strings.HasPrefix(b.Mime, "text/"):
		return fmt.Sprintf("[%s, %d bytes]", plain(b.Mime), b.Size)
	}
	return plain(b.Head)
}

func oneLine(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(plain(text), "\n", " "))
}
