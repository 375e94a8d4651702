package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"davit/internal/git"
	"davit/internal/tabconfig"
)

// SettingsFile is what a repository says of its own worktrees, below the root of a checkout.
const SettingsFile = ".davit/workspace.toml"

const maxSettings = 1 << 20

// Settings is what davit reads of it.
type Settings struct {
	Base  string // what a new branch starts from (spec launch L9.3)
	Setup string // the setup script of a new worktree, for /bin/sh -e (L9.5)
}

// ReadSettings reads the text of a settings file. A key that is not known is a warning: the
// file belongs to the repository, and to newer versions too.
func ReadSettings(path string, src []byte) (Settings, []tabconfig.Fault) {
	d := tabconfig.OpenDocument(path, src)
	root := d.Root()
	s := Settings{Base: root.Text("base")}
	script, lines := root.TextOrTexts("setup")
	if len(lines) > 0 {
		script = strings.Join(lines, "\n")
	}
	s.Setup = script
	switch {
	case strings.ContainsRune(script, 0):
		root.Fault("setup", tabconfig.Error, tabconfig.CodeValue, "", "the setup script has a zero byte")
	case strings.TrimSpace(script) == "":
		s.Setup = ""
	case !strings.HasSuffix(script, "\n"):
		s.Setup += "\n"
	}
	root.Close(tabconfig.Warning)
	return s, d.Faults()
}

// SettingsText is the text of a settings file that a new worktree will have.
type SettingsText struct {
	Path      string // where a person finds it: in the checkout that it is made from
	CommonDir string // of the repository
	Text      []byte // nil: there is none
}

// Settings gives the settings file of the commit that a worktree made by the request would
// have. It makes nothing.
func (w *Workspaces) Settings(ctx context.Context, req CreateRequest) (SettingsText, error) {
	at, err := w.locate(ctx, req)
	if err != nil {
		return SettingsText{}, err
	}
	repo, refs, err := w.picture(ctx, at.commonDir)
	if err != nil {
		return SettingsText{}, err
	}
	start, err := at.start(repo)
	if err != nil {
		return SettingsText{}, err
	}
	branch := req.Branch
	if branch == "" && !req.NameWasGenerated {
		branch = req.Name
	}
	commit := ""
	if ref, there := refs.local[branch]; branch != "" && there {
		commit = ref.Commit // it is checked out as it is
	} else {
		from, err := w.findBase(ctx, repo, start, req.Base, refs)
		if err != nil {
			return SettingsText{}, err
		}
		commit = from.commit
	}
	found := SettingsText{Path: filepath.Join(repo.path, filepath.FromSlash(SettingsFile)), CommonDir: repo.commonDir}
	found.Text, err = w.blob(ctx, repo, commit)
	return found, err
}

// blob is the settings file of a commit, nil when there is none.
func (w *Workspaces) blob(ctx context.Context, repo repository, commit string) ([]byte, error) {
	data, err := w.cfg.Git.Read(ctx, repo.dir(), "cat-file", "blob", commit+":"+SettingsFile)
	switch {
	case git.Status(err) == 128:
		return nil, nil
	case err != nil:
		return nil, gitFailed("read "+SettingsFile, err)
	case len(data) > maxSettings:
		return nil, fmt.Errorf("%s has more than %d bytes", SettingsFile, maxSettings)
	}
	return data, nil
}

// SettingsOf gives the settings file of a work tree; no file is no text.
func SettingsOf(root string) (SettingsText, error) {
	found := SettingsText{Path: filepath.Join(root, filepath.FromSlash(SettingsFile))}
	var err error
	if found.Text, err = readRegular(found.Path); errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	return found, err
}

// base reads the base that a repository pins; a bare one has the settings of its HEAD.
func (w *Workspaces) pinnedBase(ctx context.Context, repo repository) (string, error) {
	path, data, err := SettingsFile, []byte(nil), error(nil)
	if repo.bare {
		data, err = w.blob(ctx, repo, "HEAD")
	} else {
		var found SettingsText
		found, err = SettingsOf(repo.path)
		path, data = found.Path, found.Text
	}
	if err != nil {
		return "", err
	}
	s, faults := ReadSettings(path, data)
	for _, f := range faults {
		if f.Severity == tabconfig.Error {
			return "", errors.New(strings.TrimRight(f.Format(data), "\n"))
		}
	}
	return s.Base, nil
}

func readRegular(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", file, maxSettings)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSettings))
}
