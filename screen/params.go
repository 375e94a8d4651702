package screen

const maxParams = 32

// params are the numbers of a sequence. sub has a bit for each that followed
// a colon; set has one for each that was written.
type params struct {
	n   int
	v   [maxParams]int32
	sub uint32
	set uint32
}

const maxParam = 1 << 24

// get is parameter i, or def where it is left out or 0.
func (p *params) get(i, def int) int {
	if i >= p.n || p.v[i] == 0 {
		return def
	}
	return int(p.v[i])
}

func (p *params) digit(b byte) {
	if p.n == 0 {
		p.n = 1
	}
	i := p.n - 1
	if i >= maxParams {
		return
	}
	p.set |= 1 << i
	if v := p.v[i]*10 + int32(b-'0'); v < maxParam {
		p.v[i] = v
	} else {
		p.v[i] = maxParam
	}
}

func (p *params) next(sub bool) {
	if p.n == 0 {
		p.n = 1
	}
	if p.n > maxParams {
		return
	}
	p.n++
	if p.n <= maxParams && sub {
		p.sub |= 1 << (p.n - 1)
	}
}

func (p *params) clear() {
	for i := range min(p.n, maxParams) {
		p.v[i] = 0
	}
	p.n, p.sub, p.set = 0, 0, 0
}
