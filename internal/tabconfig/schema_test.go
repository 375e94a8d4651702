package tabconfig

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// beyondSchema are the faults that a schema of JSON cannot tell: what is no TOML, and what
// is about the tree, names, places and the machine.
func beyondSchema() []Code {
	return []Code{CodeTooLarge, CodeEncoding, CodeSyntax, CodeDuration, CodeEnvName, CodeParamDefault, CodeParamOptions, CodeSecretUse, CodeQuoting, CodeShellQuoting,
		CodeNoPanes, CodeDuplicateID, CodeChildren, CodeUnknownChild, CodeCycle, CodeLeafType, CodeSizes, CodeValue, CodeMore}
}

// An editor with the schema shows what Load shows: every good file fits it, and every fault
// of shape is one for it too (spec tabs T1.4).
func TestSchemaAgreesWithLoad(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	good, bad := 0, 0
	check := func(name string, src []byte) {
		var value map[string]any
		if err := toml.Unmarshal(src, &value); err != nil {
			return
		}
		_, faults := Load(name, src, testEnv())
		shape := slices.ContainsFunc(faults, func(f Fault) bool {
			return f.Severity == Error && !slices.Contains(beyondSchema(), f.Code)
		})
		switch err := schema.Validate(value); {
		case !HasErrors(faults):
			good++
			if err != nil {
				t.Errorf("%s is good, and the schema refuses it: %v", name, err)
			}
		case shape:
			bad++
			if err == nil {
				t.Errorf("%s has a fault of its shape, and the schema takes it: %v", name, faults)
			}
		}
	}
	files, err := filepath.Glob("testdata/warp/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check(file, src)
	}
	for _, f := range faultCases(t) {
		check(f.name, f.data)
	}
	check("worktree", []byte(worktreeConfig))
	check("template", []byte(strings.ReplaceAll(NewTemplate("x"), "\n# ", "\n#")))
	if good < 35 || bad < 10 {
		t.Errorf("%d good files and %d bad ones: where are the others?", good, bad)
	}
}
