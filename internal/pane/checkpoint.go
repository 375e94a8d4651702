package pane

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"davit"
	"davit/screen"
)

// checkpointFile is the name below Config.Dir.
const checkpointFile = "checkpoint"

// checkpointMagic opens the file: name and version of the container. What is in it of
// the screen has a version of its own.
const checkpointMagic = "davit pane checkpoint 1\n"

// checkpointHead is the magic and the offset.
const checkpointHead = len(checkpointMagic) + 8

// errNoCheckpoint is the condition of bytes that are none.
var errNoCheckpoint = errors.New("not a checkpoint of a pane")

// kept is what a checkpoint holds beside the screen.
type kept struct {
	Offset    uint64      `json:"offset"`
	Resumable uint64      `json:"resumable"` // one past the last resize or gap
	Directory string      `json:"directory,omitempty"`
	Command   string      `json:"command,omitempty"`
	Running   bool        `json:"running,omitempty"`
	Exit      *davit.Exit `json:"exit,omitempty"`
	Note      string      `json:"note,omitempty"`
	Blocks    blocks      `json:"blocks"`

	Properties map[string]string `json:"properties,omitempty"`
	Replies    []owed            `json:"replies,omitempty"` // that the keeper may not have
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeCheckpoint: magic · offset (8) · length of the JSON (4) · JSON · screen · CRC-32C
// of all before (4); numbers are big endian. See docs/checkpoint.md.
func encodeCheckpoint(k kept, screen []byte) ([]byte, error) {
	meta, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("encode the checkpoint: %w", err)
	}
	b := make([]byte, 0, checkpointHead+8+len(meta)+len(screen))
	b = append(b, checkpointMagic...)
	b = binary.BigEndian.AppendUint64(b, k.Offset)
	b = binary.BigEndian.AppendUint32(b, uint32(len(meta)))
	b = append(b, meta...)
	b = append(b, screen...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

func decodeCheckpoint(b []byte) (kept, []byte, error) {
	var k kept
	if len(b) < checkpointHead+8 || string(b[:len(checkpointMagic)]) != checkpointMagic {
		return k, nil, errNoCheckpoint
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return k, nil, fmt.Errorf("%w: its checksum does not fit", errNoCheckpoint)
	}
	body = body[checkpointHead:]
	meta := uint64(binary.BigEndian.Uint32(body))
	if body = body[4:]; meta > uint64(len(body)) {
		return k, nil, errNoCheckpoint
	}
	if err := json.Unmarshal(body[:meta], &k); err != nil {
		return k, nil, fmt.Errorf("%w: %w", errNoCheckpoint, err)
	}
	return k, body[meta:], nil
}

// restore makes the screen from the checkpoint, or an empty one: then the log is folded
// from its start, and if that is gone a gap says so (P1.4).
func (p *Pane) restore() {
	f := &p.fold
	f.save.jobs, f.save.finished = make(chan save, 1), make(chan saved, 1)
	view := p.view.Load()
	k, s, err := p.load()
	if err == nil && p.cfg.Base > 0 && k.Offset <= p.cfg.Base {
		k = startedAnew(k, s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.log.Warn("the checkpoint cannot be read; folding what the log has", "err", err)
	}
	if err != nil {
		f.screen = screen.New(view.Cols, view.Rows, p.cfg.Screen)
	} else {
		f.screen, f.blocks, f.props = s, k.Blocks, k.Properties
		f.save.resumable, f.save.offset = k.Resumable, k.Offset
		p.change(func(v *davit.Pane) {
			v.Cols, v.Rows, v.Title = s.Cols(), s.Rows(), s.Title()
			v.Command, v.Running, v.Note = k.Command, k.Running, cmp.Or(v.Note, k.Note) // what the host says comes first
			if v.Status == davit.PaneLost {
				v.Command, v.Running = "", false
			}
			if k.Directory != "" {
				v.Directory = k.Directory
			}
			if k.Exit != nil {
				v.Exit, v.Status = k.Exit, davit.PaneEnded
			}
		})
		p.size.inForce(s.Cols(), s.Rows())
		p.answerOwed(k.Replies)
	}
	p.head.Store(f.screen.Offset())
	if safe := f.screen.SafeOffset(); f.screen.Offset()-safe > maxHeld {
		f.swallow, f.swallowed = true, safe
	}
	p.ring.open(f.floor(), f.save.resumable, f.screen.Cols(), f.screen.Rows())
	if f.sided = f.screen.Modes().LeftRightMargins; f.sided {
		p.ring.sided(f.screen.Offset())
	}
	if exit := p.view.Load().Exit; exit != nil {
		p.ring.end(exit)
		if view.Exit == nil { // told by the checkpoint only: the host went before it heard
			p.emit(Event{Kind: EventExit})
		}
	}
}

// afterFormer leaves the modes of a program that has ended, and goes to a line of its own;
// leaveAlternate comes before it where that is what is shown.
const (
	leaveAlternate = "\x18\x1b[?1049l"
	afterFormer    = "\x18\x1b[!p\x1b[?9;1000;1002;1003;1004;1006;2004l\x1b[?25h\x1b[m\r\n"
)

// startedAnew is a checkpoint of a pane's former program, as its next one finds it: the old
// output stays above, all else of it is over.
func startedAnew(k kept, s *screen.Screen) kept {
	if k.Exit != nil || k.Command != "" || k.Running {
		offset := s.Offset()
		if s.AltScreen() {
			s.Write([]byte(leaveAlternate))
		}
		s.Write([]byte(afterFormer))
		s.SetOffset(offset)
	}
	k.Exit, k.Command, k.Running, k.Note, k.Replies = nil, "", false, "", nil
	return k
}

func (p *Pane) load() (kept, *screen.Screen, error) {
	b, err := os.ReadFile(filepath.Join(p.cfg.Dir, checkpointFile))
	if err != nil {
		return kept{}, nil, err
	}
	k, body, err := decodeCheckpoint(b)
	if err != nil {
		return k, nil, err
	}
	s, err := screen.Load(body, p.cfg.Screen)
	if err != nil {
		return k, nil, err
	}
	if s.Offset() != k.Offset {
		return k, nil, fmt.Errorf("%w: offset %d, but the screen's is %d", errNoCheckpoint, k.Offset, s.Offset())
	}
	return k, s, nil
}

// saver is the owner's book of checkpoints; at most one is being written.
type saver struct {
	since     int       // bytes folded since the last
	changed   time.Time // when the pane last changed
	dirty     bool
	prompted  time.Time // when the first prompt that is in no checkpoint yet was kept
	busy      bool
	offset    uint64 // of the last that was written
	resumable uint64
	jobs      chan save
	finished  chan saved // capacity 1
}

type save struct {
	offset, retain uint64
	data           []byte
}

type saved struct {
	offset uint64
	err    error
}

func (s *saver) grew(n int) { s.since += n }

// touched says that there is something new, and makes a checkpoint when one is due.
func (p *Pane) touched() {
	s := &p.fold.save
	s.dirty, s.changed = true, time.Now()
	p.fold.drawn = drawn{}
	if s.since >= checkpointEvery && !s.busy {
		p.checkpoint()
		return
	}
	p.arm(quietFor)
}

func (p *Pane) arm(d time.Duration) {
	if f := &p.fold; !f.armed {
		f.armed = true
		f.timer.Reset(d)
	}
}

// quiet runs when the timer fires: 1 s after a change, or later when there were more. A
// prompt does not wait for that: the log cannot tell it again.
func (p *Pane) quiet() {
	s := &p.fold.save
	if !s.dirty {
		return
	}
	owed := !s.prompted.IsZero() && time.Since(s.prompted) >= quietFor
	if left := quietFor - time.Since(s.changed); left > 0 && !owed || s.busy {
		p.arm(max(left, quietFor/10))
		return
	}
	p.checkpoint()
}

// checkpoint draws the state up and gives it to the writer.
func (p *Pane) checkpoint() {
	f := &p.fold
	v := p.view.Load()
	k := kept{
		Offset: f.screen.Offset(), Resumable: f.save.resumable, Directory: v.Directory,
		Command: v.Command, Running: v.Running, Exit: v.Exit, Note: v.Note, Blocks: f.blocks,
		Properties: f.props, Replies: p.replies.owed(),
	}
	data, err := encodeCheckpoint(k, f.screen.Save())
	if err != nil {
		p.log.Error("checkpoint", "err", err)
		return
	}
	f.save.busy, f.save.dirty, f.save.since, f.save.prompted = true, false, 0, time.Time{}
	f.save.jobs <- save{offset: k.Offset, retain: f.floor(), data: data}
}

// write carries checkpoints out until the owner closes the queue: file, store, keeper, in
// this order (P1.4).
func (p *Pane) writeCheckpoints(ctx context.Context) {
	for job := range p.fold.save.jobs {
		path := filepath.Join(p.cfg.Dir, checkpointFile)
		if newer(path, job.offset) {
			p.fold.save.finished <- saved{job.offset, nil}
			continue
		}
		err := writeFile(path, job.data)
		if err == nil {
			p.persist(job.offset, 0)
			asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			keep := p.readers.floor(job.retain, p.head.Load())
			if err := p.cfg.Keeper.Retain(asking, string(p.id), keep); err != nil && ctx.Err() == nil {
				p.log.Debug("retain", "err", err)
			}
			cancel()
		}
		p.fold.save.finished <- saved{job.offset, err}
	}
}

// saved takes the writer's word in. A failed write is tried again after the next change
// or the next quiet second.
func (p *Pane) saved(done saved) {
	s := &p.fold.save
	s.busy = false
	if done.err != nil {
		p.log.Error("write the checkpoint", "err", done.err)
		s.dirty = true
		p.arm(10 * quietFor)
		return
	}
	s.offset = done.offset
	if s.dirty {
		p.arm(quietFor)
	}
}

// finish writes the last checkpoint.
func (p *Pane) finish() {
	s := &p.fold.save
	if s.busy {
		p.saved(<-s.finished)
	}
	if s.dirty {
		p.checkpoint()
		p.saved(<-s.finished)
	}
}

// newer says that a readable checkpoint of a later offset is there: a host that took
// over has written it, and this one is on its way out.
func newer(path string, offset uint64) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, checkpointHead)
	if _, err := io.ReadFull(file, head); err != nil || binary.BigEndian.Uint64(head[len(checkpointMagic):]) <= offset {
		return false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	_, _, err = decodeCheckpoint(b)
	return err == nil
}

// writeFile replaces a file in one step.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
