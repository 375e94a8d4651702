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

// start begins a block; shown is what its pane's chips say, nil when that is not known.
func (b *blocks) start(at place, command, directory string, shown *davit.BlockPrompt, now time.Time) *davit.Block {
	b.State, b.line = blockRunning, ""
	b.Open = &block{First: at.mark, Last: at.mark, Block: davit.Block{
		Command: command, Directory: directory, Start: now, Prompt: shown,
		FirstRow: at.row, LastRow: at.row, From: at.offset, To: at.offset,
	}}
	b.List = append(b.List, *b.Open)
	if n := len(b.List) - maxBlocks; n > 0 {
		b.List = append(b.List[:0], b.List[n:]...)
	}
	b.boundPrompts()
	told := b.Open.Block
	return &told
}

// Why a block has no prompt.
const (
	promptUnseen = "davit's host did not run when this command started"
	promptOld    = "it is not among the newest commands, whose prompts are kept"
)

// boundPrompts lets go of the oldest prompts.
func (b *blocks) boundPrompts() {
	count, size := 0, 0
	for i := len(b.List) - 1; i >= 0; i-- {
		p := b.List[i].Prompt
		if p == nil || len(p.Chips) == 0 {
			continue
		}
		count, size = count+1, size+promptSize(p)
		if count > maxPrompts || size > maxPromptBytes && count > 1 {
			b.List[i].Prompt = &davit.BlockPrompt{Missing: promptOld}
		}
	}
}

// promptSize is about what a prompt takes in a checkpoint.
func promptSize(p *davit.BlockPrompt) int {
	size := len(p.Text) + len(p.Missing)
	for _, c := range p.Chips {
		size += len(c.Kind) + len(c.Value) + len(c.Text) + len(c.Title) + len(c.Icon) + 200
	}
	return size
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
		if out[i] = in.Block; out[i].Prompt == nil {
			out[i].Prompt = &davit.BlockPrompt{Missing: promptUnseen}
		}
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
