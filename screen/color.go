package screen

import (
	"fmt"
	"strconv"
	"strings"
)

// Indices of the palette past the 256: what OSC 10, 11 and 12 set.
const (
	paletteFg = 256 + iota
	paletteBg
	paletteCursor
)

// terminator is how the string being dispatched ended: replies end alike.
func (s *Screen) terminator() string {
	if s.parser.bell {
		return "\a"
	}
	return "\x1b\\"
}

func colorReply(rgb uint32) string {
	r, g, b := rgb>>16&0xff, rgb>>8&0xff, rgb&0xff
	return fmt.Sprintf("rgb:%02x%02x/%02x%02x/%02x%02x", r, r, g, g, b, b)
}

func (s *Screen) setColor(index int, rgb uint32) {
	if s.palette == nil {
		s.palette = map[int]uint32{}
	}
	s.palette[index] = rgb
}

// oscPalette is OSC 4: pairs of index and colour, "?" asks.
func (s *Screen) oscPalette(text string) {
	for text != "" {
		var number, spec string
		number, text, _ = strings.Cut(text, ";")
		spec, text, _ = strings.Cut(text, ";")
		index, err := strconv.Atoi(number)
		if err != nil || index < 0 || index > 255 {
			continue
		}
		if spec == "?" {
			s.reply("\x1b]4;" + strconv.Itoa(index) + ";" + colorReply(s.color(index)) + s.terminator())
		} else if rgb, ok := parseColor(spec); ok {
			s.setColor(index, rgb)
		}
	}
}

// oscColors is OSC 10, 11 and 12; further colours go to the numbers after.
func (s *Screen) oscColors(code int, text string) {
	for _, spec := range strings.Split(text, ";") {
		if code > 12 {
			return
		}
		index := code - 10 + paletteFg
		if spec == "?" {
			s.reply("\x1b]" + strconv.Itoa(code) + ";" + colorReply(s.color(index)) + s.terminator())
		} else if rgb, ok := parseColor(spec); ok {
			s.setColor(index, rgb)
		}
		code++
	}
}

// oscResetPalette is OSC 104: all colours, or those named.
func (s *Screen) oscResetPalette(text string) {
	if text == "" {
		for index := range 256 {
			delete(s.palette, index)
		}
		return
	}
	for _, number := range strings.Split(text, ";") {
		if index, err := strconv.Atoi(number); err == nil && index < 256 {
			delete(s.palette, index)
		}
	}
}

// color is the colour at an index of the palette as programs are told it.
func (s *Screen) color(index int) uint32 {
	if rgb, ok := s.palette[index]; ok {
		return rgb
	}
	t := s.opts.Theme
	if !t.Set {
		t = Theme{Foreground: 0xd4d4d4, Background: 0x1e1e1e, Cursor: 0xd4d4d4}
	}
	switch {
	case index == paletteFg:
		return t.Foreground
	case index == paletteBg:
		return t.Background
	case index == paletteCursor:
		return t.Cursor
	case index < 16:
		return [16]uint32{
			0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
			0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
		}[index]
	case index < 232:
		level := func(v int) uint32 {
			if v == 0 {
				return 0
			}
			return uint32(v*40 + 55)
		}
		v := index - 16
		return level(v/36)<<16 | level(v/6%6)<<8 | level(v%6)
	}
	gray := uint32(index-232)*10 + 8
	return gray<<16 | gray<<8 | gray
}

// parseColor reads X11's rgb:r/g/b and #rgb forms.
func parseColor(spec string) (uint32, bool) {
	var parts []string
	if rest, ok := strings.CutPrefix(spec, "rgb:"); ok {
		parts = strings.Split(rest, "/")
	} else if rest, ok := strings.CutPrefix(spec, "#"); ok && len(rest)%3 == 0 {
		n := len(rest) / 3
		parts = []string{rest[:n], rest[n : 2*n], rest[2*n:]}
	}
	if len(parts) != 3 {
		return 0, false
	}
	var rgb uint32
	for _, part := range parts {
		v, err := strconv.ParseUint(part, 16, 16)
		if err != nil || len(part) > 4 {
			return 0, false
		}
		most := uint64(1)<<(4*len(part)) - 1
		rgb = rgb<<8 | uint32(v*255/most)
	}
	return rgb, true
}

// SetTheme changes the colours that programs are told. The result holds the
// notice to a program that asked for it (mode 2031).
func (s *Screen) SetTheme(t Theme) Result {
	was := s.schemeReport()
	s.opts.Theme = t
	if now := s.schemeReport(); now != was && s.modes.schemeUpdates {
		return Result{Replies: []Reply{{At: s.offset, Data: []byte(now)}}}
	}
	return Result{}
}
