package board_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"davit/internal/prompt"
	"davit/internal/prompt/board"
	"davit/internal/testenv"
)

// ask writes a note as a shell does.
func ask(t *testing.T, dir string, pid int, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "ask", fmt.Sprint(pid)), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Files are private, of a bounded number, and gone with the host (spec chips C7).
func TestBoardIsBounded(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "b")
	h := startHost(t, dir, "cwd")
	for i := range board.MaxKeys + 20 {
		h.Values(fmt.Sprintf("/src/%d/tree", i), []prompt.Value{branch("x")})
	}
	count := func() (files int) {
		_ = filepath.WalkDir(filepath.Join(dir, "values"), func(path string, d fs.DirEntry, err error) error {
			if info, infoErr := d.Info(); err == nil && infoErr == nil && d.Type().IsRegular() {
				if files++; info.Mode().Perm() != 0o600 {
					t.Errorf("%s is %v", path, info.Mode())
				}
			} else if infoErr == nil && info.Mode().Perm() != 0o700 {
				t.Errorf("%s is %v", path, info.Mode())
			}
			return nil
		})
		return files
	}
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { n := count(); return n == board.MaxKeys, fmt.Sprint(n) })
	mine := filepath.Join(dir, "values", "mine")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.stop()
	if _, err := os.Stat(mine); err != nil {
		t.Error("a file of another name was removed")
	}
	if n := count(); n != 1 {
		t.Errorf("%d files are left", n)
	}
	if _, _, alive := board.Read(dir, "/src/1/tree"); alive {
		t.Error("a host that has ended is called alive")
	}
}

// What a killed host left is no value: its number is dead, and the next host sweeps.
func TestBoardOfAKilledHost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "b")
	old := filepath.Join(dir, "values", "src", "a", "=davit")
	if err := os.MkdirAll(filepath.Dir(old), 0o700); err != nil {
		t.Fatal(err)
	}
	dead := 0
	if p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{}); err == nil {
		dead = p.Pid
		_, _ = p.Wait()
	}
	for path, data := range map[string][]byte{old: prompt.EncodeValues([]prompt.Value{branch("old")}), filepath.Join(dir, "host"): prompt.Head{Pid: dead}.Encode()} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, values, alive := board.Read(dir, "/src/a"); alive || values != nil {
		t.Errorf("a killed host says %v", values)
	}
	startHost(t, dir, "cwd")
	if _, values, _ := board.Read(dir, "/src/a"); values != nil {
		t.Errorf("the next host says %v", values)
	}
}

// Only whole asks are heard, and what is no file of a shell's is not opened for long.
func TestBoardHearsWholeAsks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "b")
	h := startHost(t, dir, "cwd")
	whole := prompt.Ask{Key: "/src", Dir: "/src/a", Path: "/bin"}.Encode()
	ask(t, dir, os.Getpid(), whole[:len(whole)-3])
	ask(t, dir, 1<<30, []byte("x"))
	if err := os.WriteFile(filepath.Join(dir, "ask", "name"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	ask(t, dir, os.Getpid(), whole)
	testenv.Eventually(t, 5*time.Second, func() (bool, string) { return len(h.asked()) > 0, "nothing was heard" })
	for _, a := range h.asked() {
		if a.Dir != "/src/a" {
			t.Errorf("%+v was heard", a)
		}
	}
}

// A work tree has one name from all of its directories; elsewhere each has its own.
func TestKey(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{dir: dir, below: dir, "/nonexistent/x": "/nonexistent/x", "/": "/"} {
		if got := board.Key(in); got != want {
			t.Errorf("the key of %s is %s, not %s", in, got, want)
		}
	}
}
