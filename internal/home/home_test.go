package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"davit"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// Where things lie (spec interfaces A3.3).
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		vars                   map[string]string
		config, state, runtime string
	}{
		"DAVIT_HOME holds all":  {map[string]string{"DAVIT_HOME": "/x", "HOME": "/u", "XDG_STATE_HOME": "/s"}, "/x/config", "/x/state", "/x/run"},
		"the user's own":        {map[string]string{"HOME": "/u"}, "/u/.config/davit", "/u/.local/state/davit", ""},
		"XDG":                   {map[string]string{"HOME": "/u", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r"}, "/c/davit", "/s/davit", "/r/davit"},
		"relative XDG is void":  {map[string]string{"HOME": "/u", "XDG_STATE_HOME": "s"}, "/u/.config/davit", "/u/.local/state/davit", ""},
		"DAVIT_HOME alone does": {map[string]string{"DAVIT_HOME": "/x"}, "/x/config", "/x/state", "/x/run"},
	} {
		h, err := Find(env(c.vars))
		if err != nil || h.Config != c.config || h.State != c.state || h.Runtime != c.runtime {
			t.Errorf("%s: %+v %v", name, h, err)
		}
	}
	if _, err := Find(env(nil)); davit.CodeOf(err) != davit.CodeHomeUnusable {
		t.Errorf("without any: %v", err)
	}
}

// A socket's path stays within 100 bytes; the way round is private, and one that is not
// ours is refused (spec terminal P1.6).
func TestSocketDir(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "t")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	long := Home{State: "/state", Runtime: filepath.Join(t.TempDir(), strings.Repeat("long", 30))}
	dir, err := long.SocketDir()
	if err != nil || !strings.HasPrefix(dir, tmp) {
		t.Fatalf("%q %v", dir, err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", d, info.Mode(), err)
		}
	}
	other := Home{State: "/other"}
	if again, err := other.SocketDir(); err != nil || again == dir {
		t.Errorf("two homes share %q: %v", again, err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := long.SocketDir(); davit.CodeOf(err) != davit.CodeHomeUnusable || davit.AsError(err).Hint == "" {
		t.Errorf("a directory open to everyone: %v", err)
	}
}

// Directories are private, and a file in the way is one clear error.
func TestMake(t *testing.T) {
	root := filepath.Join(t.TempDir(), "h")
	h, _ := Find(env(map[string]string{"DAVIT_HOME": root}))
	if err := h.Make(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(h.State); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked, _ := Find(env(map[string]string{"DAVIT_HOME": file}))
	if err := blocked.Make(); davit.CodeOf(err) != davit.CodeHomeUnusable || davit.AsError(err).Hint == "" {
		t.Errorf("a file in the way: %v", err)
	}
}
