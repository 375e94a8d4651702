package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/git"
)

// TestOddBranches: whatever a branch is named, it is shown as it is, in one line, without
// what steers a terminal; nothing that looks like counts is taken for counts.
func TestOddBranches(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		branch, text string
		unborn       bool // git refuses the name: HEAD is written by hand
	}{
		{"a•↑1", "a•↑1", false},
		{"a • ↑1", "a • ↑1", true},
		{strings.Repeat("x", 250), strings.Repeat("x", 250), false},
		{"קוד/ימין", "קוד/ימין", false},
		{"e\u0301\u0323-combining", "e\u0301\u0323-combining", false},
		{"evil\u202e\u2066", "evil", false},
		{"esc\x1b[31m", "esc[31m", true},
		{"-", "-", true},
		{"漢字🚢", "漢字🚢", false},
	} {
		repo := b.repo(fmt.Sprintf("repo-%x", len(c.branch)) + strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, c.branch[:min(len(c.branch), 8)]))
		if c.unborn {
			b.write(filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/"+c.branch+"\n")
		} else {
			b.git(repo, "checkout", "-q", "-b", c.branch)
		}
		for _, got := range b.runner.Once(context.Background(), repo, Show{Kinds: []chip.Kind{chip.GitStatus}}) {
			switch chip.Kind(got.Kind) {
			case chip.GitBranch:
				if got.Text != c.text || got.Value != c.branch || got.Status != davit.ChipReady {
					t.Errorf("%q: %+v", c.branch, got)
				}
			case chip.GitStatus:
				if branch, counts := chip.ParseStatus(got.Text); got.Text != c.text || got.Data.Ahead != 0 || !strings.Contains(c.branch, " • ") && (branch != c.text || counts != chip.Tracking{}) {
					t.Errorf("%q: %+v", c.branch, got)
				}
			}
		}
	}
}

// TestBadGit: a git that hangs, prints garbage, far too much or nothing, or is not there.
// Directory and branch are shown all the same, the rest says why not.
func TestBadGit(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Cap = 2 * time.Minute })
	repo := b.repo("repo")
	for _, c := range []struct {
		name, body string
		within     time.Duration
		status     davit.ChipStatus
		reason     string
	}{
		{"hangs", "trap '' TERM INT; sleep 1000", 400 * time.Millisecond, davit.ChipTimedOut, "git did not answer in time"},
		{"garbage", "printf 'no such form\\0'", 0, davit.ChipError, "unknown form"},
		{"too much", "exec yes 0123456789", 0, davit.ChipError, "printed more"},
		{"nothing", "exit 0", 0, davit.ChipError, "unknown form"},
		{"complains", "echo 'fatal: not today' >&2; exit 128", 0, davit.ChipError, "not today"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.script("bin/git", c.body+"\n")
			cfg := b.runner.cfg
			if c.within > 0 {
				cfg.Cap = c.within
			}
			patience := New(cfg)
			began := time.Now()
			chips := patience.Once(context.Background(), repo, Show{Kinds: []chip.Kind{chip.GitStatus}})
			kinds := map[string]davit.Chip{}
			for _, got := range chips {
				kinds[got.Kind] = got
			}
			if kinds["cwd"].Text != repo || kinds["git_branch"].Text != "main" {
				t.Errorf("%s", show(chips))
			}
			for _, kind := range []string{"git_diff", "git_status"} {
				if got := kinds[kind]; got.Status != c.status || !strings.Contains(got.Reason, c.reason) {
					t.Errorf("%s: %+v", kind, got)
				}
			}
			if took := time.Since(began); c.within > 0 && took > c.within+3*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	t.Run("nothing on PATH", func(t *testing.T) {
		t.Setenv("PATH", "")
		b.write(filepath.Join(repo, "package.json"), "{}")
		r := New(Config{Git: git.Runner{Path: "git"}, Login: func() (string, bool) { return "", true }})
		chips := r.Once(context.Background(), repo, Show{Kinds: []chip.Kind{chip.Node, chip.Kube, chip.SVNBranch, chip.Venv}})
		want := "cwd=" + repo + "/ready git_branch=main/ready git_diff=/disabled node=/disabled kube=/disabled svn_branch=/idle venv=/idle"
		if got := show(chips); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
}

// TestVanishingBelowProgram: a directory that goes away under a running chip.
func TestVanishingBelowProgram(t *testing.T) {
	b := newBench(t)
	repo := b.repo("repo")
	b.runner.Own([]chip.CustomChip{custom("here", func(c *chip.CustomChip) { c.Source.Shell = "pwd" })})
	b.kinds("p", repo, chip.Session{}, "custom:here")
	b.becomes("p", "custom:here", repo)
	if err := os.Rename(repo, repo+"-away"); err != nil {
		t.Fatal(err)
	}
	b.runner.Ran("p")
	b.becomes("p", "custom:here", "")
	b.runner.Refresh("p")
	b.becomes("p", chip.GitBranch, "")
}
