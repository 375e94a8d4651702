package configs

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"davit"
	"davit/internal/git"
	"davit/internal/tabconfig"
	"davit/internal/template"
	"davit/internal/wire"
	"davit/internal/workspace"
)

// The words of setupDecision (spec launch L9.1); "" is inherit.
const (
	SetupRun  = "run"
	SetupSkip = "skip"
)

// Setup is the setup script of a repository's worktrees, and what the user has said of the
// text that it stands in (spec launch L9.5, interfaces A2.3).
type Setup struct {
	Path   string // of the settings file
	Repo   string // a directory of the repository
	Text   []byte // of the whole file: that is what is trusted
	Script string // "" when there is none, or when the file has faults
	Digest string
	Trust  Trust
	Faults []tabconfig.Fault
	Err    error // the file could not be read

	key string
}

// Setup gives the script of a work tree.
func (f Files) Setup(root string) Setup {
	found, err := workspace.SettingsOf(root)
	s := Setup{Path: found.Path, Repo: root, Err: err}
	if err != nil || found.Text == nil {
		return s
	}
	at, err := git.Discover(root)
	if err != nil {
		s.Err = err
		return s
	}
	found.CommonDir = at.CommonDir
	return f.setup(found, root)
}

func (f Files) setup(found workspace.SettingsText, repo string) Setup {
	s := Setup{Path: found.Path, Repo: repo, Text: found.Text, key: found.CommonDir + "//" + workspace.SettingsFile}
	if found.Text == nil {
		return s
	}
	settings, faults := workspace.ReadSettings(found.Path, found.Text)
	s.Digest, s.Faults = Digest(found.Text), faults
	s.Trust = f.trust(s.key, s.Digest)
	if !tabconfig.HasErrors(faults) {
		s.Script = settings.Setup
	}
	return s
}

// Decide says whether the script is to run, and what is to be told when it is not: it runs
// only when the user has allowed the very text that it stands in.
func (s Setup) Decide(decision string) (script, warning string) {
	switch {
	case decision == SetupSkip:
		return "", ""
	case s.Err != nil:
		return "", fmt.Sprintf("no setup was run, because %s cannot be read: %v", s.Path, s.Err)
	case tabconfig.HasErrors(s.Faults):
		return "", "no setup was run, because its file has a fault: " + firstError(s.Faults)
	case s.Script == "":
		return "", ""
	case s.Trust != Trusted:
		return "", fmt.Sprintf("the setup script of %s was not run: %s. %s", s.Path, s.said(), s.howToAllow())
	}
	return s.Script, ""
}

func firstError(faults []tabconfig.Fault) string {
	for _, f := range faults {
		if f.Severity == tabconfig.Error {
			return f.String()
		}
	}
	return ""
}

func (s Setup) said() string {
	if s.Trust == Changed {
		return "its text is not the one that you allowed"
	}
	return "you have not allowed its text yet"
}

func (s Setup) howToAllow() string {
	return "Read it, then allow that text: davit worktree setup --allow --in " + template.Word(template.Sh, s.Repo)
}

// Refuse is the error of a launch that asks for a script to be run which the user has not
// allowed, or which cannot be read; nil when it may run, or when there is none.
func (s Setup) Refuse() error {
	switch {
	case s.Err != nil:
		return davit.Errorf(davit.CodeConfigInvalid, "the setup script cannot be read: %w", s.Err)
	case tabconfig.HasErrors(s.Faults):
		return FaultError(davit.CodeConfigInvalid, s.Path, "cannot be used", WireFaults(s.Faults, s.Text))
	case s.Script == "" || s.Trust == Trusted:
		return nil
	}
	return davit.Errorf(davit.CodeConfigUntrusted, "the setup script of %s is the repository's, and %s", s.Path, s.said()).
		WithHint("%s", s.howToAllow()).With("path", s.Path).With("digest", s.Digest).With("text", string(s.Text))
}

// SetupOf reads the script that a worktree made by the request would have.
func (f Files) SetupOf(ctx context.Context, spaces *workspace.Workspaces, req workspace.CreateRequest) (Setup, error) {
	found, err := spaces.Settings(ctx, req)
	if err != nil {
		return Setup{}, err
	}
	return f.setup(found, strings.TrimSuffix(found.Path, "/"+workspace.SettingsFile)), nil
}

// Setup answers worktree.setup: the script that a new worktree would have.
func (s *Service) Setup(ctx context.Context, in wire.SetupRequest) (wire.Setup, error) {
	found, err := s.setup(ctx, in)
	if err != nil {
		return wire.Setup{}, err
	}
	return wire.Setup{
		Path: found.Path, Script: found.Script, Text: string(found.Text), Digest: found.Digest, Trust: string(found.Trust),
		Faults: WireFaults(found.Faults, found.Text),
	}, nil
}

func (s *Service) setup(ctx context.Context, in wire.SetupRequest) (Setup, error) {
	return s.cfg.Files().SetupOf(ctx, s.cfg.Workspaces, workspace.CreateRequest{
		Repo: cmp.Or(in.In, "active"), CallerDir: in.Dir, Branch: in.Branch, Base: in.Base,
	})
}

// AllowSetup answers worktree.allowSetup: that very text may run in new worktrees of the
// repository.
func (s *Service) AllowSetup(ctx context.Context, in wire.SetupAllow) (wire.ConfigTrusted, error) {
	found, err := s.setup(ctx, wire.SetupRequest{In: in.In, Dir: in.Dir, Base: in.Base, Branch: in.Branch})
	switch {
	case err != nil:
		return wire.ConfigTrusted{}, err
	case found.Digest == "":
		return wire.ConfigTrusted{}, davit.Errorf(davit.CodeConfigNotFound, "a new worktree would have no %s", workspace.SettingsFile).
			WithHint("commit it on the branch that worktrees start from, or name the base that has it")
	case in.Digest != found.Digest:
		return wire.ConfigTrusted{}, changed(Loaded{Path: found.Path, Digest: found.Digest})
	}
	return wire.ConfigTrusted{Path: found.Path, Digest: found.Digest}, s.allow(ctx, found.key, found.Digest)
}
