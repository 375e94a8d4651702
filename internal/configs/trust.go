package configs

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"davit"
	"davit/internal/git"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// Trust is what the user has said of a repository's config (wire.Config.Trust).
type Trust string

// Untrusted: no text of it was ever allowed. Changed: another text was.
const (
	Trusted   Trust = "trusted"
	Untrusted Trust = "untrusted"
	Changed   Trust = "changed"
)

// repositoryFolder is where a repository keeps configs of its own, below its root.
const repositoryFolder = ".davit/tab_configs"

// maxTrusted is how many texts of one file stay allowed: worktrees of a repository may have
// it in several versions.
const maxTrusted = 20

// repositoryFile gives the repository that a file is a config of, or the settings of, and
// the file's name in it. All worktrees of a repository have the same key: trust is in a text, and that may be
// checked out in many places.
func repositoryFile(path string) (key, root string, ok bool) {
	i := strings.LastIndex(path, "/"+repositoryFolder+"/")
	if root, ok := strings.CutSuffix(path, "/"+workspace.SettingsFile); ok {
		i = len(root)
	}
	if i < 0 {
		return "", "", false
	}
	found, err := git.Discover(filepath.Dir(path))
	if err != nil || found.Root == "" {
		return "", "", false
	}
	at, err := filepath.EvalSymlinks(path[:i])
	if err != nil || at != found.Root {
		return "", "", false
	}
	return found.CommonDir + "//" + path[i+1:], found.Root, true
}

// OfRepository loads the configs of the checkout that a directory lies in, its own files
// whichever worktree it is. Links are not followed: a repository shows its own files.
func (f Files) OfRepository(dir string) []Loaded {
	folder, ok := RepositoryFolder(dir)
	if !ok || slices.Contains(f.Dirs, folder) {
		return nil
	}
	var all []Loaded
	seen := 0
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if seen++; seen > maxConfigs || len(all) >= maxOfRepository {
			return fs.SkipAll
		}
		if err == nil && !e.IsDir() && e.Type()&fs.ModeSymlink == 0 && strings.HasSuffix(path, ".toml") {
			all = append(all, f.withTrust(f.Read(path)))
		}
		return nil
	})
	return all
}

// maxOfRepository is how many configs of one repository are read.
const maxOfRepository = 200

// RepositoryFolder is the folder of configs of the checkout that a directory lies in.
func RepositoryFolder(dir string) (string, bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	found, err := git.Discover(dir)
	if err != nil || found.Root == "" {
		return "", false
	}
	folder := filepath.Join(found.Root, filepath.FromSlash(repositoryFolder))
	info, err := os.Stat(folder)
	return folder, err == nil && info.IsDir()
}

// withTrust looks up what the user has said of a repository's config.
func (f Files) withTrust(l Loaded) Loaded {
	if l.From != sourceRepository {
		return l
	}
	l.Trust = Untrusted
	if l.Digest != "" {
		key, _, _ := repositoryFile(l.Path)
		l.Trust = f.trust(key, l.Digest)
	}
	return l
}

// trust is what the user has said of a text of a repository's file.
func (f Files) trust(key, digest string) Trust {
	if f.Trusted == nil {
		return Untrusted
	}
	switch digests := f.Trusted()[key]; {
	case slices.Contains(digests, digest):
		return Trusted
	case len(digests) > 0:
		return Changed
	}
	return Untrusted
}

// Trusts gives all digests that the user has allowed, for Files.Trusted.
func (s *Service) Trusts(ctx context.Context) map[string][]string {
	all := map[string][]string{}
	s.stored(ctx, settingTrust, &all)
	return all
}

// Trust answers config.trust: that very text of a repository's config is allowed.
func (s *Service) Trust(ctx context.Context, in wire.ConfigRef) (wire.ConfigTrusted, error) {
	l, key, err := s.ofRepository(in.Path)
	if err != nil {
		return wire.ConfigTrusted{}, err
	}
	if in.Digest != "" && in.Digest != l.Digest {
		return wire.ConfigTrusted{}, changed(l)
	}
	return wire.ConfigTrusted{Path: l.Path, Digest: l.Digest}, s.allow(ctx, key, l.Digest)
}

// allow stores that a text of a repository's file may be used.
func (s *Service) allow(ctx context.Context, key, digest string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.Trusts(ctx)
	if !slices.Contains(all[key], digest) {
		all[key] = append(all[key], digest)
		all[key] = all[key][max(0, len(all[key])-maxTrusted):]
	}
	return s.store(ctx, settingTrust, all)
}

// Untrust answers config.untrust: no text of the file is allowed any more.
func (s *Service) Untrust(ctx context.Context, in wire.ConfigRef) error {
	key, _, ok := repositoryFile(filepath.Clean(in.Path))
	if !ok {
		return notOfRepository(in.Path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.Trusts(ctx)
	delete(all, key)
	return s.store(ctx, settingTrust, all)
}

func (s *Service) ofRepository(path string) (Loaded, string, error) {
	path = filepath.Clean(path)
	key, _, ok := repositoryFile(path)
	if !ok {
		return Loaded{}, "", notOfRepository(path)
	}
	l := s.cfg.Files().Read(path)
	if l.Digest == "" {
		return Loaded{}, "", davit.Errorf(davit.CodeConfigNotFound, "%s cannot be read: %s", path, l.Faults[0].Message)
	}
	return l, key, nil
}

func notOfRepository(path string) error {
	return davit.Errorf(davit.CodeInvalid, "%s is not a config of a repository: only those in %s, and %s, need to be trusted", path, repositoryFolder, workspace.SettingsFile).
		WithHint("`davit open FILE` opens any file that you name")
}

func changed(l Loaded) error {
	return davit.Errorf(davit.CodeConfigChanged, "%s was changed meanwhile: its text is not the one that you saw", l.Path).
		WithHint("look at it again").With("path", l.Path).With("digest", l.Digest)
}

// stored reads a setting; what is not there, or of another form, leaves to as it is.
func (s *Service) stored(ctx context.Context, key string, to any) {
	if data, found, err := s.cfg.Settings.Setting(ctx, key); err != nil {
		s.cfg.Log.Warn("a setting could not be read", "key", key, "err", err)
	} else if found {
		if err := json.Unmarshal(data, to); err != nil {
			s.cfg.Log.Warn("a setting has an unknown form", "key", key, "err", err)
		}
	}
}

func (s *Service) store(ctx context.Context, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.cfg.Settings.SetSetting(ctx, key, data)
}
