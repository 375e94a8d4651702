package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"davit/internal/agent"
)

// prompts are texts that command lines get wrong.
func prompts() map[string]string {
	return map[string]string{
		"plain":           "fix the login test",
		"quotes":          `say "it's" and 'no' and \"both\"`,
		"newlines":        "first\nsecond\n\n\tthird\n",
		"leading newline": "\nfix it please",
		"leading dash":    "-v is broken, see why",
		"leading dashes":  "--help does not help",
		"only dashes":     "--",
		"word":            "update",
		"file":            "@main.go says no",
		"shell":           "$(id) `id` $HOME ~ * ? [a] {b,c} ; & | > <",
		"backslash":       `C:\new\table\`,
		"emoji":           "mach 🚀 es 👩‍👩‍👧 schön e\u0301 ☃\u200d",
		"equals":          "a=b c=d",
		"20 kB":           strings.Repeat("Zeile mit \"Zeichen\" und ümläuten\n", 600),
	}
}

// standIn writes down how it was started: how many words, the words, then the environment,
// each ended by a NUL. A shell starts in a fraction of what this test's binary takes.
const standIn = `#!/bin/sh
{ printf '%s\0' "$#" "$0" "$@"; /usr/bin/env -0; } >"$STAND_IN_REPORT"
`

type started struct{ Argv, Env []string }

// standIns makes an executable of each name that writes down how it was started.
func standIns(t *testing.T, names []string) string {
	t.Helper()
	directory := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(standIn), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// start runs a command and tells what the program saw.
func start(t *testing.T, c agent.Command, path string) started {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report")
	command := exec.Command(c.Argv[0], c.Argv[1:]...)
	command.Env = append([]string{"PATH=" + path, "STAND_IN_REPORT=" + report}, c.Env...)
	command.WaitDelay = 10 * time.Second
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%.200q: %v %s", c.Argv, err, out)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(string(data), "\x00")
	n, err := strconv.Atoi(words[0])
	if err != nil || len(words) < n+2 {
		t.Fatalf("the stand-in wrote %.200q", data)
	}
	return started{Argv: words[1 : n+2], Env: words[n+2:]}
}

// received reads a prompt off a command line as an agent of that mode would: flags come
// first, one that takes a value takes the next word, "--" ends them, what is left over is
// the prompt. It knows nothing of how the line was built.
func received(a agent.Agent, mode agent.Mode, s started) (string, bool) {
	if name, ok := mode.Env(); ok {
		i := slices.IndexFunc(s.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if i < 0 {
			return "", false
		}
		return strings.TrimPrefix(s.Env[i], name+"="), true
	}
	valued := map[string]bool{}
	for _, words := range a.Options {
		valued[words[0]] = len(words) > 1
	}
	flag, isFlag := mode.Flag()
	rest := s.Argv[len(a.Argv):] // behind the words that start it
	ended := false
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		switch {
		case isFlag && strings.HasSuffix(flag, "=") && strings.HasPrefix(word, flag):
			return strings.TrimPrefix(word, flag), true
		case isFlag && word == flag:
			if i+1 == len(rest) || strings.HasPrefix(rest[i+1], "-") {
				return "", false // a parser takes that for the next flag
			}
			return rest[i+1], true
		case !ended && word == "--" && mode == agent.ModeDashes:
			ended = true
		case !ended && valued[word]:
			i++
		case !ended && strings.HasPrefix(word, "-"):
		case ended || mode == agent.ModeArgv:
			lone := a.SubcommandWords && !strings.ContainsAny(strings.TrimSpace(word), " \t\n")
			file := slices.ContainsFunc(a.Taken, func(start string) bool { return strings.HasPrefix(word, start) })
			return word, len(rest) == i+1 && !lone && !file
		}
	}
	return "", false
}

// Each agent of the catalogue, and one of each mode, is started as the catalogue says, as a
// real program of its name that is found along the PATH: what arrives is the prompt, byte
// for byte, or the prompt is not on the command at all and is pasted.
func TestEveryAgentReceivesItsPrompt(t *testing.T) { // spec launch L7.1, L8
	c := catalogue(t, `
[agents.mode-argv]
prompt = "argv"
[agents.mode-dashes]
prompt = "argv-dashdash"
[agents.mode-flag]
prompt = "flag:--ask"
[agents.mode-joined]
prompt = "flag:--ask="
[agents.mode-env]
prompt = "env:MODE_QUERY"
[agents.mode-stdin]
prompt = "stdin-after-start"
`)
	var names []string
	for _, a := range c.List() {
		names = append(append(names, a.Detect...), a.Needs...)
	}
	path := standIns(t, append(names, "davit"))
	where := agent.Where{Path: path, SelfExe: filepath.Join(path, "davit")}
	for _, a := range c.List() {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			receives(t, a, where)
		})
	}
}

func receives(t *testing.T, a agent.Agent, where agent.Where) {
	found, err := agent.Detect(a, where)
	if err != nil {
		t.Fatal(err)
	}
	options := map[string]string{}
	for key := range a.Options {
		options[key] = "some-" + key
	}
	in := agent.CommandInput{SelfExe: where.SelfExe, Exe: found.Path, Options: options}
	bare := a.Prompt == agent.ModeStdin
	for name, text := range prompts() {
		in.Prompt = &text
		command, err := a.Command(in)
		if err != nil {
			t.Fatal(err)
		}
		if !command.PromptRides {
			words := slices.Concat(command.Argv, command.Env)
			if name != "only dashes" && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, text) }) {
				t.Errorf("%s: to be pasted, and on the command too: %.200q", name, command.Argv)
			}
			if name == "plain" && !bare {
				t.Errorf("a plain prompt does not ride")
			}
			continue
		}
		if bare {
			t.Fatalf("%s: rides on the command of an agent that reads none there", name)
		}
		got := start(t, command, where.Path)
		if told, ok := received(a, a.Prompt, got); !ok || told != text {
			t.Errorf("%s: the agent took %.200q for its prompt, of %.300q", name, told, got.Argv)
		}
		for key, value := range options {
			if !slices.ContainsFunc(got.Argv, func(w string) bool { return strings.Contains(w, value) }) {
				t.Errorf("%s: the option %s did not arrive: %.300q", name, key, got.Argv)
			}
		}
	}
}

// What resumes a session carries its id, and nothing of it is left to fill in.
func TestEveryResumeCarriesTheID(t *testing.T) { // spec launch L8
	for _, a := range catalogue(t, "").List() {
		if len(a.Resume) == 0 {
			continue
		}
		command, err := a.Command(agent.CommandInput{Resume: "0198-some id", SelfExe: "/bin/davit"})
		line := strings.Join(command.Argv, " ")
		if err != nil || !strings.Contains(line, "0198-some id") || strings.ContainsAny(line, "{}") {
			t.Errorf("%s: %q, %v", a.ID, command.Argv, err)
		}
	}
}

// A name on the PATH proves nothing: what says of itself that it is another program is
// doubted, and one whose name others have is not run for a list.
func TestNamesakesAreDoubted(t *testing.T) { // spec launch L8
	directory := t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(directory, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("omp", "echo 'omp version 0.1, the OpenMP profiler'")
	script("claude", "echo '2.1.0 (Claude Code)'")
	script("goose", "touch "+filepath.Join(directory, "ran")+"; echo 'goose version: v3'")
	script("aider", "exec sleep 60")
	c, where := catalogue(t, ""), agent.Where{Path: directory}
	agents := []agent.Agent{find(t, c, "omp"), find(t, c, "claude"), find(t, c, "goose"), find(t, c, "aider"), find(t, c, "codex")}
	found := make([]agent.Found, len(agents))
	for i, a := range agents {
		found[i], _ = agent.Detect(a, where)
	}
	var versions agent.Versions
	env := []string{"PATH=/usr/bin:/bin"}
	begin := time.Now()
	versions.All(t.Context(), agents, found, env)
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("versions took %s: a program that hangs has 3 s", took)
	}
	if _, err := os.Stat(filepath.Join(directory, "ran")); err == nil {
		t.Error("a program of a name that others have was run")
	}
	for i, want := range []string{"says \"omp version 0.1", "", "a tool for database migrations", "", ""} {
		if doubt := agents[i].Doubt(found[i]); (want == "") != (doubt == "") || !strings.Contains(doubt, want) {
			t.Errorf("%s: doubt %q, want %q", agents[i].ID, doubt, want)
		}
	}
	script("claude", "echo '2.2.0 (Claude Code)' # newer")
	if got := versions.Of(t.Context(), agents[1], found[1], env); got != "2.2.0 (Claude Code)" {
		t.Errorf("after an update it says %q", got)
	}
}

// A program is asked once for as long as its file does not change.
func TestVersionIsAskedOnce(t *testing.T) {
	directory := t.TempDir()
	count := filepath.Join(directory, "count")
	file := filepath.Join(directory, "claude")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho x >>"+count+"\necho '2.1.0 (Claude Code)'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var versions agent.Versions
	claude := find(t, catalogue(t, ""), "claude")
	for range 3 {
		if got := versions.Of(t.Context(), claude, agent.Found{Path: file}, []string{"PATH=/usr/bin:/bin"}); got != "2.1.0 (Claude Code)" {
			t.Fatalf("it says %q", got)
		}
	}
	if asked, _ := os.ReadFile(count); string(asked) != "x\n" {
		t.Errorf("it was asked %d times", strings.Count(string(asked), "x"))
	}
}

// An agent that needs another is not there without it.
func TestNeeds(t *testing.T) { // spec launch L8
	teams := find(t, catalogue(t, ""), "claude-agent-teams")
	directory := standIns(t, []string{"orca"})
	if _, err := agent.Detect(teams, agent.Where{Path: directory}); err == nil || !strings.Contains(err.Error(), "needs claude") {
		t.Errorf("without claude: %v", err)
	}
	if _, err := agent.Detect(teams, agent.Where{Path: directory + ":" + standIns(t, []string{"claude"})}); err != nil {
		t.Errorf("with claude: %v", err)
	}
}
