package screen

// The width table says how many columns a code point takes and how it joins
// the one before it. It is the table of the browser's emulator (xterm.js with
// its unicode-graphemes add-on), so that a row which wraps here wraps there;
// docs/screen.md says where newer Unicode differs. width_table.go is generated
// by `go test ./screen -run WidthTable -update` from testdata.

// Grapheme break classes, as in the table's low four bits.
const (
	classOther = iota
	classPrepend
	classExtend
	classRegional
	classSpacingMark
	classL
	classV
	classT
	classLV
	classLVT
	classZWJ
	classPictographic
)

const (
	propClass = 0x0f
	propWide  = 0x10
)

// runeProps is the class of r, with propWide for two columns.
func runeProps(r rune) uint8 {
	if uint32(r) > 0x10ffff {
		return 0
	}
	block := widthIndex[uint32(r)>>widthBlockBits]
	return widthBlocks[int(block)<<widthBlockBits|int(r)&(1<<widthBlockBits-1)]
}

// runeWidth is the columns of r standing alone.
func runeWidth(r rune) int {
	if r >= 0x20 && r < 0x7f {
		return 1
	}
	if runeProps(r)&propWide != 0 {
		return 2
	}
	return 1
}

// joins tells whether a code point of class b continues a cluster that ends
// in class a (UAX 29 as far as one class of memory goes: regional indicators
// are paired by the caller, pictographs join after any ZWJ).
func joins(a, b uint8) bool {
	switch b {
	case classExtend, classZWJ, classSpacingMark:
		return true
	case classPictographic:
		if a == classZWJ {
			return true
		}
	case classRegional:
		if a == classRegional {
			return true
		}
	case classL, classLV, classLVT:
		if a == classL {
			return true
		}
	case classV:
		if a == classL || a == classLV || a == classV {
			return true
		}
	case classT:
		if a >= classV && a <= classLVT {
			return true
		}
	}
	return a == classPrepend
}
