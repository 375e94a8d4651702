// Package directory lists a directory for a menu: what is shown of it, in which order, and
// what each entry is. It reads and owns nothing else, and refuses what is no directory.
package directory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"davit"
	"davit/internal/wire"
)

const (
	maxEntries = 1_000  // that are given
	maxRead    = 20_000 // names that are looked at; a directory of more is cut there
	maxProbed  = 500    // files whose beginning is read for their kind
	probe      = 512    // bytes of it
)

// The kinds of an entry.
const (
	Directory = "directory"
	Text      = "text"
	Other     = "other"
)

// List gives the entries of dir: directories, then text files, then others, each by name
// without regard to case (spec chips C5.2).
func List(ctx context.Context, dir string, hidden bool) (wire.DirectoryListing, error) {
	dir = filepath.Clean(dir)
	list := wire.DirectoryListing{Directory: dir, Entries: []wire.DirectoryEntry{}}
	if parent := filepath.Dir(dir); parent != dir {
		list.Parent = parent
	}
	names, more, err := read(dir)
	if err != nil {
		return list, fault(dir, err)
	}
	list.More = more
	probed := 0
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		if strings.HasPrefix(name, ".") && !hidden {
			continue
		}
		kind := Other
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			kind = Directory
		} else if err == nil && info.Mode().IsRegular() && probed < maxProbed {
			probed++
			kind = kindOf(filepath.Join(dir, name))
		}
		list.Entries = append(list.Entries, wire.DirectoryEntry{Name: name, Kind: kind})
	}
	order := []string{Directory, Text, Other}
	slices.SortStableFunc(list.Entries, func(a, b wire.DirectoryEntry) int {
		if by := slices.Index(order, a.Kind) - slices.Index(order, b.Kind); by != 0 {
			return by
		}
		if by := strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)); by != 0 {
			return by
		}
		return strings.Compare(a.Name, b.Name)
	})
	if len(list.Entries) > maxEntries {
		list.Entries, list.More = list.Entries[:maxEntries], true
	}
	return list, nil
}

func read(dir string) (names []string, more bool, err error) {
	// A fifo or device of that name must not hold the caller.
	file, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	names, err = file.Readdirnames(maxRead)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, len(names) == maxRead, err
}

func fault(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return davit.Errorf(davit.CodeDirectoryMissing, "there is no directory %s", dir).WithHint("it may have been moved or removed: choose another")
	case errors.Is(err, fs.ErrPermission):
		return davit.Errorf(davit.CodeInvalid, "the directory %s may not be read", dir).WithHint("its permissions are those of another user")
	case errors.Is(err, syscall.ENOTDIR):
		return davit.Errorf(davit.CodeInvalid, "%s is not a directory", dir)
	}
	return davit.Errorf(davit.CodeInvalid, "the directory %s cannot be read: %w", dir, err)
}

// kindOf looks at a file's beginning: text has no NUL in it.
func kindOf(path string) string {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Other
	}
	defer file.Close()
	beginning := make([]byte, probe)
	n, err := io.ReadFull(file, beginning)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return Other
	}
	if bytes.IndexByte(beginning[:n], 0) >= 0 {
		return Other
	}
	return Text
}
