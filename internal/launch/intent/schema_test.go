package intent

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"davit"
)

// schemaOf compiles a part of the schema.
func schemaOf(t *testing.T, part string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("launch.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("launch.json#/$defs/" + part)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fits(t *testing.T, s *jsonschema.Schema, raw string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s.Validate(doc)
}

// The schema names each field of the vocabulary, and no other.
func TestSchemaHasEveryField(t *testing.T) { // spec launch L1, L2
	var doc struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Properties map[string]any
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	names := func(typ reflect.Type) (list []string) {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			list = append(list, name)
		}
		slices.Sort(list)
		return list
	}
	check := func(where string, got map[string]any, typ reflect.Type) {
		var have []string
		for name := range got {
			if !strings.HasPrefix(where, "Create") || !slices.Contains(strippedKeys, name) {
				have = append(have, name)
			}
		}
		slices.Sort(have)
		if want := names(typ); !slices.Equal(have, want) {
			t.Errorf("%s: the schema has %q, the vocabulary %q", where, have, want)
		}
	}
	for part, typ := range map[string]reflect.Type{
		"Intent": reflect.TypeFor[davit.Intent](), "Result": reflect.TypeFor[davit.Result](),
		"CreateWorktree": reflect.TypeFor[davit.CreateWorktree](), "CreateFolder": reflect.TypeFor[davit.CreateFolder](),
	} {
		all := map[string]any{}
		for name := range doc.Defs[part].Properties {
			all[name] = nil
		}
		check(part, all, typ)
	}
	for field, typ := range map[string]reflect.Type{
		"outcome": reflect.TypeFor[davit.Outcome](), "receipt": reflect.TypeFor[davit.Receipt](), "prompt": reflect.TypeFor[davit.PromptReceipt](),
		"placement": reflect.TypeFor[davit.PlacementResult](), "worktree": reflect.TypeFor[davit.WorktreeRef](),
	} {
		check("Result."+field, doc.Defs["Result"].Properties[field].Properties, typ)
	}
}

// What the schema takes is decoded, and what it refuses is refused, with few exceptions:
// those that are named.
func TestSchemaAgreesWithDecode(t *testing.T) { // spec launch L1, L1.1
	s := schemaOf(t, "Intent")
	existing := `"target":{"kind":"existing","worktree":"active"}`
	create := `"target":{"kind":"create-worktree","create":{"repo":"active"}}`
	for raw, good := range map[string]bool{
		`{` + existing + `}`:                                                                                                    true,
		`{"agent":"x",` + existing + `}`:                                                                                        true,
		`{"agent":" ",` + existing + `}`:                                                                                        false,
		`{"agent":"x"}`:                                                                                                         false,
		`{"Agent":"x",` + existing + `}`:                                                                                        false,
		`{"agent":"x","yolo":1,` + existing + `}`:                                                                               false,
		`{"agent":"x","agentArgs":null,` + existing + `}`:                                                                       true,
		`{"agent":"x","agentArgs":"-v",` + existing + `}`:                                                                       true,
		`{"agent":"x","agentArgs":7,` + existing + `}`:                                                                          false,
		`{"agent":"x","cwd":null,` + existing + `}`:                                                                             false,
		`{"agent":"x","resume":"0198",` + existing + `}`:                                                                        true,
		`{"agent":"x","resume":"-r",` + existing + `}`:                                                                          false,
		`{"agent":"x","prompt":{"text":"a","delivery":"draft"},` + existing + `}`:                                               true,
		`{"agent":"x","prompt":{"text":"a","delivery":"later"},` + existing + `}`:                                               false,
		`{"agent":"x","prompt":{"text":"a"},` + existing + `}`:                                                                  false,
		`{"agent":"x","prompt":{"text":"a","delivery":"draft","more":1},` + existing + `}`:                                      false,
		`{"agent":"x","sessionOptions":{"model":"m"},` + existing + `}`:                                                         true,
		`{"agent":"x","sessionOptions":{"model":7},` + existing + `}`:                                                           false,
		`{"agent":"x","accountEnv":{"A=":"m"},` + existing + `}`:                                                                false,
		`{"agent":"x","placement":7,` + existing + `}`:                                                                          true,
		`{"agent":"x","placement":null,` + existing + `}`:                                                                       true,
		`{"agent":"x","surface":"chat",` + existing + `}`:                                                                       false,
		`{"agent":"x","nativeChatDefault":false,` + existing + `}`:                                                              true,
		`{"agent":"x","reuseTerminal":{"handle":"term_1"},` + existing + `}`:                                                    true,
		`{"agent":"x","reuseTerminal":{"handle":""},` + existing + `}`:                                                          false,
		`{"agent":"x","paneKey":"t_1:p_1",` + existing + `}`:                                                                    false,
		`{"agent":"x","paneKey":"t_0123456789abcdef:p_0123456789abcdef",` + existing + `}`:                                      true,
		`{"agent":"x",` + create + `}`:                                                                                          true,
		`{"agent":"x","target":{"kind":"create-worktree","worktree":"a","create":{"repo":"active"}}}`:                           false,
		`{"agent":"x","target":{"kind":"create-worktree","create":{"repo":"active","startupAgent":null,"removeOnClose":true}}}`: true,
		`{"agent":"x","target":{"kind":"create-worktree","create":{"repo":"active","force":true}}}`:                             false,
		`{"agent":"x","target":{"kind":"create-worktree","create":{}}}`:                                                         false,
		`{"agent":"x","target":{"kind":"create-folder-workspace","create":{"path":"/d","launchSource":1}}}`:                     true,
		`{"agent":"x","target":{"kind":"create-folder-workspace","create":{"path":"/d","repo":"x"}}}`:                           false,
		`{"agent":"x","target":{"kind":"existing","worktree":"a","workspacePath":"/"}}`:                                         false,
		`{"agent":"x","target":{"kind":"clone"}}`:                                                                               false,
	} {
		_, decoded := Decode(json.RawMessage(raw))
		if err := fits(t, s, raw); (err == nil) != good || (decoded == nil) != good {
			t.Errorf("%s: the schema says %v, the decoder %v", raw, err, decoded)
		}
	}
	// What only the decoder can tell: it is in the schema's description.
	for _, raw := range []string{
		`{"agent":"x",` + create + `,"reuseTerminal":{"handle":"term_1"}}`,
		`{"agent":"x",` + create + `,"cwd":"/etc"}`,
		`{"agent":"x","sessionId":"y_01234567_0123_0123_0123_0123456789ab",` + existing + `}`,
	} {
		if _, err := Decode(json.RawMessage(raw)); err == nil || fits(t, s, raw) != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSchemaAgreesWithCheckResult(t *testing.T) { // spec launch L2.4
	s := schemaOf(t, "Result")
	for _, change := range [][2]string{
		{"", ""}, {`"term_1"`, `""`}, {`"kind":"terminal"`, `"kind":"chat"`}, {`"kind":"terminal"`, `"kind":"structured"`},
		{`"kind":"terminal"`, `"kind":"structured","sessionId":"s"`}, {`"handed-to-terminal"`, `"delivered"`}, {`"handed-to-terminal"`, `"journaled"`},
		{`"handed-to-terminal"`, `"journaled","messageId":"m"`}, {`"handed-to-terminal"`, `"journaled","messageId":""`}, {`"tui_launch_command"`, `"a newer reason"`},
		{`"worktreeId":"wt"`, `"worktreeId":null`}, {`"worktreeId":"wt"`, `"worktreeId":"wt","newer":{}`}, {`"path":"/w"`, `"path":7`},
	} {
		raw := strings.Replace(goodResult, change[0], change[1], 1)
		_, checked := CheckResult([]byte(raw))
		if err := fits(t, s, raw); (err == nil) != (checked == nil) {
			t.Errorf("%s: the schema says %v, the reader %v", raw, err, checked)
		}
	}
}
