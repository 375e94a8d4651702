package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Repository is where a directory is, found by reading files.
type Repository struct {
	Root      string // top of the work tree; "" in a bare repository or inside of a git directory
	GitDir    string // this work tree's own git directory
	CommonDir string // the git directory that all work trees share
	Bare      bool
}

// Linked says that the work tree was made by `git worktree add`.
func (r Repository) Linked() bool { return r.GitDir != r.CommonDir }

// ErrNotRepository says that no parent of the directory is a repository.
var ErrNotRepository = errors.New("not inside a git repository")

// LinkError is a `.git` file that leads nowhere.
type LinkError struct {
	File   string // the .git file
	Target string // where it leads
}

func (e *LinkError) Error() string {
	return e.File + " leads to " + e.Target + ", which is no git directory"
}

// maxSmallFile bounds HEAD, .git files, commondir and loose refs.
const (
	maxSmallFile = 64 << 10
	nonblock     = syscall.O_NONBLOCK
)

// Discover finds the repository of dir without a process. A directory that is gone gives
// fs.ErrNotExist, one outside of any repository ErrNotRepository, a broken `.git` file a
// *LinkError.
func Discover(dir string) (Repository, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Repository{}, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return Repository{}, err
	}
	if info, err := os.Stat(real); err != nil {
		return Repository{}, err
	} else if !info.IsDir() {
		real = filepath.Dir(real)
	}
	for at := real; ; at = filepath.Dir(at) {
		entry := filepath.Join(at, ".git")
		info, err := os.Stat(entry)
		switch {
		case err == nil && info.IsDir() && isGitDir(entry):
			return opened(at, entry), nil
		case err == nil && info.Mode().IsRegular():
			target, err := readLink(entry)
			if err != nil {
				return Repository{}, err
			}
			return opened(at, target), nil
		}
		if isGitDir(at) {
			return opened("", at), nil
		}
		if at == filepath.Dir(at) {
			return Repository{}, ErrNotRepository
		}
	}
}

func opened(root, gitDir string) Repository {
	repo := Repository{Root: root, GitDir: gitDir, CommonDir: commonDir(gitDir)}
	if !repo.Linked() {
		repo.Bare = configSaysBare(gitDir)
		if repo.Bare {
			repo.Root = ""
		}
	}
	return repo
}

// readLink follows a `.git` file.
func readLink(file string) (string, error) {
	data, err := readSmall(file)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir:")
	target = strings.TrimSpace(target)
	if !ok || target == "" {
		return "", &LinkError{File: file, Target: "nothing"}
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	real, err := filepath.EvalSymlinks(target)
	if err != nil || !isGitDir(real) {
		return "", &LinkError{File: file, Target: target}
	}
	return real, nil
}

// isGitDir asks what git asks: HEAD, and objects and refs here or in the common
// directory.
func isGitDir(dir string) bool {
	if info, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil || info.IsDir() {
		return false
	}
	common := commonDir(dir)
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

func commonDir(gitDir string) string {
	data, err := readSmall(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return gitDir
	}
	common := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	if real, err := filepath.EvalSymlinks(common); err == nil {
		return real
	}
	return filepath.Clean(common)
}

// configSaysBare reads core.bare from a repository's own config. Included files do not
// count, which is how git decides it too.
func configSaysBare(gitDir string) bool {
	bare := false
	for _, name := range []string{"config", "config.worktree"} {
		data, err := readSmall(filepath.Join(gitDir, name))
		if err != nil {
			continue
		}
		section := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				section = strings.ToLower(strings.Trim(line, "[] \t"))
				continue
			}
			key, value, given := strings.Cut(line, "=")
			if section != "core" || !strings.EqualFold(strings.TrimSpace(key), "bare") {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(value)) {
			case "true", "yes", "on", "1":
				bare = true
			case "":
				bare = !given
			default:
				bare = false
			}
		}
	}
	return bare
}

// Head is what HEAD says.
type Head struct {
	Branch   string // short name; "" when detached
	Commit   string // full id; "" when unborn
	Detached bool
	Unborn   bool
}

// ErrNeedsGit says that the files cannot tell, and the program must be asked (a
// reftable).
var ErrNeedsGit = errors.New("this repository keeps its refs in a form that only git reads")

// ReadHead reads HEAD without a process. Unborn and detached are ordinary answers.
func ReadHead(repo Repository) (Head, error) {
	data, err := readSmall(filepath.Join(repo.GitDir, "HEAD"))
	if err != nil {
		return Head{}, err
	}
	line := strings.TrimSpace(string(data))
	ref, symbolic := strings.CutPrefix(line, "ref:")
	if !symbolic {
		if !isObjectID(line) {
			return Head{}, fmt.Errorf("%s holds neither a ref nor a commit", filepath.Join(repo.GitDir, "HEAD"))
		}
		return Head{Commit: line, Detached: true}, nil
	}
	ref = strings.TrimSpace(ref)
	if info, err := os.Stat(filepath.Join(repo.CommonDir, "reftable")); err == nil && info.IsDir() {
		return Head{}, ErrNeedsGit
	}
	if !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
		return Head{}, fmt.Errorf("HEAD names %q, which is no ref", ref)
	}
	commit, err := readRef(repo, ref, 0)
	if err != nil {
		return Head{}, err
	}
	return Head{Branch: shortBranch(ref), Commit: commit, Unborn: commit == ""}, nil
}

func shortBranch(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return name
	}
	return strings.TrimPrefix(ref, "refs/")
}

// readRef gives the commit of a ref, "" when there is none.
func readRef(repo Repository, ref string, depth int) (string, error) {
	data, err := readSmall(filepath.Join(repo.CommonDir, filepath.FromSlash(ref)))
	if err == nil {
		line := strings.TrimSpace(string(data))
		if target, ok := strings.CutPrefix(line, "ref:"); ok && depth < 5 && !strings.Contains(target, "..") {
			return readRef(repo, strings.TrimSpace(target), depth+1)
		}
		if isObjectID(line) {
			return line, nil
		}
		return "", fmt.Errorf("%s holds no commit", ref)
	}
	return packedRef(filepath.Join(repo.CommonDir, "packed-refs"), ref)
}

// packedRef looks a ref up in packed-refs: `<id> SP <ref> LF`, `#` and `^` lines apart.
func packedRef(file, ref string) (string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	needle := []byte(" " + ref + "\n")
	for from := 0; ; {
		i := bytes.Index(data[from:], needle)
		if i < 0 {
			return "", nil
		}
		start := bytes.LastIndexByte(data[:from+i], '\n') + 1
		if id := string(data[start : from+i]); isObjectID(id) {
			return id, nil
		}
		from += i + len(needle)
	}
}

func isObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Head tells what HEAD says: from files where they can tell, else by asking git.
func (r Runner) Head(ctx context.Context, repo Repository) (Head, error) {
	head, err := ReadHead(repo)
	if !errors.Is(err, ErrNeedsGit) {
		return head, err
	}
	args := []string{"--git-dir=" + repo.GitDir}
	ref, err := r.Read(ctx, "", append(args, "symbolic-ref", "--quiet", "HEAD")...)
	if err != nil && Status(err) != 1 {
		return Head{}, err
	}
	commit, err := r.Read(ctx, "", append(args, "rev-parse", "--verify", "--quiet", "HEAD")...)
	if err != nil && Status(err) != 1 {
		return Head{}, err
	}
	head = Head{Branch: shortBranch(strings.TrimSpace(string(ref))), Commit: strings.TrimSpace(string(commit))}
	head.Detached = head.Branch == ""
	head.Unborn = head.Commit == ""
	return head, nil
}

func readSmall(file string) ([]byte, error) {
	f, err := openPlain(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSmallFile))
}

// openPlain opens without waiting, so that a FIFO with a file's name cannot hold us.
func openPlain(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	return f, nil
}
