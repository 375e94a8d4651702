package screen

// styleTable is an interner of styles with a hash of its own: output that is
// heavy with colours interns one at every word, and a map is twice as slow.
type styleTable struct {
	values []style
	slots  []uint32 // open addressing, 0 = free; the default style has no slot
	free   []uint32
	live   int
	limit  int
}

func newStyleTable() styleTable {
	return styleTable{values: make([]style, 1), slots: make([]uint32, 256), limit: internLimit}
}

func (t *styleTable) full() bool { return t.live >= t.limit }

func (st *style) hash() uint64 {
	h := (uint64(st.fg)<<32 | uint64(st.bg)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h += uint64(st.ul)<<32 | uint64(st.link)
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 32
	h += uint64(st.attrs)<<8 | uint64(st.underline)
	h *= 0x94d049bb133111eb
	return h >> 20
}

func (t *styleTable) intern(v style) uint32 {
	if v == (style{}) {
		return 0
	}
	mask := uint64(len(t.slots) - 1)
	i := v.hash() & mask
	for t.slots[i] != 0 {
		if id := t.slots[i]; t.values[id] == v {
			return id
		}
		i = (i + 1) & mask
	}
	var id uint32
	if last := len(t.free) - 1; last >= 0 {
		id = t.free[last]
		t.free = t.free[:last]
		t.values[id] = v
	} else {
		id = uint32(len(t.values))
		t.values = append(t.values, v)
	}
	t.slots[i] = id
	t.live++
	if 2*t.live > len(t.slots) {
		t.rehash(2 * len(t.slots))
	}
	return id
}

func (t *styleTable) rehash(size int) {
	if len(t.slots) == size {
		clear(t.slots)
	} else {
		t.slots = make([]uint32, size)
	}
	mask := uint64(size - 1)
	for id := 1; id < len(t.values); id++ {
		if t.values[id] == (style{}) {
			continue
		}
		i := t.values[id].hash() & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(id)
	}
}

// collect drops every style whose id is not marked.
func (t *styleTable) collect(marked []bool) {
	t.free = t.free[:0]
	t.live = 0
	for id := 1; id < len(t.values); id++ {
		if marked[id] {
			t.live++
		} else {
			t.values[id] = style{}
			t.free = append(t.free, uint32(id))
		}
	}
	t.limit = max(internLimit, 2*t.live)
	size := len(t.slots)
	for size > 2*internLimit && size > 8*t.live {
		size /= 2
	}
	t.rehash(size)
}
