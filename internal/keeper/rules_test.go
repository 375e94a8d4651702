package keeper

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The bounds and times that the rules name are those of a keeper that is told none (spec
// terminal P1.1, P1.3, P1.6).
func TestSpecifiedBounds(t *testing.T) {
	c := Config{}.withDefaults()
	if c.IdleExit != time.Minute || c.Look != 10*time.Second || c.Heard != 10*time.Second || c.Hold != time.Minute ||
		c.PTYAhead != 8<<20 || c.PipeAhead != 64<<20 {
		t.Errorf("%+v", c)
	}
	if inputBytes != 4<<20 || resizeEvery != 50*time.Millisecond || rememberActs != 1024 || troubleKeep != 1<<20 ||
		hangupWait != 2*time.Second || termWait != 3*time.Second || replyWindow != 2*time.Second {
		t.Error("a bound differs from the rules")
	}
}

// The last 1,024 acts of a pane are remembered with their answers, an older one is not, and
// one that is under way is never forgotten (spec terminal P1.2).
func TestActsRemembered(t *testing.T) {
	a := newActs(rememberActs)
	ask := func(id string) (fresh bool, answer string) {
		fresh = a.begin(id, "signal", "p", func(body json.RawMessage, _ *WireError) { answer = string(body) })
		return fresh, answer
	}
	if fresh, _ := ask("under way"); !fresh {
		t.Fatal("the first is not new")
	}
	for i := range rememberActs + 10 {
		id := fmt.Sprint(i)
		if fresh, _ := ask(id); !fresh {
			t.Fatalf("%s is not new", id)
		}
		a.settle(id, i, nil)
	}
	if fresh, _ := ask("under way"); fresh {
		t.Error("an act that is under way was begun again")
	}
	a.settle("under way", "late", nil)
	if fresh, answer := ask("under way"); fresh || answer != `"late"` {
		t.Errorf("its repeat: new %v, %s", fresh, answer)
	}
	for i := rememberActs + 9; i > 20; i-- {
		if fresh, answer := ask(fmt.Sprint(i)); fresh || answer != fmt.Sprint(i) {
			t.Fatalf("%d: new %v, answer %s", i, fresh, answer)
		}
	}
	ask("one more")
	if fresh, _ := ask("0"); !fresh {
		t.Error("everything is remembered: the keeper grows for ever")
	}
}

// No os/exec in the keeper: its wait would take statuses that are the loop's (spec terminal P1.8).
func TestNoOsExec(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if i.Path.Value == `"os/exec"` {
				t.Errorf("%s imports os/exec", file)
			}
		}
	}
}
