package workspace

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"davit"
)

// TestRemovalSafety is the table of spec launch L9.6: what loses nothing goes, what would
// lose work is refused, and only the digest of that very list forces it.
func TestRemovalSafety(t *testing.T) {
	for _, c := range []struct {
		name   string
		work   func(s scratch, path, repo string)
		delete bool
		lost   string // what the refusal names; "" when it goes
		kept   bool   // the branch must be there afterwards
	}{
		{"clean", func(s scratch, path, repo string) {}, false, "", true},
		{"changed file", func(s scratch, path, repo string) { s.write(path+"/a.txt", "changed\n") }, false, "a.txt", true},
		{"staged file", func(s scratch, path, repo string) {
			s.write(path+"/staged", "x\n")
			s.git(path, "add", "staged")
		}, false, "staged", true},
		{"untracked file", func(s scratch, path, repo string) { s.write(path+"/dir/precious.txt", "x\n") }, false, "dir/precious.txt", true},
		{"ignored files only", func(s scratch, path, repo string) { s.write(path+"/node_modules/x.js", "x\n") }, false, "", true},
		{"commits on its branch", func(s scratch, path, repo string) { s.git(path, "commit", "-q", "--allow-empty", "-m", "mine") }, false, "", true},
		{"commits on a branch to be deleted", func(s scratch, path, repo string) { s.git(path, "commit", "-q", "--allow-empty", "-m", "mine") }, true, "mine", false},
		{"merged branch to be deleted", func(s scratch, path, repo string) {
			s.git(path, "commit", "-q", "--allow-empty", "-m", "mine")
			s.git(repo, "merge", "-q", "--ff-only", "x")
		}, true, "", false},
		{"commits on a detached HEAD", func(s scratch, path, repo string) {
			s.git(path, "checkout", "-q", "--detach")
			s.git(path, "commit", "-q", "--allow-empty", "-m", "adrift")
		}, false, "adrift", true},
		{"detached HEAD that a tag reaches", func(s scratch, path, repo string) {
			s.git(path, "checkout", "-q", "--detach")
			s.git(path, "commit", "-q", "--allow-empty", "-m", "adrift")
			s.git(path, "tag", "safe")
		}, false, "", true},
		{"clean submodule", func(s scratch, path, repo string) { s.addSubmodule(path) }, false, "sub", true},
		{"dirty submodule", func(s scratch, path, repo string) {
			s.addSubmodule(path)
			s.write(path+"/sub/new", "x\n")
		}, false, "new", true},
		{"commits in a submodule", func(s scratch, path, repo string) {
			s.addSubmodule(path)
			s.git(path+"/sub", "commit", "-q", "--allow-empty", "-m", "deep")
		}, false, "that no remote has", true},
		{"repository in an ignored folder", func(s scratch, path, repo string) {
			s.git(path, "init", "-q", "node_modules/dep")
		}, false, "node_modules/dep", true},
		{"unfinished rebase", func(s scratch, path, repo string) {
			s.write(path+"/a.txt", "mine\n")
			s.git(path, "commit", "-q", "-am", "mine")
			s.git(path, "branch", "safe")
			s.git(path, "checkout", "-q", "-b", "other", "main")
			s.write(path+"/a.txt", "theirs\n")
			s.git(path, "commit", "-q", "-am", "theirs")
			cmd := exec.Command("git", "-C", path, "rebase", "safe")
			if cmd.Run() == nil {
				s.Fatal("the rebase did not stop")
			}
			s.git(path, "checkout", "-q", "--force", "--detach", "safe")
		}, false, "a rebase", true},
		{"branch renamed inside", func(s scratch, path, repo string) { s.git(path, "branch", "-m", "renamed") }, false, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScratch(t)
			repo := s.repo("repo")
			w := s.workspaces()
			wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
			c.work(s, wt.Path, repo)
			branch := s.git(wt.Path, "rev-parse", "--abbrev-ref", "HEAD")
			head := s.git(wt.Path, "rev-parse", "HEAD")
			before := s.git(repo, "for-each-ref")
			req := RemoveRequest{Path: wt.Path, DeleteBranch: c.delete}
			report, err := w.Remove(context.Background(), req)
			if c.lost != "" {
				e := davit.AsError(err)
				if e == nil || e.Code != davit.CodeWorktreeDirty || !exists(wt.Path) || s.git(repo, "for-each-ref") != before {
					t.Fatalf("got %v, and the worktree is there: %v", err, exists(wt.Path))
				}
				loss, err := w.Inspect(context.Background(), req)
				if err != nil || loss.Digest != e.Details["digest"] {
					t.Fatalf("inspection says %+v, %v", loss, err)
				}
				all := strings.Join(slices.Concat(loss.Uncommitted, loss.Untracked, loss.Submodules, loss.Nested), "\n")
				for _, commit := range loss.Commits {
					all += commit.Subject
				}
				if !strings.Contains(all, c.lost) {
					t.Errorf("%q is not in the list: %s", c.lost, all)
				}
				req.ForceDigest = loss.Digest
				report, err = w.Remove(context.Background(), req)
				if err != nil || report.Lost == nil {
					t.Fatalf("its digest does not force it: %v", err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if exists(wt.Path) {
				t.Error("the folder is still there")
			}
			if list := s.git(repo, "worktree", "list"); strings.Contains(list, wt.Path) {
				t.Errorf("git still lists it:\n%s", list)
			}
			there := exec.Command("git", "-C", repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Run() == nil
			switch {
			case branch == "HEAD":
			case c.kept && (!there || report.Kept.Branch != branch):
				t.Errorf("the branch is there: %v; kept says %+v", there, report.Kept)
			case !c.kept && (there || report.BranchDeleted != branch || report.BranchLast != head):
				t.Errorf("the branch is there: %v; report %+v", there, report)
			}
		})
	}
}

func (s scratch) addSubmodule(path string) {
	s.Helper()
	lib := s.repo("lib")
	s.git(path, "submodule", "--quiet", "add", lib, "sub")
	s.git(path, "commit", "-q", "-m", "with a submodule")
}

func TestDigestIsVoidWhenTheListChanges(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := s.workspaces()
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	s.write(wt.Path+"/one", "x\n")
	loss, err := w.Inspect(context.Background(), RemoveRequest{Path: wt.Path})
	if err != nil || loss.Digest == "" {
		t.Fatalf("%+v, %v", loss, err)
	}
	if _, err := w.Remove(context.Background(), RemoveRequest{Path: wt.Path, ForceDigest: "0123456789abcdef"}); davit.CodeOf(err) != davit.CodeWorktreeDirty || !exists(wt.Path) {
		t.Errorf("another digest forced it: %v", err)
	}
	s.write(wt.Path+"/two", "x\n")
	_, err = w.Remove(context.Background(), RemoveRequest{Path: wt.Path, ForceDigest: loss.Digest})
	if e := davit.AsError(err); e == nil || e.Code != davit.CodeWorktreeDirty || !strings.Contains(e.Message, "has changed") || !exists(wt.Path+"/two") {
		t.Errorf("an old digest: %v", err)
	}
}

// TestNeverRemoved: spec launch L9.6, first sentence.
func TestNeverRemoved(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	own := map[string]bool{}
	w := s.workspaces(func(c *Config) { c.Owned = func(path string) bool { return own[path] } })
	add := func(path string) string {
		s.git(repo, "worktree", "add", "-q", "--detach", path)
		own[path] = true
		return path
	}
	locked := add(filepath.Join(s.dir, "locked"))
	s.git(repo, "worktree", "lock", "--reason", "on a stick", locked)
	outer := add(filepath.Join(s.dir, "outer"))
	s.write(filepath.Join(repo, ".git/info/exclude"), "inner\n")
	add(filepath.Join(outer, "inner"))
	foreignInside := add(filepath.Join(s.dir, "foreign-inside"))
	other := s.repo("other")
	s.git(other, "worktree", "add", "-q", "--detach", filepath.Join(foreignInside, "node_modules", "wt"))
	home := add(filepath.Join(s.dir, "home"))
	orphan := add(filepath.Join(s.dir, "orphan"))
	s.write(orphan+"/precious", "x\n")
	if err := os.RemoveAll(filepath.Join(repo, ".git", "worktrees", "orphan")); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(s.dir, "stray")
	s.write(stray+"/precious", "x\n")
	foreign := add(filepath.Join(s.dir, "foreign"))
	delete(own, foreign)
	bare := filepath.Join(s.dir, "bare.git")
	s.git(s.dir, "clone", "-q", "--bare", repo, bare)
	own[repo], own[bare], own[stray], own["/"] = true, true, true, true

	for _, c := range []struct {
		path, why string
		external  bool
	}{
		{repo, "main checkout", true},
		{bare, "main checkout", true},
		{locked, "on a stick", true},
		{outer, "inner", true},
		{foreignInside, "node_modules/wt", true},
		{home, "home directory", true},
		{orphan, "deletes no folder by its path", true},
		{stray, "deletes no folder by its path", true},
		{"/", "deletes no folder by its path", true},
		{foreign, "did not make it", false},
	} {
		_, err := w.Remove(context.Background(), RemoveRequest{Path: c.path, External: c.external, ForceDigest: "0"})
		e := davit.AsError(err)
		if e == nil || e.Code != davit.CodeWorktreeProtected || !strings.Contains(e.Message, c.why) || !exists(c.path) {
			t.Errorf("%s: %v, want %q", c.path, err, c.why)
		}
	}
	if !exists(orphan+"/precious") || !exists(stray+"/precious") {
		t.Error("files are gone")
	}
	if _, err := w.Remove(context.Background(), RemoveRequest{Path: filepath.Join(repo, "..", "foreign", "."), External: true}); err != nil || exists(foreign) {
		t.Errorf("named with --external: %v", err)
	}
	sub := filepath.Join(s.dir, "locked", "deep")
	s.write(sub+"/f", "")
	if _, err := w.Remove(context.Background(), RemoveRequest{Path: sub}); davit.CodeOf(err) != davit.CodeWorkspaceNotFound {
		t.Errorf("a folder inside of a worktree: %v", err)
	}
}

func TestFolderAlreadyGone(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := s.workspaces()
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	adrift := s.create(w, CreateRequest{Repo: repo, Name: "y"})
	s.git(adrift.Path, "checkout", "-q", "--detach")
	s.git(adrift.Path, "commit", "-q", "--allow-empty", "-m", "adrift")
	for _, path := range []string{wt.Path, adrift.Path} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	report, err := w.Remove(context.Background(), RemoveRequest{Path: wt.Path, Repo: repo})
	if err != nil || !report.AlreadyGone || report.Kept.Branch != "x" || strings.Contains(s.git(repo, "worktree", "list"), wt.Path) {
		t.Errorf("%+v, %v", report, err)
	}
	report, err = w.Remove(context.Background(), RemoveRequest{Path: wt.Path})
	if err != nil || !report.AlreadyGone {
		t.Errorf("a second time: %+v, %v", report, err)
	}
	if _, err := w.Remove(context.Background(), RemoveRequest{Path: adrift.Path, Repo: repo}); davit.CodeOf(err) != davit.CodeWorktreeDirty {
		t.Errorf("commits of a detached HEAD whose folder is gone: %v", err)
	}
}

func TestBranchThatMovedIsKept(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	var moved string
	w := s.workspaces(func(c *Config) {
		c.Record = func(wt davit.Worktree, stage Stage) error {
			if stage == StageRemoving { // between the look and the act
				moved = s.git(repo, "commit-tree", "-p", "x", "-m", "late", "x^{tree}")
				s.git(repo, "update-ref", "refs/heads/x", moved)
				s.git(wt.Path, "reset", "-q", "--hard")
			}
			return nil
		}
	})
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	report, err := w.Remove(context.Background(), RemoveRequest{Path: wt.Path, DeleteBranch: true})
	if err != nil || report.BranchDeleted != "" || s.git(repo, "rev-parse", "x") != moved {
		t.Errorf("a branch that moved was deleted: %+v, %v", report, err)
	}
	if !strings.Contains(strings.Join(report.Notes, " "), "was kept") {
		t.Errorf("that it was kept is not told: %q", report.Notes)
	}
}

func TestListTellsWhatIsThere(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("repo")
	w := s.workspaces(func(c *Config) {
		c.OwnerTab = func(path string) davit.TabID {
			if strings.HasSuffix(path, "/x") {
				return "t_1"
			}
			return ""
		}
	})
	wt := s.create(w, CreateRequest{Repo: repo, Name: "x"})
	s.git(wt.Path, "commit", "-q", "--allow-empty", "-m", "mine")
	s.write(wt.Path+"/a.txt", "stashed\n")
	s.git(wt.Path, "stash", "-q")
	s.write(wt.Path+"/a.txt", "dirty\n")
	s.write(wt.Path+"/new/one", "x\n")
	s.write(wt.Path+"/new/two", "x\n")
	gone := s.create(w, CreateRequest{Repo: repo, Name: "gone"})
	if err := os.RemoveAll(gone.Path); err != nil {
		t.Fatal(err)
	}
	list, err := w.List(context.Background(), wt.Path, ListOptions{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	by := map[string]Info{}
	for _, info := range list {
		by[info.Branch] = info
	}
	want := Info{Path: wt.Path, Branch: "x", Head: s.git(wt.Path, "rev-parse", "HEAD"), Dirty: true, Untracked: 2, Unpushed: 1, Stashes: 1, OwnerTab: "t_1", Base: "main", Ahead: 1, ID: wt.ID}
	if by["x"] != want {
		t.Errorf("got  %+v\nwant %+v", by["x"], want)
	}
	if !by["main"].Main || by["main"].Dirty || list[0].Branch != "main" || !by["gone"].Missing {
		t.Errorf("main %+v, gone %+v", by["main"], by["gone"])
	}
}

// What git was told not to look at is work like any other: it is listed and refused (spec
// launch L9.6). A file that a sparse checkout leaves out is none.
func TestHiddenChangesAreNotLost(t *testing.T) {
	s := newScratch(t)
	repo := s.repo("harbor")
	s.write(filepath.Join(repo, "b.txt"), "b\n")
	s.write(filepath.Join(repo, "c d.txt"), "c\n")
	s.git(repo, "add", "-A")
	s.git(repo, "commit", "-q", "-m", "more")
	w := s.workspaces()
	wt := s.create(w, CreateRequest{Repo: repo, Branch: "hidden"})
	s.git(wt.Path, "update-index", "--skip-worktree", "b.txt")
	s.git(wt.Path, "update-index", "--assume-unchanged", "a.txt", "c d.txt")
	if loss, err := w.Inspect(t.Context(), RemoveRequest{Path: wt.Path}); err != nil || len(loss.Uncommitted) != 0 {
		t.Fatalf("marked and unchanged: %+v, %v", loss.Uncommitted, err)
	}
	s.write(filepath.Join(wt.Path, "b.txt"), "edited\n")
	s.write(filepath.Join(wt.Path, "c d.txt"), "edited too\n")
	_, err := w.Remove(t.Context(), RemoveRequest{Path: wt.Path})
	if davit.CodeOf(err) != davit.CodeWorktreeDirty || !exists(filepath.Join(wt.Path, "b.txt")) {
		t.Fatalf("removed with hidden changes: %v", err)
	}
	loss, err := w.Inspect(t.Context(), RemoveRequest{Path: wt.Path})
	if err != nil || !slices.Equal(loss.Uncommitted, []string{"h  b.txt", "h  c d.txt"}) {
		t.Errorf("listed: %q, %v", loss.Uncommitted, err)
	}
	s.write(filepath.Join(wt.Path, "b.txt"), "b\n")
	s.write(filepath.Join(wt.Path, "c d.txt"), "c\n")
	if err := os.Remove(filepath.Join(wt.Path, "b.txt")); err != nil { // as a sparse checkout has it
		t.Fatal(err)
	}
	if loss, err := w.Inspect(t.Context(), RemoveRequest{Path: wt.Path}); err != nil || len(loss.Uncommitted) != 0 {
		t.Errorf("a file that is left out: %+v, %v", loss.Uncommitted, err)
	}
}
