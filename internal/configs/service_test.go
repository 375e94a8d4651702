package configs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// memory keeps settings for a test.
type memory map[string][]byte

func (m memory) Setting(_ context.Context, key string) ([]byte, bool, error) {
	value, found := m[key]
	return value, found, nil
}

func (m memory) SetSetting(_ context.Context, key string, value []byte) error {
	if m[key] = value; value == nil {
		delete(m, key)
	}
	return nil
}

func service(t *testing.T, now *time.Time) (*Service, string) {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
	var s *Service
	s = New(Config{
		Files: func() Files {
			return Files{Dirs: []string{dir}, Trusted: func() map[string][]string { return s.Trusts(context.Background()) }}
		},
		Settings: memory{}, State: func() davit.State { return davit.State{} }, Made: func() []Made { return nil },
		Workspaces: workspace.New(workspace.Config{State: state, Home: t.TempDir()}), Now: func() time.Time { return *now },
	})
	return s, dir
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", "-C", dir}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "start")
	return dir
}

// Known repositories: the one used last first, worktrees and submodules as their main
// repository, a forgotten one when it is used again, none that is gone (spec tabs T2.1).
func TestKnownRepositories(t *testing.T) {
	now, ctx := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), context.Background()
	s, _ := service(t, &now)
	one, two := repository(t), repository(t)
	gitIn(t, one, "worktree", "add", "-q", filepath.Join(t.TempDir(), "linked"))
	gitIn(t, one, "submodule", "add", "-q", two, "sub")
	names := func(dir string) []string {
		t.Helper()
		list, err := s.Workspaces(ctx, dir)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, w := range list.Workspaces {
			paths = append(paths, w.Path)
		}
		return paths
	}
	expect := func(dir string, want ...string) {
		t.Helper()
		if got := names(dir); !slices.Equal(got, want) {
			t.Errorf("from %q: %v, want %v", dir, got, want)
		}
	}
	expect("")
	added, err := s.AddWorkspace(ctx, filepath.Join(one, "sub"))
	if err != nil || added.Path != one || added.Branch != "main" {
		t.Fatalf("a submodule: %+v %v, want %s", added, err, one)
	}
	now = now.Add(time.Minute)
	if _, err := s.AddWorkspace(ctx, two); err != nil {
		t.Fatal(err)
	}
	expect("", two, one)
	now = now.Add(time.Minute)
	expect(filepath.Join(one, "sub"), one, two)
	if err := s.ForgetWorkspace(ctx, two); err != nil {
		t.Fatal(err)
	}
	expect("", one)
	now = now.Add(time.Minute)
	s.used(ctx, two)
	expect("", two, one)
	if err := os.RemoveAll(filepath.Join(two, ".git")); err != nil {
		t.Fatal(err)
	}
	expect("", one)
	for _, path := range []string{t.TempDir(), filepath.Join(one, "nowhere")} {
		if _, err := s.AddWorkspace(ctx, path); davit.CodeOf(err) != davit.CodeWorkspaceNotFound {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A save replaces the text that the caller saw, whole, and no other; faults do not hinder it;
// only the user's own files are written.
func TestSave(t *testing.T) {
	now, ctx := time.Now(), context.Background()
	s, dir := service(t, &now)
	made, err := s.New(ctx, wire.ConfigNew{Name: "Mine"})
	if err != nil || !made.Editable || len(made.Faults) > 0 {
		t.Fatalf("%+v %v", made, err)
	}
	again, err := s.New(ctx, wire.ConfigNew{Name: "mine"})
	if err != nil || again.Path == made.Path || !strings.Contains(again.Text, `name = "mine 2"`) {
		t.Errorf("%+v %v", again, err)
	}
	// A link into the user's own repository of settings stays one.
	real := filepath.Join(t.TempDir(), "real.toml")
	link := filepath.Join(dir, "link.toml")
	if err := os.Rename(made.Path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	saved, err := s.Save(ctx, wire.ConfigSave{Path: link, Text: "name = 1\n", Digest: made.Digest})
	if err != nil || len(saved.Faults) == 0 {
		t.Fatalf("%+v %v", saved, err)
	}
	if data, err := os.ReadFile(real); err != nil || string(data) != "name = 1\n" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := s.Save(ctx, wire.ConfigSave{Path: link, Text: "x", Digest: made.Digest}); davit.CodeOf(err) != davit.CodeConfigChanged {
		t.Errorf("another text was replaced: %v", err)
	}
	for _, path := range []string{real, filepath.Join(dir, "..", "x.toml"), dir + "/../x.toml", filepath.Join(dir, "x.sh"), "x.toml"} {
		if _, err := s.Save(ctx, wire.ConfigSave{Path: path, Text: "x"}); davit.CodeOf(err) != davit.CodeConfigProtected {
			t.Errorf("save %s: %v", path, err)
		}
		if err := s.Remove(ctx, wire.ConfigRef{Path: path}); davit.CodeOf(err) != davit.CodeConfigProtected {
			t.Errorf("remove %s: %v", path, err)
		}
	}
	if err := s.Remove(ctx, wire.ConfigRef{Path: link, Digest: saved.Digest}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(real); err != nil {
		t.Errorf("what a link leads to was removed: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
}

// A repository cannot have davit read what lies outside of it.
func TestRepositoryLinksAreNotFollowed(t *testing.T) {
	repo, elsewhere := repository(t), t.TempDir()
	folder := filepath.Join(repo, ".davit", "tab_configs")
	put(t, filepath.Join(folder, "own.toml"), "Own")
	target := put(t, filepath.Join(elsewhere, "x.toml"), "Elsewhere")
	for name, to := range map[string]string{"link.toml": target, "dir": elsewhere} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if list := (Files{}).OfRepository(repo); len(list) != 1 || list[0].Config.Name != "Own" || list[0].Trust != Untrusted {
		t.Errorf("%+v", list)
	}
}

// The skill names every key of the schema, and its examples are without a fault.
func TestSkillIsTrue(t *testing.T) {
	text := Skills()[0].Text
	for _, m := range regexp.MustCompile(`"([a-z_]+)": \{`).FindAllStringSubmatch(string(tabconfig.Schema()), -1) {
		if key := m[1]; key != "properties" && key != "items" && !strings.Contains(text, "`"+key+"`") && !strings.Contains(text, "["+key) {
			t.Errorf("the skill does not name the key %q", key)
		}
	}
	examples := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(examples) < 3 {
		t.Errorf("%d examples", len(examples))
	}
	for _, e := range examples {
		if _, faults := tabconfig.Load("skill.toml", []byte(e[1]), tabconfig.LoadEnv{DefaultShell: "/bin/bash"}); len(faults) > 0 {
			t.Errorf("%v in\n%s", faults, e[1])
		}
	}
	for _, word := range []string{"DESTRUCTIVE", "destructive"} {
		if strings.Contains(text, word) {
			return
		}
	}
	t.Error("deleting a branch is not called destructive")
}

// The order of pickers: the main branch, then the newest commit (facts 2.5).
func TestBranches(t *testing.T) {
	now, ctx := time.Now(), context.Background()
	s, _ := service(t, &now)
	repo := repository(t)
	for i, name := range []string{"old", "mid", "new"} {
		gitIn(t, repo, "checkout", "-q", "-b", name)
		t.Setenv("GIT_COMMITTER_DATE", time.Date(2030+i, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339))
		gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", name)
	}
	list, err := s.Branches(ctx, wire.InRequest{Dir: repo})
	var names []string
	for _, b := range list.Branches {
		names = append(names, b.Name)
	}
	if want := []string{"main", "new", "mid", "old"}; err != nil || !slices.Equal(names, want) || list.Main != "main" || list.Current != "new" || list.Branches[1].Worktree != repo {
		t.Errorf("%+v %v, want %v", list, err, want)
	}
	empty := t.TempDir()
	gitIn(t, empty, "init", "-q", "-b", "trunk")
	if list, err = s.Branches(ctx, wire.InRequest{Dir: empty}); err != nil || len(list.Branches) != 1 || list.Branches[0].Name != "trunk" {
		t.Errorf("without a commit: %+v %v", list, err)
	}
}
