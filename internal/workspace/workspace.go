// Package workspace finds, makes, lists and removes the places that agents work in: git
// worktrees and plain folders.
//
// git does the work. One lock per repository, a file below the state directory that is
// locked across processes, is held for git's own time and no longer: not for setup, not
// for cleanup. The package owns no goroutine that outlives a call, and no state but
// those locks; what must be remembered goes through Config.Record, before and after git
// acts.
//
// It never adds a --force of its own, never deletes by path, never deletes a ref as a
// side effect, never commits, and never falls back to another directory.
package workspace

import (
	"log/slog"
	"path/filepath"

	"davit"
	"davit/internal/git"
)

// Stage is what a record is about.
type Stage string

// The stages of a worktree, in the order in which Record is told of them.
const (
	StageCreating   Stage = "creating"   // before git runs
	StageCreated    Stage = "created"    // made and verified
	StageUnverified Stage = "unverified" // made, and a check afterwards failed
	StageFailed     Stage = "failed"     // nothing was made
	StageRemoving   Stage = "removing"   // before git runs
	StageRemoved    Stage = "removed"    // gone, verified
	StageKept       Stage = "kept"       // the removal did not happen
)

// Config says where things lie and whom to ask. Git and State are needed.
type Config struct {
	Git   git.Runner
	State string // the state directory: worktrees/ and locks/ lie below it
	Home  string // the user's home directory; "" is os.UserHomeDir()

	// Draw gives a free generated name: it calls taken until that says no (spec tabs T6.3).
	Draw func(taken func(string) bool) (string, error)
	// Owned says whether davit made the worktree at path (nil: none is owned).
	Owned func(path string) bool
	// OwnerTab names the open tab that a worktree belongs to, "" when none.
	OwnerTab func(path string) davit.TabID
	// Record keeps a worktree's stage durably; its error before git runs stops the work.
	Record func(davit.Worktree, Stage) error
	// Known lists directories of repositories beside the caller's own, for the
	// selectors id:, branch: and name:.
	Known func() []string
	// Root overrides where the worktrees of a repository go; "" is the default place.
	Root func(repo string) string
	Log  *slog.Logger
}

// Workspaces serves one host. It may be used from any goroutine.
type Workspaces struct{ cfg Config }

// New makes it. Nothing is started and nothing is touched.
func New(cfg Config) *Workspaces {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if real, err := filepath.EvalSymlinks(cfg.State); err == nil {
		cfg.State = real
	}
	return &Workspaces{cfg: cfg}
}

// Kind is what a workspace is.
type Kind string

// The kinds.
const (
	KindWorktree Kind = "worktree" // a work tree of a repository, main or linked
	KindBare     Kind = "bare"     // a bare repository: a source of worktrees, never a place to work
	KindFolder   Kind = "folder"   // a plain directory
)

// Workspace is one resolved place.
type Workspace struct {
	ID        string `json:"id"`   // "wt_" and 16 hex digits of repository and path
	Path      string `json:"path"` // the root, symbolic links resolved
	Repo      string `json:"repo,omitempty"`
	CommonDir string `json:"-"`
	Branch    string `json:"branch,omitempty"` // "" when detached
	Head      string `json:"head,omitempty"`   // commit, "" when unborn
	Bare      bool   `json:"bare,omitempty"`
	Main      bool   `json:"main,omitempty"` // the main checkout
	Kind      Kind   `json:"kind"`
}

// CreateRequest asks for a new worktree (spec launch L9.1).
type CreateRequest struct {
	ID               string // minted before, or "": derived from the path
	Repo             string // a selector
	CallerDir        string
	Name             string // "" with Branch "" is generated
	NameWasGenerated bool   // the name may take a suffix
	Branch           string // default: Name
	Base             string // default: L9.3's order
	RemoveOnClose    bool
}

// ListOptions choose what List finds out.
type ListOptions struct {
	Base  func(path string) string // what a worktree was made from, "" when not known
	Sizes bool                     // disk use too, which may take seconds
}

// Commit is one commit in short.
type Commit = git.LogEntry

// Loss is what removing a worktree would lose, and what it would keep.
type Loss struct {
	Path        string   `json:"path"`
	Branch      string   `json:"branch,omitempty"`
	Head        string   `json:"head,omitempty"`
	Uncommitted []string `json:"uncommitted,omitempty"` // "XY path"
	Untracked   []string `json:"untracked,omitempty"`
	Commits     []Commit `json:"commits,omitempty"`    // that no other ref reaches
	Submodules  []string `json:"submodules,omitempty"` // "path: what"
	Digest      string   `json:"digest,omitempty"`     // of all of the above; "" when nothing would be lost
	Kept        Kept     `json:"kept"`
	Nested      []string `json:"nested,omitempty"` // repositories in folders that git does not look into
	Ignored     Ignored  `json:"ignored"`          // goes with the folder; no loss that holds it up
	Gone        bool     `json:"gone,omitempty"`
	Notes       []string `json:"notes,omitempty"`

	entry git.Worktree
	repo  repository
}

// Kept is what stays after a removal.
type Kept struct {
	Branch   string   `json:"branch,omitempty"`
	Head     string   `json:"head,omitempty"`
	Unpushed int      `json:"unpushed"` // commits of the branch that no remote has
	Stashes  []string `json:"stashes,omitempty"`
}

// RemoveRequest asks for a removal (spec launch L9.6).
type RemoveRequest struct {
	Path         string
	Repo         string // a directory of the repository, for a folder already gone
	ID           string // for the record
	ForceDigest  string // Loss.Digest that the user has seen
	External     bool   // davit did not make it, and the user named it by path
	DeleteBranch bool
}

// RemoveReport tells what was done and what stays.
type RemoveReport struct {
	Path          string   `json:"path"`
	Repo          string   `json:"repo"`
	AlreadyGone   bool     `json:"alreadyGone,omitempty"`
	BranchDeleted string   `json:"branchDeleted,omitempty"`
	BranchLast    string   `json:"branchLast,omitempty"` // last id of the deleted branch
	Lost          *Loss    `json:"lost,omitempty"`       // what the forced removal lost
	Kept          Kept     `json:"kept"`
	Ignored       Ignored  `json:"ignored"` // what went with it
	Notes         []string `json:"notes,omitempty"`
}

// Info is one line of `davit worktree list` (spec interfaces A3.5).
type Info struct {
	Path      string      `json:"path"`
	Branch    string      `json:"branch"`
	Head      string      `json:"head"`
	Dirty     bool        `json:"dirty"`
	Untracked int         `json:"untracked"`
	Unpushed  int         `json:"unpushed"`
	Stashes   int         `json:"stashes"`
	Ignored   int         `json:"ignored"` // entries that git ignores; of the main checkout none is counted: it stays
	OwnerTab  davit.TabID `json:"ownerTab,omitempty"`

	Base   string `json:"base,omitempty"` // what Ahead and Behind compare with
	Ahead  int    `json:"ahead"`
	Behind int    `json:"behind"`
	Size   *int64 `json:"size,omitempty"` // bytes on disk, when asked for

	LockReason string `json:"lockReason,omitempty"`

	ID       string `json:"id"`
	Main     bool   `json:"main,omitempty"`
	Bare     bool   `json:"bare,omitempty"`
	Detached bool   `json:"detached,omitempty"`
	Locked   bool   `json:"locked,omitempty"`
	Missing  bool   `json:"missing,omitempty"` // registered, but its folder is gone
	Fault    string `json:"fault,omitempty"`   // why its state could not be read
}
