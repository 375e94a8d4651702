package testenv

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Model is a stand-in for a provider of models on 127.0.0.1, for agents that are the real
// thing. It speaks four wires: OpenAI's chat completions and responses, Anthropic's messages
// and Gemini's generateContent, streamed and whole. What it answers is the test's to say,
// and so is how it misbehaves.
//
// Every request has a goroutine of the HTTP server, which ends with its request or with the
// test. The mutex guards the questions that were asked.
type Model struct {
	URL    string // http://127.0.0.1:PORT
	answer func(ModelQuestion) ModelAnswer

	mu     sync.Mutex
	asked  []ModelQuestion
	number int
}

// ModelQuestion is what an agent asked.
type ModelQuestion struct {
	Wire      string // chat | responses | messages | gemini
	Model     string
	Text      string   // the last thing that the user said
	Tools     []string // that the agent offers; none in side requests, as for a title
	AfterTool bool     // a tool's result is the newest thing said
	Body      string
}

// ModelAnswer is what it hears. With a Tool it is a call of it, after the text.
type ModelAnswer struct {
	Text []string   // streamed piece by piece
	Tool *ModelTool // name and arguments
	// Hold, when set, is waited for after the first piece; the agent leaving ends it too.
	Hold   <-chan struct{}
	Status int  // an HTTP error of this status, nothing else
	Cut    bool // the connection is dropped after the first piece
	Junk   bool // the stream has something in it that is no JSON
}

// ModelTool is a tool call: its arguments are JSON.
type ModelTool struct{ Name, Arguments string }

// StartModel starts one for the length of a test.
func StartModel(tb testing.TB, answer func(ModelQuestion) ModelAnswer) *Model {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	m := &Model{URL: "http://" + listener.Addr().String(), answer: answer}
	server := &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with Close
	}()
	tb.Cleanup(func() {
		_ = server.Close() // also ends the requests that are held
		<-served
	})
	return m
}

// Asked gives the questions so far.
func (m *Model) Asked() []ModelQuestion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]ModelQuestion(nil), m.asked...)
}

type fields = map[string]any

// ServeHTTP answers one request.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return
	}
	path := r.URL.Path
	q := ModelQuestion{Body: string(body)}
	switch {
	case strings.HasSuffix(path, "/models"):
		writeJSON(w, fields{"object": "list", "data": []fields{{"id": "stand-in", "object": "model"}}, "models": []fields{}})
		return
	case strings.HasSuffix(path, "/count_tokens"), strings.Contains(path, ":countTokens"):
		writeJSON(w, fields{"input_tokens": 10, "totalTokens": 10})
		return
	case strings.HasSuffix(path, "/chat/completions"):
		q.Wire = "chat"
	case strings.HasSuffix(path, "/responses"):
		q.Wire = "responses"
	case strings.HasSuffix(path, "/messages"):
		q.Wire = "messages"
	case strings.Contains(path, "enerateContent"):
		q.Wire = "gemini"
	default:
		http.Error(w, `{"error":{"type":"not_found","message":"the stand-in model has no `+path+`"}}`, http.StatusNotFound)
		return
	}
	streamed := readQuestion(&q, body) || strings.Contains(path, ":streamGenerateContent")
	m.mu.Lock()
	m.number++
	id := fmt.Sprint(m.number)
	m.asked = append(m.asked, q)
	m.mu.Unlock()
	a := m.answer(q)
	if a.Status != 0 {
		http.Error(w, `{"error":{"type":"server_error","message":"the stand-in model fails, as asked"}}`, a.Status)
		return
	}
	s := &modelStream{ResponseWriter: w, wire: q.Wire, id: id, model: q.Model, done: r.Context().Done()}
	if streamed {
		s.stream(a)
	} else {
		writeJSON(w, s.whole(strings.Join(a.Text, "")))
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // an agent that has left is no fault
}

// readQuestion finds what a question says, whichever wire it came by.
func readQuestion(q *ModelQuestion, body []byte) (streamed bool) {
	var raw struct {
		Model  string
		Stream bool
		Tools  []struct {
			Name                 string
			Function             struct{ Name string }
			FunctionDeclarations []struct{ Name string }
		}
		Messages, Input, Contents []json.RawMessage
	}
	_ = json.Unmarshal(body, &raw) // what is of another shape is a question without words
	q.Model = raw.Model
	for _, tool := range raw.Tools {
		if name := tool.Name + tool.Function.Name; name != "" {
			q.Tools = append(q.Tools, name)
		}
		for _, f := range tool.FunctionDeclarations {
			q.Tools = append(q.Tools, f.Name)
		}
	}
	for _, message := range append(append(raw.Messages, raw.Input...), raw.Contents...) {
		var said struct {
			Role, Type     string
			Content, Parts json.RawMessage
		}
		_ = json.Unmarshal(message, &said)
		text := string(message)
		switch {
		case said.Role == "tool", said.Type == "function_call_output", strings.Contains(text, `"tool_result"`), strings.Contains(text, `"functionResponse"`):
			q.AfterTool = true
		case said.Role == "user":
			q.Text, q.AfterTool = plainText(said.Content)+plainText(said.Parts), false
		}
	}
	return raw.Stream
}

// plainText is a content that is text, or a list of pieces of it.
func plainText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var pieces []struct{ Text string }
	_ = json.Unmarshal(content, &pieces)
	for _, piece := range pieces {
		text += piece.Text
	}
	return text
}
