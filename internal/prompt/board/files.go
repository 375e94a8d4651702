package board

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"davit/internal/prompt"
)

// Dir is where a home's board is, below the directory of its sockets.
func Dir(sockets string) string { return filepath.Join(sockets, "prompt") }

// Key is the directory that values of dir are kept for: the work tree that it is in, else
// itself. Shells find it the same way; it is a name for a file and no answer of git's.
func Key(dir string) string {
	for at := strings.TrimSuffix(dir, "/"); ; at = at[:strings.LastIndexByte(at, '/')] {
		if _, err := os.Stat(at + "/.git"); err == nil {
			return max(at, "/")
		}
		if !strings.Contains(at, "/") {
			return dir
		}
	}
}

// Read gives what a board says of a directory. alive is false without a host; then nothing
// of it counts.
func Read(board, dir string) (head prompt.Head, values []prompt.Value, alive bool) {
	data, err := readSmall(filepath.Join(board, headFile))
	if err != nil {
		return head, nil, false
	}
	head, ok := prompt.DecodeHead(data)
	if !ok || syscall.Kill(head.Pid, 0) != nil {
		return prompt.Head{}, nil, false
	}
	if key := Key(dir); prompt.IsKey(key) {
		if data, err = readSmall(filepath.Join(board, valuesDir, key, valuesFile)); err == nil {
			values, _ = prompt.DecodeValues(data)
		}
	}
	return head, values, true
}

// readSmall reads a regular file of at most prompt.MaxFile bytes; anything else that lies
// there is not opened for long.
func readSmall(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(file, prompt.MaxFile+1))
}

// knock connects to a shell's socket and says nothing. A socket without a shell is removed.
func knock(path string) {
	conn, err := net.DialTimeout("unix", path, knocking)
	if err == nil {
		_ = conn.Close()
		return
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		removeSocket(path)
	}
}

func removeSocket(path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
		_ = os.Remove(path)
	}
}
