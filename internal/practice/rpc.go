package practice

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// frameRPC is any JSON-RPC 2.0 message.
type frameRPC struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// wire writes frames and waits for answers to its own requests. The mutex guards the
// writer, the counter and the waiting; it is held over a write, as a frame must be
// whole on the line.
type wire struct {
	out     io.Writer
	faults  faults
	mu      sync.Mutex
	nextID  int
	waiting map[string]chan frameRPC
	stalled bool // half-line: nothing more is written
}

// readLine gives the next line without its end, however long it is.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil && len(line) == 0 {
		return nil, err
	}
	return line, nil
}

func (w *wire) write(f frameRPC) {
	f.Version = "2.0"
	line, err := json.Marshal(f)
	if err != nil {
		return
	}
	line = append(line, '\n')
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled {
		return
	}
	if w.faults.garbage {
		_, _ = io.WriteString(w.out, "npm warn this line is no JSON {\n\xff\xfe\x1b[31m\n{\"jsonrpc\":\"2.0\"}\n")
	}
	_, _ = w.out.Write(line)
	twice := w.faults.double && f.Method != "" && f.ID == nil
	twice = twice || w.faults.twice && f.Method == "" && f.ID != nil
	if twice {
		_, _ = w.out.Write(line)
	}
}

// writeHalf writes half of a frame and nothing ever after.
func (w *wire) writeHalf() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.out, `{"jsonrpc":"2.0","method":"session/update","params":{"sess`)
	w.stalled = true
}

// writeHuge writes one message chunk with n characters on one line, without ever
// holding them all.
func (w *wire) writeHuge(session string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = io.WriteString(w.out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"`+session+
		`","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`)
	chunk := strings.Repeat("=", 64<<10)
	for ; n > 0; n -= len(chunk) {
		_, _ = io.WriteString(w.out, chunk[:min(n, len(chunk))])
	}
	_, _ = io.WriteString(w.out, `"}}}}`+"\n")
}

func (w *wire) answer(id json.RawMessage, result any, err error) {
	if id == nil {
		return
	}
	var fault *rpcError
	if errors.As(err, &fault) {
		w.write(frameRPC{ID: id, Error: fault})
		return
	}
	if err != nil {
		w.write(frameRPC{ID: id, Error: &rpcError{Code: -32603, Message: err.Error()}})
		return
	}
	text, err := json.Marshal(result)
	if err != nil {
		w.write(frameRPC{ID: id, Error: &rpcError{Code: -32603, Message: err.Error()}})
		return
	}
	w.write(frameRPC{ID: id, Result: text})
}

func (w *wire) notify(method string, params any) {
	text, err := json.Marshal(params)
	if err != nil {
		return
	}
	w.write(frameRPC{Method: method, Params: text})
}

// call asks the client and waits for its answer.
func (w *wire) call(ctx context.Context, method string, params, result any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.nextID++
	id := strconv.Itoa(w.nextID)
	answered := make(chan frameRPC, 1)
	w.waiting[id] = answered
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.waiting, id)
		w.mu.Unlock()
	}()
	w.write(frameRPC{ID: json.RawMessage(id), Method: method, Params: text})
	select {
	case f := <-answered:
		if f.Error != nil {
			return f.Error
		}
		return json.Unmarshal(f.Result, result)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answered hands an answer to the call that waits for it; a second one is dropped.
func (w *wire) answered(f frameRPC) {
	w.mu.Lock()
	waiting := w.waiting[string(f.ID)]
	delete(w.waiting, string(f.ID))
	w.mu.Unlock()
	if waiting != nil {
		waiting <- f
	}
}

// pause waits, but not longer than the context lives.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
