package customs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"davit/internal/chip"
)

// TestCustomChips: spec chips C1, custom with the same policy keys; C2.1.
func TestCustomChips(t *testing.T) {
	list, faults := Load("config.toml", []byte(Example))
	want := []chip.CustomChip{{
		Policy: chip.Policy{
			Kind: "custom:weather", Title: "Weather", Icon: "sun", Requires: []string{"curl"}, Deadline: time.Second, Cap: 5 * time.Second,
			Refresh:       chip.Refresh{Every: 10 * time.Minute},
			InvalidatedBy: []chip.Invalidator{{Command: "git", Verbs: []string{"push"}}, {Command: "make", Verbs: []string{}}},
			Fingerprint:   []chip.Input{chip.InputCwd, chip.InputBranch, chip.InputInvalidated},
		},
		Source: chip.Source{Argv: []string{"curl", "-s", "https://wttr.in/?format=1"}},
	}}
	if len(faults) != 0 || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v\n%v", list, faults)
	}
	if p := list[0].Policy; !chip.Invalidates(p, "make all", nil) || chip.Invalidates(p, "git pull", nil) {
		t.Error("its commands are others")
	}
	list, faults = Load("config.toml", []byte("[[chips.custom]]\nname = 'a'\ncommand = 'echo $PWD | wc'\nrefresh = 'on_demand'\n"))
	if len(faults) != 0 || len(list) != 1 || list[0].Source.Shell != "echo $PWD | wc" || list[0].Policy.Title != "a" || list[0].Policy.Fingerprint != nil {
		t.Errorf("%+v\n%v", list, faults)
	}
	if list, faults = Load("config.toml", nil); len(list)+len(faults) != 0 {
		t.Errorf("an empty file: %v %v", list, faults)
	}
}

// TestFaults: each with its place, its words and, where there is one, its hint.
func TestFaults(t *testing.T) {
	head := "[[chips.custom]]\nname = \"a\"\ncommand = \"x\"\n"
	for text, want := range map[string]string{
		"[[chips.custom]]\nname = \"a\"\n":         `config.toml:1:9: error: a custom chip has no "command"`,
		"[[chips.custom]]\ncommand = \"a\"\n":      `config.toml:1:9: error: a custom chip has no "name"`,
		head + "tittle = \"b\"":                    `config.toml:4:1: error: unknown key "tittle" in a custom chip`,
		head + "deadline = \"soon\"":               `config.toml:4:12: error: "soon" is no duration`,
		head + "deadline = \"2h\"":                 `config.toml:4:12: error: 2h is out of bounds for "deadline"`,
		head + "refresh = \"1ms\"":                 `config.toml:4:11: error: 1ms is out of bounds for "refresh"`,
		head + "requires = \"git\"":                `config.toml:4:12: error: "requires" must be an array, not a string`,
		head + "requires = [\"a/b\"]":              `config.toml:4:12: error: "a/b" is not the name of a program`,
		head + "fingerprint = [\"branch\"]":        `config.toml:4:15: error: a fingerprint is not made of "branch"`,
		head + "invalidated_by = [\"a b c\"]":      `config.toml:4:18: error: "a b c" is not the name of a command`,
		head + "local_only = 1":                    `config.toml:4:14: error: "local_only" must be a boolean, not a number`,
		head + head:                                `config.toml:5:8: error: a chip of this name stands on line 1`,
		"[[chips.custom]]\nname=\"A\"\ncommand=[]": `config.toml:2:6: error: "A" cannot be the name of a chip`,
		"[chips]\ncustoms = 1":                     `config.toml:2:1: error: unknown key "customs" in [chips]`,
		"[chip]\n":                                 `config.toml:1:2: warning: unknown key "chip" in the file`,
		"chips = 1":                                `config.toml:1:9: error: "chips" must be a table, not a number`,
		"[[chips.custom]\n":                        `config.toml:1:`,
		"\xff":                                     `config.toml:1:1: error: the file is not UTF-8`,
		head + "invalidated_by = [\"make\"]":       `config.toml:4:18: warning: without a fingerprint the chip runs after every command anyway`,
	} {
		_, faults := Load("config.toml", []byte(text))
		if len(faults) == 0 || !strings.HasPrefix(faults[0].String(), want) {
			t.Errorf("%q: %v, want %s", text, faults, want)
		}
	}
	// One chip's fault leaves the others.
	list, faults := Load("config.toml", []byte("[[chips.custom]]\nname = \"bad\"\n"+head))
	if len(list) != 1 || list[0].Policy.Kind != "custom:a" || len(faults) != 1 {
		t.Errorf("%+v %v", list, faults)
	}
}

// TestExampleIsInTheGuide: what the guide shows is what is tested.
func TestExampleIsInTheGuide(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guide", "chips.md"))
	if err != nil || !strings.Contains(string(guide), "```toml\n"+Example+"```\n") {
		t.Errorf("%v: the guide shows another example", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(Example))
	f.Add([]byte("[[chips.custom]]\nname=''\ncommand=[1]\n[chips]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		list, _ := Load("config.toml", src)
		for _, c := range list {
			if c.Source.Program() == "" || c.Policy.Cap <= 0 || c.Policy.Deadline > c.Policy.Cap || strings.ContainsAny(c.Policy.Title, "\n\x1b") {
				t.Fatalf("%+v", c)
			}
		}
	})
}
