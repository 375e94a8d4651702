package screen

// cell is one column of the grid in eight bytes: a rune or the index of a
// cluster, flags, and the id of an interned style. The zero cell is a column
// that was never written, in the default style, so that clearing is zeroing.
type cell uint64

const (
	cellRune      cell = 1<<21 - 1 // rune, or cluster index with cellCluster
	cellCluster   cell = 1 << 21
	cellWide      cell = 1 << 22 // two columns; the next cell is its tail
	cellTail      cell = 1 << 23 // second half of a wide cell
	cellProtected cell = 1 << 24 // DECSCA: selective erase leaves it
	cellStyle          = 32      // shift of the style id
	cellContent        = cellRune | cellCluster
	maxClusters        = 1 << 21
	maxCluster         = 64 // bytes of a cluster; what goes past is dropped
)

func (c cell) style() uint32 { return uint32(c >> cellStyle) }

// empty tells that c shows nothing; the tail of a wide cell is empty too.
func (c cell) empty() bool { return c&cellContent == 0 }

func (c cell) width() int {
	switch {
	case c&cellTail != 0:
		return 0
	case c&cellWide != 0:
		return 2
	}
	return 1
}

// row is one line of a grid.
type row struct {
	cells []cell
	// used bounds what is not zero: cells[used:] are all zero.
	used int
	// wrapped tells that the row continues the one above.
	wrapped bool
}

// clear makes r blank in the style of fill (a cell without content).
func (r *row) clear(fill cell) {
	if fill == 0 {
		clear(r.cells[:r.used])
		r.used = 0
	} else {
		for i := range r.cells {
			r.cells[i] = fill
		}
		r.used = len(r.cells)
	}
	r.wrapped = false
}

// put sets one cell.
func (r *row) put(x int, c cell) {
	r.cells[x] = c
	if x >= r.used {
		r.used = x + 1
	}
}

// fill blanks [from, to); halves of wide cells that stick out become blanks.
func (r *row) fill(from, to int, fill cell) {
	to = min(to, len(r.cells))
	if from >= to {
		return
	}
	if from > 0 && r.cells[from]&cellTail != 0 {
		r.put(from-1, fill)
	}
	if to < len(r.cells) && r.cells[to]&cellTail != 0 {
		r.put(to, fill)
	}
	if fill == 0 {
		if from < r.used {
			clear(r.cells[from:min(to, r.used)])
			if to >= r.used {
				r.used = from
			}
		}
		return
	}
	for i := from; i < to; i++ {
		r.cells[i] = fill
	}
	r.used = max(r.used, to)
}

// fillUnprotected is fill for selective erase (DECSED, DECSEL).
func (r *row) fillUnprotected(from, to int, fill cell) {
	to = min(to, len(r.cells))
	if from >= to {
		return
	}
	if from > 0 && r.cells[from]&cellTail != 0 && r.cells[from-1]&cellProtected == 0 {
		r.put(from-1, fill)
	}
	if to < len(r.cells) && r.cells[to]&cellTail != 0 && r.cells[to]&cellProtected == 0 {
		r.put(to, fill)
	}
	for i := from; i < to; i++ {
		if r.cells[i]&cellProtected == 0 {
			r.cells[i] = fill
		}
	}
	r.used = max(r.used, to)
}

// insert shifts [x, right] by n to the right; what passes right is lost.
func (r *row) insert(x, right, n int, fill cell) {
	if x > 0 && r.cells[x]&cellTail != 0 {
		r.put(x-1, fill)
		r.put(x, fill)
	}
	if right+1 < len(r.cells) && r.cells[right+1]&cellTail != 0 {
		r.put(right, fill)
		r.put(right+1, fill)
	}
	n = min(n, right+1-x)
	if n <= 0 {
		return
	}
	r.used = max(r.used, min(r.used+n, right+1))
	copy(r.cells[x+n:right+1], r.cells[x:])
	for i := x; i < x+n; i++ {
		r.cells[i] = fill
	}
	if r.cells[right]&cellWide != 0 {
		r.cells[right] = fill
	}
	r.used = max(r.used, x+n)
}

// remove shifts (x+n, right] by n to the left.
func (r *row) remove(x, right, n int, fill cell) {
	if right+1 < len(r.cells) && r.cells[right+1]&cellTail != 0 {
		r.put(right, fill)
		r.put(right+1, fill)
	}
	if x > 0 && r.cells[x]&cellTail != 0 {
		r.put(x-1, fill)
	}
	n = min(n, right+1-x)
	if n <= 0 {
		return
	}
	copy(r.cells[x:right+1], r.cells[x+n:right+1])
	for i := right + 1 - n; i <= right; i++ {
		r.cells[i] = fill
	}
	if r.cells[x]&cellTail != 0 {
		r.cells[x] = fill
	}
	if fill != 0 {
		r.used = max(r.used, right+1)
	}
}

// grid is one of the two screens.
type grid struct {
	rows []*row
	// Margins, inclusive.
	top, bottom, left, right int
	cursor                   cursor
	saved                    cursor
	kitty                    kittyStack
}

// cursor is the cursor and what DECSC saves with it.
type cursor struct {
	x, y int
	// pending: the last column was printed and the next character wraps;
	// x is then one past the column that the cursor is on.
	pending   bool
	pen       style
	protected bool
	charsets  [4]byte // designator of G0 to G3
	gl        uint8   // 0 to 3
	origin    bool
}

func newCursor() cursor {
	return cursor{charsets: [4]byte{'B', 'B', 'B', 'B'}}
}

// kittyStack is the kitty keyboard protocol's stack of flags of one screen.
type kittyStack struct {
	flags uint8
	stack []uint8 // pushed ones, at most kittyDepth
}

const kittyDepth = 16

func newGrid(cols, rows int) *grid {
	g := &grid{cursor: newCursor(), saved: newCursor()}
	cells := make([]cell, cols*rows)
	structs := make([]row, rows)
	g.rows = make([]*row, rows)
	for i := range g.rows {
		structs[i].cells = cells[i*cols : (i+1)*cols : (i+1)*cols]
		g.rows[i] = &structs[i]
	}
	g.resetMargins(cols, rows)
	return g
}

func (g *grid) resetMargins(cols, rows int) {
	g.top, g.bottom, g.left, g.right = 0, rows-1, 0, cols-1
}

// rotateUp moves rows [top, bottom] up by one; the top one comes back at the
// bottom, uncleared. Rows move as pointers, never cell by cell.
func (g *grid) rotateUp(top, bottom int) *row {
	r := g.rows[top]
	copy(g.rows[top:bottom], g.rows[top+1:bottom+1])
	g.rows[bottom] = r
	return r
}

// rotateDown is the reverse of rotateUp.
func (g *grid) rotateDown(top, bottom int) *row {
	r := g.rows[bottom]
	copy(g.rows[top+1:bottom+1], g.rows[top:bottom])
	g.rows[top] = r
	return r
}
