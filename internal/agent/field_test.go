package agent_test

import (
	"reflect"
	"slices"
	"testing"

	"davit/internal/agent"
)

// Each key of an entry says who set it: one that the user's table left alone is davit's, in
// a table too. What variables hold is not told.
func TestFields(t *testing.T) { // spec launch L8
	c := catalogue(t, `
[agents.claude]
args = "--add-dir ../docs"
env = { TOKEN = "s3cret" }
[agents.claude.options]
model = ["-m", "{value}"]
[agents.mine]
argv = ["mine", "--tui"]
`)
	byKey := func(a agent.Agent) map[string]agent.Field {
		all := map[string]agent.Field{}
		for _, f := range a.Fields() {
			all[f.Key] = f
		}
		return all
	}
	claude := byKey(find(t, c, "claude"))
	for key, want := range map[string]agent.Field{
		"name":           {Value: "Claude Code"},
		"argv":           {Value: []string{"claude"}},
		"args":           {Value: "--add-dir ../docs", Own: true},
		"env.TOKEN":      {Value: "(set)", Own: true},
		"options.model":  {Value: []string{"-m", "{value}"}, Own: true},
		"options.effort": {Value: []string{"--effort", "{value}"}},
		"ready.paste":    {Value: true},
		"hooks.kind":     {Value: "claude"},
		"resume":         {Value: []string{"--resume", "{id}"}},
	} {
		got := claude[key]
		if want.Key = key; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
	mine := byKey(find(t, c, "mine"))
	if f := mine["argv"]; !f.Own || !slices.Equal(f.Value.([]string), []string{"mine", "--tui"}) {
		t.Errorf("%+v", f)
	}
	if f := mine["prompt"]; f.Own || f.Value != string(agent.ModeStdin) { // left out: davit's default
		t.Errorf("%+v", f)
	}
}

// Without a default, what a list names comes first, and the practice agent last.
func TestFallback(t *testing.T) {
	agents := []agent.Agent{{ID: "aider"}, {ID: "claude", Offered: true}, {ID: "codex", Offered: true}, {ID: "practice", Practice: true}}
	for _, c := range []struct {
		there []string
		want  string
	}{
		{[]string{"practice", "codex", "aider", "claude"}, "claude"}, {[]string{"aider", "codex"}, "codex"},
		{[]string{"practice", "aider"}, "aider"}, {[]string{"practice"}, "practice"}, {nil, ""},
	} {
		if got := agent.Fallback(agents, func(i int) bool { return slices.Contains(c.there, agents[i].ID) }); got != c.want {
			t.Errorf("%q: %q, want %q", c.there, got, c.want)
		}
	}
	agents[1].Disabled = true
	if got := agent.Fallback(agents, func(int) bool { return true }); got != "codex" {
		t.Errorf("one that is switched off is skipped: %q", got)
	}
}

// A prompt is no word behind a subcommand that continues a session: it is pasted.
func TestPromptOfAResumedSession(t *testing.T) { // spec launch L8
	c := catalogue(t, "")
	for id, rides := range map[string]bool{"claude": true, "gemini": true, "codex": false, "practice": true} {
		a, say := find(t, c, id), "go on with it"
		command, err := a.Command(agent.CommandInput{Resume: "0198-x", Prompt: &say, SelfExe: "/bin/davit"})
		if err != nil || command.PromptRides != rides {
			t.Errorf("%s: %q, %v", id, command.Argv, err)
		}
		at := slices.IndexFunc(command.Argv, func(w string) bool { return w == "0198-x" })
		if said := slices.Index(command.Argv, say); at < 0 || rides != (said > at) {
			t.Errorf("%s: %q", id, command.Argv)
		}
	}
}
