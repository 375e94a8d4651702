package acp

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"davit"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fold is a conversation with what it gave, as the service drives it: a request of ours is
// noted before its answer comes.
type fold struct {
	c        *Conversation
	rows     []Row
	payloads map[string]string
	replies  []string
	answered []uint64
}

func newFold() *fold {
	return &fold{c: NewConversation("practice_1"), payloads: map[string]string{}}
}

func (f *fold) take(line string) Step {
	s := f.c.Take(Decode(Line{Data: []byte(line), To: uint64(len(line)) + 1}))
	f.rows = append(f.rows, s.Rows...)
	for _, p := range s.Payloads {
		f.payloads[p.Digest] = string(p.Data)
	}
	if s.Reply != nil {
		f.replies = append(f.replies, string(s.Reply))
	}
	if s.Answered != nil {
		f.answered = append(f.answered, s.Answered.ID)
	}
	return s
}

// do is a line of a script: a frame of the agent's, or one of davit's own acts.
func (f *fold) do(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "#":
	case "ask":
		id, method, _ := strings.Cut(rest, " ")
		f.rows = append(f.rows, f.c.Note(davit.JournalRequest, davit.JournalBody{Request: &davit.RPCRequest{Direction: "ours", ID: id, Method: method, State: "open"}}))
	case "user":
		f.rows = append(f.rows, f.c.UserMessage("op", rest))
	case "turn":
		f.rows = append(f.rows, f.c.BeginTurn(rest))
	case "end":
		f.rows = append(f.rows, f.c.EndTurn(rest, "", "")...)
	case "status":
		f.rows = append(f.rows, f.c.Note(davit.JournalStatus, davit.JournalBody{Status: davit.AgentStatus(rest)}))
	case "submit":
		f.rows = append(f.rows, f.c.Note(davit.JournalSubmission, davit.JournalBody{Submission: &davit.Submission{ID: rest}}))
	case "decide":
		item, choice, _ := strings.Cut(rest, " ")
		for _, ask := range f.c.Open() {
			if ask.Item == item || item == "first" {
				if row, _, err := f.c.Decide(ask.Item, ask.Revision, "answered", choice, "me", ""); err == nil {
					f.rows = append(f.rows, row)
				}
				break
			}
		}
	case "session":
		_, _ = f.c.ReadSession(json.RawMessage(rest))
	default:
		f.take(line)
	}
}

// stored gives rows the way the store gives them to Apply: numbered, through JSON, and with
// items one row of each item.
func stored(t interface{ Fatal(...any) }, rows []Row, items bool) []davit.JournalRow {
	var journal []davit.JournalRow
	at := map[string]int{}
	for i, r := range Merge(rows) {
		row := davit.JournalRow{Epoch: 1, Seq: uint64(i + 1), Kind: r.Kind, Item: r.Item, Revision: r.Revision, Turn: r.Turn, Body: r.Body}
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		row = davit.JournalRow{}
		if err := json.Unmarshal(text, &row); err != nil {
			t.Fatal(err)
		}
		known, seen := at[row.Item]
		if !items || !seen {
			at[row.Item] = len(journal)
			journal = append(journal, row)
			continue
		}
		if row.Body.At > 0 {
			row.Body.Text = fromUnits(journal[known].Body.Text, row.Body.At) + row.Body.Text
			row.Body.At = 0
		}
		journal[known] = row
	}
	return journal
}

// fromUnits is the beginning of a text, in UTF-16 units.
func fromUnits(text string, n int) string {
	for i, r := range text {
		if n <= 0 {
			return text[:i]
		}
		n -= units(string(r))
	}
	return text
}

func rebuilt(t interface{ Fatal(...any) }, f *fold, items bool) *fold {
	again := newFold()
	for _, row := range stored(t, f.rows, items) {
		again.c.Apply(row)
	}
	again.c.SetView(f.c.View())
	return again
}

// show is a row as golden files have it.
func show(r Row) string {
	body, _ := json.Marshal(r.Body)
	return string(r.Kind) + " " + r.Item + " r" + json.Number(itoa(r.Revision)).String() + " [" + r.Turn + "] " + string(body)
}

func itoa(n uint64) string { b, _ := json.Marshal(n); return string(b) }

func scripts(t testing.TB) map[string][]string {
	files, err := filepath.Glob("testdata/*.frames")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	all := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".frames")] = strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	}
	return all
}

// TestRecordings folds what agents sent and compares the rows with the golden files.
func TestRecordings(t *testing.T) { // spec session S1.1
	for name, lines := range scripts(t) {
		t.Run(name, func(t *testing.T) {
			f := newFold()
			for _, line := range lines {
				f.do(line)
			}
			var b strings.Builder
			for _, r := range f.rows {
				b.WriteString(show(r) + "\n")
			}
			for _, r := range f.replies {
				b.WriteString("reply " + r)
			}
			view, _ := json.Marshal(f.c.View())
			b.WriteString("view " + string(view) + "\n")
			file := filepath.Join("testdata", name+".rows")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Split(b.String(), "\n"); !reflect.DeepEqual(got, strings.Split(string(want), "\n")) {
				for i, line := range strings.Split(string(want), "\n") {
					if i >= len(got) || got[i] != line {
						t.Fatalf("line %d:\n%s\nwant\n%s\n(-update writes it anew)", i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), line)
					}
				}
				t.Fatal("more rows than wanted")
			}
		})
	}
}

// words are what the property tests are made of: everything that can come, in any order.
var words = []string{
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi 😀 "}}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"two"}}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"aGk="}}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"hologram"}}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm."}}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"earlier"}}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Write","kind":"edit","status":"pending","rawInput":{"a": 1},"content":[{"type":"diff","path":"/a","newText":"x\ny\n"}]}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","content":[{"type":"diff","path":"/a","oldText":"x\n","newText":"z\n"},{"type":"diff","path":"/b","newText":""}]}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"done"}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"dreaming","title":7,"locations":[{"path":"/x","line":3}],"content":[{"type":"content","content":{"type":"text","text":"out"}}]}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[{"content":"one","status":"completed","priority":"high"},{"content":"two","status":"pending"}]}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"current_mode_update","currentModeId":"plan"}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"telepathy","x":1}}}`,
	`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"usage_update","used":5,"size":10}}}`,
	`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c1","title":"Write /a"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`,
	`{"jsonrpc":"2.0","id":"x-8","method":"session/request_permission","params":{"toolCall":{"toolCallId":"c9"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}`,
	`{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{}}`,
	`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}`,
	`{"jsonrpc":"2.0","id":10,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}`,
	`{"jsonrpc":"2.0","id":1,"result":{}}`,
	`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"it broke"}}`,
	`{"jsonrpc":"2.0","id":3,"result":{}}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
	"npm warn no JSON", "\xff\xfe\x1b[31m", "",
	"ask 1 session/prompt", "ask 2 session/set_mode", "ask 3 session/load",
	"user Hello\nthere", "turn t1", "turn t2", "end end_turn", "end cancelled", "end exited",
	"status working", "submit s1", "submit s2", "decide first yes", "decide first no",
	`session {"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"plan","name":"Plan"}]}}`,
}

// TestRebuild: a restart at any place changes nothing that comes after it, whether the
// journal is read row by row or item by item.
func TestRebuild(t *testing.T) { // spec session S1.1, S1.9
	rapid.Check(t, func(t *rapid.T) {
		script := rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "script")
		at := rapid.IntRange(0, len(script)).Draw(t, "at")
		f := newFold()
		for _, line := range script[:at] {
			f.do(line)
		}
		again := []*fold{rebuilt(t, f, false), rebuilt(t, f, true)}
		before := len(f.rows)
		for _, line := range script[at:] {
			f.do(line)
		}
		for i, g := range again {
			for _, line := range script[at:] {
				g.do(line)
			}
			got, want := showAll(g.rows), showAll(f.rows[before:])
			if got != want {
				t.Fatalf("rebuilt by items=%v:\n%s\nwant\n%s", i == 1, got, want)
			}
			if !reflect.DeepEqual(g.c.Open(), f.c.Open()) {
				t.Fatalf("open %+v, want %+v", g.c.Open(), f.c.Open())
			}
		}
	})
}

func showAll(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(show(r) + "\n")
	}
	return b.String()
}

// TestMerge: what merged rows say together is what they said apart, and revisions grow.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFold()
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "script") {
			f.do(line)
		}
		whole := map[string]string{}
		for _, r := range f.rows {
			if isPiece(r) {
				whole[r.Item] = fromUnits(whole[r.Item], r.Body.At) + r.Body.Text
			}
		}
		merged, last := map[string]string{}, map[string]uint64{}
		for _, r := range Merge(f.rows) {
			if isPiece(r) {
				merged[r.Item] = fromUnits(merged[r.Item], r.Body.At) + r.Body.Text
			}
			if r.Revision <= last[r.Item] {
				t.Fatalf("%s goes from revision %d to %d", r.Item, last[r.Item], r.Revision)
			}
			last[r.Item] = r.Revision
		}
		if !reflect.DeepEqual(whole, merged) {
			t.Fatalf("merged %v, want %v", merged, whole)
		}
	})
}

// TestItemsAreOneThing: an item never changes its kind or its turn, and its revisions count
// from 1 without a gap.
func TestItemsAreOneThing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFold()
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(words), 0, 80).Draw(t, "script") {
			f.do(line)
		}
		last := map[string]Row{}
		for _, r := range f.rows {
			before, seen := last[r.Item]
			if r.Revision != before.Revision+1 || seen && (before.Kind != r.Kind || before.Turn != r.Turn && r.Item != "status") {
				t.Fatalf("%s after %s", show(r), show(before))
			}
			last[r.Item] = r
		}
	})
}
