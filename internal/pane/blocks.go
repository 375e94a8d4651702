package pane

import (
	"net/url"
	"strconv"
	"time"

	"davit"
)

// blocks follows a shell's marks (spec terminal P4). It is a plain value with a table of
// moves: prompt (A) → input (B) → running (C) → ended (D) → prompt …
//
// Shells leave marks out: D without C (a syntax error, an empty line), A without D (an
// interrupted line). Each mark is right from every state; a block begins at C only.
type blocks struct {
	State   blockState
	List    []block
	Open    *block
	Ended   uint64 // how many D there were
	Last    *int   // exit of the last D
	line    string // the command line, when the shell told it before C
	inputAt place
}

type blockState string

const (
	blockNone    blockState = "" // no mark yet: perhaps a shell without integration
	blockPrompt  blockState = "prompt"
	blockInput   blockState = "input" // the shell takes a line
	blockRunning blockState = "running"
	blockEnded   blockState = "ended"
)

// block is a davit.Block with the screen's names of its first and last place.
type block struct {
	davit.Block
	First, Last uint64
	Below       bool // Last stands on the line after the output
}

// place is where a mark was seen.
type place struct {
	mark, row, offset uint64
	column            int
}

// prompt gives the block that a prompt ends although its end was not told, nil else.
func (b *blocks) prompt(at place, now time.Time) (ended *davit.Block) {
	if b.Open != nil {
		ended = b.finish(at, nil, now)
	}
	b.State, b.line = blockPrompt, ""
	return ended
}

func (b *blocks) input(at place) { b.State, b.inputAt, b.line = blockInput, at, "" }

// typed takes a command line that the shell told.
func (b *blocks) typed(line string) { b.line = line }

func (b *blocks) start(at place, command, directory string, now time.Time) *davit.Block {
	b.State, b.line = blockRunning, ""
	b.Open = &block{First: at.mark, Last: at.mark, Block: davit.Block{
		Command: command, Directory: directory, Start: now,
		FirstRow: at.row, LastRow: at.row, From: at.offset, To: at.offset,
	}}
	b.List = append(b.List, *b.Open)
	if n := len(b.List) - maxBlocks; n > 0 {
		b.List = append(b.List[:0], b.List[n:]...)
	}
	told := b.Open.Block
	return &told
}

// finish gives the block that ended, nil when none was open.
func (b *blocks) finish(at place, exit *int, now time.Time) *davit.Block {
	b.State, b.Last = blockEnded, exit
	b.Ended++
	if b.Open == nil {
		return nil
	}
	open := b.Open
	b.Open = nil
	open.End, open.Exit, open.To, open.Last = &now, exit, at.offset, at.mark
	open.LastRow, open.Below = at.row, at.column == 0
	if open.Below && open.LastRow > open.FirstRow {
		open.LastRow--
	}
	open.LastRow = max(open.LastRow, open.FirstRow)
	if n := len(b.List); n > 0 {
		b.List[n-1] = *open
	}
	told := open.Block
	return &told
}

// rows gives the blocks with their rows as the screen counts them now; locate is the
// screen's MarkRow, which stays right over a reflow.
func (b *blocks) rows(locate func(uint64) (uint64, bool)) []davit.Block {
	out := make([]davit.Block, len(b.List))
	for i, in := range b.List {
		out[i] = in.Block
		if row, ok := locate(in.First); ok {
			height := in.LastRow - in.FirstRow
			out[i].FirstRow, out[i].LastRow = row, row+height
			if last, ok := locate(in.Last); ok && in.End != nil && last > row {
				if out[i].LastRow = last; in.Below {
					out[i].LastRow--
				}
			}
		}
	}
	return out
}

// exitOf reads the exit status of a D mark.
func exitOf(params map[string]string) *int {
	n, err := strconv.Atoi(params["exit"])
	if err != nil {
		return nil
	}
	return &n
}

// commandOf reads the command line that some shells put on the C mark.
func commandOf(params map[string]string) string {
	if line, err := url.PathUnescape(params["cmdline_url"]); err == nil && line != "" {
		return line
	}
	return params["cmdline"]
}
