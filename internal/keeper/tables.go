package keeper

import "sync"

// tables shares readings of the process table among those who ask for one at a time: each
// gets one that began after it asked, and a hundred closes at once read it a few times, not
// a few hundred. A reading is not to be changed.
type tables struct {
	mu   sync.Mutex // guards next; a leaf
	next *tableRead // that has not begun

	turn sync.Mutex // one reading at a time; held over it on purpose, and guards what is read
}

type tableRead struct {
	done  bool
	table []process
	err   error
}

func (t *tables) read() ([]process, error) {
	t.mu.Lock()
	if t.next == nil {
		t.next = &tableRead{}
	}
	r := t.next
	t.mu.Unlock()

	t.turn.Lock()
	defer t.turn.Unlock()
	if !r.done {
		t.mu.Lock()
		t.next = nil // who asks from here on waits for another
		t.mu.Unlock()
		r.table, r.err = processes()
		r.done = true
	}
	return r.table, r.err
}
