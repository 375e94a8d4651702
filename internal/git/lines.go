package git

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What is read of untracked files at most.
const (
	maxUntracked      = 5_000
	maxUntrackedBytes = 64 << 20
	maxUntrackedFile  = 20 << 20
	binaryProbe       = 8_000 // bytes in which git looks for a NUL
)

// LineCounter counts lines as git would after an add. Directories (repositories of their
// own), links, devices, binary and unreadable files count none.
type LineCounter struct {
	root  string
	files int   // that may still be read
	bytes int64 // that may still be read
	over  bool
	buf   []byte
}

// NewLineCounter makes a counter for paths below root; it reads a bounded number of files
// and bytes.
func NewLineCounter(root string) *LineCounter {
	return &LineCounter{root: root, files: maxUntracked, bytes: maxUntrackedBytes}
}

// Over says that some files were too many or too large to be counted.
func (c *LineCounter) Over() bool { return c.over }

// Count gives the lines of one untracked path.
func (c *LineCounter) Count(ctx context.Context, rel string) int {
	if strings.HasSuffix(rel, "/") || ctx.Err() != nil {
		return 0
	}
	file, err := os.OpenFile(filepath.Join(c.root, filepath.FromSlash(rel)), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	if c.files == 0 || info.Size() > maxUntrackedFile || info.Size() > c.bytes {
		c.over = true
		return 0
	}
	c.files--
	if c.buf == nil {
		c.buf = make([]byte, 64<<10)
	}
	lines, read, last := 0, int64(0), byte('\n')
	for read <= maxUntrackedFile {
		n, err := io.ReadFull(file, c.buf)
		if n > 0 {
			if read == 0 && bytes.IndexByte(c.buf[:min(n, binaryProbe)], 0) >= 0 {
				return 0
			}
			lines += bytes.Count(c.buf[:n], []byte{'\n'})
			last = c.buf[n-1]
			read += int64(n)
			c.bytes -= int64(n)
		}
		if err != nil {
			break
		}
	}
	if last != '\n' {
		lines++
	}
	return lines
}
