package screen

// history is the scrollback: packed lines in blocks of bytes, oldest first.
// It is bounded in lines and in bytes; whatever is oldest goes.
type history struct {
	blocks             []*block
	lines, bytes       int
	first              uint64 // absolute id of the oldest line
	maxLines, maxBytes int
	spare              *block
	last               int // length of the newest line
}

// block holds some lines in one piece of memory.
type block struct {
	data []byte
	ends []uint32
	gone int // lines at the front that are dropped already
}

const (
	blockSize = 64 << 10
	blockRoom = 4 << 10 // a block with less room left is closed
	lineCost  = 4       // bytes of bookkeeping a line
)

func (b *block) line(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.data[from:b.ends[i]:b.ends[i]]
}

// tail is the block that the next line is appended to; added books it.
func (h *history) tail() *block {
	if n := len(h.blocks); n > 0 {
		if b := h.blocks[n-1]; cap(b.data)-len(b.data) >= max(blockRoom, h.last) {
			return b
		}
	}
	b := h.spare
	if b == nil {
		b = &block{data: make([]byte, 0, h.blockSize())}
	}
	h.spare = nil
	h.blocks = append(h.blocks, b)
	return b
}

// blockSize is smaller while there is little, so that an idle pane is small.
func (h *history) blockSize() int {
	switch len(h.blocks) {
	case 0:
		return 2 * blockRoom
	case 1:
		return 4 * blockRoom
	}
	return blockSize
}

// added books the line that was just appended to b.
func (h *history) added(b *block, before int) {
	h.last = len(b.data) - before
	b.ends = append(b.ends, uint32(len(b.data)))
	h.lines++
	h.bytes += len(b.data) - before + lineCost
	for h.lines > h.maxLines || h.bytes > h.maxBytes && h.lines > 0 {
		h.dropFirst()
	}
}

func (h *history) append(line []byte) {
	b := h.tail()
	before := len(b.data)
	b.data = append(b.data, line...)
	h.added(b, before)
}

func (h *history) dropFirst() {
	b := h.blocks[0]
	h.bytes -= len(b.line(b.gone)) + lineCost
	b.gone++
	h.lines--
	h.first++
	if b.gone == len(b.ends) {
		h.release(0)
	}
}

// release takes block i out and keeps its memory for the next one.
func (h *history) release(i int) {
	b := h.blocks[i]
	copy(h.blocks[i:], h.blocks[i+1:])
	h.blocks[len(h.blocks)-1] = nil
	h.blocks = h.blocks[:len(h.blocks)-1]
	if cap(b.data) == blockSize {
		b.data, b.ends, b.gone = b.data[:0], b.ends[:0], 0
		h.spare = b
	}
}

// takeLast removes the newest line; it is valid until the next append.
func (h *history) takeLast() ([]byte, bool) {
	if h.lines == 0 {
		return nil, false
	}
	n := len(h.blocks) - 1
	b := h.blocks[n]
	last := len(b.ends) - 1
	line := b.line(last)
	b.data = b.data[:len(b.data)-len(line)]
	b.ends = b.ends[:last]
	h.lines--
	h.bytes -= len(line) + lineCost
	if b.gone == len(b.ends) {
		h.blocks = h.blocks[:n]
	}
	return line, true
}

func (h *history) clear() {
	h.first += uint64(h.lines)
	h.blocks, h.spare = nil, nil
	h.lines, h.bytes = 0, 0
}

// each calls f for the lines [from, to) in order until it returns false.
func (h *history) each(from, to int, f func(i int, line []byte) bool) {
	at := 0
	for _, b := range h.blocks {
		n := len(b.ends) - b.gone
		if at+n > from {
			for i := max(from-at, 0); i < n; i++ {
				if at+i >= to || !f(at+i, b.line(b.gone+i)) {
					return
				}
			}
		}
		at += n
	}
}
