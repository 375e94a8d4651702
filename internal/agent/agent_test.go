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
	var ids []string
	for _, a := range list {
		ids = append(ids, a.ID)
		if a.Name == "" || a.Install == "" || a.Structured.Driver == "" || len(a.Resume) == 0 {
			t.Errorf("%s lacks something: %+v", a.ID, a)
		}
		// davit adds no flag that skips an agent's own questions.
		all := fmt.Sprint(a.Argv, a.Args, a.Env, a.Structured)
		for _, word := range []string{"skip-permissions", "yolo", "bypass", "trust-all", "auto-approve", "allow-all"} {
			if strings.Contains(all, word) {
				t.Errorf("%s is started with %q", a.ID, word)
			}
		}
	}
	if want := []string{"claude", "codex", "opencode", "practice"}; !slices.Equal(ids, want) {
		t.Errorf("agents %v, want %v, the practice agent last", ids, want)
	}
	practice := find(t, catalogue(t, ""), "practice")
	if !practice.Practice {
		t.Error("the practice agent is not labelled")
	}
}

func TestUserCatalogue(t *testing.T) {
	c := catalogue(t, `
[agents.claude]
args = "--dangerously-skip-permissions"
[agents.claude.options]
model = ["-m", "{value}"]
[agents.amp]
name = "Amp"
install = "npm install -g amp"
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
	amp := find(t, c, "amp")
	if !slices.Equal(amp.Argv, []string{"amp"}) || !slices.Equal(amp.Detect, []string{"amp"}) || amp.Prompt != agent.ModeStdin || amp.Draft != agent.ModePaste {
		t.Errorf("what was left out is %+v", amp)
	}
	if !find(t, c, "practice").Disabled {
		t.Error("the practice agent is not switched off")
	}
}

// A slip in the user's file is told with its place, and takes no agent away.
func TestBadUserCatalogue(t *testing.T) {
	for text, want := range map[string]string{
		"[agents.claude]\nargs = \"a\"\nargz = \"b\"": "line 3: unknown key agents.claude.argz",
		"[agents.claude]\nname = 3":                   "line 2",
		"[agents.claude":                              "line 1",
		"[agents.x]\nprompt = \"telepathy\"":          "agent x: prompt = \"telepathy\"",
		"[agents.x]\nprompt = \"flag:prompt\"":        "prompt mode",
		"[agents.x]\ndraft = \"env:A-B\"":             "draft mode",
		"[agents.x]\nargs = \"'\"":                    "quote is not closed",
		"[agents.x.ready]\nscreen = [\"(\"]":          "missing closing",
		"[agents.\"X Y\"]\nname = \"x\"":              "agent X Y: the id",
		"[agents.x.structured]\ndriver = \"acp\"":     "needs structured.argv",
		"[[agents.x.dialog]]\nname = \"d\"":           "matches everything",
	} {
		c, err := agent.Load([]byte(text))
		if davit.CodeOf(err) != davit.CodeAgentCatalogue || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if c == nil || len(c.List()) != 4 {
			t.Errorf("%q: the embedded agents are gone", text)
		}
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
	if got := agent.Version(context.Background(), claude, found, []string{"PATH=/usr/bin:/bin"}); got != "2.1.197 (Claude Code)" {
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
