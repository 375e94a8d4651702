package client

import (
	"context"
	"time"

	"davit"
	"davit/internal/keeper"
)

type empty struct{}

// List gives every pane that the keeper holds, ended ones included.
func (c *Client) List(ctx context.Context) ([]keeper.PaneInfo, error) {
	var list keeper.ListAnswer
	err := c.call(ctx, "list", empty{}, nil, &list)
	return list.Panes, err
}

// Spawn starts a child. A repeat of the id gets the first answer. Errors:
// pane_spawn_failed, directory_missing, pane_exists.
func (c *Client) Spawn(ctx context.Context, req keeper.SpawnRequest) (keeper.PaneInfo, error) {
	var info keeper.PaneInfo
	payload, ok := keeper.AppendStrings(nil, req.Path, req.Dir)
	if ok {
		payload, ok = keeper.AppendStrings(payload, req.Argv...)
	}
	if ok {
		payload, ok = keeper.AppendStrings(payload, req.Env...)
	}
	if !ok {
		return info, davit.Errorf(davit.CodeInvalid, "an argument, a variable or a path holds a NUL byte")
	}
	err := c.call(ctx, "spawn", keeper.SpawnBody{
		ID: req.ID, Pane: req.Pane, Kind: req.Kind, Argc: len(req.Argv), Envc: len(req.Env),
		Cols: req.Cols, Rows: req.Rows, Pipes: req.Pipes, Labels: req.Labels,
	}, payload, &info)
	return info, err
}

// Input gives bytes to a pane's program and returns when the last is in the terminal's
// buffer. pane_busy: nothing was taken. pane_ended: details.written says how much was.
// A reply that P2.3 drops is no error.
func (c *Client) Input(ctx context.Context, in keeper.Input) error {
	body := keeper.InputBody{ID: in.ID, Pane: in.Pane, ReplyTo: in.ReplyTo, EOF: in.EOF}
	data := in.Data
	for len(data) > keeper.MaxPart {
		part := body
		part.More = true
		if err := c.call(ctx, "input", part, data[:keeper.MaxPart], nil); err != nil {
			c.abandon(body)
			return err
		}
		data = data[keeper.MaxPart:]
		body.At += keeper.MaxPart
	}
	return c.call(ctx, "input", body, data, nil)
}

// abandon lets the keeper drop the parts of an input that will not be finished.
func (c *Client) abandon(body keeper.InputBody) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	body.At, body.More = 0, true
	// When it cannot be sent the connection is lost, and the parts with it.
	_, _ = c.send(ctx, "input", body, nil)
}

// Resize sets the terminal's size behind a mark in the log (P1.5). It returns when this
// size, or one asked later, is in force.
func (c *Client) Resize(ctx context.Context, id, pane string, cols, rows int) error {
	return c.call(ctx, "resize", keeper.ActBody{ID: id, Pane: pane, Cols: cols, Rows: rows}, nil, nil)
}

// Signal sends a signal to the pane's own child, or to its process group.
func (c *Client) Signal(ctx context.Context, id, pane string, sig int, group bool) error {
	return c.call(ctx, "signal", keeper.ActBody{ID: id, Pane: pane, Signal: sig, Group: group}, nil, nil)
}

// Close ends a pane's processes as P5.1 says and reports what it ended and what it left.
func (c *Client) Close(ctx context.Context, id, pane string, opt keeper.CloseOptions) (keeper.CloseReport, error) {
	var report keeper.CloseReport
	err := c.call(ctx, "close", keeper.ActBody{
		ID: id, Pane: pane, Foreground: opt.Foreground,
		HangupMs: int64(opt.Hangup / time.Millisecond), TermMs: int64(opt.Term / time.Millisecond),
	}, nil, &report)
	return report, err
}

// Foreground says who the pane's terminal listens to.
func (c *Client) Foreground(ctx context.Context, pane string) (keeper.Foreground, error) {
	var fg keeper.Foreground
	err := c.call(ctx, "foreground", keeper.PaneBody{Pane: pane}, nil, &fg)
	return fg, err
}

// Retain says that nothing before offset is needed any more.
func (c *Client) Retain(ctx context.Context, pane string, offset uint64) error {
	return c.RetainOf(ctx, pane, "", offset)
}

// RetainOf is Retain for one of the two logs of a pane with pipes.
func (c *Client) RetainOf(ctx context.Context, pane, which string, offset uint64) error {
	return c.call(ctx, "retain", keeper.PaneBody{Pane: pane, Which: which, Offset: offset}, nil, nil)
}

// Forget drops an ended pane's row and log.
func (c *Client) Forget(ctx context.Context, pane string) error {
	return c.call(ctx, "forget", keeper.PaneBody{Pane: pane}, nil, nil)
}

// Status is what the keeper says of itself.
func (c *Client) Status(ctx context.Context) (keeper.Status, error) {
	var status keeper.Status
	err := c.call(ctx, "status", empty{}, nil, &status)
	return status, err
}

// Bye leaves for good, so that no program waits for this host, and disconnects.
func (c *Client) Bye(ctx context.Context) error {
	err := c.call(ctx, "bye", empty{}, nil, nil)
	c.Disconnect()
	return err
}

// Shutdown ends the keeper. Without force it refuses while programs run; with it they
// are closed first (P5.1).
func (c *Client) Shutdown(ctx context.Context, force bool) error {
	return c.call(ctx, "shutdown", keeper.ControlBody{Force: force}, nil, nil)
}

// Upgrade makes the keeper execute another build in its place, children and terminals
// kept (P1.7). It returns when that build has read the keeper's table; the connection
// ends then. unsupported: it was refused, with the reason, and nothing has changed.
func (c *Client) Upgrade(ctx context.Context, path string) error {
	return c.call(ctx, "upgrade", keeper.ControlBody{Path: path}, nil, nil)
}

// Upgrade is for who is not the host: it asks, and waits until the other build answers.
func Upgrade(ctx context.Context, cfg Config, path string) (before, after keeper.Hello, err error) {
	cfg.Reader = true // the host stays the host
	c, err := Dial(ctx, cfg)
	if err != nil {
		return before, after, err
	}
	defer c.Disconnect()
	before = c.Hello()
	if err := c.Upgrade(ctx, path); err != nil {
		return before, after, err
	}
	select {
	case <-c.Done():
	case <-ctx.Done():
		return before, after, davit.Errorf(davit.CodeKeeperUnreachable, "wait for the upgrade: %w", context.Cause(ctx))
	}
	if err := c.Err(); davit.CodeOf(err) != davit.CodeKeeperUnreachable { // it was answered, and then was not to be
		return before, after, err
	}
	next, err := Dial(ctx, cfg)
	if err != nil {
		return before, after, err
	}
	defer next.Disconnect()
	after = next.Hello()
	switch {
	case after.Refused != "" && after.Generation != before.Generation:
		err = davit.Errorf(davit.CodeUnsupported, "%s gave the keeper back at the hand-over: %s", path, after.Refused).
			WithHint("Programs go on under davit %s.", after.Build)
	case after.Generation == before.Generation:
		err = davit.Errorf(davit.CodeInternal, "the keeper did not become %s", path).WithHint("Read keeper.log in the state directory.")
	}
	return before, after, err
}
