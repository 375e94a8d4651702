package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"davit"
)

// approval is a permission question and what became of it.
type approval struct {
	ref
	davit.Approval
	note string
}

// approvals are the permission questions that are remembered, oldest first.
type approvals struct {
	byItem map[string]*approval
	order  []*approval
}

func newApprovals() approvals { return approvals{byItem: map[string]*approval{}} }

func (a *approvals) add(one *approval) {
	if len(a.order) >= maxApprovals {
		for i, old := range a.order {
			if old.State != "open" {
				delete(a.byItem, old.item)
				a.order = slices.Delete(a.order, i, i+1)
				break
			}
		}
	}
	a.byItem[one.item] = one
	a.order = append(a.order, one)
}

func (a *approvals) apply(at ref, body davit.Approval, note string) {
	one := a.byItem[at.item]
	if one == nil {
		one = &approval{ref: at}
		a.add(one)
	}
	one.ref, one.Approval, one.note = at, body, note
}

// open gives the questions that nobody has answered.
func (a *approvals) open() []*approval {
	var open []*approval
	for _, one := range a.order {
		if one.State == "open" {
			open = append(open, one)
		}
	}
	return open
}

func (a *approval) ask() Ask {
	return Ask{RPCID: json.RawMessage(a.Request), Item: a.item, Revision: a.revision, Title: a.Title, Options: a.Options}
}

// current makes the row of its state.
func (a *approval) current() Row {
	body := a.Approval
	return a.row(davit.JournalApproval, davit.JournalBody{Approval: &body, Text: a.note})
}

// Open gives the permission questions that wait for an answer, oldest first.
func (c *Conversation) Open() []Ask {
	var open []Ask
	for _, one := range c.approvals.open() {
		open = append(open, one.ask())
	}
	return open
}

// permission takes a permission question (spec session S1.7). One that cannot be read is
// denied at once.
func (c *Conversation) permission(s *Step, f Frame) {
	open := c.approvals.open()
	for _, one := range open {
		if one.Request == string(f.ID) {
			c.unknown(s, "a second permission question under the id "+short(one.Request, 100)+", which is still open", f.Params)
			return
		}
	}
	one := &approval{Approval: davit.Approval{State: "open", Request: string(f.ID), Title: "The agent asks for permission"}}
	var faults []string
	params, ok := readObject(f.Params)
	if !ok {
		params, faults = &object{}, []string{"it has no parameters"}
	}
	if call, ok := readObject(params.fields["toolCall"]); !ok {
		faults = append(faults, "it names no tool call")
	} else if t := c.toolUpdate(s, call, params.fields["toolCall"]); t == nil {
		faults = append(faults, "its tool call has no id")
	} else {
		one.Tool = t.item
		if t.call.Title != "" {
			one.Title = t.call.Title
		}
	}
	one.Options, one.note = readAnswers(params)
	if len(one.Options) == 0 {
		faults = append(faults, "it offers no answers that davit can read")
	}
	if len(open) >= maxOpenAsks {
		faults = append(faults, fmt.Sprintf("%d others are open", len(open)))
	}
	c.interrupt()
	one.ref = c.mint(davit.JournalApproval)
	if len(faults) > 0 {
		one.State, one.By, one.Reason = "denied", "davit", "davit cannot put this question to you: "+strings.Join(faults, ", ")+"."
		s.Reply, s.ReplyTo, s.Method = Cancelled(f.ID), f.ID, f.Method
	}
	c.approvals.add(one)
	s.Rows = append(s.Rows, one.current())
	if one.State == "open" {
		ask := one.ask()
		s.Ask = &ask
	}
}

// readAnswers reads the options as the protocol offers them. Ids are never cut: they go back
// to the agent as they are.
func readAnswers(params *object) (options []davit.ApprovalOption, note string) {
	list, _ := get[[]json.RawMessage](params, "options")
	left := 0
	for _, raw := range list {
		o, ok := readObject(raw)
		if !ok {
			left++
			continue
		}
		id, ok := get[string](o, "optionId")
		twice := slices.ContainsFunc(options, func(x davit.ApprovalOption) bool { return x.ID == id })
		if !ok || id == "" || len(id) > maxName || twice || len(options) == maxAnswers {
			left++
			continue
		}
		option := davit.ApprovalOption{ID: id, Name: word(o, "name", maxName), Kind: word(o, "kind", 100)}
		if option.Name == "" {
			option.Name = id
		}
		options = append(options, option)
	}
	if left > 0 {
		note = fmt.Sprintf("%d more answers were offered that davit cannot take.", left)
	}
	return options, note
}

// Decide answers a question by compare-and-set on its revision (spec session S1.7). State is
// answered, with an option of the question's as choice, or cancelled or denied. The row is to
// be stored before the agent hears it; the Ask says which request is answered. Errors:
// not_found; already_resolved with the approval and its revision in the details;
// invalid_request for another revision or choice.
func (c *Conversation) Decide(item string, revision uint64, state, choice, by, reason string) (Row, *Ask, error) {
	one := c.approvals.byItem[item]
	if one == nil {
		return Row{}, nil, davit.Errorf(davit.CodeNotFound, "there is no permission question %q in this chat", short(item, 100)).
			WithHint("`davit session show` lists the open ones")
	}
	refuse := func(code davit.Code, message string) (Row, *Ask, error) {
		return Row{}, nil, davit.Errorf(code, "%s", message).With("approval", one.Approval).With("revision", one.revision)
	}
	offered := slices.ContainsFunc(one.Options, func(o davit.ApprovalOption) bool { return o.ID == choice })
	switch {
	case one.State != "open":
		return refuse(davit.CodeAlreadyResolved, "this question is "+one.State+" already")
	case revision != one.revision:
		return refuse(davit.CodeInvalid, fmt.Sprintf("the question is at revision %d, not %d", one.revision, revision))
	case state == "answered" && !offered:
		return refuse(davit.CodeInvalid, fmt.Sprintf("%q is no answer that the agent offers", short(choice, 100)))
	case state != "answered" && state != "cancelled" && state != "denied":
		return refuse(davit.CodeInvalid, fmt.Sprintf("a question cannot become %q", short(state, 100)))
	}
	if state != "answered" {
		choice = ""
	}
	one.State, one.Choice, one.By, one.Reason = state, choice, short(by, maxName), short(reason, maxName)
	row, ask := one.current(), one.ask()
	return row, &ask, nil
}

// abandonAll closes the open questions of a turn that has ended.
func (c *Conversation) abandonAll(gone bool) []Row {
	var rows []Row
	for _, one := range c.approvals.open() {
		one.State, one.By, one.Reason = "cancelled", "davit", "the turn ended before it was answered"
		if gone {
			one.State, one.Reason = "denied", "the agent ended before it was answered"
		}
		rows = append(rows, one.current())
	}
	return rows
}

// takeBack is for a request that the agent cancels itself.
func (c *Conversation) takeBack(s *Step, f Frame) {
	if params, ok := readObject(f.Params); ok {
		id := params.fields["requestId"]
		for _, one := range c.approvals.open() {
			if one.Request != string(id) {
				continue
			}
			one.State, one.By, one.Reason = "cancelled", "agent", "the agent took the question back"
			s.Rows = append(s.Rows, one.current())
			ask := one.ask()
			s.Closed = &ask
			s.Reply, s.ReplyTo, s.Method = Fail(id, CodeCancelled, "cancelled, as asked"), id, "session/request_permission"
			return
		}
	}
	c.unknown(s, "word to cancel a request that is not open", f.Params)
}
