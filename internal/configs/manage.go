package configs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"
)

// file gives the shape of config.read.
func (s *Service) file(l Loaded) wire.ConfigFile {
	return wire.ConfigFile{
		Path: l.Path, Text: string(l.Source), Digest: l.Digest, Faults: WireFaults(l.Faults, l.Source),
		Editable: s.cfg.Files().editable(l.Path) == nil, Trust: string(l.Trust),
	}
}

// editable says why davit neither writes nor deletes a file: it does so with those of the
// user's own folders alone.
func (f Files) editable(path string) error {
	if filepath.IsAbs(path) && path == filepath.Clean(path) && strings.HasSuffix(path, ".toml") {
		for _, dir := range f.Dirs {
			if within(path, dir) {
				return nil
			}
		}
	}
	return davit.Errorf(davit.CodeConfigProtected, "%s is not in a folder of tab configs of yours", path).
		WithHint("those are: %s; any other file is for your editor", strings.Join(f.Dirs, ", ")).With("path", path)
}

// existing reads a config file that is there.
func (s *Service) existing(path string) (Loaded, error) {
	if !filepath.IsAbs(path) || !strings.HasSuffix(path, ".toml") {
		return Loaded{}, davit.Errorf(davit.CodeInvalid, "%q is not the absolute path of a .toml file", path)
	}
	files := s.cfg.Files()
	l := files.withTrust(files.Read(filepath.Clean(path)))
	if l.Digest == "" {
		return l, davit.Errorf(davit.CodeConfigNotFound, "%s: %s", l.Path, l.Faults[0].Message)
	}
	return l, nil
}

// Read answers config.read.
func (s *Service) Read(_ context.Context, path string) (wire.ConfigFile, error) {
	l, err := s.existing(path)
	if err != nil {
		return wire.ConfigFile{}, err
	}
	return s.file(l), nil
}

// Save answers config.save. What stands in the file must be what the caller saw.
func (s *Service) Save(_ context.Context, in wire.ConfigSave) (wire.ConfigFile, error) {
	if err := s.cfg.Files().editable(in.Path); err != nil {
		return wire.ConfigFile{}, err
	}
	if len(in.Text) > maxConfigBytes {
		return wire.ConfigFile{}, davit.Errorf(davit.CodeInvalid, "the text has %d bytes; a tab config has at most %d", len(in.Text), maxConfigBytes)
	}
	s.write.Lock()
	defer s.write.Unlock()
	l, err := s.existing(in.Path)
	if err != nil {
		return wire.ConfigFile{}, err
	}
	if l.Digest != in.Digest {
		return wire.ConfigFile{}, changed(l)
	}
	if err := replace(in.Path, []byte(in.Text)); err != nil {
		return wire.ConfigFile{}, unwritable(in.Path, err)
	}
	return s.file(s.cfg.Files().Load(in.Path, []byte(in.Text))), nil
}

// replace writes a file anew, whole or not at all. A link stays one, and leads to the new
// text: the files of some users are links into a repository of theirs.
func replace(path string, text []byte) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(real), ".davit-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), real)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func unwritable(path string, err error) error {
	return davit.Errorf(davit.CodeHomeUnusable, "%s cannot be written: %w", path, err)
}

// New answers config.new.
func (s *Service) New(_ context.Context, in wire.ConfigNew) (wire.ConfigFile, error) {
	s.write.Lock()
	defer s.write.Unlock()
	path, err := s.cfg.Files().CreateTemplate(cmp.Or(strings.TrimSpace(in.Name), "My tab"))
	if err != nil {
		return wire.ConfigFile{}, err
	}
	return s.file(s.cfg.Files().Read(path)), nil
}

// schemaName is the file, beside the user's own folder, that a template's first line names:
// editors that read TOML with taplo complete keys by it.
const schemaName = "tab_config.schema.json"

// SchemaPath is where it lies.
func (f Files) SchemaPath() string { return filepath.Join(filepath.Dir(f.Dirs[0]), schemaName) }

// WriteSchema writes the schema of this build there, in place of another build's.
func (f Files) WriteSchema() (string, error) {
	path := f.SchemaPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", unwritable(path, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".davit-*")
	if err != nil {
		return "", unwritable(path, err)
	}
	_, err = temp.Write(tabconfig.Schema())
	if err = errors.Join(err, temp.Chmod(0o600), temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // half of a schema helps nobody
		return "", unwritable(path, err)
	}
	return path, nil
}

// CreateTemplate is Create of a commented template whose first line names the schema, which
// is written when it is not there.
func (f Files) CreateTemplate(name string) (string, error) {
	if _, err := os.Stat(f.SchemaPath()); errors.Is(err, fs.ErrNotExist) {
		if _, err := f.WriteSchema(); err != nil {
			return "", err
		}
	}
	return f.Create(name, func(name string) string {
		return "#:schema ../" + schemaName + "\n" + tabconfig.NewTemplate(name)
	})
}

// Create writes a new config into the user's own folder. When a config has the name, or a
// file the name made of it, both get a number.
func (f Files) Create(name string, text func(name string) string) (path string, err error) {
	if strings.TrimSpace(name) == "" {
		return "", davit.Errorf(davit.CodeInvalid, "a config needs a name").WithHint("for example `davit config new \"Dev server\"`")
	}
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", davit.Errorf(davit.CodeInvalid, "%q cannot be the name of a config", name)
	}
	var taken []string
	for _, l := range f.All("") {
		if l.Config != nil {
			taken = append(taken, strings.ToLower(l.Config.Name))
		}
		taken = append(taken, strings.ToLower(strings.TrimSuffix(filepath.Base(l.Path), ".toml")))
	}
	for n := 1; n < 1000; n++ {
		numbered := name
		if n > 1 {
			numbered = fmt.Sprintf("%s %d", name, n)
		}
		if slices.Contains(taken, strings.ToLower(numbered)) {
			continue
		}
		path, err = f.writeNew(FileName(numbered), []byte(text(numbered)))
		if !exists(err) {
			return path, err
		}
	}
	return "", davit.Errorf(davit.CodeConfigAmbiguous, "%q and every name like it is taken", name).WithHint("choose another name")
}

// writeNew makes a file that is not there, whole or not at all.
func (f Files) writeNew(name string, text []byte) (string, error) {
	dir := f.Dirs[0]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", unwritable(dir, err)
	}
	path := filepath.Join(dir, name)
	temp, err := os.CreateTemp(dir, ".davit-*")
	if err != nil {
		return "", unwritable(path, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return "", unwritable(path, err)
	}
	if err := os.Link(temp.Name(), path); err != nil { // unlike a rename it replaces nothing
		return "", fmt.Errorf("%s cannot be made: %w", path, err)
	}
	return path, nil
}

// FileName makes a file's name of a config's: letters, digits, - and _ stay.
func FileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || ('0' <= r && r <= '9') || ('a' <= r && r <= 'z') {
			return r
		}
		return '_'
	}, strings.ToLower(name))
	for strings.Contains(safe, "__") {
		safe = strings.ReplaceAll(safe, "__", "_")
	}
	const longest = 80
	return cmp.Or(strings.Trim(safe[:min(len(safe), longest)], "_"), "config") + ".toml"
}

// Remove answers config.remove. A link is removed, not what it leads to.
func (s *Service) Remove(ctx context.Context, in wire.ConfigRef) error {
	files := s.cfg.Files()
	if err := files.editable(in.Path); err != nil {
		return err
	}
	s.write.Lock()
	defer s.write.Unlock()
	info, err := os.Lstat(in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return davit.Errorf(davit.CodeConfigNotFound, "there is no file %s", in.Path)
	case err != nil:
		return unwritable(in.Path, err)
	case info.IsDir():
		return davit.Errorf(davit.CodeConfigProtected, "%s is a folder", in.Path)
	}
	if l := files.Read(in.Path); in.Digest != "" && in.Digest != l.Digest {
		return changed(l)
	}
	if err := os.Remove(in.Path); err != nil {
		return davit.Errorf(davit.CodeHomeUnusable, "%s cannot be removed: %w", in.Path, err)
	}
	if s.defaultPath(ctx) == in.Path {
		return s.SetDefault(ctx, wire.ConfigRef{})
	}
	return nil
}

func (s *Service) defaultPath(ctx context.Context) string {
	path := ""
	s.stored(ctx, settingDefault, &path)
	return path
}

// SetDefault answers config.setDefault. A repository's config is refused: its text is not
// the user's.
func (s *Service) SetDefault(ctx context.Context, in wire.ConfigRef) error {
	if in.Path == "" {
		return s.cfg.Settings.SetSetting(ctx, settingDefault, nil)
	}
	l, err := s.existing(in.Path)
	if err != nil {
		return err
	}
	if _, err := s.cfg.Files().checked(l); err != nil {
		return err
	}
	if l.From != sourceOwn && l.From != sourceWarp {
		return davit.Errorf(davit.CodeConfigProtected, "%s is not in a folder of tab configs of yours, so it cannot be the default", l.Path).
			WithHint("copy it to %s", s.cfg.Files().Dirs[0])
	}
	return s.store(ctx, settingDefault, l.Path)
}

// exists says that a file could not be made because there is one.
func exists(err error) bool { return errors.Is(err, fs.ErrExist) }
