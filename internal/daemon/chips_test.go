package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"davit"
	"davit/internal/model"
	"davit/internal/testenv"
	"davit/internal/wire"

	"github.com/coder/websocket"
)

// chipScene is a home whose shells find a gh that counts its calls and does what a file
// says, and no other gh.
type chipScene struct {
	*scene
	repo, bin string
}

const (
	saysPull      = `echo '{"number":12,"url":"https://github.com/o/r/pull/12","state":"OPEN","title":"T"}'`
	saysSignedOut = `echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4`
)

func newChipScene(t *testing.T) *chipScene {
	t.Helper()
	testenv.Require(t, "git", "bash")
	s := &chipScene{scene: newScene(t)}
	s.repo, s.bin = filepath.Join(s.dir, "repo"), filepath.Join(s.dir, "bin")
	if err := os.MkdirAll(s.bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "bash", "git", "cat", "sleep", "env", "ls", "mkdir", "uname", "hostname", "sed", "rm"} {
		if path, err := exec.LookPath(name); err == nil {
			_ = os.Symlink(path, filepath.Join(s.bin, name))
		}
	}
	s.write(".bash_profile", "export PATH='"+s.bin+"'\n. ~/.bashrc\n")
	s.write(".bashrc", "PS1='$ '\n")
	s.write(".gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n")
	s.env = append(s.env, "PATH="+s.bin, "SHELL=/bin/bash")
	for _, args := range [][]string{{"init", "-q", s.repo}, {"-C", s.repo, "commit", "-q", "--allow-empty", "-m", "x"}, {"-C", s.repo, "checkout", "-q", "-b", "feat"}, {"-C", s.repo, "remote", "add", "origin", "git@github.com:o/r.git"}} {
		s.git(args...)
	}
	return s
}

func (s *chipScene) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(slices.Clone(s.env), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (s *chipScene) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// gh puts a gh in place. What it does for `pr view` is in body; all else succeeds.
func (s *chipScene) gh(body string) {
	s.t.Helper()
	path := filepath.Join(s.bin, "gh")
	script := "#!/bin/sh\n[ \"$1\" = pr ] || exit 0\necho x >> '" + filepath.Join(s.dir, "calls") + "'\n" + body + "\n"
	if err := os.WriteFile(path+".new", []byte(script), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}

func (s *chipScene) calls() int {
	data, _ := os.ReadFile(filepath.Join(s.dir, "calls"))
	return strings.Count(string(data), "\n")
}

func (s *chipScene) open() davit.PaneID {
	s.t.Helper()
	var opened wire.Opened
	if err := s.client.Call(s.t.Context(), "tab.open", wire.TabOpen{Directory: s.repo}, &opened); err != nil {
		s.t.Fatal(err)
	}
	s.prompt(opened.Panes[0])
	return opened.Panes[0]
}

func (s *chipScene) prompt(pane davit.PaneID) {
	s.t.Helper()
	if err := s.client.Call(s.t.Context(), "pane.wait", wire.PaneWait{Pane: pane, For: "prompt", Timeout: 60}, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *chipScene) run(pane davit.PaneID, line string) {
	s.t.Helper()
	if err := s.client.Call(s.t.Context(), "pane.write", wire.PaneWrite{Pane: pane, Text: line, Enter: true}, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *chipScene) revalidate() wire.ChipRevalidated {
	s.t.Helper()
	var said wire.ChipRevalidated
	if err := s.client.Call(s.t.Context(), "chips.revalidate", wire.ChipsRequest{Dir: s.repo, Path: s.bin}, &said); err != nil {
		s.t.Fatal(err)
	}
	return said
}

// viewer is a page: it follows the events, and shows what a page would.
type viewer struct {
	s    *chipScene
	conn *websocket.Conn

	mu    sync.Mutex
	state davit.State
	pongs int
	panes map[davit.PaneID]bool // that it shows
}

// say sends a frame.
func (v *viewer) say(f wire.ClientFrame) {
	v.s.t.Helper()
	data, err := json.Marshal(f)
	if err == nil {
		err = v.conn.Write(v.s.t.Context(), websocket.MessageText, data)
	}
	if err != nil {
		v.s.t.Fatal(err)
	}
}

// show shows a pane's terminal, as a page does.
func (v *viewer) show(pane davit.PaneID) {
	v.s.t.Helper()
	if !v.panes[pane] {
		v.panes[pane] = true
		v.say(wire.ClientFrame{Type: "subscribe", Pane: pane})
	}
}

func (s *chipScene) http() *http.Client {
	var info wire.HostInfo
	if err := s.client.Call(s.t.Context(), "host.info", wire.None{}, &info); err != nil {
		s.t.Fatal(err)
	}
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", info.Socket)
	}}}
}

func (s *chipScene) view() *viewer {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), "ws://davit/v1/stream", &websocket.DialOptions{HTTPClient: s.http()})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	v := &viewer{s: s, conn: conn, panes: map[davit.PaneID]bool{}}
	if err := conn.Write(s.t.Context(), websocket.MessageText, []byte(`{"type":"hello"}`)); err != nil {
		s.t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			var f wire.ServerFrame
			if json.Unmarshal(data, &f) != nil {
				continue
			}
			v.mu.Lock()
			if f.Type == "pong" {
				v.pongs++
			}
			if f.State != nil {
				v.state = *f.State
			}
			if f.Event != nil {
				v.state = model.Apply(v.state, *f.Event)
			}
			v.mu.Unlock()
		}
	})
	s.t.Cleanup(func() { _ = conn.CloseNow(); ended.Wait() })
	return v
}

// shows waits until the page is in a state, and its panes show this pull request.
func (v *viewer) shows(state davit.PRValidation, text string, panes ...davit.PaneID) {
	v.s.t.Helper()
	testenv.Eventually(v.s.t, patience, func() (bool, string) {
		v.mu.Lock()
		defer v.mu.Unlock()
		l := v.state.Layout
		ok := l.Validation == state && slices.Contains(l.Prompt, "github_pr") == (state != davit.PRSuppressed) && l.Badge == (state != davit.PRSuppressed)
		for _, pane := range panes {
			got := ""
			for _, c := range v.state.Chips[pane] {
				if c.Kind == "github_pr" {
					got = c.Text
				}
			}
			ok = ok && got == text
		}
		return ok, fmt.Sprintf("%+v %+v, want %s %q", l, v.state.Chips, state, text)
	})
}

// TestPullRequestOnEveryTab: spec chips C2.5, C4.3 and C4.4 with a real host, real shells
// and two pages: one gh for all tabs, none for a commit; signed out everything goes from
// every page at once, and a gh auth login in a terminal brings it back.
func TestPullRequestOnEveryTab(t *testing.T) {
	s := newChipScene(t)
	s.gh(saysPull)
	s.up()
	one, two := s.open(), s.open()
	if n := s.calls(); n != 0 {
		t.Errorf("%d calls with nobody looking", n) // C2.4
	}
	page, other := s.view(), s.view()
	page.shows(davit.PRValidated, "PR #12", one, two)
	other.shows(davit.PRValidated, "PR #12", one, two)
	s.run(one, "git commit -q --allow-empty -m second")
	s.prompt(one)
	three := s.open()
	page.shows(davit.PRValidated, "PR #12", one, two, three)
	if n := s.calls(); n != 1 {
		t.Errorf("%d calls of gh for three tabs and a commit", n)
	}

	s.gh(saysSignedOut)
	if said := s.revalidate(); said.Outcome != "unauthenticated_gh" || said.Layout.Validation != davit.PRSuppressed {
		t.Errorf("%+v", said)
	}
	page.shows(davit.PRSuppressed, "", one, two, three)
	other.shows(davit.PRSuppressed, "", one, two, three)
	n := s.calls()
	s.run(one, "git fetch --dry-run . HEAD; git push --help >/dev/null") // what invalidates runs nothing now
	s.prompt(one)

	s.kill() // the state is kept
	s.up()
	page = s.view()
	page.shows(davit.PRSuppressed, "", one, two, three)
	if now := s.calls(); now != n {
		t.Errorf("%d calls of gh while suppressed", now-n)
	}

	s.gh(saysPull)
	s.run(two, "gh auth login")
	page.shows(davit.PRValidated, "PR #12", one, two, three)
	s.checkMetrics(`davit_pr_chip_validation_total{from="suppressed",to="validated",cause="validated"} 1`, "davit_gh_calls_total")
	s.down()
}

func (s *chipScene) checkMetrics(want ...string) {
	s.t.Helper()
	res, err := s.http().Get("http://davit/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	for _, w := range want {
		if err != nil || !strings.Contains(string(data), w) {
			s.t.Errorf("%v: the metrics do not have %s:\n%s", err, w, data)
		}
	}
}

// banked is why the bank says that a chip shows nothing in a pane; "" when it may be shown.
func (s *chipScene) banked(pane davit.PaneID, kind string) string {
	s.t.Helper()
	var bank wire.ChipBank
	if err := s.client.Call(s.t.Context(), "chips.bank", wire.ChipsRequest{Pane: pane}, &bank); err != nil {
		s.t.Fatal(err)
	}
	for _, item := range bank.Items {
		if item.Kind == kind {
			return item.Reason
		}
	}
	s.t.Fatalf("the bank does not offer %s: %+v", kind, bank.Items)
	return ""
}

// TestGhAppearsInANewSession: spec chips C2.6 and C4.4: no session has gh; one that begins
// after it was installed brings the chip back. A layout of the user's own that names the
// chip keeps it all the while (C4.6), and is never rewritten.
func TestGhAppearsInANewSession(t *testing.T) {
	s := newChipScene(t)
	s.up()
	one := s.open()
	page := s.view()
	page.shows(davit.PRSuppressed, "", one)
	if reason := s.banked(one, "github_pr"); reason != "Requires the GitHub CLI" { // C3.2: offered all the same
		t.Errorf("without gh the bank says %q of the pull request", reason)
	}
	s.gh(saysPull)
	two := s.open()
	page.shows(davit.PRValidated, "PR #12", one, two)
	if reason := s.banked(two, "github_pr"); reason != "" {
		t.Errorf("with gh the bank says %q of the pull request", reason)
	}
	if reason := s.banked(two, "svn_branch"); reason != "Requires the `svn` command" { // C3.1: along the pane's own PATH, which is the scene's
		t.Errorf("the bank says %q of a chip without its program", reason)
	}

	own := []string{"cwd", "github_pr", "from_tomorrow"}
	var layout davit.ChipLayout
	if err := s.client.Call(t.Context(), "chips.setLayout", wire.ChipLayoutSet{Prompt: &own}, &layout); err != nil || !slices.Equal(layout.Prompt, own) {
		t.Fatal(layout, err)
	}
	s.gh(saysSignedOut)
	s.revalidate()
	testenv.Eventually(t, patience, func() (bool, string) {
		page.mu.Lock()
		defer page.mu.Unlock()
		l := page.state.Layout
		return l.Validation == davit.PRSuppressed && slices.Equal(l.Prompt, own) && l.Badge && slices.Equal(l.Custom, []string{"prompt"}) && !slices.Contains(l.Footer.Left, "github_pr"), fmt.Sprintf("%+v", l)
	})
	s.gh(saysPull) // its success validates, by the ordinary pace
	s.run(one, "gh pr checkout 12")
	testenv.Eventually(t, patience, func() (bool, string) {
		page.mu.Lock()
		defer page.mu.Unlock()
		return page.state.Layout.Validation == davit.PRValidated, fmt.Sprintf("%+v", page.state.Layout)
	})
	// The flag takes the kind away, and brings it back.
	for _, on := range []string{"false", "true"} {
		if err := s.client.Call(t.Context(), "settings.set", wire.Setting{Key: "github_pr_chip", Value: json.RawMessage(on)}, nil); err != nil {
			t.Fatal(err)
		}
		var got wire.Chips
		if err := s.client.Call(t.Context(), "chips.get", wire.ChipsRequest{Pane: one}, &got); err != nil {
			t.Fatal(err)
		}
		if has := slices.ContainsFunc(got.Chips, func(c davit.Chip) bool { return c.Kind == "github_pr" }); has != (on == "true") {
			t.Errorf("flag %s: %+v", on, got)
		}
	}
	var view wire.Setting
	if err := s.client.Call(t.Context(), "settings.set", wire.Setting{Key: "vertical_tabs", Value: json.RawMessage(`{"density":"compact"}`)}, &view); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, patience, func() (bool, string) {
		page.mu.Lock()
		defer page.mu.Unlock()
		v := page.state.TabView
		return v.Density == "compact" && v.ShowPRLink, fmt.Sprintf("%+v", v)
	})
	began := time.Now()
	s.kill()
	s.up()
	again := s.view()
	again.shows(davit.PRValidated, "")
	again.mu.Lock()
	if v := again.state.TabView; v.Density != "compact" || !slices.Equal(again.state.Layout.Prompt, own) {
		t.Errorf("after a restart of %s: %+v %+v", time.Since(began), v, again.state.Layout)
	}
	again.mu.Unlock()
	s.down()
}
