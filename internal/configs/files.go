package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/template"
	"davit/internal/wire"
	"davit/internal/workspace"
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
	Dirs []string // the user's own folder, then others; each is searched at any depth
	Env  tabconfig.LoadEnv
	// Trusted gives the digests that the user has allowed, by TrustKey; nil: none are.
	Trusted func() map[string][]string
}

// Where a config comes from (wire.Config.Source).
const (
	sourceOwn        = "own"
	sourceWarp       = "warp"
	sourceRepository = "repository"
)

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
	Digest string // of Source; "" when the file could not be read
	From   string // own, warp or repository; "" elsewhere
	Trust  Trust  // of a repository's
	ByName bool   // what was asked for was its name, not its file
}

// Read loads one file; what is wrong with the file itself is a fault like any other.
func (f Files) Read(path string) Loaded {
	src, err := readBounded(path)
	if err != nil {
		return Loaded{Path: path, Faults: []tabconfig.Fault{{File: path, Severity: tabconfig.Error, Code: codeUnreadable, Message: err.Error()}}}
	}
	return f.Load(path, src)
}

// Load is Read of a text that would be the file's.
func (f Files) Load(path string, src []byte) Loaded {
	config, faults := tabconfig.Load(path, src, f.Env)
	if tabconfig.HasErrors(faults) {
		config = nil
	}
	return Loaded{Path: path, Source: src, Config: config, Faults: faults, Digest: Digest(src), From: f.source(path)}
}

// ReadAny is Read of a tab config, or of the settings of a repository's worktrees where the
// path says so. name stands in the faults.
func (f Files) ReadAny(path, name string) Loaded {
	src, err := readBounded(path)
	if err != nil {
		return f.Read(name)
	}
	return f.loadAny(path, name, src)
}

func (f Files) loadAny(path, name string, src []byte) Loaded {
	if !strings.HasSuffix(path, "/"+workspace.SettingsFile) {
		return f.Load(name, src)
	}
	_, faults := workspace.ReadSettings(name, src)
	return Loaded{Path: name, Source: src, Faults: faults, Digest: Digest(src), From: f.source(path)}
}

// Digest names a text: two texts have the same one only when they are equal.
func Digest(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}

// source says which of the folders a file lies in.
func (f Files) source(path string) string {
	for i, dir := range f.Dirs {
		switch {
		case !within(path, dir):
		case i == 0:
			return sourceOwn
		default:
			return sourceWarp
		}
	}
	if _, _, ok := repositoryFile(path); ok {
		return sourceRepository
	}
	return ""
}

// within says whether a path lies strictly below a directory, as written.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
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

// All loads every config, sorted by name without regard to case: those of the folders, and
// those of the repository that dir lies in, trusted or not. dir may be empty.
func (f Files) All(dir string) []Loaded {
	var all []Loaded
	for _, folder := range f.Dirs {
		f.walk(folder, 0, map[string]bool{}, &all)
	}
	all = append(all, f.OfRepository(dir)...)
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
// slash or ends in .toml, else a name or file stem, without regard to case (T1.1). A name
// may have a slash: it is looked for when there is no such file. A repository's is found when nothing else has the name, or when it is trusted. Find opens
// nothing; whoever does asks ForOpen.
func (f Files) Find(arg, dir string) (Loaded, error) {
	if IsFile(arg) {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		path = filepath.Clean(path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if l, err := f.named(arg, dir); err == nil || davit.CodeOf(err) == davit.CodeConfigAmbiguous {
				return l, err
			}
			return Loaded{}, davit.Errorf(davit.CodeConfigNotFound, "there is no file %s", path).
				WithHint("%s`davit config list` shows the configs that can be opened by name", didYouMean(besides(path, arg)))
		}
		return f.checked(f.withTrust(f.Read(path)))
	}
	return f.named(arg, dir)
}

// OfName is Find among the configs of the repository that dir lies in, for what is about
// those alone; one with faults has its file's name.
func (f Files) OfName(name, dir string) (Loaded, error) {
	var paths []string
	var found Loaded
	for _, l := range f.OfRepository(dir) {
		if slices.ContainsFunc(namesOf(l), func(n string) bool { return strings.EqualFold(n, name) }) {
			found, paths = l, append(paths, l.Path)
		}
	}
	switch {
	case len(paths) == 1:
		return found, nil
	case len(paths) > 1:
		return Loaded{}, several(name, paths)
	}
	return Loaded{}, davit.Errorf(davit.CodeConfigNotFound, "the repository has no tab config named %q", name).
		WithHint("`davit config list` shows what there is; a file is given by a path that ends in .toml")
}

func several(name string, paths []string) error {
	return davit.Errorf(davit.CodeConfigAmbiguous, "%d tab configs are named %q", len(paths), name).
		WithHint("name the file: %s", strings.Join(paths, ", ")).With("candidates", paths)
}

// named finds a config by its name or its file's.
func (f Files) named(arg, dir string) (Loaded, error) {
	var names []string
	var configs, strangers []*tabconfig.Config
	var bad *Loaded // of that file name, for when no good one is named so
	byPath := map[string]Loaded{}
	for _, l := range f.All(dir) {
		byPath[l.Path] = l
		names = append(names, namesOf(l)...)
		switch {
		case l.Config != nil && l.From == sourceRepository && l.Trust != Trusted:
			strangers = append(strangers, l.Config)
		case l.Config != nil:
			configs = append(configs, l.Config)
		case strings.EqualFold(strings.TrimSuffix(filepath.Base(l.Path), ".toml"), arg):
			bad = &l
		}
	}
	found := tabconfig.Match(configs, arg)
	if len(found) == 0 {
		found = tabconfig.Match(strangers, arg)
	}
	switch len(found) {
	case 1:
		l := byPath[found[0].Path]
		l.ByName = true
		return l, nil
	case 0:
		if bad != nil {
			return f.checked(*bad)
		}
		e := davit.Errorf(davit.CodeConfigNotFound, "there is no tab config named %q", arg)
		if len(names) == 0 {
			return Loaded{}, e.WithHint("`davit config new NAME` writes one into %s; a file is given by a path that ends in .toml", f.Dirs[0])
		}
		return Loaded{}, e.WithHint("%s`davit config list` shows what there is; a file is given by a path that ends in .toml", didYouMean(tabconfig.Nearest(arg, names)))
	}
	var paths []string
	for _, c := range found {
		paths = append(paths, c.Path)
	}
	return Loaded{}, several(arg, paths)
}

// namesOf are the names by which a config can be asked for. One with faults has its file's
// alone: it can be edited by that.
func namesOf(l Loaded) []string {
	stem := strings.TrimSuffix(filepath.Base(l.Path), ".toml")
	if l.Config == nil {
		return []string{stem}
	}
	if strings.EqualFold(l.Config.Name, stem) {
		return []string{l.Config.Name}
	}
	return []string{l.Config.Name, stem}
}

// besides is the file beside one that is not there whose name is the nearest, as arg would
// have to be written; "" when there is none.
func besides(path, arg string) string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // no folder, no neighbour
	var names []string
	for _, e := range entries[:min(len(entries), maxConfigs)] {
		if strings.HasSuffix(e.Name(), ".toml") {
			names = append(names, e.Name())
		}
	}
	near := tabconfig.Nearest(filepath.Base(path), names)
	if near == "" {
		return ""
	}
	return strings.TrimSuffix(arg, filepath.Base(arg)) + near
}

// didYouMean begins a hint with a near name, when there is one.
func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q? ", near)
}

// IsFile says whether an argument of `davit open` means a file.
func IsFile(arg string) bool {
	return strings.ContainsRune(arg, '/') || strings.HasSuffix(arg, ".toml")
}

// ForOpen is Find for whoever carries the config out: a repository's is refused until the
// user has allowed that very text (spec tabs T1.1). What is given back is the text that
// was checked; nothing is read again. A file that a person named (req.Named) needs no more
// than that.
func (f Files) ForOpen(req wire.OpenRequest) (Loaded, error) {
	l, err := f.Find(req.Config, req.Dir)
	if err != nil || l.From != sourceRepository || l.Trust == Trusted || req.Print || req.Named && !l.ByName && IsFile(req.Config) {
		return l, err
	}
	what := "is one of the repository's, and you have not allowed it yet"
	if l.Trust == Changed {
		what = "is one of the repository's, and its text is not the one that you allowed"
	}
	return Loaded{}, davit.Errorf(davit.CodeConfigUntrusted, "the tab config %s %s", l.Path, what).
		WithHint("read it, then allow that text: davit config trust %s", template.Word(template.Sh, l.Path)).
		With("path", l.Path).With("digest", l.Digest).With("text", string(l.Source))
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
	e := davit.Errorf(code, "the tab config %s %s:\n%s", path, what, strings.Join(texts, "\n")).With("faults", faults)
	if code == davit.CodeConfigOpenFault {
		return e.WithHint("the file is right: give other values, or change what is named")
	}
	return e.WithHint("`davit config check %s` lists everything", template.Word(template.Sh, path))
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
