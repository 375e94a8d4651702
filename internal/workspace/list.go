package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"davit/internal/git"
)

// List lists the worktrees of the repository that a directory is in, the main one first
// (spec interfaces A3.5). One whose state cannot be read is listed with its fault.
func (w *Workspaces) List(ctx context.Context, dir string, options ListOptions) ([]Info, error) {
	dir, err := w.absolute(dir, "")
	if err != nil {
		return nil, err
	}
	found, err := git.Discover(dir)
	if err != nil {
		return nil, notFound(dir, err)
	}
	repo, refs, err := w.picture(ctx, found.CommonDir)
	if err != nil {
		return nil, err
	}
	stashes, err := w.cfg.Git.Stashes(ctx, repo.dir())
	if err != nil {
		return nil, gitFailed("list the stashes of "+repo.path, err)
	}
	main, err := w.mainName(ctx, repo, refs, "")
	if err != nil {
		return nil, err
	}
	infos := make([]Info, len(repo.trees))
	var group errgroup.Group
	group.SetLimit(4)
	for i, t := range repo.trees {
		group.Go(func() error {
			infos[i] = w.info(ctx, repo, t, stashes, refs.remotes)
			from := ""
			if options.Base != nil {
				from = options.Base(t.Path)
			}
			w.compare(ctx, repo, refs, &infos[i], from, main)
			if options.Sizes && !t.Bare && !infos[i].Missing {
				if size, err := diskUse(ctx, t.Path); err == nil {
					infos[i].Size = &size
				} else {
					infos[i].addFault("its size is not known: " + err.Error())
				}
			}
			return nil
		})
	}
	return infos, group.Wait()
}

func (w *Workspaces) info(ctx context.Context, repo repository, t git.Worktree, stashes, remotes []string) Info {
	ws := repo.workspace(t)
	info := Info{Path: t.Path, Branch: ws.Branch, Head: ws.Head, ID: ws.ID, Main: ws.Main, Bare: t.Bare,
		Detached: t.Detached, Locked: t.Locked, LockReason: t.LockReason, Missing: t.Prunable}
	if w.cfg.OwnerTab != nil {
		info.OwnerTab = w.cfg.OwnerTab(t.Path)
	}
	if t.Bare {
		return info
	}
	info.Stashes = len(stashesOf(stashes, t.Branch))
	var faults []string
	unpushed, err := w.unpushed(ctx, repo, t, remotes)
	if err != nil {
		faults = append(faults, err.Error())
	}
	info.Unpushed = unpushed
	found, err := git.Discover(t.Path)
	if err != nil || found.CommonDir != repo.commonDir || found.Root != filepath.Clean(t.Path) {
		info.Missing = true
		return info
	}
	entries, err := w.cfg.Git.Status(ctx, t.Path, git.StatusOptions{DirtySubmodules: true, Ignored: !ws.Main})
	if err != nil {
		faults = append(faults, fmt.Sprintf("its files cannot be looked at: %v", err))
	}
	for _, e := range entries {
		switch e.Kind {
		case git.Ignored:
		case git.Untracked:
			info.Untracked++
		default:
			info.Dirty = true
		}
	}
	info.Ignored = ignoredOf(t.Path, mainCheckout(repo), entries).Count
	info.Fault = strings.Join(faults, "; ")
	return info
}

func (i *Info) addFault(text string) {
	if i.Fault != "" {
		text = i.Fault + "; " + text
	}
	i.Fault = text
}

// compare counts how far a worktree is from its base: its upstream, else what it was made
// from, else the main branch. A base that is gone is passed over.
func (w *Workspaces) compare(ctx context.Context, repo repository, refs branches, info *Info, made, main string) {
	if info.Bare || info.Head == "" {
		return
	}
	upstream := refs.local[info.Branch].Upstream
	for _, base := range []struct{ name, revision string }{
		{strings.TrimPrefix(strings.TrimPrefix(upstream, "refs/remotes/"), "refs/heads/"), upstream}, {made, made}, {main, refs.named(main)},
	} {
		if base.revision == "" || base.name == info.Branch {
			continue
		}
		commit, err := w.cfg.Git.Commit(ctx, repo.dir(), base.revision)
		if err != nil || commit == "" {
			continue
		}
		out, err := w.cfg.Git.Read(ctx, repo.dir(), "rev-list", "--left-right", "--count", commit+"..."+info.Head, "--")
		if err == nil {
			_, err = fmt.Sscan(string(out), &info.Behind, &info.Ahead)
		}
		if err != nil {
			info.addFault(fmt.Sprintf("it cannot be compared with %s: %v", base.name, err))
			continue
		}
		info.Base = base.name
		return
	}
}

// named is the ref of a branch: here, else at the main remote.
func (b branches) named(name string) string {
	if ref, ok := b.local[name]; ok {
		return ref.Name
	}
	if ref := "refs/remotes/" + b.origin + "/" + name; b.hasRemote(ref) {
		return ref
	}
	return ""
}

// Bounds of measuring a worktree.
const (
	maxMeasured = 2_000_000 // entries
	measureTime = 20 * time.Second
)

// diskUse adds up what the files below a directory take on the disk. Links are not
// followed, and a file with several names counts once.
func diskUse(ctx context.Context, root string) (int64, error) {
	type file struct{ device, inode uint64 }
	seen, total, entries, end := map[file]bool{}, int64(0), 0, time.Now().Add(measureTime)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > maxMeasured || entries%1000 == 0 && (time.Now().After(end) || ctx.Err() != nil) {
			return fmt.Errorf("there is too much in %s to measure", root)
		}
		if err != nil {
			return nil // what cannot be read takes no part
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			total += info.Size()
			return nil
		}
		if id := (file{uint64(stat.Dev), uint64(stat.Ino)}); !d.IsDir() && stat.Nlink > 1 {
			if seen[id] {
				return nil
			}
			seen[id] = true
		}
		total += int64(stat.Blocks) * 512
		return nil
	})
	return total, err
}
