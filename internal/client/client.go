// Package client is the only Go client of the API: over the host's Unix socket, one call
// per operation, and one WebSocket for a pane or a chat.
//
// It starts no goroutine but a Stream's reader, holds no lock over I/O, and decides
// nothing: errors of the host come back as *davit.Error with their code, hint and details.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"davit"
	"davit/internal/wire"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// Config says where the host is and who calls.
type Config struct {
	Socket string
	Caller wire.Caller
	// Capabilities are what the caller can do (spec launch L1.2); nil says nothing of it.
	Capabilities []string
}

// Client calls one host. It may be used from any goroutine.
type Client struct {
	cfg  Config
	http *http.Client
}

// New makes a client; it connects with the first call.
func New(cfg Config) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", cfg.Socket)
	}
	// A connection for each call: one kept from before would die with a host that restarts,
	// and its call could not be told from one that was carried out.
	return &Client{cfg: cfg, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true, DisableKeepAlives: true}}}
}

// Call asks for one operation. into may be nil.
func (c *Client) Call(ctx context.Context, name string, in, into any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://davit/v1/"+name, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if string(body) == "{}" || string(body) == "null" {
		req.Body, req.ContentLength = http.NoBody, 0
		if in != nil && !isNone(in) {
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil || resp.StatusCode == http.StatusNoContent {
		_, err := io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
		return err
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return nil
}

func isNone(v any) bool {
	_, none := v.(wire.None)
	return none
}

// do sends a request and turns a problem into an error.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	req.Header.Set(wire.CallerHeader, c.cfg.Caller.Encode())
	if c.cfg.Capabilities != nil {
		req.Header.Set(wire.CapabilitiesHeader, strings.Join(c.cfg.Capabilities, ", "))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(req.Context(), err)
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	var p wire.Problem
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if json.Unmarshal(data, &p) != nil || p.Code == "" {
		return nil, davit.Errorf(davit.CodeSocketTaken, "what answers at %s is not davit: %s %s", c.cfg.Socket, resp.Status, strings.TrimSpace(string(data[:min(len(data), 200)]))).
			WithHint("move it away, or choose another DAVIT_HOME")
	}
	return nil, &davit.Error{Code: p.Code, Message: p.Message, Hint: p.Hint, Details: p.Details}
}

// unreachable says why the host could not be asked.
func (c *Client) unreachable(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ECONNREFUSED):
		return davit.Errorf(davit.CodeHostDown, "no davit host answers at %s", c.cfg.Socket).WithHint("start one with `davit up --detach`")
	case errors.Is(err, syscall.EACCES):
		return davit.Errorf(davit.CodeSocketTaken, "the socket %s belongs to somebody else", c.cfg.Socket).WithHint("choose another DAVIT_HOME")
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return davit.Errorf(davit.CodeHostDown, "the davit host went away while it was asked: %w", err).WithHint("start it again with `davit up --detach`, then look at what was done")
	}
	var malformed *net.OpError
	if !errors.As(err, &malformed) {
		return davit.Errorf(davit.CodeSocketTaken, "what answers at %s is not davit: %w", c.cfg.Socket, err).WithHint("move it away, or choose another DAVIT_HOME")
	}
	return davit.Errorf(davit.CodeHostDown, "the davit host cannot be asked: %w", err)
}

// Output is a pane's log as it is read: Next gives bytes until io.EOF.
type Output struct {
	io.ReadCloser
	resp *http.Response
}

// Trailer tells, after EOF, the exit status of the program, when it ended, and the code of
// the error that ended the reading.
func (o *Output) Trailer() (exit string, code davit.Code) {
	return o.resp.Trailer.Get("Davit-Exit"), davit.Code(o.resp.Trailer.Get("Davit-Error"))
}

// Output reads every byte of a pane from an offset (spec terminal P3.2).
func (c *Client) Output(ctx context.Context, pane davit.PaneID, from uint64, follow bool) (*Output, error) {
	url := fmt.Sprintf("http://davit/v1/panes/%s/output?from=%d&follow=%t", pane, from, follow)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.do(req)
	if err != nil {
		return nil, err
	}
	return &Output{ReadCloser: resp.Body, resp: resp}, nil
}
