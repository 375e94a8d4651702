package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup gives the directory of the keeper's own control group in the version 2
// hierarchy, wherever that is mounted.
func ownGroup() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	own, ok := groupOf(os.Getpid())
	if !ok {
		return "", errors.New("this process is in no control group of version 2")
	}
	dir, err := groupDir(mounts, own)
	if err == nil && !isGroup(dir) {
		err = fmt.Errorf("%s is not a control group", dir)
	}
	return dir, err
}

// groupDir finds where a group is mounted. A mount may show part of the hierarchy only.
func groupDir(mounts []byte, group string) (string, error) {
	found := false
	for line := range strings.Lines(string(mounts)) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 6 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		found = true
		root, point := unescapeMount(fields[3]), unescapeMount(fields[4])
		if rest, inside := below(group, root); inside {
			return filepath.Join(point, rest), nil
		}
	}
	if found {
		return "", fmt.Errorf("the control group %s is not mounted", group)
	}
	return "", errors.New("no control groups of version 2 are mounted")
}

// below cuts root from group, when group is it or lies below it.
func below(group, root string) (string, bool) {
	if root == "/" {
		return group, !strings.HasPrefix(group, "/..")
	}
	rest, ok := strings.CutPrefix(group, root)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// groupOf gives the version 2 control group of a process, as this process sees it.
func groupOf(pid int) (string, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return "", false
	}
	for line := range bytes.Lines(b) {
		if path, ok := bytes.CutPrefix(line, []byte("0::")); ok {
			return strings.TrimSuffix(string(path), "\n"), true
		}
	}
	return "", false
}

// inGroup says whether a process is in a pane's control group or below it.
func inGroup(pid int, dir string) bool {
	if dir == "" {
		return false
	}
	group, ok := groupOf(pid)
	if !ok {
		return false
	}
	// The pane's name and the home's hash tell it apart; where it is mounted is the same
	// for all.
	want := string(filepath.Separator) + filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
	return strings.HasSuffix(group, want) || strings.Contains(group, want+"/")
}

// paneOfGroup names the innermost pane whose control group a process is in; "" for none.
func paneOfGroup(pid int) string {
	group, _ := groupOf(pid)
	return paneInGroup(group)
}

func paneInGroup(group string) string {
	parts := strings.Split(group, "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if groupsName.MatchString(parts[i]) && paneName.MatchString(parts[i+1]) {
			return parts[i+1]
		}
	}
	return ""
}

// isGroup says whether dir lies in a version 2 hierarchy.
func isGroup(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && int64(st.Type) == unix.CGROUP2_SUPER_MAGIC
}

func openGroup(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// intoGroup makes a fork put the child into a control group before it runs.
func intoGroup(attr *syscall.SysProcAttr, group *os.File) {
	attr.UseCgroupFD, attr.CgroupFD = true, int(group.Fd())
}
