package host

import (
	"slices"

	"davit"
	"davit/internal/store"
)

func isEmpty(b store.Batch) bool {
	return len(b.PutTabs)+len(b.DeleteTabs)+len(b.PutGroups)+len(b.DeleteGroups)+len(b.DeleteCleanups)+len(b.PutOpenings)+len(b.DeleteOpenings)+len(b.Order)+len(b.PutPanes)+len(b.DeletePanes)+
		len(b.PutNotices)+len(b.DeleteNotices)+len(b.PutCleanups)+
		len(b.PutWorktrees)+len(b.DeleteWorktrees)+len(b.PutActs)+len(b.DoneActs) == 0
}

// merge gives one batch that has the effect of older followed by newer: of several rows
// with one id the newest counts, and a deletion counts over an older row.
func merge(older, newer store.Batch) store.Batch {
	if isEmpty(older) {
		return newer
	}
	b := store.Batch{
		PutTabs:         mergeRows(older.PutTabs, newer.PutTabs, newer.DeleteTabs, func(r store.TabRow) davit.TabID { return r.Tab.ID }),
		DeleteTabs:      mergeDeletes(older.DeleteTabs, newer.DeleteTabs, newer.PutTabs, func(r store.TabRow) davit.TabID { return r.Tab.ID }),
		Order:           older.Order,
		PutPanes:        mergeRows(older.PutPanes, newer.PutPanes, newer.DeletePanes, func(r store.PaneRow) davit.PaneID { return r.Pane.ID }),
		DeletePanes:     mergeDeletes(older.DeletePanes, newer.DeletePanes, newer.PutPanes, func(r store.PaneRow) davit.PaneID { return r.Pane.ID }),
		PutNotices:      mergeRows(older.PutNotices, newer.PutNotices, newer.DeleteNotices, func(n davit.Notice) string { return n.ID }),
		DeleteNotices:   mergeDeletes(older.DeleteNotices, newer.DeleteNotices, newer.PutNotices, func(n davit.Notice) string { return n.ID }),
		PutGroups:       mergeRows(older.PutGroups, newer.PutGroups, newer.DeleteGroups, func(g davit.Group) davit.GroupID { return g.ID }),
		DeleteGroups:    mergeDeletes(older.DeleteGroups, newer.DeleteGroups, newer.PutGroups, func(g davit.Group) davit.GroupID { return g.ID }),
		PutCleanups:     mergeRows(older.PutCleanups, newer.PutCleanups, newer.DeleteCleanups, func(r store.CleanupRow) string { return r.ID }),
		DeleteCleanups:  mergeDeletes(older.DeleteCleanups, newer.DeleteCleanups, newer.PutCleanups, func(r store.CleanupRow) string { return r.ID }),
		PutOpenings:     mergeRows(older.PutOpenings, newer.PutOpenings, newer.DeleteOpenings, func(r store.OpeningRow) string { return r.ID }),
		DeleteOpenings:  mergeDeletes(older.DeleteOpenings, newer.DeleteOpenings, newer.PutOpenings, func(r store.OpeningRow) string { return r.ID }),
		PutWorktrees:    mergeRows(older.PutWorktrees, newer.PutWorktrees, newer.DeleteWorktrees, func(r store.WorktreeRow) string { return r.ID }),
		DeleteWorktrees: mergeDeletes(older.DeleteWorktrees, newer.DeleteWorktrees, newer.PutWorktrees, func(r store.WorktreeRow) string { return r.ID }),
		PutActs:         slices.Concat(older.PutActs, newer.PutActs),
		DoneActs:        slices.Concat(older.DoneActs, newer.DoneActs),
	}
	if newer.Order != nil {
		b.Order = newer.Order
	}
	return b
}

func mergeRows[R any, K comparable](older, newer []R, deleted []K, key func(R) K) []R {
	out := slices.DeleteFunc(slices.Clone(older), func(r R) bool {
		k := key(r)
		return slices.Contains(deleted, k) || slices.ContainsFunc(newer, func(n R) bool { return key(n) == k })
	})
	return append(out, newer...)
}

func mergeDeletes[R any, K comparable](older, newer []K, put []R, key func(R) K) []K {
	out := slices.DeleteFunc(slices.Clone(older), func(k K) bool {
		return slices.ContainsFunc(put, func(r R) bool { return key(r) == k })
	})
	return append(out, newer...)
}
