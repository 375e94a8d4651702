package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// guideSteps is one numbered example of the guide.
var guideSteps = regexp.MustCompile("(?s)\n## [0-9]+\\. [^\n]*\n.*?\n```toml\n(.*?)\n```\n")

// The guide to tab configs is followed from front to end: each example is checked without a
// warning, shown as a plan, opened on a real repository, and closed; the worktrees go, and
// of the last one the branch too.
func TestGuideOfTabConfigs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "tab-configs.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps := guideSteps.FindAllStringSubmatch(string(page), -1)
	if len(steps) != 10 {
		t.Fatalf("the guide has %d examples, want ten", len(steps))
	}
	answers := map[string]string{"repo": "$WORK/repo", "number": "12", "token": "t0ken", "task": "'say hello'"}
	var story, files strings.Builder
	story.WriteString("gitrepo repo\ncd repo\nexec davit up --detach --listen 127.0.0.1:0\n")
	for i, step := range steps {
		name := fmt.Sprintf("step%02d.toml", i+1)
		fmt.Fprintf(&files, "-- %s --\n%s\n", name, step[1])
		given := ""
		for param, value := range answers {
			if strings.Contains(step[1], "[params."+param+"]") {
				given += fmt.Sprintf(" -p %s=%s", param, value)
			}
		}
		fmt.Fprintf(&story, "# %s\nexec davit config check --strict $WORK/%s\nexec davit open $WORK/%s --print%s\n", name, name, name, given)
		fmt.Fprintf(&story, "exec davit open $WORK/%s --json%s\njsonget stdout tabId TAB\n", name, given)
		if strings.Contains(step[1], "[worktree]") {
			story.WriteString("exec davit tab list --json\njsonget stdout [id=$TAB]/worktree/branch BRANCH\nexec git rev-parse --verify refs/heads/$BRANCH\n")
		}
		story.WriteString("exec davit tab close --yes $TAB\n")
		if strings.Contains(step[1], "[worktree]") {
			story.WriteString("! waitfor $BRANCH git worktree list\n")
		}
		if strings.Contains(step[1], "branch -d") {
			story.WriteString("! waitfor $BRANCH git branch --list\n")
		} else if strings.Contains(step[1], "[worktree]") {
			story.WriteString("exec git rev-parse --verify refs/heads/$BRANCH\n")
		}
	}
	story.WriteString("exec davit notice list\n! stdout 'Cleanup of'\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "guide.txtar"), []byte(story.String()+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true, Setup: setupStory, Condition: storyCondition, Cmds: storyCommands(),
	})
}

// TestGuideOfSetup runs the setup script that the guide shows, in the first pane of a tab
// on a new worktree.
func TestGuideOfSetup(t *testing.T) { // spec launch L9.5
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "setup.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "```toml\n")
	example, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("the guide has no example")
	}
	story := `gitrepo repo
cd repo
exec git branch -M main
mkdir .davit
cp $WORK/workspace.toml .davit/workspace.toml
exec git add .
exec git commit -q -m setup
exec davit up --detach --listen 127.0.0.1:0
exec davit config check --strict .davit/workspace.toml
exec davit worktree open --branch stranger --json
jsoncheck stdout warnings/0/message '~you have not allowed its text yet'
exec davit worktree setup --allow
exec davit worktree open --branch login --json
! jsoncheck stdout warnings/0
jsonget stdout worktree/path TREE
jsonget stdout panes/0 PANE
waitfor 'setup done' davit pane read $PANE
waitfor '^PORT=4100$' cat $TREE/.env.local
exists $TREE/node_modules/.cache
exec davit pane write $PANE --enter 'echo a shell follows: $((40+2))'
waitfor '^a shell follows: 42' davit pane read $PANE
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "guide.txtar"), []byte(story+"-- workspace.toml --\n"+example), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true, RequireUniqueNames: true, Setup: setupStory, Condition: storyCondition, Cmds: storyCommands(),
	})
}
