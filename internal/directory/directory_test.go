package directory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"davit"
)

// Spec chips C5.2: the menu of a directory: directories, text files, others, each by name.
func TestOrderAndKinds(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b.md": "words", "A.txt": "", "tool": "\x7fELF\x00", ".hidden": "x", "new\nline": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"src", "Docs", ".git"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("src", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "broken")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := List(t.Context(), dir+"/", false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list.Entries {
		got = append(got, e.Kind+":"+e.Name)
	}
	want := "directory:Docs directory:link directory:src text:A.txt text:b.md text:new\nline other:broken other:pipe other:tool"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %q\nwant %q", strings.Join(got, " "), want)
	}
	if list.Directory != dir || list.Parent != filepath.Dir(dir) || list.More {
		t.Errorf("got %+v", list)
	}
	if list, err = List(t.Context(), dir, true); err != nil || len(list.Entries) != len(got)+2 {
		t.Errorf("with hidden ones: %d, %v", len(list.Entries), err)
	}
}

func TestBounds(t *testing.T) {
	dir := t.TempDir()
	for i := range maxEntries + 5 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(t.Context(), dir, false)
	if err != nil || len(list.Entries) != maxEntries || !list.More {
		t.Errorf("%d entries, more %v, %v", len(list.Entries), list.More, err)
	}
	if root, err := List(t.Context(), "/", false); err != nil || root.Parent != "" {
		t.Errorf("the root: %+v, %v", root.Parent, err)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]davit.Code{
		filepath.Join(dir, "none"): davit.CodeDirectoryMissing, file: davit.CodeInvalid, pipe: davit.CodeInvalid,
	} {
		_, err := List(t.Context(), path, false)
		if davit.CodeOf(err) != code {
			t.Errorf("%s: %v", path, err)
		}
	}
}
