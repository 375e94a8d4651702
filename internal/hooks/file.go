package hooks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"davit"
)

// State is what is there of an agent's hooks.
type State string

// The states of an agent's hooks.
const (
	Absent     State = "absent"
	Installed  State = "installed"
	Outdated   State = "outdated" // of another build or place of davit, or changed
	Foreign    State = "foreign"  // a file of somebody else stands in their place
	Unreadable State = "unreadable"
)

// Place is where things are on this machine.
type Place struct {
	Home    string              // the user's
	Getenv  func(string) string // for the variables by which agents are told of another directory
	Self    string              // this program, an absolute path
	Backups string              // where the file goes as it was before
	Now     func() time.Time
}

// Result is what was found or done.
type Result struct {
	Agent   string `json:"agent"`
	Name    string `json:"name"`
	File    string `json:"file"`
	State   State  `json:"state"`
	Changed bool   `json:"changed"`
	Backup  string `json:"backup,omitempty"`
	Reason  string `json:"reason,omitempty"` // why the file cannot be read or edited
	Note    string `json:"note,omitempty"`
}

// path is the agent's file.
func (p Place) path(a Agent) string {
	dir := filepath.Join(p.Home, a.Home)
	if a.Env != "" && filepath.IsAbs(p.Getenv(a.Env)) {
		dir = p.Getenv(a.Env)
	} else if xdg := p.Getenv("XDG_CONFIG_HOME"); a.Home == ".config/opencode" && filepath.IsAbs(xdg) {
		dir = filepath.Join(xdg, "opencode")
	}
	return filepath.Join(dir, filepath.FromSlash(a.File))
}

// Used tells whether the agent keeps a directory of its own here: it is used by somebody.
func (p Place) Used(a Agent) bool {
	dir := strings.TrimSuffix(p.path(a), string(filepath.Separator)+filepath.FromSlash(a.File))
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// maxFile bounds a settings file.
const maxFile = 4 << 20

// found is a file as it was read.
type found struct {
	path string // with links followed
	text string
	info fs.FileInfo // nil: there is none
}

func read(path string) (found, error) {
	f := found{path: path}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return f, fmt.Errorf("it is a link that leads nowhere")
		}
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.path = real
	file, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f, err
	}
	defer file.Close()
	if f.info, err = file.Stat(); err != nil {
		return f, err
	}
	if !f.info.Mode().IsRegular() {
		return f, fmt.Errorf("it is no ordinary file")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if len(data) > maxFile {
		return f, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	f.text = string(data)
	return f, err
}

// Check tells what is there.
func Check(p Place, a Agent) Result {
	r := Result{Agent: a.ID, Name: a.Name, File: p.path(a), State: Absent}
	f, err := read(r.File)
	if err == nil && f.info != nil {
		var has []string
		has, err = a.form.has(f.text)
		switch {
		case err != nil:
		case len(has) == 0:
		case slices.Equal(has, p.want(a)):
			r.State = Installed
		case a.sameSet(has, p.want(a)):
			r.State = Installed
		default:
			r.State = Outdated
		}
	}
	if err != nil {
		r.State, r.Reason = Unreadable, err.Error()
	}
	if errors.Is(err, errForeign) {
		r.State = Foreign
	}
	return r
}

// want is what a file has when davit's hooks are installed.
func (p Place) want(a Agent) []string {
	if form, whole := a.form.(pluginForm); whole {
		return []string{form.fresh(a, p.Self)}
	}
	return a.commands(p.Self)
}

// sameSet: events may stand in the order that the user's file has them.
func (a Agent) sameSet(has, want []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(has)), slices.Sorted(slices.Values(want)))
}

// Install puts davit's hooks into the agent's file; when they are there it changes nothing.
func Install(p Place, a Agent) (Result, error) { return p.change(a, true) }

// Remove takes them out.
func Remove(p Place, a Agent) (Result, error) { return p.change(a, false) }

func (p Place) change(a Agent, install bool) (Result, error) {
	r := Check(p, a)
	if install {
		r.Note = a.Note
	}
	if install && r.State == Installed || !install && r.State == Absent {
		return r, nil
	}
	f, err := read(r.File)
	if err != nil {
		return r, p.refuse(a, r.File, install, err)
	}
	next, err := p.next(a, f, install)
	if err != nil {
		return r, p.refuse(a, r.File, install, err)
	}
	if err := writable(f); err != nil {
		return r, p.refuse(a, r.File, install, err)
	}
	if f.info != nil {
		if r.Backup, err = p.backup(a, f); err != nil {
			return r, davit.Errorf(davit.CodeHooksRefused, "%s is left as it is: no copy of it could be kept: %w", r.File, err).WithHint("check the rights of %s", p.Backups)
		}
	}
	if next == nil {
		err = os.Remove(f.path)
	} else {
		err = write(f, *next)
	}
	if err != nil {
		return r, p.refuse(a, r.File, install, err)
	}
	r.Changed, r.State = true, Absent
	if install {
		r.State = Installed
	}
	return r, nil
}

// next is the text that the file gets; nil deletes it, which only a file is for that
// davit made as a whole.
func (p Place) next(a Agent, f found, install bool) (*string, error) {
	type maker interface{ fresh(Agent, string) string }
	whole, _ := a.form.(maker)
	if f.info == nil {
		text := whole.fresh(a, p.Self)
		return &text, nil
	}
	if !install && f.text == whole.fresh(a, p.Self) {
		return nil, nil
	}
	text, err := a.form.edit(f.text, a, p.Self, install)
	if err != nil {
		return nil, err
	}
	if _, plugin := a.form.(pluginForm); plugin && !install {
		return nil, nil
	}
	if !install && f.text == trimEnd(whole.fresh(a, p.Self)) {
		text = "" // the file was empty
	}
	return &text, nil
}

func trimEnd(text string) string { return text[:len(text)-1] }

// writable refuses files that their owner does not want to be written, or that a new file
// in their place would part from.
func writable(f found) error {
	if f.info == nil {
		return nil
	}
	if f.info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("it is read-only")
	}
	if stat, ok := f.info.Sys().(*syscall.Stat_t); ok {
		if stat.Nlink > 1 {
			return fmt.Errorf("it has %d names (hard links), and would lose the others", stat.Nlink)
		}
		if int(stat.Uid) != os.Geteuid() {
			return fmt.Errorf("it belongs to another user (%d)", stat.Uid)
		}
	}
	return nil
}

func (p Place) backup(a Agent, f found) (string, error) {
	if err := os.MkdirAll(p.Backups, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(p.Backups, fmt.Sprintf("%s-%s-%s", a.ID, p.Now().Format("20060102T150405.000"), filepath.Base(f.path)))
	return path, os.WriteFile(path, []byte(f.text), 0o600)
}

// write puts the new text in the place of the old in one step: with its mode, and only
// when nobody has written meanwhile.
func write(f found, text string) (err error) {
	dir := filepath.Dir(f.path)
	if f.info == nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	temp, err := os.CreateTemp(dir, ".davit-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	mode := fs.FileMode(0o600)
	if f.info != nil {
		mode = f.info.Mode().Perm()
	}
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	now, err := read(f.path)
	if err != nil {
		return err
	}
	if now.text != f.text || (now.info == nil) != (f.info == nil) {
		return fmt.Errorf("somebody else wrote it just now; ask again")
	}
	return os.Rename(temp.Name(), f.path)
}

// refuse says why a file is left alone, and what to do by hand.
func (p Place) refuse(a Agent, path string, install bool, cause error) error {
	e := davit.Errorf(davit.CodeHooksRefused, "%s is left as it is: %w", path, cause)
	if errors.Is(cause, errForeign) {
		return e.WithHint("move it away, then ask again").With("file", path)
	}
	if !install {
		return e.WithHint("take out of it by hand every hook with the words \"agent report\"").With("file", path)
	}
	return e.WithHint("mend it and ask again, or add by hand what `davit agent hooks print %s` prints", a.ID).With("file", path).With("add", ByHand(p, a))
}

// ByHand is what a person would add to the agent's file.
func ByHand(p Place, a Agent) string { return a.form.byHand(a, p.Self) }

// File is the agent's file.
func File(p Place, a Agent) string { return p.path(a) }
