package configs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit"
	"davit/internal/tabconfig"
)

const plain = "name = %NAME%\n[[panes]]\nid = \"main\"\ntype = \"terminal\"\n"

func put(t *testing.T, path, name string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(plain, "%NAME%", `"`+name+`"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// What an argument of `davit open` means (spec tabs T1.1).
func TestFind(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	files := Files{Dirs: []string{dir}}
	feature := put(t, filepath.Join(dir, "deep", "er", "work.toml"), "Feature")
	put(t, filepath.Join(dir, "a.toml"), "Twin")
	put(t, filepath.Join(dir, "b.toml"), "twin")
	local := put(t, filepath.Join(work, "mine.toml"), "Mine")
	for arg, want := range map[string]string{
		"feature": feature, "FEATURE": feature, "work": feature, "mine.toml": local, "./mine.toml": local, local: local,
	} {
		got, err := files.Find(arg, work)
		if err != nil || got.Path != want {
			t.Errorf("%s: %q %v, want %q", arg, got.Path, err, want)
		}
	}
	for arg, code := range map[string]davit.Code{
		"twin": davit.CodeConfigAmbiguous, "nothing": davit.CodeConfigNotFound, "no/such.toml": davit.CodeConfigNotFound,
	} {
		_, err := files.Find(arg, work)
		if davit.CodeOf(err) != code || davit.AsError(err).Hint == "" {
			t.Errorf("%s: %v, want %s with a hint", arg, err, code)
		}
	}
}

// What is no readable file is a fault like any other, and holds nobody up.
func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	fifo, large, folder := filepath.Join(dir, "fifo.toml"), filepath.Join(dir, "large.toml"), filepath.Join(dir, "folder.toml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, make([]byte, maxConfigBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(dir, loop); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "dangling.toml")); err != nil {
		t.Fatal(err)
	}
	files := Files{Dirs: []string{dir}}
	done := make(chan []Loaded, 1)
	go func() { done <- files.All("") }()
	select {
	case all := <-done:
		if len(all) != 3 {
			t.Errorf("%d files, want the fifo, the large one and the dangling link", len(all))
		}
		for _, l := range all {
			if !tabconfig.HasErrors(l.Faults) || l.Faults[0].Code != codeUnreadable {
				t.Errorf("%s: %+v", l.Path, l.Faults)
			}
		}
	case <-time.After(20 * time.Second):
		t.Fatal("reading the folder does not end")
	}
	if l := files.Read(folder); !tabconfig.HasErrors(l.Faults) || !strings.Contains(l.Faults[0].Message, "directory") {
		t.Errorf("a directory: %+v", l.Faults)
	}
}
