package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/pane"
	"davit/internal/tab"
	"davit/internal/wire"
)

func (s *Server) paneOperations() {
	op(s, "pane.list", "The panes of the open tabs", true, func(context.Context, wire.None) (wire.PaneList, error) {
		return wire.PaneList{Panes: s.panes()}, nil
	})
	op(s, "pane.read", "What a pane shows, as text", true, s.paneRead)
	op(s, "pane.blocks", "The newest commands of a pane's shell, oldest first, each with what the pane's chips said when it started", true, s.paneBlocks)
	op(s, "pane.write", "Give text to a pane's program", false, s.paneWrite)
	op(s, "pane.run", "Type a command for the user into a pane's shell, at its prompt; a half-typed line survives", false, func(ctx context.Context, in wire.PaneRun) (wire.PaneRan, error) {
		return s.cfg.Runs.Run(ctx, caller(ctx).Key, in)
	})
	op(s, "pane.resize", "Set a pane's size; a client that shows it takes it over", false, func(ctx context.Context, in wire.PaneResize) (wire.None, error) {
		p, err := s.cfg.Panes.Get(in.Pane)
		if err == nil {
			p.Claim("api", in.Cols, in.Rows)
		}
		return wire.None{}, err
	})
	op(s, "pane.split", "Open a shell, or a command, beside a pane", false, func(ctx context.Context, in wire.PaneSplit) (wire.Opened, error) {
		return s.cfg.Tabs.Split(ctx, in)
	})
	op(s, "pane.sizes", "Set the weights of a split", false, func(ctx context.Context, in wire.PaneSizes) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.Sizes(ctx, in)
	})
	op(s, "pane.close", "Close a pane; refused when a program runs, unless yes", false, func(ctx context.Context, in wire.PaneClose) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.ClosePane(ctx, in.Pane, in.Yes, tab.ReasonUser)
	})
	op(s, "pane.restart", "Start the program of an ended pane again", false, func(ctx context.Context, in wire.PaneRestart) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.RestartPane(ctx, in)
	})
	op(s, "pane.move", "Move a pane beside another, or into a tab of its own", false, func(ctx context.Context, in wire.PaneMove) (wire.Opened, error) {
		return s.cfg.Tabs.MovePane(ctx, in)
	})
	op(s, "pane.wait", "Wait until a pane has ended, shows its prompt, or shows a text", true, s.paneWait)
}

// panes lists the panes of the open tabs in the order shown.
func (s *Server) panes() []davit.Pane {
	state, list := s.cfg.Host.State(), []davit.Pane{}
	for _, t := range state.Tabs {
		for _, p := range state.Panes {
			if p.Tab == t.ID {
				if live, err := s.cfg.Panes.Get(p.ID); err == nil {
					p.Offset = live.View().Offset
				}
				list = append(list, p)
			}
		}
	}
	order := map[davit.TabID]int{}
	for i, t := range state.Tabs {
		order[t.ID] = i
	}
	slices.SortStableFunc(list, func(a, b davit.Pane) int {
		if d := order[a.Tab] - order[b.Tab]; d != 0 {
			return d
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return list
}

func (s *Server) paneRead(ctx context.Context, in wire.PaneRead) (wire.PaneText, error) {
	p, err := s.cfg.Panes.Get(in.Pane)
	if err != nil {
		return wire.PaneText{}, err
	}
	text, err := p.Text(ctx, in.Scrollback)
	if err != nil {
		return wire.PaneText{}, err
	}
	blocks, err := p.Blocks(ctx)
	for i := range blocks {
		blocks[i].Prompt = nil // for those who ask for blocks
	}
	return wire.PaneText{Rows: text.Rows, Cursor: text.Cursor, Title: text.Title, Offset: text.Offset, Cols: text.Cols, Blocks: blocks}, err
}

// paneBlocks is pane.blocks (spec chips C5.1).
func (s *Server) paneBlocks(ctx context.Context, in wire.PaneBlocksRequest) (wire.PaneBlocks, error) {
	out := wire.PaneBlocks{Blocks: []davit.Block{}}
	p, err := s.cfg.Panes.Get(in.Pane)
	if err != nil {
		return out, err
	}
	blocks, err := p.Blocks(ctx)
	if n := in.Last; n > 0 && len(blocks) > n {
		blocks = blocks[len(blocks)-n:]
	}
	out.Blocks = append(out.Blocks, blocks...)
	return out, err
}

func (s *Server) paneWrite(ctx context.Context, in wire.PaneWrite) (wire.None, error) {
	p, err := s.cfg.Panes.Get(in.Pane)
	if err != nil {
		return wire.None{}, err
	}
	id := in.ID
	if id == "" {
		id = "api-" + randomToken()[:16]
	}
	write := p.Input
	if in.Paste {
		write = func(ctx context.Context, client, id string, data []byte) error {
			return p.Paste(ctx, client, id, string(data))
		}
	}
	if in.Text != "" {
		if err := write(ctx, "api", id, []byte(in.Text)); err != nil {
			return wire.None{}, err
		}
	}
	if in.Enter {
		return wire.None{}, p.Input(ctx, "api", id+"-enter", []byte("\r"))
	}
	return wire.None{}, nil
}

func (s *Server) paneWait(ctx context.Context, in wire.PaneWait) (wire.PaneText, error) {
	p, err := s.cfg.Panes.Get(in.Pane)
	if err != nil {
		return wire.PaneText{}, err
	}
	limit := 30 * time.Second
	if in.Timeout > 0 {
		limit = time.Duration(min(in.Timeout, 600)) * time.Second
	}
	late := fmt.Errorf("the pane did not come to it within %s", limit)
	waiting, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	err = p.Wait(waiting, pane.Condition{For: in.For, Text: in.Text})
	if errors.Is(err, late) {
		return wire.PaneText{}, davit.Errorf(davit.CodeWaitTimeout, "%s: %s", in.For, late).WithHint("`davit pane read %s` shows where it stands", in.Pane)
	}
	if err != nil {
		return wire.PaneText{}, err
	}
	return s.paneRead(ctx, wire.PaneRead{Pane: in.Pane})
}
