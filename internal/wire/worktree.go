package wire

import (
	"time"

	"davit"
)

// InRequest names a repository or workspace by selector (spec launch L4).
type InRequest struct {
	In  string `json:"in,omitempty" doc:"a selector; the caller's directory when empty"`
	Dir string `json:"dir,omitempty" doc:"the caller's directory"`
}

// WorktreeInfo is one of worktree.list (spec interfaces A3.5).
type WorktreeInfo struct {
	Path      string      `json:"path"`
	Branch    string      `json:"branch"`
	Head      string      `json:"head"`
	Base      string      `json:"base,omitempty" doc:"what it was made from, or its upstream"`
	Ahead     int         `json:"ahead" doc:"commits that its base does not have"`
	Behind    int         `json:"behind"`
	Dirty     bool        `json:"dirty"`
	Untracked int         `json:"untracked"`
	Unpushed  int         `json:"unpushed"`
	Stashes   int         `json:"stashes"`
	Ignored   int         `json:"ignored" doc:"files and folders that git ignores, such as .env and node_modules/: they go with the worktree"`
	OwnerTab  davit.TabID `json:"ownerTab,omitempty"`
	Main      bool        `json:"main,omitempty"`
	Made      bool        `json:"made,omitempty" doc:"made by davit"`
	Size      *int64      `json:"size,omitempty" doc:"bytes on disk, when sizes were asked for"`
	Locked    string      `json:"locked,omitempty" doc:"why git keeps it locked"`
	Missing   bool        `json:"missing,omitempty" doc:"git still lists it, but its folder is gone"`
	Fault     string      `json:"fault,omitempty" doc:"what could not be found out, and why"`
}

// WorktreeListRequest is worktree.list. Sizes are read from the disk, which may take
// seconds: they are not read unless asked for.
type WorktreeListRequest struct {
	InRequest
	Sizes bool `json:"sizes,omitempty"`
}

// WorktreeOpen is worktree.open, the "New worktree" form: a config is written, or an equal
// one used, and opened with a fresh worktree (spec tabs T5.10).
type WorktreeOpen struct {
	InRequest
	Base          string        `json:"base,omitempty" doc:"what the branch starts from; the main branch when empty"`
	Branch        string        `json:"branch,omitempty" doc:"name of the new branch; drawn when empty"`
	Agent         string        `json:"agent,omitempty" doc:"of the catalogue; a terminal when empty"`
	Surface       davit.Surface `json:"surface,omitempty"`
	Prompt        string        `json:"prompt,omitempty" doc:"first turn of the agent"`
	RemoveOnClose *bool         `json:"removeOnClose,omitempty" doc:"true when absent; git refuses while it is dirty"`
	DeleteBranch  bool          `json:"deleteBranch,omitempty" doc:"an [on_close] command that deletes the branch: destructive"`
	Background    bool          `json:"background,omitempty"`
	Setup         string        `json:"setup,omitempty" doc:"run, skip or inherit: the setup script of the repository"`
}

// WorktreeOpened answers it.
type WorktreeOpened struct {
	Opened
	Config string `json:"config" doc:"path of the config"`
	Reused bool   `json:"reused" doc:"an equal config was there"`
}

// BranchList is workspace.branches, for pickers: newest first, the main one in front.
type BranchList struct {
	Branches []Branch `json:"branches" doc:"at most 100"`
	Main     string   `json:"main"`
	Current  string   `json:"current,omitempty"`
	Repo     string   `json:"repo"`
	More     bool     `json:"more,omitempty"`
}

// Branch is one local branch.
type Branch struct {
	Name     string    `json:"name"`
	Head     string    `json:"head,omitempty"`
	Date     time.Time `json:"date,omitzero"`
	Worktree string    `json:"worktree,omitempty" doc:"where it is checked out"`
}

// WorkspaceAdd is workspace.add and workspace.forget: a repository to know, or not to list
// any more.
type WorkspaceAdd struct {
	Path string `json:"path"`
}

// WorktreeList is worktree.list.
type WorktreeList struct {
	Worktrees []WorktreeInfo `json:"worktrees"`
}

// WorktreeRemove is worktree.remove.
type WorktreeRemove struct {
	Selector     string `json:"selector"`
	Dir          string `json:"dir,omitempty"`
	Force        string `json:"force,omitempty" doc:"the digest that a refusal printed with its list"`
	External     bool   `json:"external,omitempty"`
	DeleteBranch bool   `json:"deleteBranch,omitempty"`
}

// WorktreeRemoved answers it.
type WorktreeRemoved struct {
	Path          string   `json:"path"`
	Kept          []string `json:"kept" doc:"what stays, in words: the branch, stashes"`
	Ignored       []string `json:"ignored" doc:"what git ignored and went with it, by path: at most 20, files first"`
	IgnoredCount  int      `json:"ignoredCount" doc:"how many there were"`
	DeletedBranch string   `json:"deletedBranch,omitempty"`
	DeletedHead   string   `json:"deletedHead,omitempty"`
}

// WorkspaceList is workspace.list: the repositories that davit has seen.
type WorkspaceList struct {
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace is one place to launch into.
type Workspace struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Name   string `json:"name"`
	Branch string `json:"branch,omitempty"`
	Git    bool   `json:"git"`
}

// BranchesRequest is branch.list, for a branch menu (spec chips C5.2).
type BranchesRequest struct {
	PlaceRequest
	Name string `json:"name,omitempty" doc:"checked as the name of a new branch"`
}

// BranchMenu answers it: the current branch, then the newest commit first. A page that has
// asked for another place meanwhile knows a late answer by directory.
type BranchMenu struct {
	Directory string       `json:"directory" doc:"that was asked about"`
	Root      string       `json:"root" doc:"of its work tree"`
	Current   string       `json:"current" doc:"\"\" when HEAD is detached"`
	Branches  []MenuBranch `json:"branches" doc:"at most 500; a remote one is left out when a local one has its name"`
	More      bool         `json:"more,omitempty"`
	At        time.Time    `json:"at" doc:"when git was asked"`
	Name      *BranchName  `json:"name,omitempty" doc:"of the name that was sent"`
}

// MenuBranch is one branch of it. To switch: pane.run of `git switch NAME`; one with a
// worktree elsewhere is opened there.
type MenuBranch struct {
	Branch
	Remote  string       `json:"remote,omitempty" doc:"whose it is; a local one has none"`
	Current bool         `json:"current,omitempty"`
	Tab     davit.TabID  `json:"tab,omitempty" doc:"an open tab in the worktree that has it checked out"`
	Pane    davit.PaneID `json:"pane,omitempty" doc:"of that tab"`
}

// BranchName says whether a new branch could have a name.
type BranchName struct {
	Valid bool   `json:"valid" doc:"by git's own rules, and no option of it"`
	Taken string `json:"taken,omitempty" doc:"the full ref in its way"`
}

// NodeVersions is node.versions of a pane: what version managers have installed, as far as
// their directories tell it (spec chips C5.2).
type NodeVersions struct {
	Versions []NodeVersion `json:"versions" doc:"of each manager the newest first"`
	Reason   string        `json:"reason,omitempty" doc:"why there is none"`
}

// NodeVersion is one of them.
type NodeVersion struct {
	Manager string   `json:"manager" enum:"nvm,fnm,volta,asdf,mise,n"`
	Version string   `json:"version" doc:"without v"`
	Active  bool     `json:"active,omitempty" doc:"the pane's shell uses it"`
	Switch  []string `json:"switch" doc:"for pane.run"`
	Effect  string   `json:"effect" enum:"shell,directory,user" doc:"how far the switch reaches: this shell, this directory (a file is written), all of the user's"`
}
