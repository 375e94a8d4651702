package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// Each field of an intent that the command line carries is set by its flags, and by no
// other.
func TestEveryFieldHasItsFlag(t *testing.T) { // spec launch L1
	for field, args := range map[string][]string{
		"operationId":    {"--operation-id", "1764504000000-0123456789abcdef0123456789abcdef"},
		"host":           {"--host", "h_1"},
		"target":         {"--in", "path:/x"},
		"prompt":         {"--prompt", "x", "--draft"},
		"sessionOptions": {"--model", "m", "--effort", "e", "--option", "mode=plan"},
		"reuseTerminal":  {"--reuse", "term_1"},
		"agentArgs":      {"--args", ""},
		"cwd":            {"--cwd", "sub"},
		"resume":         {"--resume", "s-1"},
		"paneKey":        {"--pane-key", "t_0123456789abcdef:p_0123456789abcdef"},
		"sessionId":      {"--session-id", "practice_01234567_0123_0123_0123_0123456789ab"},
		"accountEnv":     {"--account-env", "A=b"},
		"surface":        {"--surface", "terminal"},
		"placement":      {"--group", "g", "--after", "t_1"},
		"presentation":   {"--background"},
	} {
		before, after := intentOf(t, nil), intentOf(t, args)
		var changed []string
		for name, value := range after {
			if name != "operationId" && !reflect.DeepEqual(before[name], value) || name == field && name == "operationId" && value == args[1] {
				changed = append(changed, name)
			}
		}
		if !slices.Equal(changed, []string{field}) {
			t.Errorf("%q set %q", args, changed)
		}
	}
	none, saved := intentOf(t, []string{"--no-args"}), intentOf(t, nil)
	if value, there := none["agentArgs"]; !there || value != nil {
		t.Errorf("--no-args: %v %v", value, there)
	}
	if _, there := saved["agentArgs"]; there {
		t.Error("agentArgs is not absent")
	}
	worktree := intentOf(t, []string{"--worktree=login", "--base", "main", "--branch", "b", "--remove-on-close", "--setup", "skip"})["target"]
	want := map[string]any{"kind": "create-worktree", "create": map[string]any{
		"repo": "active", "name": "login", "branch": "b", "baseBranch": "main", "removeOnClose": true, "setupDecision": "skip",
	}}
	if !reflect.DeepEqual(worktree, want) {
		t.Errorf("%v", worktree)
	}
}

func intentOf(t *testing.T, args []string) map[string]any {
	t.Helper()
	var f launchFlags
	cmd := &cobra.Command{}
	launchFlagsInto(cmd.Flags(), &f)
	cmd.Flags().StringVar(&f.resume, "resume", "", "")
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	in, err := (&app{dir: "/"}).intent(cmd, "practice", f)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	if in.LaunchSource != "cli" {
		t.Errorf("launchSource is %q", in.LaunchSource)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}
