package chip

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"davit"
)

// NewCwd is the directory, with the home directory as `~`. Its text, like a branch's, is
// without characters that steer a terminal or turn the direction of what stands beside.
func NewCwd(dir, home string) davit.Chip {
	return davit.Chip{Kind: string(Cwd), Value: dir, Text: printable(Tilde(dir, home)), Status: davit.ChipReady}
}

// NewBranch is the branch, or the short id of a detached HEAD.
func NewBranch(branch, commit string, detached, unborn bool) davit.Chip {
	c := davit.Chip{Kind: string(GitBranch), Value: branch, Text: printable(branch), Status: davit.ChipReady,
		Data: &davit.ChipData{Branch: branch, Detached: detached, Unborn: unborn}}
	if detached {
		c.Value, c.Text = commit, commit[:min(8, len(commit))]
	}
	return c
}

// Diff is the size of the difference between a work tree and its HEAD.
type Diff struct {
	Files     int // that differ, untracked ones too
	Added     int // lines, those of untracked files too
	Removed   int
	Untracked int // files
}

// NewDiff is a diff chip: files, then the lines when there are any.
func NewDiff(d Diff) davit.Chip {
	text := fmt.Sprint(d.Files)
	var lines []string
	if d.Added > 0 {
		lines = append(lines, fmt.Sprintf("+%d", d.Added))
	}
	if d.Removed > 0 {
		lines = append(lines, fmt.Sprintf("-%d", d.Removed))
	}
	if len(lines) > 0 {
		text += " • " + strings.Join(lines, " ")
	}
	return davit.Chip{Kind: string(GitDiff), Value: text, Text: text, Status: davit.ChipReady,
		Data: &davit.ChipData{Files: d.Files, Added: d.Added, Removed: d.Removed, Untracked: d.Untracked}}
}

// Tilde writes the home directory as `~`, at a path's boundary only.
func Tilde(dir, home string) string {
	home = strings.TrimRight(home, "/")
	if home == "" {
		return dir
	}
	if dir == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(dir, home+"/"); ok {
		return "~/" + rest
	}
	return dir
}

// Prompt gives a chip's part of a copied prompt (spec chips C5.1).
func Prompt(c davit.Chip) string {
	if c.Text == "" {
		return ""
	}
	switch Kind(c.Kind) {
	case GitBranch, GitStatus:
		return "git:(" + c.Text + ")"
	case SVNBranch:
		return "svn:(" + c.Text + ")"
	case SVNDirty:
		return "±" + c.Text
	case Kube:
		return "⎈ " + c.Text
	}
	return c.Text
}

const ellipsis = "…"

// Shorten fits a chip's text into a room of cells (spec chips C1.3): a path loses leading
// parts, everything else its beginning. What fits is left as it is.
func Shorten(kind Kind, text string, room int) string {
	if displaywidth.String(text) <= room {
		return text
	}
	if kind == Cwd {
		for rest := text; ; {
			_, after, ok := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
			if !ok || after == "" {
				break
			}
			rest = after
			if short := ellipsis + "/" + rest; displaywidth.String(short) <= room {
				return short
			}
		}
		if last := text[strings.LastIndexByte(text, '/')+1:]; last != "" {
			text = last
		}
	}
	return cutStart(text, room)
}

// cutStart keeps the end of a text behind an ellipsis, by whole characters.
func cutStart(text string, room int) string {
	if displaywidth.String(text) <= room {
		return text
	}
	if room <= 0 {
		return ""
	}
	type piece struct {
		at, width int
	}
	var pieces []piece
	at := 0
	for graphemes := displaywidth.StringGraphemes(text); graphemes.Next(); {
		pieces = append(pieces, piece{at, graphemes.Width()})
		at += len(graphemes.Value())
	}
	left, from := room-1, len(text)
	for i := len(pieces) - 1; i >= 0 && pieces[i].width <= left; i-- {
		left -= pieces[i].width
		from = pieces[i].at
	}
	return ellipsis + text[from:]
}
