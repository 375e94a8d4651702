package tab

import (
	"os"
	"path/filepath"
	"strings"

	"davit"
	"davit/internal/cleanup"
	"davit/internal/pane"
	"davit/internal/store"
)

// What git refuses is never forced: the files stay, the steps after it are skipped, the
// branch is there.
func caseUntracked(c *scene) {
	opened := c.open("dirty22", worktree("dirty22")+onePane+plan("cd {{repo_root}}", "git -C {{repo_root}} worktree remove {{worktree_path}}", "git -C {{repo_root}} branch -D dirty22"))
	precious := filepath.Join(opened.Worktree.Path, "precious")
	c.x.must(os.WriteFile(precious, []byte("work"), 0o600))
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	for _, want := range []string{"worktree remove", "1 command was skipped"} {
		if !strings.Contains(told.Body, want) {
			c.Errorf("told as %q, without %q", told.Body, want)
		}
	}
	if out, _ := told.Details["output"].(string); !strings.Contains(out, "untracked") {
		c.Errorf("output %q", out)
	}
	if _, err := os.Stat(precious); err != nil {
		c.Error(err)
	}
	if !strings.Contains(c.st.git("branch"), "dirty22") {
		c.Error("the branch is gone")
	}
}

func caseDirectoryMissing(c *scene) {
	place := c.st.path("home/place23")
	c.x.must(os.Mkdir(place, 0o700))
	opened := c.open("missing23", onePane+"[on_close]\ndirectory = \""+place+"\"\ncommands = ['"+note("missing23")+"', 'true']\n")
	c.x.must(os.Remove(place))
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	if !strings.Contains(told.Body, place) || !strings.Contains(told.Body, "does not exist") || !strings.Contains(told.Body, "1 command was skipped") {
		c.Errorf("told as %q", told.Body)
	}
	c.wantRan("missing23", 0)
}

func (c *scene) where(name, directory, want string) {
	c.Helper()
	opened := c.open(name, onePane+"[on_close]\ndirectory = \""+directory+"\"\ncommands = ['pwd >> \"$HOME/"+name+"\"']\n")
	c.close(opened.TabID)
	c.done(opened.TabID)
	if got := c.st.read("home/" + name); got != want+"\n" {
		c.Errorf("ran in %q, want %q", got, want)
	}
}

// A relative directory is relative to where the tab began, not to the host's own.
func caseRelative(c *scene) {
	c.x.must(os.MkdirAll(filepath.Join(c.st.repo, "sub24"), 0o700))
	c.where("relative24", "sub24", filepath.Join(c.st.repo, "sub24"))
}

func caseTilde(c *scene) {
	c.x.must(os.MkdirAll(c.st.path("home/sub25"), 0o700))
	c.where("tilde25", "~/sub25", c.st.path("home/sub25"))
}

func caseNoCommands(c *scene) {
	opened := c.open("none26", onePane+"[on_close]\ncommands = []\n")
	c.close(opened.TabID)
	c.neverAgain(opened.TabID)
	for _, n := range c.x.host.State().Notices {
		if n.Tab == opened.TabID && n.Kind != NoticeClosed {
			c.Errorf("told: %+v", n)
		}
	}
}

func caseCommandsMissing(c *scene) {
	said := c.refused("missing27", onePane+"[on_close]\ndirectory = \"/\"\n", davit.CodeConfigInvalid)
	if !strings.Contains(said, "commands") {
		c.Errorf("refused with %q", said)
	}
}

func caseUnknownKey(c *scene) {
	said := c.refused("unknown28", onePane+"[on_close]\ncommands = []\ncomands = [\"x\"]\n", davit.CodeConfigInvalid)
	if !strings.Contains(said, "comands") || !strings.Contains(said, ":7:1:") {
		c.Errorf("refused with %q", said)
	}
}

// Such a file is not loaded: no tab, no plan, nothing that could run.
func caseBadTree(c *scene) {
	said := c.refused("tree29", "[[panes]]\nid = \"a\"\nsplit = \"horizontal\"\nchildren = [\"b\", \"none\"]\n[[panes]]\nid = \"b\"\ntype = \"terminal\"\n"+plan(note("tree29")), davit.CodeConfigInvalid)
	if !strings.Contains(said, "none") {
		c.Errorf("refused with %q", said)
	}
	c.wantRan("tree29", 0)
}

// The worktree that a startup command should have made is not there: the plan's first
// failure stops it, and a branch of that name, somebody else's, is not touched.
func caseOpenFailed(c *scene) {
	c.st.git("branch", "theirs30")
	opened := c.open("failed30", "[[panes]]\nid = \"main\"\ntype = \"terminal\"\ncommands = [\"false\", \"echo second30 > $HOME/second30\"]\n"+
		plan("git worktree remove ../theirs30", "git branch -D theirs30"))
	c.x.eventually("the failure is seen", func() bool {
		p, err := c.x.panes.Get(opened.Panes[0])
		c.x.must(err)
		blocks, err := p.Blocks(c.Context())
		c.x.must(err)
		return len(blocks) > 0 && blocks[0].Exit != nil && *blocks[0].Exit == 1
	})
	c.x.wait(opened.Panes[0], pane.Condition{For: "prompt"})
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	if !strings.Contains(told.Body, "1 command was skipped") {
		c.Errorf("told as %q", told.Body)
	}
	if !strings.Contains(c.st.git("branch"), "theirs30") {
		c.Error("the branch is gone")
	}
	if c.st.read("home/second30") != "" {
		c.Error("the command after the failed one was typed")
	}
}

func caseNoValue(c *scene) {
	param := "[params.what]\n"
	said := c.refused("value31", param+onePane+plan("echo {{what}}"), davit.CodeConfigMissingParam)
	if !strings.Contains(said, "what") {
		c.Errorf("refused with %q", said)
	}
	// An empty default is a value: one empty word.
	opened := c.open("empty31", param+"default = \"\"\n"+onePane+plan(`set -- {{what}} end; echo "$#$1$2" >> "$HOME/log"`))
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan("2end", 1)
}

func casePlaceholder(c *scene) {
	opened := c.open("unknown32", onePane+plan(`echo '{{nothing}}' >> "$HOME/log"`))
	if len(opened.Warnings) != 1 || !strings.Contains(opened.Warnings[0].Text, "nothing") {
		c.Errorf("warnings %+v", opened.Warnings)
	}
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan("{{nothing}}", 1)
}

// The plan is that opening's: its file may be another one, or gone, when the tab closes.
func caseEdited(c *scene) {
	param := "[params.what]\n"
	c.st.config("edited33", param+onePane+plan(note("old-{{what}}")))
	var ids []davit.TabID
	for _, what := range []string{"one", "two"} {
		ids = append(ids, c.x.openConfig(c.st, "edited33", map[string]string{"what": what}).TabID)
	}
	c.st.config("edited33", param+onePane+plan(note("new-{{what}}")))
	c.close(ids[0])
	c.done(ids[0])
	c.x.must(os.Remove(c.st.path("configs/edited33.toml")))
	c.close(ids[1])
	c.done(ids[1])
	c.wantRan("old-one", 1)
	c.wantRan("old-two", 1)
	c.wantRan("new-one", 0)
}

// Other than in the case, a restored tab has its plan (T5.1), also after a reboot.
func caseRestored(c *scene) {
	c.alone()
	opened := c.open("restored34", onePane+plan(note("restored34")))
	c.x.stop()
	c.st.reboot()
	c.x = c.st.start()
	if got := c.x.tab(opened.TabID).OnClose; got == nil || got.Ran {
		c.Fatalf("the plan: %+v", got)
	}
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan("restored34", 1)
}

func casePushedOut(c *scene) {
	opened := c.open("pushed35", onePane+plan("exit 7"))
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	var others []davit.TabID
	for range 5 {
		others = append(others, c.open("plain35-"+randomHex(3), onePane).TabID)
		c.close(others[len(others)-1])
	}
	if again := c.failed(opened.TabID); again.ID != told.ID || !again.Persistent {
		c.Errorf("told as %+v, was %+v", again, told)
	}
}

// Nobody looks when a cleanup fails, not even a host: the next one tells it, and the one
// after that.
func caseNobody(c *scene) {
	c.alone()
	opened := c.open("nobody36", onePane+plan(slow("nobody36"), "exit 7"))
	c.close(opened.TabID)
	c.awaitRan("nobody36-begun")
	c.x.stop()
	c.letGo("nobody36")
	for range 2 {
		c.x = c.st.start()
		if told := c.failed(opened.TabID); told.Details["exit"] == nil || !strings.Contains(told.Body, "exit status 7") {
			c.Errorf("told as %+v", told)
		}
		c.x.stop()
	}
}

func caseNeverEnds(c *scene) {
	opened := c.open("ends37", onePane+"[on_close]\ntimeout = \"1s\"\ncommands = [\"sleep 1000\", \"true\"]\n")
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	if !strings.Contains(told.Body, "did not end within 1s") || !strings.Contains(told.Body, "1 command was skipped") {
		c.Errorf("told as %q", told.Body)
	}
}

func caseStdin(c *scene) {
	opened := c.open("stdin38", onePane+plan("cat > \"$HOME/stdin38\"; "+note("stdin38")))
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan("stdin38", 1)
	if got := c.st.read("home/stdin38"); got != "" {
		c.Errorf("read %q", got)
	}
}

func caseHugeOutput(c *scene) {
	opened := c.open("huge39", onePane+plan("echo first39; yes filler | head -c 5000000; echo last39; exit 7"))
	c.close(opened.TabID)
	told := c.failed(opened.TabID)
	if out, _ := told.Details["output"].(string); !strings.Contains(out, "last39") || len(out) > 1<<10 {
		c.Errorf("output of %d bytes: %.200q", len(out), out)
	}
	var row store.CleanupRow
	for _, r := range c.x.host.Model().Cleanups {
		if r.Tab == opened.TabID {
			row = r
		}
	}
	report, err := cleanup.Read(c.st.path("state"), row.ID, row.Plan)
	c.x.must(err)
	step, _ := report.Failed()
	if !strings.HasPrefix(step.Head, "first39\n") || !strings.HasSuffix(step.Tail, "last39\n") || len(step.Head)+len(step.Tail) > 64<<10 {
		c.Errorf("kept %d and %d bytes", len(step.Head), len(step.Tail))
	}
}

func caseNameInClose(c *scene) {
	opened := c.open("name41", onePane+plan("echo name41-{{autogenerated_branch_name}} >> \"$HOME/log\""))
	got := c.x.tab(opened.TabID).OnClose
	if got == nil || len(got.Commands) != 1 || strings.Contains(got.Commands[0], "{{") {
		c.Fatalf("the plan: %+v", got)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(got.Commands[0], "echo "), " ")
	c.close(opened.TabID)
	c.done(opened.TabID)
	c.wantRan(name, 1)
	if len(name) < len("name41-a-b") {
		c.Errorf("the name is %q", name)
	}
}
