package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"davit"
	"davit/internal/agent"
	"davit/screen"

	"pgregory.net/rapid"
)

func catalogue(t interface {
	Helper()
	Fatal(...any)
}, user string) *agent.Catalogue {
	t.Helper()
	c, err := agent.Load([]byte(user))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(t *testing.T, c *agent.Catalogue, id string) agent.Agent {
	t.Helper()
	a, ok := c.Find(id)
	if !ok {
		t.Fatalf("no agent %s", id)
	}
	return a
}

func TestEmbeddedCatalogue(t *testing.T) { // spec launch L8
	list := catalogue(t, "").List()
	if len(list) < 45 || list[len(list)-1].ID != "practice" {
		t.Errorf("%d agents, the last is %s", len(list), list[len(list)-1].ID)
	}
	var tested []string
	for _, a := range list {
		if a.Tested {
			tested = append(tested, a.ID)
		}
		if a.Practice != (a.ID == "practice") {
			t.Errorf("%s: practice %v", a.ID, a.Practice)
		}
		// davit adds no flag that skips an agent's own questions, and none that says for
		// the user that a folder is to be trusted.
		all := fmt.Sprint(a.Argv, a.Args, a.Env, a.Options, a.Resume, a.Structured, a.ShellCommand)
		for _, word := range []string{"skip", "yolo", "bypass", "trust", "auto", "allow", "yes", "dangerous", "unrestricted", "force"} {
			if strings.Contains(strings.ReplaceAll(all, "autohand", ""), word) {
				t.Errorf("%s is started with %q: %s", a.ID, word, all)
			}
		}
	}
	if want := []string{"opencode", "practice"}; !slices.Equal(tested, want) {
		t.Errorf("tested are %v, want %v: what the tests drive", tested, want)
	}
}

func TestUserCatalogue(t *testing.T) {
	c := catalogue(t, `
[agents.claude]
args = "--dangerously-skip-permissions"
[agents.claude.options]
model = ["-m", "{value}"]
[agents.another]
name = "Another"
install = "npm install -g another"
[agents.practice]
disabled = true
`)
	claude := find(t, c, "claude")
	if claude.Args != "--dangerously-skip-permissions" || claude.Draft != "flag:--prefill" {
		t.Errorf("claude is %+v", claude)
	}
	command, err := claude.Command(agent.CommandInput{Options: map[string]string{"model": "opus", "effort": "high"}})
	if err != nil || !slices.Equal(command.Argv, []string{"claude", "--dangerously-skip-permissions", "--effort", "high", "-m", "opus"}) {
		t.Errorf("command %q, %v", command.Argv, err)
	}
	another := find(t, c, "another")
	if !slices.Equal(another.Argv, []string{"another"}) || !slices.Equal(another.Detect, []string{"another"}) || another.Prompt != agent.ModeStdin || another.Draft != agent.ModePaste {
		t.Errorf("what was left out is %+v", another)
	}
	if !find(t, c, "practice").Disabled {
		t.Error("the practice agent is not switched off")
	}
}

// A slip in the user's file is told with its place and the key that was meant; what has
// no fault is used, and no agent that comes with davit is taken away.
func TestBadUserCatalogue(t *testing.T) { // spec launch L8
	all := len(catalogue(t, "").List())
	for text, want := range map[string]string{
		"[agents.claude]\nargs = \"a\"\nargz = \"b\"": `agents.toml:3:1: error: unknown key "argz" in [claude]`,
		"[agents.claude]\nname = 3":                   `agents.toml:2:8: error: "name" must be a string`,
		"[agents.claude":                              "agents.toml:1:",
		"[agents.x]\nprompt = \"telepathy\"":          "agents.toml:2:10: error: prompt = \"telepathy\"",
		"[agents.x]\nprompt = \"flag:prompt\"":        "prompt mode",
		"[agents.x]\ndraft = \"env:A-B\"":             "draft mode",
		"[agents.x]\nargs = \"'\"":                    "quote is not closed",
		"[agents.x.ready]\nscreen = [\"(\"]":          "missing closing",
		"[agents.\"X Y\"]\nname = \"x\"":              `"X Y" cannot be the id`,
		"[agents.x.structured]\ndriver = \"acp\"":     "needs argv",
		"[agents.x.structured]\ndriver = \"acb\"":     "is not a driver",
		"[[agents.x.dialog]]\nname = \"d\"":           "matches everything",
		"[agents.x.options]\nmodel = [\"-m\"]":        "has no {value}",
		"[agents.x]\nresume = [\"--resume\"]":         "has no {id}",
		"[agents.x]\nargv = [\"\"]":                   "empty first word",
		"[agents.x.titles]\nidel = \"x\"":             `unknown key "idel"`,
		"[agents.x.env]\n\"A-B\" = \"x\"":             "cannot name a variable",
		"[agent.x]\nname = \"x\"":                     `unknown key "agent"`,
		"[agents.x]\nproof = \"(\"":                   "missing closing",
	} {
		c, err := agent.Load([]byte(text + "\n[agents.good]\nname = \"Good\"\n"))
		if davit.CodeOf(err) != davit.CodeAgentCatalogue || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if c == nil || len(c.List()) < all {
			t.Fatalf("%q: the embedded agents are gone", text)
		}
		if claude := find(t, c, "claude"); claude.Name != "Claude Code" || claude.Args != "" {
			t.Errorf("%q: half of a faulty entry is used: %+v", text, claude)
		}
		if _, there := c.Find("x"); there {
			t.Errorf("%q: the faulty agent is used", text)
		}
		if _, there := c.Find("good"); !there && text != "[agents.claude" {
			t.Errorf("%q: the agent without a fault is not used", text)
		}
	}
	_, err := agent.Load([]byte("[agents.x]\ninstal = \"x\"\n[agents.y]\npromt = \"argv\"\n"))
	if e := davit.AsError(err); !strings.Contains(e.Hint, `did you mean "install"?`) || !strings.Contains(e.Message, "and 1 more") {
		t.Errorf("two slips: %v, hint %q", e, e.Hint)
	}
}

// The user's file says of each entry what it changes, and on which line.
func TestOverrides(t *testing.T) {
	c := catalogue(t, "\n[agents.claude]\nargs = \"-x\"\n[agents.claude.options]\nmodel = [\"-m\", \"{value}\"]\n[agents.mine]\n")
	claude, mine, codex := find(t, c, "claude"), find(t, c, "mine"), find(t, c, "codex")
	if claude.Own || !slices.Equal(claude.Overrides, []string{"args", "options"}) || claude.Line != 2 {
		t.Errorf("claude: own %v, overrides %q, line %d", claude.Own, claude.Overrides, claude.Line)
	}
	if !mine.Own || mine.Tested || mine.Line != 6 {
		t.Errorf("mine: own %v, tested %v, line %d", mine.Own, mine.Tested, mine.Line)
	}
	if codex.Own || codex.Overrides != nil || codex.Line != 0 {
		t.Errorf("codex: %v %q %d", codex.Own, codex.Overrides, codex.Line)
	}
	if again := find(t, catalogue(t, ""), "claude"); !slices.Equal(again.Options["model"], []string{"--model", "{value}"}) {
		t.Errorf("one user's file is seen in another catalogue: %q", again.Options)
	}
}

func text(s string) *string { return &s }

func TestCommand(t *testing.T) { // spec launch L1, L7, L7.1
	c := catalogue(t, `
[agents.plain]
prompt = "argv"
args = "--saved 'a b'"
[agents.pasted]
[agents.joined]
prompt = "flag:--ask="
[agents.query]
prompt = "env:QUERY"
env = { B = "2", A = "1" }
[agents.wrapped]
shell_command = "FOO=1 exec wrapped --tui"
prompt = "argv-dashdash"
`)
	long := strings.Repeat("x", agent.MaxPrompt+1)
	absent, none, words := davit.OptionalString{}, davit.OptionalString{Present: true, Null: true}, davit.OptionalString{Present: true, Value: `-x "" y\ z`}
	cases := []struct {
		agent string
		in    agent.CommandInput
		argv  []string
		rides bool
	}{
		{"claude", agent.CommandInput{Prompt: text("fix it"), Exe: "/opt/claude"}, []string{"/opt/claude", "--", "fix it"}, true},
		{"claude", agent.CommandInput{Prompt: text("-v is\nbroken `$x`")}, []string{"claude", "--", "-v is\nbroken `$x`"}, true},
		{"claude", agent.CommandInput{Prompt: text("update")}, []string{"claude"}, false}, // a subcommand of it
		{"claude", agent.CommandInput{Prompt: text(" \n")}, []string{"claude"}, false},
		{"claude", agent.CommandInput{Prompt: text("a draft"), Draft: true}, []string{"claude", "--prefill", "a draft"}, true},
		{"claude", agent.CommandInput{Prompt: text("-a draft"), Draft: true}, []string{"claude"}, false},
		{"claude", agent.CommandInput{Resume: "s1", Args: words}, []string{"claude", "--resume", "s1", "-x", "", "y z"}, false},
		{"codex", agent.CommandInput{Prompt: text("resume")}, []string{"codex", "--", "resume"}, true},
		{"codex", agent.CommandInput{Prompt: text("a draft"), Draft: true}, []string{"codex"}, false},
		{"codex", agent.CommandInput{Prompt: text("go"), Options: map[string]string{"effort": "high"}}, []string{"codex", "-c", "model_reasoning_effort=high", "--", "go"}, true},
		{"opencode", agent.CommandInput{Prompt: text("go on")}, []string{"opencode", "--prompt", "go on"}, true},
		{"opencode", agent.CommandInput{Prompt: text("-go")}, []string{"opencode"}, false},
		{"practice", agent.CommandInput{Prompt: text("go"), SelfExe: "/bin/davit"}, []string{"/bin/davit", "practice-agent", "--", "go"}, true},
		{"plain", agent.CommandInput{Prompt: text("go"), Args: absent}, []string{"plain", "--saved", "a b", "go"}, true},
		{"plain", agent.CommandInput{Prompt: text("-go"), Args: none}, []string{"plain"}, false},
		{"plain", agent.CommandInput{Args: words}, []string{"plain", "-x", "", "y z"}, false},
		{"plain", agent.CommandInput{Prompt: text(long), Args: none}, []string{"plain"}, false},
		{"plain", agent.CommandInput{Prompt: text(long[1:]), Args: none}, []string{"plain", long[1:]}, true},
		{"plain", agent.CommandInput{Prompt: text("a\x00b"), Args: none}, []string{"plain"}, false},
		{"pasted", agent.CommandInput{Prompt: text("go")}, []string{"pasted"}, false},
		{"joined", agent.CommandInput{Prompt: text("-go")}, []string{"joined", "--ask=-go"}, true},
		{"wrapped", agent.CommandInput{Prompt: text("it's $x")}, []string{"/bin/sh", "-c", `FOO=1 exec wrapped --tui "$@"`, "wrapped", "--", "it's $x"}, true},
	}
	for _, test := range cases {
		command, err := find(t, c, test.agent).Command(test.in)
		if err != nil || !slices.Equal(command.Argv, test.argv) || command.PromptRides != test.rides || command.Warning != "" {
			t.Errorf("%s %+v: %.200q rides %v, warning %q, %v", test.agent, test.in, command.Argv, command.PromptRides, command.Warning, err)
		}
	}
	command, err := find(t, c, "query").Command(agent.CommandInput{Prompt: text("a=b\nc")})
	if err != nil || !slices.Equal(command.Env, []string{"A=1", "B=2", "QUERY=a=b\nc"}) || !command.PromptRides {
		t.Errorf("by environment: %+v, %v", command, err)
	}
	command, err = find(t, c, "plain").Command(agent.CommandInput{Options: map[string]string{"model": "x"}})
	if err != nil || !strings.Contains(command.Warning, `"model"`) {
		t.Errorf("an option without a flag: %+v, %v", command, err)
	}
	if _, err := find(t, c, "plain").Command(agent.CommandInput{Args: davit.OptionalString{Present: true, Value: `"`}}); davit.CodeOf(err) != davit.CodeInvalid {
		t.Errorf("arguments with an open quote: %v", err)
	}
	if _, err := find(t, c, "plain").Command(agent.CommandInput{Resume: "s"}); davit.CodeOf(err) != davit.CodeUnsupported {
		t.Errorf("a resume that is not possible: %v", err)
	}
}

// Arguments are split as a shell splits them, when there is nothing to expand.
func TestArgsSplitAsTheShellDoes(t *testing.T) {
	c := catalogue(t, "[agents.plain]\n")
	plain, _ := c.Find("plain")
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.StringOfN(rapid.RuneFrom([]rune(`ab ü'"\=-`)), 0, 24, -1).Draw(t, "args")
		out, shellErr := exec.Command("/bin/sh", "-c", `printf '%s\0' `+args).Output()
		command, err := plain.Command(agent.CommandInput{Args: davit.OptionalString{Present: true, Value: args}})
		if (err != nil) != (shellErr != nil) && !strings.HasSuffix(args, `\`) {
			t.Fatalf("%q: %v, the shell says %v", args, err, shellErr)
		}
		if err != nil || shellErr != nil {
			return
		}
		got := strings.Join(command.Argv[1:], "\x00") + "\x00"
		if got != string(out) {
			t.Fatalf("%q is split as %q, the shell's way is %q", args, got, out)
		}
	})
}

// The program of a chat is looked for as the one of a terminal is, and named when it is
// not there.
func TestDetectChat(t *testing.T) { // spec session S1.10
	directory := t.TempDir()
	where := agent.Where{Path: "relative:" + directory, SelfExe: "/no/such/davit"}
	mine := find(t, catalogue(t, `
[agents.mine]
name = "Mine"
argv = ["sh"]
[agents.mine.structured]
driver = "acp"
argv = ["mine-acp", "--acp"]
`), "mine")
	_, err := agent.DetectChat(mine, where)
	e := davit.AsError(err)
	if davit.CodeOf(err) != davit.CodeAgentNotInstalled || !strings.Contains(e.Message, "looked for mine-acp on the PATH of your login shell, "+where.Path) {
		t.Errorf("missing: %v", err)
	}
	if strings.Contains(e.Hint, "Install it") || e.Hint == "" {
		t.Errorf("without an install command the hint is %q", e.Hint)
	}
	file := filepath.Join(directory, "mine-acp")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if found, err := agent.DetectChat(mine, where); err != nil || found != file {
		t.Errorf("found %q, %v", found, err)
	}
	mine.Structured.Argv = []string{"bin/mine-acp"}
	if _, err := agent.DetectChat(mine, where); davit.CodeOf(err) != davit.CodeAgentNotInstalled || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("a relative path: %v", err)
	}
	if _, err := agent.DetectChat(find(t, catalogue(t, ""), "practice"), where); davit.CodeOf(err) != davit.CodeAgentNotInstalled {
		t.Errorf("a davit that is gone: %v", err)
	}
}

func TestDetect(t *testing.T) { // spec launch L1: what was looked for where
	directory := t.TempDir()
	empty := t.TempDir()
	path := empty + ":relative:" + directory
	claude := find(t, catalogue(t, ""), "claude")
	_, err := agent.Detect(claude, agent.Where{Path: path})
	if davit.CodeOf(err) != davit.CodeAgentNotInstalled || !strings.Contains(err.Error(), "claude on the PATH of your login shell, "+path) || !strings.Contains(davit.AsError(err).Hint, "npm install") {
		t.Errorf("missing: %v", err)
	}
	file := filepath.Join(directory, "claude")
	script := "#!/bin/sh\nsleep 30 &\necho '2.1.197 (Claude Code)'\necho more\n"
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Detect(claude, agent.Where{Path: path}); err == nil {
		t.Error("a file that cannot be executed was found")
	}
	if err := os.Chmod(file, 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := agent.Detect(claude, agent.Where{Path: path})
	if err != nil || found.Path != file {
		t.Fatalf("found %+v, %v", found, err)
	}
	if got := new(agent.Versions).Of(context.Background(), claude, found, []string{"PATH=/usr/bin:/bin"}); got != "2.1.197 (Claude Code)" {
		t.Errorf("version %q", got)
	}
	if found, err := agent.Detect(find(t, catalogue(t, ""), "practice"), agent.Where{SelfExe: "/bin/davit"}); err != nil || found.Path != "/bin/davit" {
		t.Errorf("the practice agent: %+v, %v", found, err)
	}
}

func TestLook(t *testing.T) { // spec launch L7.2, L7.3
	c := catalogue(t, "")
	cases := []struct {
		agent  string
		look   agent.Look
		ready  bool
		dialog string
	}{
		{"practice", agent.Look{Paste: true, Lines: []string{"╭───╮", "│ ❯ Type a prompt │", "╰───╯"}}, true, ""},
		{"practice", agent.Look{Paste: false, Lines: []string{"│ ❯ Type a prompt │"}}, false, ""},
		{"practice", agent.Look{Paste: true, Lines: []string{"│   Do you trust the files in this folder? │", "│   1. Yes, go on │"}}, false, "trust"},
		{"practice", agent.Look{Paste: true, Lines: []string{"│   Update available! │", "│ Press enter to continue │"}}, false, "update"},
		{"practice", agent.Look{Paste: true, Lines: []string{"Permission required", "│ ❯ x", "│   1. Yes, allow once │"}}, false, "permission"},
		{"practice", agent.Look{Paste: true, Lines: []string{"I do not trust these files, says the answer.", "│ ❯ x"}}, true, ""},
		{"claude", agent.Look{Paste: true, Lines: []string{"Quick safety check: Is this a project you created or one you trust? (Like your own", "❯ 1. Yes, I trust this folder"}}, false, "trust"},
		{"claude", agent.Look{Paste: true, Title: "✳ Claude Code", Lines: []string{"────", "❯ ", "────"}}, true, ""},
		{"codex", agent.Look{Paste: true, Lines: []string{"› Ask Codex to do anything"}}, true, ""},
		{"codex", agent.Look{Paste: true, Lines: []string{"$ "}}, false, ""},
	}
	for _, test := range cases {
		a := find(t, c, test.agent)
		if got := a.IsReady(test.look); got != test.ready {
			t.Errorf("%s with %q: ready %v", test.agent, test.look.Lines, got)
		}
		if got, _ := a.Dialog(test.look); got != test.dialog {
			t.Errorf("%s with %q: dialog %q", test.agent, test.look.Lines, got)
		}
	}
	for title, want := range map[string]agent.Status{"✳ Claude Code": agent.StatusIdle, "⠂ Claude Code": agent.StatusWorking, "bash": ""} {
		if got, _ := find(t, c, "claude").StatusOfTitle(title); got != want {
			t.Errorf("title %q means %q", title, got)
		}
	}
	if got, ok := find(t, c, "codex").StatusOfSignal("working", "codex"); !ok || got != agent.StatusWorking {
		t.Errorf("codex's signal means %q", got)
	}
	if _, ok := find(t, c, "codex").StatusOfSignal("working", "other"); ok {
		t.Error("another program's signal was taken")
	}
}

func TestOwns(t *testing.T) {
	c := catalogue(t, "[agents.aider]\n[agents.own]\nshell_command = \"nvm use 20 && mine\"\n")
	for _, test := range []struct {
		agent string
		argv  []string
		want  bool
	}{
		{"codex", []string{"/usr/bin/codex", "--", "x"}, true},
		{"codex", []string{"node", "--no-warnings", "/usr/lib/node_modules/@openai/codex/bin/codex.js"}, true},
		{"aider", []string{"/usr/bin/python3.11", "/home/s/.local/bin/aider"}, true},
		{"claude", []string{"node", "/opt/claude-code/cli.js"}, true},
		{"practice", []string{"/bin/davit", "practice-agent"}, true},
		{"practice", []string{"/bin/davit", "host"}, false},
		{"codex", []string{"bash", "-c", "codex"}, false},
		{"codex", []string{"vim", "codex"}, false},
		{"codex", []string{"/bin/sh", "/usr/local/bin/codex", "--", "x"}, true}, // a launcher
		{"codex", []string{"bash", "--rcfile", "/home/codex/davit.bash"}, false},
		{"codex", []string{"-bash"}, false},
		{"own", []string{"/bin/sh", "-c", "nvm use 20 && mine \"$@\"", "own"}, true},
		{"own", []string{"/bin/sh", "-c", "other", "own"}, false},
		{"own", []string{"/bin/sh"}, false},
		{"codex", nil, false},
	} {
		if got := find(t, c, test.agent).Owns(test.argv); got != test.want {
			t.Errorf("%s owns %q: %v", test.agent, test.argv, got)
		}
	}
}

func TestIsShell(t *testing.T) { // spec launch L7.3
	for word, want := range map[string]bool{"-bash": true, "/usr/bin/zsh": true, "fish": true, "codex": false, "bashful": false} {
		if got := agent.IsShell([]string{word}); got != want {
			t.Errorf("%s is a shell: %v", word, got)
		}
	}
}

// What real agents drew, frame by frame: ready is said when the composer waits, and not
// on the splash screen, in the trust question or in the middle of a turn.
func TestReadyOnRecordings(t *testing.T) {
	for _, test := range []struct{ agent, never string }{
		{"codex", "Trust this folder?"}, {"opencode", "esc interrupt"},
	} {
		recording, err := os.ReadFile(filepath.Join("..", "..", "screen", "testdata", "agent-tty", test.agent+".tty"))
		if err != nil {
			t.Fatal(err)
		}
		a := find(t, catalogue(t, ""), test.agent)
		terminal := screen.New(120, 40, screen.Options{})
		ready, obstructed := false, false
		for i := range recording {
			terminal.Write(recording[i : i+1])
			if !bytes.HasSuffix(recording[:i+1], []byte("\x1b[?2026l")) && i+1 < len(recording) {
				continue // in the middle of a frame
			}
			lines := terminal.Text()
			all := strings.Join(lines, "\n")
			ready = a.IsReady(agent.Look{Title: terminal.Title(), Lines: lines, Paste: true})
			if strings.Contains(all, test.never) || strings.Contains(all, "loading") {
				obstructed = true
				if ready {
					t.Errorf("%s is said to be ready at byte %d:\n%s", test.agent, i, all)
					break
				}
			}
		}
		if !ready || !obstructed {
			t.Errorf("%s: ready at the end %v, ever obstructed %v", test.agent, ready, obstructed)
		}
	}
}
