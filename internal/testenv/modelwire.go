package testenv

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// modelStream writes one answer as its wire has it.
type modelStream struct {
	http.ResponseWriter
	wire, id, model string
	done            <-chan struct{}
}

// event writes one server-sent event.
func (s *modelStream) event(name string, v any) {
	text, _ := json.Marshal(v) // plain values: cannot fail
	if name != "" {
		fmt.Fprintf(s, "event: %s\n", name)
	}
	fmt.Fprintf(s, "data: %s\n\n", text)
	s.Flush()
}

// Flush sends what was written.
func (s *modelStream) Flush() {
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// typed writes an event of the wires that name an event's type twice.
func (s *modelStream) typed(v fields) { s.event(v["type"].(string), v) }

func (s *modelStream) stream(a ModelAnswer) {
	s.Header().Set("Content-Type", "text/event-stream")
	s.WriteHeader(http.StatusOK)
	s.begin()
	for i, piece := range a.Text {
		s.piece(piece, i == len(a.Text)-1 && a.Tool == nil)
		if i > 0 {
			continue
		}
		if a.Junk {
			fmt.Fprint(s, "data: <html>no JSON\n\n")
			s.Flush()
		}
		if a.Cut {
			panic(http.ErrAbortHandler) // the server's way to drop a connection
		}
		if a.Hold != nil {
			select {
			case <-a.Hold:
			case <-s.done:
				return
			}
		}
	}
	s.end(a)
}

func (s *modelStream) begin() {
	switch s.wire {
	case "chat":
		s.chat(fields{"role": "assistant", "content": ""}, nil)
	case "responses":
		s.typed(fields{"type": "response.created", "response": fields{"id": "resp_" + s.id, "status": "in_progress"}})
		s.typed(fields{"type": "response.output_item.added", "output_index": 0, "item": fields{"type": "message", "id": "it_" + s.id, "role": "assistant", "status": "in_progress", "content": []fields{}}})
	case "messages":
		s.typed(fields{"type": "message_start", "message": fields{"id": "msg_" + s.id, "type": "message", "role": "assistant", "model": s.model, "content": []fields{},
			"stop_reason": nil, "stop_sequence": nil, "usage": fields{"input_tokens": 10, "output_tokens": 1}}})
		s.typed(fields{"type": "content_block_start", "index": 0, "content_block": fields{"type": "text", "text": ""}})
	}
}

// chat writes one chunk of chat completions.
func (s *modelStream) chat(delta fields, finish any) {
	s.event("", fields{"id": "c" + s.id, "object": "chat.completion.chunk", "created": 1, "model": s.model,
		"choices": []fields{{"index": 0, "delta": delta, "finish_reason": finish}}})
}

func (s *modelStream) piece(text string, last bool) {
	switch s.wire {
	case "chat":
		s.chat(fields{"content": text}, nil)
	case "responses":
		s.typed(fields{"type": "response.output_text.delta", "item_id": "it_" + s.id, "output_index": 0, "content_index": 0, "delta": text})
	case "messages":
		s.typed(fields{"type": "content_block_delta", "index": 0, "delta": fields{"type": "text_delta", "text": text}})
	case "gemini":
		s.gemini(fields{"text": text}, last)
	}
}

func (s *modelStream) gemini(part fields, last bool) {
	candidate := fields{"content": fields{"role": "model", "parts": []fields{part}}, "index": 0}
	if last {
		candidate["finishReason"] = "STOP"
	}
	s.event("", fields{"candidates": []fields{candidate}, "modelVersion": s.model, "usageMetadata": fields{"promptTokenCount": 5, "candidatesTokenCount": 4, "totalTokenCount": 9}})
}

func (s *modelStream) end(a ModelAnswer) {
	text := ""
	for _, piece := range a.Text {
		text += piece
	}
	switch s.wire {
	case "chat":
		reason := "stop"
		if a.Tool != nil {
			reason = "tool_calls"
			s.chat(fields{"tool_calls": []fields{{"index": 0, "id": "call_" + s.id, "type": "function", "function": fields{"name": a.Tool.Name, "arguments": a.Tool.Arguments}}}}, nil)
		}
		s.chat(fields{}, reason)
		s.event("", fields{"id": "c" + s.id, "object": "chat.completion.chunk", "created": 1, "model": s.model, "choices": []fields{},
			"usage": fields{"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234}})
		fmt.Fprint(s, "data: [DONE]\n\n")
	case "responses":
		item := fields{"type": "message", "id": "it_" + s.id, "role": "assistant", "status": "completed", "content": []fields{{"type": "output_text", "text": text, "annotations": []any{}}}}
		s.typed(fields{"type": "response.output_item.done", "output_index": 0, "item": item})
		if a.Tool != nil {
			item = fields{"type": "function_call", "id": "fc_" + s.id, "call_id": "call_" + s.id, "name": a.Tool.Name, "arguments": a.Tool.Arguments, "status": "completed"}
			s.typed(fields{"type": "response.output_item.done", "output_index": 1, "item": item})
		}
		s.typed(fields{"type": "response.completed", "response": fields{"id": "resp_" + s.id, "status": "completed", "output": []fields{item}, "usage": fields{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}})
	case "messages":
		s.endMessages(a)
	case "gemini":
		if a.Tool != nil {
			s.gemini(fields{"functionCall": fields{"name": a.Tool.Name, "args": json.RawMessage(a.Tool.Arguments)}}, true)
		}
	}
}

func (s *modelStream) endMessages(a ModelAnswer) {
	reason := "end_turn"
	s.typed(fields{"type": "content_block_stop", "index": 0})
	if a.Tool != nil {
		reason = "tool_use"
		s.typed(fields{"type": "content_block_start", "index": 1, "content_block": fields{"type": "tool_use", "id": "toolu_" + s.id, "name": a.Tool.Name, "input": fields{}}})
		s.typed(fields{"type": "content_block_delta", "index": 1, "delta": fields{"type": "input_json_delta", "partial_json": a.Tool.Arguments}})
		s.typed(fields{"type": "content_block_stop", "index": 1})
	}
	s.typed(fields{"type": "message_delta", "delta": fields{"stop_reason": reason, "stop_sequence": nil}, "usage": fields{"output_tokens": 7}})
	s.typed(fields{"type": "message_stop"})
}

// whole is an answer that is not streamed.
func (s *modelStream) whole(text string) fields {
	switch s.wire {
	case "messages":
		return fields{"id": "msg_" + s.id, "type": "message", "role": "assistant", "model": s.model, "content": []fields{{"type": "text", "text": text}}, "stop_reason": "end_turn", "usage": fields{"input_tokens": 1, "output_tokens": 5}}
	case "gemini":
		return fields{"candidates": []fields{{"content": fields{"role": "model", "parts": []fields{{"text": text}}}, "finishReason": "STOP", "index": 0}}, "usageMetadata": fields{"totalTokenCount": 9}}
	case "responses":
		return fields{"id": "resp_" + s.id, "object": "response", "status": "completed", "model": s.model,
			"output": []fields{{"type": "message", "id": "it_" + s.id, "role": "assistant", "status": "completed", "content": []fields{{"type": "output_text", "text": text, "annotations": []any{}}}}}}
	}
	return fields{"id": "c" + s.id, "object": "chat.completion", "model": s.model, "choices": []fields{{"index": 0, "message": fields{"role": "assistant", "content": text}, "finish_reason": "stop"}},
		"usage": fields{"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}
}
