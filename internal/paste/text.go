package paste

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Frame is what a paste of the text sends. A line's end inside of it is LF: should a program
// miss the frame's start, CR would submit the text line by line.
func Frame(text string) []byte { return []byte("\x1b[200~" + shown(text) + "\x1b[201~") }

// shown is the text with its control characters made visible, so that it cannot end its
// own frame, and with LF for every line's end.
func shown(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case !isControl(r):
			return r
		case r == 0x7f:
			return 0x2421
		case r < 0x20:
			return 0x2400 + r // its picture
		}
		return utf8.RuneError // C1: some programs take them for ESC sequences
	}, text)
}

func isControl(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f && r < 0xa0
}

const (
	markRunes  = 24 // of a text are looked for
	lineRunes  = 8  // a line with fewer is no mark by itself
	shortRunes = 4  // a text with fewer is looked for by whole lines
)

// marks are the parts of a text that tell it on a screen. Composers wrap, cut, indent and
// draw borders: so everything is compared without blanks, borders and accents.
type marks struct {
	heads, tails []string
	short        bool
	frames       [2]int // how often the text itself has the words of a frame
}

// marksOf makes the marks of a text whose control characters are visible already.
func marksOf(text string) marks {
	all := []rune(flat(text))
	m := marks{short: len(all) < shortRunes, frames: frames(string(all))}
	if len(all) == 0 {
		return m
	}
	m.heads = append(m.heads, string(all[:min(len(all), markRunes)]))
	m.tails = append(m.tails, string(all[max(0, len(all)-markRunes):]))
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return flat(l) == "" })
	first, last := []rune(flat(lines[0])), []rune(flat(lines[len(lines)-1]))
	if len(first) >= lineRunes {
		m.heads = append(m.heads, string(first[:min(len(first), markRunes)]))
	}
	if len(last) >= lineRunes {
		m.tails = append(m.tails, string(last[max(0, len(last)-markRunes):]))
	}
	return m
}

// counts are what of a text is on a screen.
type counts struct {
	heads, tails []int
	cursor       bool // the text's end stands before the cursor
	placeholders int
	frames       [2]int
}

// count looks for the marks.
func (m marks) count(seen Sight, placeholder *regexp.Regexp) counts {
	all := flat(strings.Join(seen.Lines, "\n"))
	c := counts{frames: frames(all)}
	for _, mark := range m.heads {
		c.heads = append(c.heads, m.times(mark, all, seen.Lines))
	}
	for _, mark := range m.tails {
		c.tails = append(c.tails, m.times(mark, all, seen.Lines))
	}
	if len(m.tails) > 0 {
		c.cursor = strings.HasSuffix(flat(beforeCursor(seen)), m.tails[0])
	}
	if placeholder != nil {
		for _, line := range seen.Lines {
			c.placeholders += len(placeholder.FindAllStringIndex(line, -1))
		}
	}
	return c
}

func (m marks) times(mark, all string, lines []string) int {
	if !m.short {
		return strings.Count(all, mark)
	}
	n := 0
	for _, line := range lines {
		if strings.TrimLeft(flat(line), promptSigns) == mark {
			n++
		}
	}
	return n
}

// promptSigns are what composers draw before their text.
const promptSigns = ">❯›»▶$%#"

func beforeCursor(seen Sight) string {
	column, row := seen.Cursor[0], seen.Cursor[1]
	if row < 0 || row >= len(seen.Lines) {
		return ""
	}
	line := []rune(seen.Lines[row])
	return strings.Join(seen.Lines[:row], "\n") + "\n" + string(line[:max(0, min(column, len(line)))])
}

// since says whether the text has come since then: as a whole (its end, or what stands for
// it), or at least its beginning.
func (c counts) since(before counts) (whole, part bool) {
	whole = c.placeholders > before.placeholders || c.cursor && !before.cursor || grew(c.tails, before.tails)
	return whole, whole || grew(c.heads, before.heads)
}

func grew(now, before []int) bool {
	for i := range now {
		if i < len(before) && now[i] > before[i] {
			return true
		}
	}
	return false
}

// broken says whether the words of the frame itself are on the screen: its start was not
// understood, and the text was taken as typed.
func (c counts) broken(before counts, m marks) bool {
	return c.frames[0] > before.frames[0]+m.frames[0] || c.frames[1] > before.frames[1]+m.frames[1]
}

func frames(text string) [2]int {
	return [2]int{strings.Count(text, "200~"), strings.Count(text, "201~")}
}

// flat leaves out what composers put between the parts of a text, and what terminals do
// not show in one way.
func flat(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r), r == utf8.RuneError,
			r >= 0x2500 && r <= 0x259f, // borders and blocks
			unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			return -1
		}
		return r
	}, text)
}

// differs says whether two screens differ by more than a spinner or a clock.
func differs(a, b Sight) bool {
	for i := range max(len(a.Lines), len(b.Lines)) {
		if calm(lineAt(a, i)) != calm(lineAt(b, i)) {
			return true
		}
	}
	return false
}

func lineAt(s Sight, i int) string {
	if i < len(s.Lines) {
		return s.Lines[i]
	}
	return ""
}

// calm leaves out what moves by itself.
func calm(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r), r >= 0x2800 && r <= 0x28ff, strings.ContainsRune("|/-\\·✢✳✶✻✽∗*◐◓◑◒●○", r):
			return -1
		}
		return r
	}, flat(line))
}
