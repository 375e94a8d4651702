package keeper

import (
	"os"
	"sync"
	"time"

	"davit"
)

const (
	inputBytes = 4 << 20 // of a pane, and so of one input (P1.2)
	inputCount = 512     // of a pane
)

// input is the queue before a program's terminal or stdin. Full means busy, and nothing
// is taken. run is its goroutine and the only writer of the file.
type input struct {
	file *os.File
	log  *outlog // tells how old a query is

	mu      sync.Mutex // guards what follows
	queue   []inputItem
	bytes   int
	replied uint64 // highest replyTo
	ended   bool
	closed  bool          // a pipe's end of input was given
	frozen  bool          // the writer is to stop between two writes
	parked  *sync.Cond    // of mu: still has changed
	still   bool          // the writer does nothing, or has ended
	wake    chan struct{} // one token
}

type inputItem struct {
	id      string
	data    []byte // what is still to be written
	written int    // bytes that went before
	eof     bool
	done    func(InputAnswer, error)
}

func newInput(file *os.File, log *outlog) *input {
	q := &input{file: file, log: log, wake: make(chan struct{}, 1)}
	q.parked = sync.NewCond(&q.mu)
	return q
}

// put takes an input whole or not at all; done is called once, by whoever ends it. data
// is the queue's from then on.
func (q *input) put(replyTo uint64, it inputItem) {
	dropped, err := q.admit(replyTo, it)
	if err != nil || dropped != "" {
		it.done(InputAnswer{Dropped: dropped}, err)
	}
}

func (q *input) admit(replyTo uint64, it inputItem) (dropped string, err error) {
	late := replyTo != 0 && q.log.late(replyTo)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.ended:
		return "", endedError(0)
	case replyTo != 0 && replyTo <= q.replied:
		return "answered", nil
	case late:
		return "late", nil
	case q.bytes+len(it.data) > inputBytes || len(q.queue) >= inputCount:
		return "", davit.Errorf(davit.CodePaneBusy, "the program does not read: %d bytes wait for it", q.bytes).
			WithHint("Send it again later: nothing of it was taken.")
	}
	q.replied = max(q.replied, replyTo)
	q.queue = append(q.queue, it)
	q.bytes += len(it.data)
	q.rouse()
	return "", nil
}

func endedError(written int) error {
	return davit.Errorf(davit.CodePaneEnded, "the program has ended").With("written", written)
}

// run writes each input to its end, whether or not its host is still there.
func (q *input) run() {
	for {
		it, ok := q.take()
		if !ok {
			q.mu.Lock()
			q.still = true
			q.parked.Broadcast()
			q.mu.Unlock()
			return
		}
		n, err := q.write(it)
		q.mu.Lock()
		ended := q.ended
		if err != nil && q.frozen && !ended { // the rest waits until the freeze is over
			it.data, it.written = it.data[n:], it.written+n
			q.bytes -= n
			q.queue = append([]inputItem{it}, q.queue...)
			q.mu.Unlock()
			continue
		}
		q.bytes -= len(it.data)
		q.mu.Unlock()
		switch {
		case err == nil:
		case ended:
			err = endedError(it.written + n)
		default:
			err = davit.Errorf(davit.CodePaneEnded, "the program does not take input any more: %w", err).With("written", it.written+n)
		}
		it.done(InputAnswer{}, err)
	}
}

func (q *input) write(it inputItem) (n int, err error) {
	if len(it.data) > 0 {
		n, err = q.file.Write(it.data)
	}
	if it.eof && err == nil {
		err = q.file.Close()
		q.mu.Lock()
		q.closed = true
		q.mu.Unlock()
	}
	return n, err
}

// take waits for the next input; false after the end, when all have been answered.
func (q *input) take() (inputItem, bool) {
	for {
		q.mu.Lock()
		ended := q.ended
		switch {
		case q.frozen && !ended:
			q.still = true
			q.parked.Broadcast()
		case len(q.queue) > 0:
			it := q.queue[0]
			q.queue[0] = inputItem{}
			q.queue = q.queue[1:]
			q.mu.Unlock()
			return it, true
		}
		q.mu.Unlock()
		if ended {
			return inputItem{}, false
		}
		<-q.wake
	}
}

// freeze stops the writer between two writes, so that what is left can be told exactly.
func (q *input) freeze() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.frozen = true
	q.file.SetWriteDeadline(time.Unix(1, 0))
	q.rouse()
	for !q.still {
		q.parked.Wait()
	}
}

// thaw lets it go on.
func (q *input) thaw() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.frozen = false
	if !q.ended {
		q.still = false
		q.file.SetWriteDeadline(time.Time{})
	}
	q.rouse()
}

func (q *input) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *input) queued() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// end refuses what comes and interrupts what is being written.
func (q *input) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.file.SetWriteDeadline(time.Unix(1, 0))
	q.rouse()
}
