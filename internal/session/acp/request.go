package acp

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"davit"

	"github.com/coder/acp-go-sdk"
)

// noteRequest makes the row of a request of ours (spec session S1.2).
func (c *Conversation) noteRequest(r davit.RPCRequest) Row {
	known := c.requests[r.ID]
	if known == nil {
		known = &ours{ref: c.mint(davit.JournalRequest), method: r.Method}
	}
	row := known.row(davit.JournalRequest, davit.JournalBody{Request: &r})
	c.track(r, known, known.revision == 1)
	return row
}

func (c *Conversation) applyRequest(r davit.RPCRequest, at ref, fresh bool) {
	c.track(r, &ours{ref: at, method: r.Method}, fresh)
}

// track keeps the open requests of ours, and what an open session/load means.
func (c *Conversation) track(r davit.RPCRequest, known *ours, first bool) {
	load := r.Method == acp.AgentMethodSessionLoad
	if load && first {
		c.run = nil
	}
	if r.State != "open" {
		delete(c.requests, r.ID)
		if load {
			c.load = notLoading
		}
		return
	}
	c.requests[r.ID] = known
	if load && first {
		c.load = loadImport
		if c.said {
			c.load = loadDrop
		}
	}
}

// DropRequests is for a process that is gone: our open requests will not be answered.
func (c *Conversation) DropRequests() []Row {
	var ids []string
	for id := range c.requests {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		return len(ids[i]) < len(ids[j]) || len(ids[i]) == len(ids[j]) && ids[i] < ids[j]
	})
	var rows []Row
	for _, id := range ids {
		rows = append(rows, c.noteRequest(davit.RPCRequest{Direction: "ours", ID: id, Method: c.requests[id].method, State: "cancelled"}))
	}
	return rows
}

// answer takes a response. It counts once, for a request of ours that is open.
func (c *Conversation) answer(s *Step, f Frame) {
	id, err := strconv.ParseUint(string(f.ID), 10, 64)
	known := c.requests[strconv.FormatUint(id, 10)]
	switch {
	case string(f.ID) == "null":
		c.unknown(s, fmt.Sprintf("word that it could not read what davit sent (%s)", short(f.Err.Error(), maxName)), f.Line.Data)
		return
	case err != nil || known == nil:
		c.unknown(s, fmt.Sprintf("an answer to %s, which is no open request", short(valid(string(f.ID)), 100)), f.Line.Data)
		return
	}
	r := davit.RPCRequest{Direction: "ours", ID: strconv.FormatUint(id, 10), Method: known.method, State: "answered"}
	if f.Err != nil {
		r.State, r.Error = "failed", errorJSON(*f.Err)
	}
	s.Rows = append(s.Rows, c.noteRequest(r))
	s.Answered = &Answered{ID: id, Method: known.method, Result: f.Result, Err: f.Err}
}

// errorJSON is an error for the journal, bounded.
func errorJSON(e RPCError) json.RawMessage {
	if len(e.Data) > blobHead {
		e.Data = nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		text, _ = json.Marshal(RPCError{Code: e.Code, Message: e.Message})
	}
	return text
}

// refuse answers a request of the agent's that davit does not serve, at once.
func (c *Conversation) refuse(s *Step, f Frame, code int, message string) {
	method := short(f.Method, maxName)
	item := c.mint(davit.JournalRequest)
	s.Rows = append(s.Rows, item.row(davit.JournalRequest, davit.JournalBody{Request: &davit.RPCRequest{
		Direction: "agent", ID: valid(string(f.ID)), Method: method, State: "failed", Error: errorJSON(RPCError{Code: code, Message: message}),
	}}))
	s.Reply, s.ReplyTo, s.Method = Fail(f.ID, code, message), f.ID, method
}
