package tab

import (
	"fmt"
	"regexp"
	"strings"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/host"
	"davit/internal/model"
	"davit/internal/store"
	"davit/internal/template"
	"davit/internal/wire"
)

// A command that deletes a branch, as it is written: `git branch` with -d or -D, also
// behind options of git and behind another command. What a script or an alias does cannot
// be told without running it, and is not guessed (spec tabs T5.9).
var deletesBranch = regexp.MustCompile(`(?:^|[\s;&|({])git(?:\s+(?:-[Cc]\s+(?:'[^']*'|"[^"]*"|\S+)|--?[\w=/.-]+))*\s+branch(?:\s+-\S+)*\s+(?:-[a-zA-Z]*[dD][a-zA-Z]*|--delete)(?:\s|$)`)

// branchDeletions are the commands of a close plan that delete a branch.
func branchDeletions(plan *davit.OnClose) []string {
	var list []string
	if plan == nil {
		return nil
	}
	for _, c := range plan.Commands {
		if deletesBranch.MatchString(c) {
			list = append(list, c)
		}
	}
	return list
}

// deletionText says before a cleanup what it will delete, in the user's own command: git
// may refuse it.
func deletionText(whose string, commands []string) string {
	if len(commands) == 0 {
		return ""
	}
	return whose + " deletes a branch: " + strings.Join(commands, "; ")
}

func cleanupOf(title string) string { return fmt.Sprintf("the cleanup of %q", title) }

// deletedText says of a cleanup that has ended well what it deleted: in git's words where
// they are there, which name the commit that brings the branch back, else by the command.
func deletedText(c store.CleanupRow) string {
	steps := stepsOf(c)
	var told []string
	for _, s := range steps {
		if s.Kind != cleanup.StepCommand || s.State != cleanup.StepDone || !deletesBranch.MatchString(s.Command) {
			continue
		}
		words := ""
		for line := range strings.Lines(s.Head + s.Tail) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "Deleted branch ") {
				words = strings.TrimSuffix("d"+line[1:], ".")
			}
		}
		if words == "" {
			words = "ran: " + s.Command
		}
		told = append(told, words)
	}
	return strings.Join(told, "; ")
}

// removesWorktree says whether a command of a close plan removes a worktree, as the "New
// worktree" form writes it.
func removesWorktree(plan *davit.OnClose, command, path string) bool {
	kind, known := template.ShellOf(plan.ShellKind)
	if !known {
		kind = template.Sh
	}
	return strings.Contains(command, "git worktree remove") && (strings.Contains(command, path) || strings.Contains(command, template.Word(kind, path)))
}

// ahead tells of the cleanups of tabs what the user may not expect of them: a branch that
// is deleted, and another tab that they wait for (spec tabs T5.6).
func ahead(m host.Model, ids []davit.TabID) []wire.CleanupAhead {
	list := []wire.CleanupAhead{}
	for _, id := range ids {
		row, closed := m.Rows.Closed[id]
		if !closed {
			continue
		}
		c, planned := m.Cleanups[row.Closed.CleanupID]
		if !planned {
			continue
		}
		a := wire.CleanupAhead{Tab: id, Title: row.Tab.Title, Deletes: branchDeletions(row.Tab.OnClose)}
		var texts []string
		if user, held := usedBy(m, c); held {
			a.HeldBy, a.Worktree = user.ID, c.Worktree
			texts = append(texts, heldText(row.Tab.Title, user, c.Worktree))
		}
		if text := deletionText(cleanupOf(row.Tab.Title), a.Deletes); text != "" {
			texts = append(texts, text)
		}
		if len(texts) == 0 {
			continue
		}
		a.Text = strings.Join(texts, "\n")
		list = append(list, a)
	}
	return list
}

// heldText says what a cleanup waits for.
func heldText(title string, user davit.Tab, worktree string) string {
	return fmt.Sprintf("%s waits: %q uses %s; it runs when the last such tab closes", cleanupOf(title), user.Title, worktree)
}

// withDeletions adds to the refusal of a close which branches its cleanups delete.
func withDeletions(err error, s davit.State, ids []davit.TabID) error {
	e, list := davit.AsError(err), []wire.CleanupAhead{}
	for _, id := range ids {
		t, ok := model.Tab(s, id)
		if !ok || t.OnClose == nil || t.OnClose.Ran {
			continue
		}
		a := wire.CleanupAhead{Tab: id, Title: t.Title, Deletes: branchDeletions(t.OnClose)}
		if a.Text = deletionText(cleanupOf(t.Title), a.Deletes); a.Text != "" {
			e.Message += "\n" + a.Text
			list = append(list, a)
		}
	}
	return e.With("cleanups", list)
}
