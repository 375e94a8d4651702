package prompt

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// The first words of the files: another form gets another number.
const (
	headMark  = "davit-prompt-1"
	valueMark = "davit-values-1"
	askMark   = "davit-ask-1"
	endMark   = "end"
)

// Head is what stands in a board's file about the host: who it is, and what it shows.
type Head struct {
	Pid    int
	Layout []string
}

// Encode writes a head: two lines.
func (h Head) Encode() []byte {
	layout := slices.DeleteFunc(slices.Clone(h.Layout), func(name string) bool { return !safeName(name) })
	return []byte(headMark + " " + strconv.Itoa(h.Pid) + "\n" + strings.Join(layout, " ") + "\n")
}

// DecodeHead reads a head.
func DecodeHead(data []byte) (Head, bool) {
	first, rest, _ := strings.Cut(string(data), "\n")
	layout, _, whole := strings.Cut(rest, "\n")
	mark, number, _ := strings.Cut(first, " ")
	pid, err := strconv.Atoi(number)
	if mark != headMark || err != nil || pid < 1 || !whole {
		return Head{}, false
	}
	return Head{Pid: pid, Layout: strings.Fields(layout)}, true
}

// Ask is a shell that has drawn a prompt and would like to hear of newer values.
type Ask struct {
	Shell Shell    // "" is no shell that can be told
	Key   string   // the directory that the values are kept for
	Dir   string   // where the shell is: Key, or below it
	Path  string   // the shell's PATH
	Kinds []string // what it shows besides the layout
}

// Encode writes an ask, as the shells do. One with a line break in it cannot be read again.
func (a Ask) Encode() []byte {
	return []byte(strings.Join([]string{askMark + " " + string(a.Shell), a.Key, a.Dir, a.Path, strings.Join(a.Kinds, " "), endMark, ""}, "\n"))
}

// DecodeAsk reads an ask; one that is cut off, or names no place, is none.
func DecodeAsk(data []byte) (Ask, bool) {
	lines := strings.Split(string(data), "\n")
	if len(data) > MaxFile || len(lines) != 7 || lines[5] != endMark || strings.ContainsRune(string(data), 0) {
		return Ask{}, false
	}
	mark, shell, _ := strings.Cut(lines[0], " ")
	a := Ask{Shell: Shell(shell), Key: lines[1], Dir: lines[2], Path: lines[3], Kinds: strings.Fields(lines[4])}
	a.Kinds = slices.DeleteFunc(a.Kinds, func(name string) bool { return !safeName(name) })
	if mark != askMark || !slices.Contains(append(Shells(), ""), a.Shell) || !IsKey(a.Key) || !IsKey(a.Dir) || len(a.Kinds) > MaxValues {
		return Ask{}, false
	}
	if a.Dir != a.Key && !strings.HasPrefix(a.Dir, strings.TrimSuffix(a.Key, "/")+"/") {
		return Ask{}, false
	}
	return a, true
}

// maxKey is how long a directory's path may be.
const maxKey = 3500

// IsKey says that a directory can have values: it is absolute and clean, so that a file
// below the board stands for it.
func IsKey(dir string) bool {
	return strings.HasPrefix(dir, "/") && path.Clean(dir) == dir && len(dir) <= maxKey && !strings.ContainsAny(dir, "\n\x00")
}
