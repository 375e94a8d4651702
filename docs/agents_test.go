package docs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"davit"
	"davit/internal/agent"
	"davit/internal/cli"
	"davit/internal/launch/intent"
	"davit/internal/tabconfig"
)

// TestAgentTable holds the list of agents in agents.md to the catalogue (spec launch L8).
func TestAgentTable(t *testing.T) {
	catalogue, err := agent.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("\n| Agent | Looked for | A prompt goes | Continues | As a chat | Tested | Installed by |\n|---|---|---|---|---|---|---|\n")
	for _, a := range catalogue.List() {
		cells := []string{
			a.Name + " `" + a.ID + "`", asCode(a.Detect...), asCode(string(a.Prompt)), asCode(strings.Join(a.Resume, " ")), "", "", strings.ReplaceAll(a.Install, "|", "\\|"),
		}
		if len(a.Needs) > 0 {
			cells[1] += " and " + asCode(a.Needs...)
		}
		if a.Structured.Driver == "acp" {
			cells[4] = "yes"
		}
		if a.Tested {
			cells[5] = "yes"
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	b.WriteString("\n")
	hold(t, "agents.md", "agents", b.String())
}

// asCode sets words as code; nothing for none.
func asCode(words ...string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "` or `") + "`"
}

// TestAgentExamples reads each agents.toml of the pages: without a fault, and each key of
// it is taken (spec launch L8).
func TestAgentExamples(t *testing.T) {
	checked := 0
	for _, path := range files(t, ".md") {
		for _, b := range blocks(path, read(t, path)) {
			if b.kind != "toml" || !strings.Contains(b.text, "[agents.") {
				continue
			}
			checked++
			catalogue, err := agent.Load([]byte(b.text))
			if err != nil {
				t.Errorf("%s: %v", b.place(), err)
				continue
			}
			for _, a := range catalogue.List() {
				if a.Line == 0 {
					continue
				}
				if _, err := a.Command(agent.CommandInput{SelfExe: "/bin/davit"}); err != nil {
					t.Errorf("%s: %s cannot be started: %v", b.place(), a.ID, err)
				}
				for _, f := range a.Fields() {
					if f.Own && f.Value == nil {
						t.Errorf("%s: %s.%s has no value", b.place(), a.ID, f.Key)
					}
				}
			}
		}
	}
	if checked < 1 {
		t.Error("the pages have no agents.toml; where is it?")
	}
}

// carrier is how one surface carries a field of an intent, or why it does not.
type carrier struct {
	by   []string // flags, names of the form's fields, or keys of a config
	says string   // in place of them
}

func by(names ...string) carrier       { return carrier{by: names} }
func not(because string) carrier       { return carrier{says: "no: " + because} }
func always(what string) carrier       { return carrier{says: what} }
func also(c carrier, s string) carrier { c.says = s; return c }

// launchFields says of each field how each surface carries it. The API carries them all.
var launchFields = []struct {
	field             string
	cli, page, config carrier
}{
	{"agent", also(by(), "the word behind `davit launch`"), by("agent"), by("agent")},
	{"operationId", by("operation-id"), always("minted"), always("minted")},
	{"host", by("host"), not("other hosts are not served yet"), not("other hosts are not served yet")},
	{"target", by("in", "worktree", "base", "branch", "remove-on-close", "setup", "folder"), by("where", "workspace", "name", "base", "branch", "folder", "removeOnClose"), by("directory", "worktree")},
	{"prompt", by("prompt", "prompt-file", "draft"), by("prompt", "draft"), by("prompt")},
	{"sessionOptions", by("model", "effort", "option"), by("model", "effort", "mode"), not("`args` of agents.toml hold for it")},
	{"reuseTerminal", by("reuse"), not("one types into the terminal that one sees"), not("a config opens panes of its own")},
	{"agentArgs", by("args", "no-args"), by("argsKind", "args"), not("`args` of agents.toml hold for it")},
	{"cwd", by("cwd"), by("cwd"), by("directory")},
	{"resume", by("resume"), by("resume"), not("an id is good once, a config many times")},
	{"launchSource", always("`cli`"), always("`web`"), always("`tab_config`")},
	{"paneKey", by("pane-key"), not("it is for programs"), always("of the config's pane")},
	{"sessionId", by("session-id"), not("it is for programs"), not("its agents are terminals")},
	{"accountEnv", by("account-env"), not("a form is no place for secrets"), not("`env` of agents.toml holds for it")},
	{"nativeChatDefault", not("`--surface` says it"), not("the form says which it takes"), not("its agents are terminals")},
	{"surface", by("surface"), by("surface"), always("a terminal")},
	{"placement", by("group", "after"), not("tabs are moved by hand"), by("group")},
	{"presentation", by("background"), always("`focused`"), not("`davit open --background` says it")},
}

// TestLaunchFields holds the table of fields and surfaces in receipts.md to the vocabulary,
// the flags, the form and the configs (spec launch L1).
func TestLaunchFields(t *testing.T) {
	var flags []string
	for _, c := range cli.Commands() {
		if c.Path == "launch" {
			for _, f := range c.Flags {
				flags = append(flags, f.Name)
			}
		}
	}
	var form string
	for _, name := range []string{"launch.tsx", "launchagents.tsx", "launchmore.tsx"} {
		form += read(t, filepath.Join(root, "web/src/parts", name))
	}
	keys := string(tabconfig.Schema())
	typ := reflect.TypeFor[davit.Intent]()
	var b strings.Builder
	b.WriteString("\n| Field | `davit launch` | Launch form | Pane of a tab config |\n|---|---|---|---|\n")
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		at := slices.IndexFunc(launchFields, func(f struct {
			field             string
			cli, page, config carrier
		}) bool {
			return f.field == name
		})
		if at < 0 {
			t.Fatalf("nothing is said of the field %s", name)
		}
		f := launchFields[at]
		for _, flag := range f.cli.by {
			if !slices.Contains(flags, flag) {
				t.Errorf("%s: there is no flag --%s", name, flag)
			}
		}
		for _, field := range f.page.by {
			if !strings.Contains(form, `name="`+field+`"`) && !strings.Contains(form, `key: "`+field+`"`) {
				t.Errorf("%s: the form has no field %q", name, field)
			}
		}
		for _, key := range f.config.by {
			if !strings.Contains(keys, `"`+key+`"`) {
				t.Errorf("%s: a config has no key %q", name, key)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, f.cli.words("--"), f.page.words(""), f.config.words(""))
	}
	if len(launchFields) != typ.NumField() {
		t.Errorf("%d fields are told of, there are %d", len(launchFields), typ.NumField())
	}
	b.WriteString("\n")
	hold(t, "receipts.md", "fields", b.String())
}

func (c carrier) words(prefix string) string {
	if len(c.by) == 0 {
		return c.says
	}
	words := make([]string, len(c.by))
	for i, name := range c.by {
		words[i] = "`" + prefix + name + "`"
	}
	return strings.Join(words, " ")
}

// TestLaunchSchema holds launch.schema.json to the one that davit prints.
func TestLaunchSchema(t *testing.T) { // spec launch L1, L2
	const path = "launch.schema.json"
	if !json.Valid(intent.Schema()) {
		t.Fatal("it is no JSON")
	}
	if read(t, path) == string(intent.Schema()) {
		return
	}
	if !*update {
		t.Fatalf("docs/%s is stale: run `go test ./docs -update`", path)
	}
	if err := os.WriteFile(path, intent.Schema(), 0o644); err != nil {
		t.Fatal(err)
	}
}
