package git

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Worktree is one entry of `git worktree list`. The first one is the main checkout, or
// the bare repository itself.
type Worktree struct {
	Path           string
	Head           string // commit; "" when bare, all zeros when unborn
	Branch         string // short; "" when detached
	Bare, Detached bool
	Locked         bool
	LockReason     string
	Prunable       bool // its folder is gone
	PruneReason    string
}

// Worktrees lists the work trees of the repository that dir is in.
func (r Runner) Worktrees(ctx context.Context, dir string) ([]Worktree, error) {
	out, err := r.Read(ctx, dir, "worktree", "list", "--porcelain", "-z")
	if Status(err) == 129 { // a git before 2.36 does not know -z here
		out, err = r.Read(ctx, dir, "worktree", "list", "--porcelain")
		return parseIf(err, string(out), "\n")
	}
	return parseIf(err, string(out), "\x00")
}

func parseIf(err error, out, end string) ([]Worktree, error) {
	if err != nil {
		return nil, err
	}
	return parseWorktrees(out, end)
}

// parseWorktrees reads blocks of lines, each line closed by end, each block by an empty
// line.
func parseWorktrees(out, end string) ([]Worktree, error) {
	var list []Worktree
	for block := range strings.SplitSeq(strings.TrimSuffix(out, end), end+end) {
		if block == "" {
			continue
		}
		var w Worktree
		for line := range strings.SplitSeq(block, end) {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				w.Path = value
			case "HEAD":
				w.Head = value
			case "branch":
				w.Branch = shortBranch(value)
			case "bare":
				w.Bare = true
			case "detached":
				w.Detached = true
			case "locked":
				w.Locked, w.LockReason = true, value
			case "prunable":
				w.Prunable, w.PruneReason = true, value
			}
		}
		if w.Path == "" {
			return nil, fmt.Errorf("%w: worktree entry %q", ErrGarbage, cut(block))
		}
		list = append(list, w)
	}
	return list, nil
}

// Ref is one ref and what it points at.
type Ref struct {
	Name     string // full: refs/heads/…
	Commit   string // of the object, not peeled
	Upstream string // full name, "" when none
	Symbolic bool
}

// Refs lists the refs below the given prefixes ("refs/heads", "refs/remotes", …).
func (r Runner) Refs(ctx context.Context, dir string, prefixes ...string) ([]Ref, error) {
	out, err := r.Read(ctx, dir, append([]string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(upstream)%00%(symref)", "--"}, prefixes...)...)
	if err != nil {
		return nil, err
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(fields) != 4 || !strings.HasPrefix(fields[0], "refs/") {
			return nil, fmt.Errorf("%w: ref %q", ErrGarbage, cut(line))
		}
		refs = append(refs, Ref{Name: fields[0], Commit: fields[1], Upstream: fields[2], Symbolic: fields[3] != ""})
	}
	return refs, nil
}

// Remotes lists the names of the remotes, those with an empty address too.
func (r Runner) Remotes(ctx context.Context, dir string) ([]string, error) {
	out, err := r.Read(ctx, dir, "remote")
	return strings.Fields(string(out)), err
}

// RemoteHead gives the full ref that a remote's HEAD stands for, "" when it is not
// known here. Nothing is asked of the remote.
func (r Runner) RemoteHead(ctx context.Context, dir, remote string) (string, error) {
	out, err := r.Read(ctx, dir, "symbolic-ref", "--quiet", "refs/remotes/"+remote+"/HEAD")
	if Status(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Commit gives the full id of the commit that a revision means, "" when it means none.
func (r Runner) Commit(ctx context.Context, dir, revision string) (string, error) {
	if revision == "" || strings.HasPrefix(revision, "-") || strings.ContainsAny(revision, "\x00\n") {
		return "", nil
	}
	out, err := r.Read(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if Status(err) == 1 || Status(err) == 128 {
		return "", nil
	}
	if id := strings.TrimSpace(string(out)); isObjectID(id) {
		return id, nil
	} else if err == nil {
		return "", fmt.Errorf("%w: commit %q", ErrGarbage, cut(id))
	}
	return "", err
}

// plainName is what any git takes as the name of a branch.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*(/[A-Za-z0-9_][A-Za-z0-9_-]*)*$`)

// ValidBranch asks git whether a name may be a branch's. What git's own `branch` refuses
// beyond the form of a ref (a leading dash, HEAD, @) is refused too.
func (r Runner) ValidBranch(ctx context.Context, dir, name string) (bool, error) {
	if name == "" || name == "HEAD" || name == "@" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n") {
		return false, nil
	}
	if plainName.MatchString(name) {
		return true, nil // no rule of git's is about such a one: no process
	}
	_, err := r.Read(ctx, dir, "check-ref-format", "refs/heads/"+name)
	if Status(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Count counts the commits of a `rev-list` expression.
func (r Runner) Count(ctx context.Context, dir string, expression ...string) (int, error) {
	out, err := r.Read(ctx, dir, append([]string{"rev-list", "--count"}, expression...)...)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return 0, fmt.Errorf("%w: count %q", ErrGarbage, cut(string(out)))
	}
	return n, nil
}

// LogEntry is one commit in short.
type LogEntry struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
}

// Log lists the commits of a `rev-list` expression, newest first.
func (r Runner) Log(ctx context.Context, dir string, expression ...string) ([]LogEntry, error) {
	out, err := r.Read(ctx, dir, append([]string{"log", "-z", "--format=%H %s", "--no-show-signature"}, expression...)...)
	if err != nil {
		return nil, err
	}
	var entries []LogEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		id, subject, _ := strings.Cut(line, " ")
		if line == "" {
			continue
		}
		if !isObjectID(id) {
			return nil, fmt.Errorf("%w: log %q", ErrGarbage, cut(line))
		}
		entries = append(entries, LogEntry{Commit: id, Subject: strings.TrimSuffix(subject, "\n")})
	}
	return entries, nil
}

// Stashes lists the subjects of the stash, newest first ("WIP on main: …", "On x: …").
func (r Runner) Stashes(ctx context.Context, dir string) ([]string, error) {
	if id, err := r.Commit(ctx, dir, "refs/stash"); err != nil || id == "" {
		return nil, err
	}
	out, err := r.Read(ctx, dir, "log", "-z", "-g", "--format=%gs", "--no-show-signature", "refs/stash", "--")
	if err != nil {
		return nil, err
	}
	trimmed := strings.TrimSuffix(string(out), "\x00")
	if trimmed == "" {
		return nil, nil
	}
	return strings.Split(trimmed, "\x00"), nil
}
