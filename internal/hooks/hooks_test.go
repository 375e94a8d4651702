package hooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

const self = "/opt/it's davit/bin/davit"

func place(t *testing.T) Place {
	t.Helper()
	home := t.TempDir()
	return Place{Home: home, Getenv: func(string) string { return "" }, Self: self, Backups: filepath.Join(home, "state", "hooks"), Now: time.Now}
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// settings are files as people have them.
var settings = map[string]struct{ agent, text string }{
	"claude: plain":                {"claude", "{\n  \"model\": \"opus\",\n  \"permissions\": {\n    \"allow\": [\"Bash(go test:*)\"]\n  }\n}\n"},
	"claude: empty object":         {"claude", "{}"},
	"claude: empty object, lines":  {"claude", "{\n}\n"},
	"claude: empty file":           {"claude", ""},
	"claude: one line":             {"claude", `{"model":"opus","env":{"A":"b"}}`},
	"claude: tabs":                 {"claude", "{\n\t\"theme\": \"dark\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n"},
	"claude: four blanks, no end":  {"claude", "{\n    \"theme\": \"dark\"\n}"},
	"claude: CRLF":                 {"claude", "{\r\n  \"theme\": \"dark\",\r\n  \"verbose\": true\r\n}\r\n"},
	"claude: BOM":                  {"claude", "\ufeff{\n  \"theme\": \"dark\"\n}\n"},
	"claude: numbers and escapes":  {"claude", "{\n  \"a\": 1.50e+10,\n  \"b\": \"\\u00e9 \\\"q\\\" \\/ <&>\",\n  \"c\": [ 1,2 ,3 ]\n}\n"},
	"claude: own hooks":            {"claude", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"afplay done.wav\" }\n        ]\n      }\n    ],\n    \"PreToolUse\": [{ \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"~/guard.sh\" }] }]\n  },\n  \"model\": \"opus\"\n}\n"},
	"claude: empty hooks":          {"claude", "{\n  \"hooks\": {},\n  \"model\": \"opus\"\n}\n"},
	"claude: empty hooks, lines":   {"claude", "{\n  \"hooks\": {\n  }\n}\n"},
	"claude: empty lists":          {"claude", "{\n  \"hooks\": { \"Stop\": [], \"PreToolUse\": [\n    ] }\n}\n"},
	"claude: hooks of other event": {"claude", "{\"hooks\":{\"ConfigChange\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]}]}}\n"},
	"claude: all in a row":         {"claude", "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"x\"}]},{\"hooks\":[]}]},\"z\":null}"},
	"gemini: comments":             {"gemini", "{\n  // my theme\n  \"ui\": { \"theme\": \"GitHub\" }, /* keep */\n  \"hooks\": {\n    // nothing yet\n    \"BeforeTool\": [\n      { \"matcher\": \"write_.*\", \"hooks\": [ { \"type\": \"command\", \"command\": \"x\" } ] }, // mine\n    ],\n  },\n}\n"},
	"gemini: comment at the end":   {"gemini", "{\n  \"a\": 1 // one\n}\n// bye\n"},
	"gemini: servers":              {"gemini", "{\n  \"mcpServers\": {\n    \"x\": { \"command\": \"node\", \"args\": [\"a.js\"] }\n  },\n  \"hooks\": { \"enabled\": true }\n}\n"},
	"codex: plain":                 {"codex", "model = \"gpt-5\"\napproval_policy = \"on-request\"\n\n[mcp_servers.x]\ncommand = \"npx\"\nargs = [\"-y\", \"x\"]\n"},
	"codex: comments, no end":      {"codex", "# mine\nmodel = 'gpt-5' # fast\n\n[projects.\"/home/me/a\"]\ntrust_level = \"trusted\""},
	"codex: CRLF":                  {"codex", "model = \"gpt-5\"\r\n\r\n[tui]\r\nnotifications = true\r\n"},
	"codex: own hooks and notify":  {"codex", "notify = [\"notify-send\", \"Codex\"]\n\n[[hooks.Stop]]\nmatcher = \"\"\n\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"echo done\"\n\n[hooks.state]\n\"x\" = { trusted_hash = \"sha256:1\" }\n"},
	"codex: long strings":          {"codex", "a = '''\n[[hooks.Stop]]\n# The hooks of davit\n'''\nb = \"\"\"\n[x]\n\"\"\"\nwhen = 2026-05-01T10:00:00Z\n"},
	"codex: empty file":            {"codex", ""},
	"codex: blank lines":           {"codex", "\n\nmodel = \"x\"\n\n\n"},
	"codex: one empty line":        {"codex", "\n"},
}

// TestRoundTrip: what install puts in remove takes out to the byte, and between them the
// file says what it said, and the hooks (spec session S3).
func TestRoundTrip(t *testing.T) {
	for name, tc := range settings {
		t.Run(name, func(t *testing.T) {
			p := place(t)
			a, _ := Find(tc.agent)
			path := p.path(a)
			put(t, path, tc.text, 0o640)
			r, err := Install(p, a)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Changed || r.State != Installed || Check(p, a).State != Installed {
				t.Fatalf("%+v", r)
			}
			with := content(t, path)
			if content(t, r.Backup) != tc.text {
				t.Error("the copy is not the file as it was")
			}
			for i, event := range a.Events {
				if !strings.Contains(with, event) || !strings.Contains(with, strings.Trim(jsonString(a.commands(self)[i]), `"`)) {
					t.Errorf("no hook for %s", event)
				}
			}
			if tc.agent == "codex" {
				var all map[string]any
				if err := toml.Unmarshal([]byte(with), &all); err != nil {
					t.Errorf("it is no TOML any more: %v\n%s", err, with)
				}
			} else if plain := strings.TrimPrefix(with, "\ufeff"); !strings.Contains(tc.text, "//") && !json.Valid([]byte(plain)) {
				t.Errorf("it is no JSON any more:\n%s", with)
			}
			if strings.Contains(tc.text, "\r\n") && strings.Count(with, "\n") != strings.Count(with, "\r\n") {
				t.Error("lines end in two ways")
			}
			if again, err := Install(p, a); err != nil || again.Changed || content(t, path) != with {
				t.Errorf("a second install changes the file: %+v %v", again, err)
			}
			if r, err = Remove(p, a); err != nil || !r.Changed {
				t.Fatalf("%+v %v", r, err)
			}
			if got := content(t, path); got != tc.text {
				t.Errorf("after remove it is\n%q\nwas\n%q", got, tc.text)
			}
			if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
				t.Errorf("its mode is %v", info.Mode())
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".davit-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestFresh: where there was no file there is none after remove.
func TestFresh(t *testing.T) {
	for _, a := range Agents() {
		p := place(t)
		if r := Check(p, a); r.State != Absent {
			t.Fatalf("%+v", r)
		}
		if r, err := Install(p, a); err != nil || r.State != Installed || r.Backup != "" || Check(p, a).State != Installed {
			t.Fatalf("%s: %+v %v", a.ID, r, err)
		}
		if r, err := Remove(p, a); err != nil || !r.Changed {
			t.Fatalf("%s: %+v %v", a.ID, r, err)
		}
		if _, err := os.Stat(p.path(a)); !os.IsNotExist(err) {
			t.Errorf("%s: the file is still there", a.ID)
		}
		if r, err := Remove(p, a); err != nil || r.Changed {
			t.Errorf("%s: a second remove %+v %v", a.ID, r, err)
		}
	}
}

// TestLaterChanges: the user, or the agent, changes the file between install and remove.
func TestLaterChanges(t *testing.T) {
	p := place(t)
	claude, _ := Find("claude")
	put(t, p.path(claude), "{\n  \"model\": \"opus\"\n}\n", 0o600)
	mustInstall(t, p, claude)
	text := strings.Replace(content(t, p.path(claude)), `"Stop": [`, `"Stop": [{ "hooks": [{ "type": "command", "command": "beep" }] },`, 1)
	text = strings.Replace(text, `"opus"`, `"sonnet"`, 1)
	put(t, p.path(claude), text, 0o600)
	if _, err := Remove(p, claude); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(content(t, p.path(claude))), &got); err != nil {
		t.Fatal(err)
	}
	if hooks := got["hooks"].(map[string]any); got["model"] != "sonnet" || len(hooks) != 1 || len(hooks["Stop"].([]any)) != 1 {
		t.Errorf("%v", got)
	}

	codex, _ := Find("codex")
	for name, tail := range map[string]string{"table": "\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n", "state": "\n[hooks.state.\"/x:stop:0:0\"]\ntrusted_hash = \"sha256:2\"\n", "hook": "\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"beep\"\n"} {
		for _, head := range []string{"model = \"x\"\n", "model = \"x\""} {
			put(t, p.path(codex), head, 0o600)
			mustInstall(t, p, codex)
			put(t, p.path(codex), content(t, p.path(codex))+tail, 0o600)
			if _, err := Remove(p, codex); err != nil {
				t.Fatal(err)
			}
			if got := content(t, p.path(codex)); got != "model = \"x\"\n"+tail {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
}

func mustInstall(t *testing.T, p Place, a Agent) {
	t.Helper()
	if _, err := Install(p, a); err != nil {
		t.Fatal(err)
	}
}

// TestOutdated: hooks of another davit are renewed in place, and go with one remove.
func TestOutdated(t *testing.T) {
	for _, id := range []string{"claude", "codex", "opencode"} {
		a, _ := Find(id)
		p := place(t)
		before := map[string]string{"claude": "{\n  \"model\": \"opus\"\n}\n", "codex": "model = \"x\"\n"}[id]
		if before != "" {
			put(t, p.path(a), before, 0o600)
		}
		old := p
		old.Self = "/old/davit"
		mustInstall(t, old, a)
		if r := Check(p, a); r.State != Outdated {
			t.Fatalf("%s: %+v", id, r)
		}
		mustInstall(t, p, a)
		if text := content(t, p.path(a)); strings.Contains(text, "/old/davit") || Check(p, a).State != Installed {
			t.Fatalf("%s is not renewed:\n%s", id, text)
		}
		if _, err := Remove(p, a); err != nil {
			t.Fatal(err)
		}
		if before != "" && content(t, p.path(a)) != before {
			t.Errorf("%s: %q", id, content(t, p.path(a)))
		}
	}
}

// TestSymlink: a dotfile that is a link stays one, and its target is written.
func TestSymlink(t *testing.T) {
	p := place(t)
	a, _ := Find("claude")
	target := filepath.Join(p.Home, "dotfiles", "claude.json")
	put(t, target, "{\"a\": 1}\n", 0o644)
	if err := os.MkdirAll(filepath.Dir(p.path(a)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, p.path(a)); err != nil {
		t.Fatal(err)
	}
	mustInstall(t, p, a)
	if info, err := os.Lstat(p.path(a)); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Fatal("the link is gone")
	}
	if !strings.Contains(content(t, target), "agent report") {
		t.Fatal("its target has no hooks")
	}
	if _, err := Remove(p, a); err != nil || content(t, target) != "{\"a\": 1}\n" {
		t.Fatalf("%v: %q", err, content(t, target))
	}
}

// TestRefused: what cannot be edited safely is left as it is, with what to add by hand
// (spec session S3).
func TestRefused(t *testing.T) {
	type file struct {
		agent, text string
		mode        os.FileMode
		also        func(t *testing.T, path string)
		says        string
	}
	for name, tc := range map[string]file{
		"broken":         {agent: "claude", text: "{\n  \"a\": 1,,\n}", says: "line 2"},
		"cut off":        {agent: "claude", text: "{\n  \"a\": {\n", says: "does not end"},
		"a list":         {agent: "claude", text: "[]", says: "no JSON object"},
		"hooks a word":   {agent: "claude", text: `{"hooks": true}`, says: "no object"},
		"hooks twice":    {agent: "claude", text: `{"hooks": {}, "hooks": {}}`, says: "more than one"},
		"an event twice": {agent: "claude", text: `{"hooks": {"Stop": [], "Stop": []}}`, says: "more than one"},
		"event no list":  {agent: "claude", text: `{"hooks": {"Stop": {}}}`, says: "no list"},
		"not UTF-8":      {agent: "claude", text: "{\"a\": \"\xff\"}", says: "UTF-8"},
		"two files":      {agent: "gemini", text: "{}{}", says: "follows"},
		"read-only":      {agent: "claude", text: "{}", mode: 0o444, says: "read-only"},
		"broken TOML":    {agent: "codex", text: "a = \n", says: "TOML"},
		"inline hooks":   {agent: "codex", text: "hooks = { Stop = [] }\n", says: "form"},
		"static list":    {agent: "codex", text: "[hooks]\nStop = [ { hooks = [] } ]\n", says: "form"},
		"somebody's":     {agent: "opencode", text: "export const Mine = 1\n", says: "not davit's"},
		"several names": {agent: "claude", text: "{}", says: "hard links", also: func(t *testing.T, path string) {
			if err := os.Link(path, path+".other"); err != nil {
				t.Fatal(err)
			}
		}},
		"a link to nowhere": {agent: "claude", text: "{}", says: "nowhere", also: func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+".gone", path); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := place(t)
			a, _ := Find(tc.agent)
			if tc.mode == 0 {
				tc.mode = 0o600
			}
			put(t, p.path(a), tc.text, tc.mode)
			if tc.also != nil {
				tc.also(t, p.path(a))
			}
			_, err := Install(p, a)
			if davit.CodeOf(err) != davit.CodeHooksRefused || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%v", err)
			}
			e := davit.AsError(err)
			if add, _ := e.Details["add"].(string); tc.agent != "opencode" && !strings.Contains(add, "agent report") {
				t.Errorf("there is nothing to add by hand: %+v", e)
			}
			if text, err := os.ReadFile(p.path(a)); err == nil && string(text) != tc.text {
				t.Errorf("it was changed: %q", text)
			}
		})
	}
}

// TestPlaces: agents that are told of another directory by a variable are followed there.
func TestPlaces(t *testing.T) {
	p := place(t)
	p.Getenv = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "XDG_CONFIG_HOME": "/d"}[name]
	}
	for id, want := range map[string]string{"claude": "/c/settings.json", "codex": "/x/config.toml", "gemini": p.Home + "/.gemini/settings.json", "opencode": "/d/opencode/plugin/davit.js"} {
		a, _ := Find(id)
		if got := p.path(a); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// TestCommand: the hook works in the shells that people have, takes its input, says
// nothing and ends well, in a davit pane and outside of one, with davit there and gone.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "it's davit")
	put(t, program, "#!/bin/sh\necho \"$@\" > '"+dir+"/args'\ncat > '"+dir+"/stdin'\necho noise\necho noise >&2\nexit 7\n", 0o755)
	for _, shell := range []string{"sh", "bash", "zsh", "fish", "dash"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here", shell)
			continue
		}
		for name, tc := range map[string]struct {
			self, pane string
			runs       bool
		}{"in a pane": {program, "p1", true}, "outside": {program, "", false}, "davit gone": {dir + "/gone", "p1", false}} {
			_ = os.Remove(dir + "/args")
			cmd := exec.Command(path, "-c", command(tc.self, "codex", "Stop"))
			cmd.Env = append(os.Environ(), "DAVIT_PANE="+tc.pane)
			cmd.Stdin = strings.NewReader(strings.Repeat("x", 1<<20)) // more than a pipe holds
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s, %s: %v %q", shell, name, err, out)
			}
			args, err := os.ReadFile(dir + "/args")
			if (err == nil) != tc.runs {
				t.Errorf("%s, %s: it ran: %v", shell, name, err == nil)
			}
			if tc.runs && (strings.TrimSpace(string(args)) != "agent report --agent codex --event Stop" || len(content(t, dir+"/stdin")) != 1<<20) {
				t.Errorf("%s: %q", shell, args)
			}
		}
	}
}

// TestPluginParses: the plugin is a module that node takes.
func TestPluginParses(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not here")
	}
	dir := t.TempDir()
	a, _ := Find("opencode")
	put(t, dir+"/davit.mjs", pluginForm{}.fresh(a, "/bin/true"), 0o600)
	put(t, dir+"/run.mjs", `import { DavitStatus } from "./davit.mjs";
const outside = await DavitStatus(); if (Object.keys(outside).length) throw new Error("it acts outside of davit");
process.env.DAVIT_PANE = "p1"; const hooks = await DavitStatus();
for (const type of ["session.created", "session.status", "permission.asked", "question.asked", "session.error", "session.idle", "odd"]) await hooks.event({ event: { type } });
console.log("fine");`, 0o600)
	cmd := exec.Command(node, dir+"/run.mjs")
	cmd.Env = append(os.Environ(), "DAVIT_PANE=")
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "fine" {
		t.Fatalf("%v %s", err, out)
	}
}

// TestRandomRoundTrip: whatever JSON there is, install and remove give it back.
func TestRandomRoundTrip(t *testing.T) {
	a, _ := Find("gemini")
	f := jsonForm{}
	rapid.Check(t, func(t *rapid.T) {
		space := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n\t", " /* c */ ", " // c\n"})
		var value func(depth int) string
		object := func(depth int, keys []string) string {
			var out strings.Builder
			out.WriteString("{" + space.Draw(t, "space"))
			for i, key := range keys {
				if i > 0 {
					out.WriteString("," + space.Draw(t, "space"))
				}
				out.WriteString(`"` + key + `":` + space.Draw(t, "space") + value(depth+1) + space.Draw(t, "space"))
			}
			return out.String() + "}"
		}
		value = func(depth int) string {
			kind := rapid.IntRange(0, 4).Draw(t, "kind")
			switch {
			case kind == 0 && depth < 4:
				return object(depth, []string{"x", "y"}[:rapid.IntRange(0, 2).Draw(t, "n")])
			case kind == 1 && depth < 4:
				return "[" + space.Draw(t, "space") + value(depth+1) + space.Draw(t, "space") + "]"
			}
			return rapid.SampledFrom([]string{"1", "null", `"a, }"`, `"\"//"`, "[]", "{}"}).Draw(t, "leaf")
		}
		text := object(0, []string{"a", "b", "c"}[:rapid.IntRange(0, 3).Draw(t, "keys")])
		if rapid.Bool().Draw(t, "hooks") {
			text = `{"hooks":` + space.Draw(t, "space") + `{` + space.Draw(t, "space") + `"AfterTool":[` + space.Draw(t, "space") + `]` + space.Draw(t, "space") + `}` + space.Draw(t, "space") + `}`
		}
		with, err := f.edit(text, a, self, true)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if has, err := f.has(with); err != nil || len(has) != len(a.Events) {
			t.Fatalf("%d hooks, %v", len(has), err)
		}
		if back, err := f.edit(with, a, self, false); err != nil || back != text {
			t.Fatalf("%v\n%q\n%q", err, back, text)
		}
	})
}

// FuzzEdit: no text makes an edit panic, or come back as another one.
func FuzzEdit(f *testing.F) {
	for _, tc := range settings {
		f.Add(tc.agent == "codex", tc.text)
	}
	f.Add(true, "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"DAVIT_PANE agent report \"\n")
	claude, _ := Find("claude")
	codex, _ := Find("codex")
	f.Fuzz(func(t *testing.T, isTOML bool, text string) {
		a := claude
		if isTOML {
			a = codex
		}
		if has, err := a.form.has(text); err != nil || len(has) > 0 {
			return
		}
		with, err := a.form.edit(text, a, self, true)
		if err != nil {
			return
		}
		if back, err := a.form.edit(with, a, self, false); text != "" && (err != nil || back != text) {
			t.Fatalf("%v: %q became %q", err, text, back)
		}
	})
}
