package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
)

// codeUnreadable is the fault of a file that cannot be read at all.
const codeUnreadable tabconfig.Code = "file_unreadable"

// Bounds of reading config files. A folder with more is told, not read on for ever.
const (
	maxConfigBytes = 1 << 20
	maxConfigs     = 2000
	maxDepth       = 8
)

// Files finds and reads tab config files (spec tabs T1.1). It keeps nothing: every
// question reads the files anew, so a save is seen at once.
type Files struct {
	Dirs []string // searched in this order, below them at any depth
	Env  tabconfig.LoadEnv
}

// NewFiles gives the folders of a home: its own, and Warp's where it exists.
func NewFiles(own, userHome string, getenv func(string) string, env tabconfig.LoadEnv) Files {
	dirs := []string{own}
	warp := filepath.Join(userHome, ".local", "share", "warp-terminal", "tab_configs")
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		warp = filepath.Join(dir, "warp-terminal", "tab_configs")
	}
	if runtime.GOOS == "darwin" {
		warp = filepath.Join(userHome, ".warp", "tab_configs")
	}
	if info, err := os.Stat(warp); err == nil && info.IsDir() && getenv("DAVIT_HOME") == "" {
		dirs = append(dirs, warp)
	}
	return Files{Dirs: dirs, Env: env}
}

// Loaded is one file: a config, or faults, or both (warnings).
type Loaded struct {
	Path   string
	Source []byte
	Config *tabconfig.Config // nil when there are errors
	Faults []tabconfig.Fault
}

// Read loads one file; what is wrong with the file itself is a fault like any other.
func (f Files) Read(path string) Loaded {
	src, err := readBounded(path)
	if err != nil {
		return Loaded{Path: path, Faults: []tabconfig.Fault{{File: path, Severity: tabconfig.Error, Code: codeUnreadable, Message: err.Error()}}}
	}
	config, faults := tabconfig.Load(path, src, f.Env)
	if tabconfig.HasErrors(faults) {
		config = nil
	}
	return Loaded{Path: path, Source: src, Config: config, Faults: faults}
}

// readBounded reads a regular file of at most 1 MiB. A fifo or a device is refused before
// it is opened: opening one may wait for ever.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file")
	case err != nil:
		return nil, fmt.Errorf("it cannot be read: %w", err)
	case info.IsDir():
		return nil, errors.New("it is a directory, not a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxConfigBytes:
		return nil, fmt.Errorf("it has %d bytes; a tab config has at most %d", info.Size(), maxConfigBytes)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err == nil && len(src) > maxConfigBytes {
		err = fmt.Errorf("it has more than %d bytes", maxConfigBytes)
	}
	return src, err
}

// All loads every config, sorted by name without regard to case.
func (f Files) All() []Loaded {
	var all []Loaded
	for _, dir := range f.Dirs {
		f.walk(dir, 0, map[string]bool{}, &all)
	}
	sort.SliceStable(all, func(i, j int) bool { return sortName(all[i]) < sortName(all[j]) })
	return all
}

func sortName(l Loaded) string {
	if l.Config != nil {
		return strings.ToLower(l.Config.Name) + "\x00" + l.Config.Name
	}
	return strings.ToLower(filepath.Base(l.Path))
}

// walk follows links to folders, each real folder once, so that a loop of links ends.
func (f Files) walk(dir string, depth int, seen map[string]bool, all *[]Loaded) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || seen[real] || depth > maxDepth || len(*all) >= maxConfigs {
		return
	}
	seen[real] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil && strings.HasSuffix(e.Name(), ".toml"):
			*all = append(*all, f.Read(path))
		case err != nil:
		case info.IsDir():
			f.walk(path, depth+1, seen, all)
		case strings.HasSuffix(e.Name(), ".toml") && len(*all) < maxConfigs:
			*all = append(*all, f.Read(path))
		}
	}
}

// Find gives the one config that an argument of `davit open` means: a file when it has a
// slash or ends in .toml, else a name or file stem, without regard to case (T1.1).
func (f Files) Find(arg, dir string) (Loaded, error) {
	if strings.ContainsRune(arg, '/') || strings.HasSuffix(arg, ".toml") {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return Loaded{}, davit.Errorf(davit.CodeConfigNotFound, "there is no file %s", path).
				WithHint("`davit config list` shows the configs that can be opened by name")
		}
		return f.checked(f.Read(path))
	}
	all := f.All()
	var configs []*tabconfig.Config
	var bad *Loaded // of that file name, for when no good one is named so
	byPath := map[string]Loaded{}
	for _, l := range all {
		byPath[l.Path] = l
		if l.Config != nil {
			configs = append(configs, l.Config)
		} else if strings.EqualFold(strings.TrimSuffix(filepath.Base(l.Path), ".toml"), arg) {
			bad = &l
		}
	}
	found := tabconfig.Match(configs, arg)
	switch len(found) {
	case 1:
		return byPath[found[0].Path], nil
	case 0:
		if bad != nil {
			return f.checked(*bad)
		}
		return Loaded{}, davit.Errorf(davit.CodeConfigNotFound, "there is no tab config named %q", arg).
			WithHint("put one into %s, or give a path that ends in .toml", strings.Join(f.Dirs, " or "))
	}
	var paths []string
	for _, c := range found {
		paths = append(paths, c.Path)
	}
	return Loaded{}, davit.Errorf(davit.CodeConfigAmbiguous, "%d tab configs are named %q", len(paths), arg).
		WithHint("name the file: %s", strings.Join(paths, ", ")).With("candidates", paths)
}

func (f Files) checked(l Loaded) (Loaded, error) {
	if l.Config != nil {
		return l, nil
	}
	return l, FaultError(davit.CodeConfigInvalid, l.Path, "cannot be used", WireFaults(l.Faults, l.Source))
}

// FaultError puts a list of faults into one error: the first in the message, all in the
// details.
func FaultError(code davit.Code, path, what string, faults []wire.Fault) error {
	var texts []string
	for _, fault := range faults {
		if fault.Severity == string(tabconfig.Error) {
			texts = append(texts, fault.Text)
		}
	}
	return davit.Errorf(code, "the tab config %s %s:\n%s", path, what, strings.Join(texts, "\n")).
		WithHint("`davit config check %s` lists everything", path).With("faults", faults)
}

// WireFaults gives faults the API's shape, with the text that the CLI prints.
func WireFaults(faults []tabconfig.Fault, src []byte) []wire.Fault {
	out := make([]wire.Fault, 0, len(faults))
	for _, f := range faults {
		out = append(out, wire.Fault{
			File: f.File, Line: f.Line, Column: f.Column, Severity: string(f.Severity), Code: string(f.Code),
			Message: f.Message, Hint: f.Hint, Text: f.Format(src),
		})
	}
	return out
}

// List answers config.list.
func (f Files) List() wire.ConfigList {
	list := wire.ConfigList{Configs: []wire.Config{}, Faults: []wire.Fault{}, Dirs: f.Dirs}
	for _, l := range f.All() {
		faults := WireFaults(l.Faults, l.Source)
		if l.Config == nil {
			list.Faults = append(list.Faults, faults...)
			continue
		}
		c := wire.Config{
			Name: l.Config.Name, Path: l.Path, Description: l.Config.Description, Icon: l.Config.Icon, Color: l.Config.Color,
			Worktree: l.Config.Worktree != nil, OnClose: l.Config.OnClose != nil, Params: []wire.Param{}, Warnings: faults,
		}
		for _, p := range l.Config.Params() {
			param := wire.Param{Name: p.Name, Type: string(p.Type), Description: p.Description, Options: p.Options}
			if p.HasDefault {
				value := p.Default
				param.Default = &value
			}
			c.Params = append(c.Params, param)
		}
		list.Configs = append(list.Configs, c)
	}
	return list
}
