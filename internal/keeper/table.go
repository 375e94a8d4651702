package keeper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// tableVersion is the shape of the table below. A build reads the versions that it knows
// and refuses a field that it does not: dropping one would drop what somebody is owed.
const tableVersion = 1

// table is everything that a keeper hands to the build that takes its place (P1.7). Files
// are descriptor numbers, kept over exec; -1 means none. Text that may be any bytes is
// []byte.
type table struct {
	Version    int         `json:"version"`
	Build      string      `json:"build"`
	StateDir   string      `json:"stateDir"`
	Home       string      `json:"home"`
	Started    time.Time   `json:"started"`
	Generation int         `json:"generation"`
	Fence      uint64      `json:"fence"`
	Bye        bool        `json:"bye"`
	Lost       time.Time   `json:"lost"`
	Lock       int         `json:"lock"`
	Socket     tableSocket `json:"socket"`
	Cgroup     string      `json:"cgroup,omitempty"`
	Spawns     []tableAct  `json:"spawns"`
	Panes      []tablePane `json:"panes"`
}

type tableSocket struct {
	Path string `json:"path"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
	File int    `json:"file"`
}

// tableAct is one remembered act; one that is not done is an input that still waits.
type tableAct struct {
	ID   string          `json:"id"`
	Verb string          `json:"verb"`
	Pane string          `json:"pane"`
	Done bool            `json:"done"`
	Body json.RawMessage `json:"body,omitempty"`
	Err  *WireError      `json:"err,omitempty"`
}

type tablePane struct {
	Name    string            `json:"name"`
	Kind    string            `json:"kind"`
	Labels  map[string]string `json:"labels,omitempty"`
	Pipes   bool              `json:"pipes"`
	Program []byte            `json:"program"`
	Mark    []byte            `json:"mark,omitempty"`
	Cgroup  string            `json:"cgroup,omitempty"`
	Pid     int               `json:"pid"`
	Start   uint64            `json:"start"`
	Started time.Time         `json:"started"`
	Cols    int               `json:"cols"`
	Rows    int               `json:"rows"`
	Exit    *ExitStatus       `json:"exit,omitempty"`
	Acts    []tableAct        `json:"acts"`
	Input   tableInput        `json:"input"`
	Out     tableOutput       `json:"out"`
	Err     *tableOutput      `json:"err,omitempty"`
}

type tableInput struct {
	File    int         `json:"file"` // of a pipe; a terminal's is its output's
	Replied uint64      `json:"replied"`
	Queue   []tableItem `json:"queue"`
}

type tableItem struct {
	ID      string `json:"id"`
	Data    []byte `json:"data"`
	Written int    `json:"written"` // bytes of it that the program has got already
	EOF     bool   `json:"eof"`
}

type tableOutput struct {
	File      int            `json:"file"`
	Acked     uint64         `json:"acked"`
	Index     int            `json:"index"`
	Segment   int            `json:"segment"`
	SegFrom   uint64         `json:"segFrom"`
	SegLen    uint64         `json:"segLen"`
	Unsaved   []byte         `json:"unsaved,omitempty"`
	Start     uint64         `json:"start"`
	End       uint64         `json:"end"`
	Logged    uint64         `json:"logged"`
	Trouble   string         `json:"trouble,omitempty"`
	Segments  []tableSegment `json:"segments"`
	Held      []byte         `json:"held,omitempty"` // the last bytes, when the disk lacks them
	Marks     []tableMark    `json:"marks"`
	MarkBase  int            `json:"markBase"`
	Size      uint64         `json:"size"`
	Moments   []tableMoment  `json:"moments,omitempty"`
	Forgotten uint64         `json:"forgotten"`
	EOF       bool           `json:"eof"`
	Exited    bool           `json:"exited"`
}

type tableSegment struct {
	Start  uint64 `json:"start"`
	Length uint64 `json:"length"`
}

type tableMark struct {
	Kind   MarkKind `json:"kind"`
	Offset uint64   `json:"offset"`
	Value  uint64   `json:"value"`
	Time   int64    `json:"time"`
}

type tableMoment struct {
	End uint64    `json:"end"`
	At  time.Time `json:"at"`
}

// readTable reads a table and says why it cannot be taken over.
func readTable(r io.Reader) (*table, error) {
	var v struct {
		Version int    `json:"version"`
		Build   string `json:"build"`
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("read the table: %w", err)
	}
	if v.Version != tableVersion {
		return nil, fmt.Errorf("the table of %s has version %d, this build reads %d", v.Build, v.Version, tableVersion)
	}
	t := new(table)
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("read the table of %s: %w", v.Build, err)
	}
	return t, t.check()
}

// check refuses a table that would not make a whole keeper.
func (t *table) check() error {
	if t.Lock < 3 || t.Socket.File < 3 || t.Socket.Path == "" || t.StateDir == "" {
		return fmt.Errorf("the table of %s lacks the lock or the socket", t.Build)
	}
	seen := map[string]bool{}
	for i := range t.Panes {
		p := &t.Panes[i]
		if !paneName.MatchString(p.Name) || seen[p.Name] {
			return fmt.Errorf("the table of %s has a pane %q that cannot be", t.Build, p.Name)
		}
		seen[p.Name] = true
		if p.Pid <= 1 || p.Pipes != (p.Err != nil) {
			return fmt.Errorf("the table of %s has half a pane %s", t.Build, p.Name)
		}
		for _, o := range p.outputs() {
			if err := o.check(); err != nil {
				return fmt.Errorf("the table of %s, pane %s: %w", t.Build, p.Name, err)
			}
		}
		for _, it := range p.Input.Queue {
			if it.ID == "" || it.Written < 0 {
				return fmt.Errorf("the table of %s, pane %s: an input that nobody asked for", t.Build, p.Name)
			}
		}
	}
	return nil
}

func (p *tablePane) outputs() []*tableOutput {
	if p.Err != nil {
		return []*tableOutput{&p.Out, p.Err}
	}
	return []*tableOutput{&p.Out}
}

func (o *tableOutput) check() error {
	if o.Start > o.Logged || o.Logged > o.End || uint64(len(o.Held)) > o.End {
		return fmt.Errorf("a log [%d, %d) of which %d is on disk", o.Start, o.End, o.Logged)
	}
	if o.Trouble == "" && o.Logged != o.End {
		return fmt.Errorf("a log that ends at %d, on disk at %d, without trouble", o.End, o.Logged)
	}
	if o.Index < 3 || o.File < 3 && !o.EOF {
		return fmt.Errorf("a log without its files")
	}
	return nil
}
