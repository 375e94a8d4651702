package cli

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

// hostReturns is how long a command that only looks waits for a host that went away.
const hostReturns = 30 * time.Second

// restarts waits for a host that went away while a command looked at something. Such a
// command asks again; one that changes something must not.
type restarts struct {
	since time.Time // of the first failure in a row
}

// again says whether to ask again, after a moment.
func (r *restarts) again(ctx context.Context, err error) bool {
	switch davit.CodeOf(err) {
	case davit.CodeHostDown, davit.CodeShuttingDown, davit.CodeKeeperUnreachable:
	default:
		return false
	}
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		r.answered() // one was there, took the question, and went away before it had an answer
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	if time.Since(r.since) > hostReturns {
		return false
	}
	select {
	case <-time.After(20 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

func (r *restarts) answered() { r.since = time.Time{} }

// toStdout remembers that what failed was our side.
type toStdout struct {
	w   io.Writer
	err error
}

func (o *toStdout) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// readOutput prints every byte of a pane. A host that is not there is an error; one that
// restarts from then on is waited for, and the reading goes on where it stopped (spec
// terminal P3.2).
func (a *app) readOutput(cmd *cobra.Command, pane davit.PaneID, at uint64, follow bool) error {
	c, err := a.client()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := c.Call(ctx, "host.info", wire.None{}, nil); err != nil {
		return err
	}
	a.onOneCore()
	to := &toStdout{w: a.out}
	var host restarts
	for {
		out, err := c.Output(ctx, pane, at, follow)
		if err != nil {
			if follow && host.again(ctx, err) {
				continue
			}
			return err
		}
		host.answered()
		n, err := io.Copy(to, out)
		at += uint64(n)
		exit, code := out.Trailer()
		_ = out.Close()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case to.err != nil:
			return davit.Errorf(davit.CodeInternal, "the output cannot be written: %w", to.err).WithHint("it was written up to --from %d", at)
		case code == davit.CodeOutputGap:
			return davit.Errorf(code, "the output from %d on is not kept any more", at).WithHint("read on with --from")
		case code != "":
			return davit.Errorf(code, "the output ends at %d: %s", at, code.Info().Meaning)
		case exit != "" || (err == nil && !follow):
			return nil
		case !follow:
			return err
		case !pause(ctx): // the host went away, or is about to
			return ctx.Err()
		}
	}
}

func pause(ctx context.Context) bool {
	select {
	case <-time.After(5 * time.Millisecond):
		return true
	case <-ctx.Done():
		return false
	}
}

// waitFor is pane.wait through restarts of the host.
func (a *app) waitFor(ctx context.Context, req wire.PaneWait) (wire.PaneText, error) {
	began, limit := time.Now(), req.Timeout
	if limit <= 0 {
		limit = 30
	}
	var host restarts
	if _, err := call[wire.HostInfo](ctx, a, "host.info", wire.None{}); err != nil {
		return wire.PaneText{}, err
	}
	for {
		asked := time.Now()
		req.Timeout = max(limit-int(time.Since(began).Seconds()), 1)
		text, err := call[wire.PaneText](ctx, a, "pane.wait", req)
		if time.Since(asked) > time.Second {
			host.answered() // it did, until it went away
		}
		if err == nil || !host.again(ctx, err) {
			return text, err
		}
	}
}
