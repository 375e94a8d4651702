package keeper

import (
	"os"
	"path/filepath"
)

// spareMarks is 64 KiB of records.
const spareMarks = 2048

// compact writes the index anew when it has many marks of bytes that are not kept any more:
// beside it, then renamed over it, so that whoever reads it finds the old or the new one
// whole. By the turn's holder. Followers have the marks in memory and notice nothing.
//
// Segments go before their marks do: after a crash in between there are marks of no use.
func (l *outlog) compact() error {
	if l.trouble != nil || len(l.unsaved) > 0 {
		return nil // the disk is full, and the last record perhaps torn
	}
	st, err := l.idx.Stat()
	if err != nil {
		return err
	}
	l.mu.Lock()
	start, live := l.start, len(l.marks)
	l.mu.Unlock()
	if int(st.Size()/MarkSize)-live <= l.spareMarks {
		return nil
	}
	path := filepath.Join(l.dir, l.index)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	marks, _ := ParseIndex(b)
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !os.IsNotExist(err) { // of a keeper that was killed here
		return err
	}
	file, err := l.create(fresh)
	if err != nil {
		return err
	}
	var records []byte
	for _, m := range keepMarks(marks, start) {
		records = AppendMark(records, m)
	}
	if _, err = file.Write(records); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		file.Close()
		_ = os.Remove(fresh)
		return err
	}
	old := l.idx
	l.idx = file
	return old.Close()
}

// keepMarks leaves out the marks before the first byte kept, but for the size in force
// there and the exit, which background holders may have left far behind.
func keepMarks(marks []Mark, start uint64) []Mark {
	size := -1
	for i, m := range marks {
		if m.Offset < start && (m.Kind == MarkStart || m.Kind == MarkResize) {
			size = i
		}
	}
	var kept []Mark
	for i, m := range marks {
		if m.Offset >= start || i == size || m.Kind == MarkExit {
			kept = append(kept, m)
		}
	}
	return kept
}
