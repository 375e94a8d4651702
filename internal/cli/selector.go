package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"davit"
	"davit/internal/wire"
)

// selectorHelp explains a selector in the help of each command that takes one (spec launch
// L4).
const selectorHelp = "\n\nA repository or worktree is given as a path (inside a worktree it means its root), `active` (the one of the\n" +
	"current directory), or by what stands behind id: path: branch: name: (its folder) or folder: (without git),\nfor example branch:login. None or several is an error that lists the candidates."

// selectorTags begin a selector that says itself what it names.
var selectorTags = []string{"id:", "path:", "branch:", "name:", "folder:"}

// worktreeSelector is what `worktree rm` was given, as a selector: a branch or a folder as
// `worktree list` prints it counts in the repository of the current directory, before a
// path does. Two that fit are never chosen between.
func (a *app) worktreeSelector(ctx context.Context, arg string) (string, error) {
	if arg == "" || arg == "active" || slices.ContainsFunc(selectorTags, func(tag string) bool { return strings.HasPrefix(arg, tag) }) {
		return arg, nil
	}
	list, err := call[wire.WorktreeList](ctx, a, "worktree.list", wire.WorktreeListRequest{InRequest: wire.InRequest{Dir: a.dir}})
	if davit.CodeOf(err) == davit.CodeWorkspaceNotFound {
		return arg, nil // not in a repository: a path, then
	}
	if err != nil {
		return "", err
	}
	path := realPath(a.absolute(arg))
	var fit []wire.WorktreeInfo
	for _, t := range list.Worktrees {
		if t.Branch == arg || filepath.Base(t.Path) == arg || t.Path == path {
			fit = append(fit, t)
		}
	}
	switch len(fit) {
	case 0:
		return arg, nil
	case 1:
		return "path:" + fit[0].Path, nil
	}
	var candidates []string
	for _, t := range fit {
		candidates = append(candidates, fmt.Sprintf("%s (branch %s)", visible(t.Path), visible(cmp.Or(t.Branch, "none"))))
	}
	return "", davit.Errorf(davit.CodeWorkspaceAmbiguous, "%d worktrees are called %q", len(fit), arg).
		WithHint("say which: branch:NAME, or the path of one").With("candidates", candidates)
}

// realPath is a path without links, as git lists worktrees; as it is when it is not there.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
