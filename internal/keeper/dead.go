package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"time"

	"davit"
)

// Dead reads the log of a pane whose keeper is gone: after a reboot, a crash, or an idle
// keeper's leaving (P1.9). Not for panes that a living keeper holds (P1.5).
type Dead struct {
	Range   Range
	Exit    *ExitStatus // nil: its end was not recorded
	Damaged int         // marks that did not check
	tail    *tail
}

var segmentFile = regexp.MustCompile(`^(log|err)\.([0-9a-f]{16})$`)

// OpenDead opens one log of a pane below a state directory, from an offset on; which as
// in Follow. An offset past the end, ordinary after a reboot, begins at the end.
func OpenDead(stateDir, pane, which string, from uint64) (*Dead, error) {
	if !paneName.MatchString(pane) {
		return nil, davit.Errorf(davit.CodeInvalid, "%q cannot name a pane", pane)
	}
	l := &outlog{
		dir: filepath.Join(stateDir, panesName, pane), prefix: "log", index: "index", now: time.Now,
		tails: map[*tail]struct{}{}, eof: true, exited: true,
	}
	if which == Stderr {
		l.prefix, l.index = "err", "errindex"
	}
	d := &Dead{}
	b, err := os.ReadFile(filepath.Join(l.dir, l.index))
	if errors.Is(err, os.ErrNotExist) {
		return nil, davit.Errorf(davit.CodePaneNotFound, "there is no log of pane %s", pane)
	}
	if err == nil {
		l.marks, d.Damaged = ParseIndex(b)
		err = l.findSegments()
	}
	if err != nil {
		return nil, davit.Errorf(davit.CodeHomeUnusable, "read the log of pane %s: %w", pane, err)
	}
	sort.SliceStable(l.marks, func(i, j int) bool { return l.marks[i].Offset < l.marks[j].Offset })
	for _, m := range l.marks {
		if m.Kind == MarkExit {
			d.Exit = m.Frame().Exit
		}
	}
	for n := len(l.marks); n > 0 && l.marks[n-1].Offset > l.end; n-- {
		l.marks = l.marks[:n-1] // of bytes that did not reach the disk
	}
	l.dropMarks()
	d.Range, d.tail = l.span(), l.follow(from)
	return d, nil
}

// findSegments lists what is there of a log.
func (l *outlog) findSegments() error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries { // sorted, and the names sort by offset
		m := segmentFile.FindStringSubmatch(e.Name())
		if m == nil || m[1] != l.prefix {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		start, err := strconv.ParseUint(m[2], 16, 64)
		if err != nil {
			return err
		}
		if start < l.end {
			return fmt.Errorf("segment %s overlaps the one before it", e.Name())
		}
		if len(l.segments) == 0 {
			l.start = start
		}
		l.segments = append(l.segments, segment{start, uint64(info.Size())})
		l.end = start + uint64(info.Size())
	}
	return nil
}

// Next gives the next frame in log order; io.EOF at the end.
func (d *Dead) Next() (Frame, error) {
	it, err := d.tail.next()
	switch {
	case err != nil:
		return Frame{}, err
	case it.kind == itemBytes:
		return Frame{Kind: Bytes, From: it.at, To: it.at + uint64(len(it.data)), Data: it.data}, nil
	case it.kind == itemMark:
		return it.mark.Frame(), nil
	}
	return Frame{}, io.EOF
}

// Close lets go of the files.
func (d *Dead) Close() { d.tail.close() }
