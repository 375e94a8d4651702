package wire

import "davit"

// PlaceRequest names the directory that something is asked of: a pane's, or an absolute one.
type PlaceRequest struct {
	Pane davit.PaneID `json:"pane,omitempty"`
	Dir  string       `json:"dir,omitempty" doc:"absolute; the caller's directory when empty"`
}

// Changes is worktree.changes: what differs from HEAD, by where it stands (spec chips C5.2).
type Changes struct {
	Root      string   `json:"root" doc:"of the work tree; paths are relative to it"`
	Branch    string   `json:"branch" doc:"\"\" when HEAD is detached"`
	Unborn    bool     `json:"unborn,omitempty" doc:"there is no commit yet"`
	Files     int      `json:"files" doc:"that differ from HEAD, as the git_diff chip counts them; a path on two sides is one"`
	Added     int      `json:"added" doc:"lines in all, as that chip counts them: what is staged and taken back again is none"`
	Removed   int      `json:"removed"`
	Conflicts []Change `json:"conflicts" doc:"that a merge left to be resolved"`
	Staged    []Change `json:"staged"`
	Unstaged  []Change `json:"unstaged"`
	Untracked []Change `json:"untracked"`
	More      int      `json:"more,omitempty" doc:"paths beyond the 5,000 that are listed"`
	Partial   bool     `json:"partial,omitempty" doc:"some untracked files were too many or too large for their lines to be counted"`
}

// Change is one path of it.
type Change struct {
	Path      string `json:"path"`
	From      string `json:"from,omitempty" doc:"where a renamed one was"`
	Kind      string `json:"kind" doc:"added modified deleted renamed copied type_changed untracked, of a conflict both_modified and the like"`
	Added     int    `json:"added" doc:"lines"`
	Removed   int    `json:"removed"`
	Binary    bool   `json:"binary,omitempty"`
	Submodule bool   `json:"submodule,omitempty"`
}

// DiffRequest is worktree.diff: one path of worktree.changes.
type DiffRequest struct {
	PlaceRequest
	Path string `json:"path" doc:"relative to the work tree's root"`
	From string `json:"from,omitempty" doc:"of a renamed one"`
	Side string `json:"side" enum:"staged,unstaged,untracked,conflicts"`
}

// Diff answers it.
type Diff struct {
	Text   string `json:"text" doc:"in git's unified form; empty when nothing differs any more"`
	Binary bool   `json:"binary,omitempty"`
	More   bool   `json:"more,omitempty" doc:"cut after 1 MiB"`
}

// DirectoryListing is directory.list, for the menu of a directory chip.
type DirectoryListing struct {
	Directory string           `json:"directory" doc:"absolute"`
	Parent    string           `json:"parent,omitempty" doc:"\"\" at the root"`
	Entries   []DirectoryEntry `json:"entries" doc:"directories, then text files, then others, each by name"`
	More      bool             `json:"more,omitempty" doc:"cut after 1,000"`
}

// DirectoryRequest is directory.list.
type DirectoryRequest struct {
	PlaceRequest
	Hidden bool `json:"hidden,omitempty" doc:"names that begin with a dot too"`
}

// DirectoryEntry is one of its entries; a link counts as what it leads to.
type DirectoryEntry struct {
	Name string `json:"name"`
	Kind string `json:"kind" enum:"directory,text,other"`
}
