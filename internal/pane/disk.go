package pane

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"davit"
	"davit/internal/keeper"
)

// FromDisk serves what a dead keeper left of its panes' logs below dir (docs/keeper.md,
// On disk): the newest output may lie behind the last checkpoint. It takes no input.
// Never for a keeper that lives (P1.5): the caller has made sure that none does.
func FromDisk(dir string) Keeper { return diskKeeper{dir} }

type diskKeeper struct{ dir string }

func (k diskKeeper) lost(pane string) error {
	return davit.Errorf(davit.CodePaneLost, "the keeper of pane %s is gone", pane)
}

func (k diskKeeper) Input(_ context.Context, in keeper.Input) error { return k.lost(in.Pane) }
func (k diskKeeper) Inputs(_ context.Context, in []keeper.Input) error {
	return k.lost(in[0].Pane)
}
func (k diskKeeper) Resize(_ context.Context, _ string, pane string, _, _ int) error {
	return k.lost(pane)
}
func (k diskKeeper) Retain(context.Context, string, uint64) error { return nil }
func (k diskKeeper) Foreground(_ context.Context, pane string) (keeper.Foreground, error) {
	return keeper.Foreground{}, k.lost(pane)
}

// Follow reads the log to its end. A log that ends before from, or none, is ordinary
// after a reboot: then nothing follows.
func (k diskKeeper) Follow(ctx context.Context, pane string, from uint64) (Stream, error) {
	dir := filepath.Join(k.dir, pane)
	s := &diskStream{ctx: ctx, dir: dir, pos: from}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, davit.Errorf(davit.CodePaneLost, "read the log of pane %s: %w", pane, err)
	}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), "log.")
		start, err := strconv.ParseUint(name, 16, 64)
		if !ok || err != nil || len(name) != 16 {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			s.segments = append(s.segments, diskSegment{start, start + uint64(info.Size()), e.Name()})
		}
	}
	slices.SortFunc(s.segments, func(a, b diskSegment) int { return cmp.Compare(a.start, b.start) })
	index, err := os.ReadFile(filepath.Join(dir, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, davit.Errorf(davit.CodePaneLost, "read the log of pane %s: %w", pane, err)
	}
	marks, _ := keeper.ParseIndex(index)
	for _, m := range marks {
		if f := m.Frame(); f.Kind != keeper.Gap {
			s.marks = append(s.marks, f)
		}
	}
	slices.SortStableFunc(s.marks, func(a, b keeper.Frame) int { return cmp.Compare(a.From, b.From) })
	return s, nil
}

type diskSegment struct {
	start, end uint64
	name       string
}

type diskStream struct {
	ctx      context.Context
	dir      string
	segments []diskSegment
	marks    []keeper.Frame // sorted; those passed are cut off
	size     *keeper.Frame  // the last size passed
	due      bool           // tell the size: a gap was just told
	pos      uint64
	file     *os.File
	open     string
	buf      []byte
}

func (s *diskStream) Ack(uint64) {}

func (s *diskStream) Close() {
	if s.file != nil {
		s.file.Close()
	}
}

// Range is what the log holds.
func (s *diskStream) Range() keeper.Range {
	if len(s.segments) == 0 {
		return keeper.Range{}
	}
	return keeper.Range{Start: s.segments[0].start, End: s.segments[len(s.segments)-1].end}
}

func (s *diskStream) Next() (keeper.Frame, error) {
	if err := s.ctx.Err(); err != nil {
		return keeper.Frame{}, err
	}
	for len(s.marks) > 0 && s.marks[0].From < s.pos {
		s.pass()
	}
	if s.due && s.size != nil {
		s.due = false
		f := *s.size
		f.Kind, f.From, f.To = keeper.Resize, s.pos, s.pos
		return f, nil
	}
	if len(s.marks) > 0 && s.marks[0].From == s.pos {
		return s.pass(), nil
	}
	i := slices.IndexFunc(s.segments, func(g diskSegment) bool { return g.end > s.pos })
	switch {
	case i < 0 && len(s.marks) > 0:
		return s.gap(s.marks[0].From), nil // the bytes before a last mark were lost
	case i < 0:
		return keeper.Frame{}, io.EOF
	case s.segments[i].start > s.pos:
		return s.gap(s.segments[i].start), nil
	}
	limit := s.segments[i].end
	if len(s.marks) > 0 {
		limit = min(limit, s.marks[0].From)
	}
	return s.read(s.segments[i], limit)
}

func (s *diskStream) pass() keeper.Frame {
	f := s.marks[0]
	s.marks = s.marks[1:]
	if f.Kind == keeper.Start || f.Kind == keeper.Resize {
		s.size = &f
	}
	return f
}

func (s *diskStream) gap(to uint64) keeper.Frame {
	f := keeper.Frame{Kind: keeper.Gap, From: s.pos, To: to}
	s.pos, s.due = to, true
	return f
}

func (s *diskStream) read(g diskSegment, limit uint64) (keeper.Frame, error) {
	if s.open != g.name {
		s.Close()
		file, err := os.Open(filepath.Join(s.dir, g.name))
		if err != nil {
			return keeper.Frame{}, err
		}
		s.file, s.open = file, g.name
	}
	if s.buf == nil {
		s.buf = make([]byte, chunkBytes)
	}
	want := s.buf[:min(uint64(len(s.buf)), limit-s.pos)]
	n, err := s.file.ReadAt(want, int64(s.pos-g.start))
	if n == 0 {
		return keeper.Frame{}, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	f := keeper.Frame{Kind: keeper.Bytes, From: s.pos, To: s.pos + uint64(n), Data: want[:n]}
	s.pos = f.To
	return f, nil
}
