package acp

import (
	"strconv"
	"strings"

	"davit"
)

// Apply rebuilds the state from a stored row. It takes the rows of a journal in their order,
// or one per item, its newest with the whole text, in the order of the items' first rows; both
// give the same. View is not in the rows, see SetView.
func (c *Conversation) Apply(row davit.JournalRow) {
	at := ref{item: row.Item, revision: row.Revision, turn: row.Turn}
	fresh := c.fresh(row.Item)
	if fresh && interrupts(row) {
		c.interrupt()
	}
	switch row.Kind {
	case davit.JournalMessage, davit.JournalThought:
		c.applyText(row, at, fresh)
	case davit.JournalTool:
		if row.Body.Tool != nil {
			c.tools.apply(at, *row.Body.Tool, row.Body.Text)
		}
	case davit.JournalDiff:
		if row.Body.Diff != nil {
			c.tools.applyDiff(at, *row.Body.Diff)
		}
	case davit.JournalPlan:
		if at.turn == c.turn {
			c.plan = &at
		}
	case davit.JournalApproval:
		if row.Body.Approval != nil {
			c.approvals.apply(at, *row.Body.Approval, row.Body.Text)
		}
	case davit.JournalStatus:
		c.status = at
	case davit.JournalTurn:
		c.applyTurn(row, at, fresh)
	case davit.JournalSubmission:
		if row.Body.Submission != nil {
			c.submissions[row.Body.Submission.ID] = &at
		}
	case davit.JournalLifecycle:
		if l := row.Body.Lifecycle; l != nil && l.Event == "garbage" && (fresh || c.garbage != nil && c.garbage.item == at.item) {
			c.garbage, c.junk = &at, l.Count
		}
	case davit.JournalRequest:
		if r := row.Body.Request; r != nil && r.Direction == "ours" {
			c.applyRequest(*r, at, fresh)
		}
	}
}

// fresh says that an item is met for the first time: they are numbered in order.
func (c *Conversation) fresh(item string) bool {
	_, digits, _ := strings.Cut(item, "-")
	n, err := strconv.Atoi(digits)
	if err != nil || n <= c.minted {
		return false
	}
	c.minted = n
	return true
}

// interrupts says that the first row of an item ends a message that chunks were joined to.
func interrupts(row davit.JournalRow) bool {
	switch row.Kind {
	case davit.JournalStatus, davit.JournalSubmission, davit.JournalRequest, davit.JournalLifecycle:
		return false
	}
	return row.Body.Role != "user" || row.Turn == ""
}

func (c *Conversation) applyText(row davit.JournalRow, at ref, fresh bool) {
	b := row.Body
	c.said = true
	if b.Role == "user" && b.Blob == nil {
		c.heard(row.Item, b.At, b.Text)
	}
	open := fresh || c.run != nil && c.run.item == at.item
	if !open || b.Blob != nil || at.turn != c.turn || b.Role == "user" && c.load == notLoading {
		return
	}
	c.run = &run{ref: at, kind: row.Kind, role: b.Role, messageID: b.MessageID, length: b.At + units(b.Text)}
}

func (c *Conversation) applyTurn(row davit.JournalRow, at ref, fresh bool) {
	if fresh {
		c.begin(row.Turn)
	}
	if c.turnRef.item == at.item || fresh {
		c.turnRef = at
	}
	if t := row.Body.TurnState; t != nil && t.State == "ended" && c.turn == row.Turn {
		c.end()
	}
}
