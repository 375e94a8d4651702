package chip

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"davit"
)

const aPullRequest = `{"baseRefName":"main","headRefName":"feat","isDraft":false,"number":12,"state":"OPEN","statusCheckRollup":[],"title":"not logged in: HTTP 401","url":"https://github.com/o/r/pull/12"}`

// said is what gh printed, and where that is on record.
type said struct {
	Source string `toml:"source"` // owner/name#issue of GitHub, or where else
	Stderr string `toml:"stderr"`
	Exit   int    `toml:"exit"`
	Line   int    `toml:"line"` // of spec chips C4.2
	Why    string `toml:"why"`
}

// recorded are messages of gh and of GitHub behind it, as users reported them.
func recorded(t testing.TB) []said {
	t.Helper()
	data, err := os.ReadFile("testdata/gh-messages.toml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Message []said `toml:"message"`
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Message
}

// composed are messages in the words of gh's own source, and such as nobody has reported.
var composed = []said{
	{"a branch that says something else", `no pull requests found for branch "fix-HTTP 401-bad credentials"`, 1, 6, ""},
	{"cli/cli, pkg/cmd/pr", "could not determine base repo: no git remotes found", 1, 7, ""},
	{"cli/cli, advice after SAML", "HTTP 403: Resource protected by organization SAML enforcement.\nAuthorize in your web browser:  https://github.com/enterprises/acme/sso?authorization_request=AB", 1, 8, ""},
	{"cli/cli, GraphQL scopes", "GraphQL: Your token has not been granted the required scopes to execute this query. The 'login' field requires one of the following scopes: ['read:org']", 1, 8, ""},
	{"cli/cli, gh project", "error: your authentication token is missing required scopes [read:project]\nTo request it, run:  gh auth refresh -s read:project", 1, 8, ""},
	{"public code that calls gh", "HTTP 502: 502 Bad Gateway (https://api.github.com/graphql)", 1, 8, ""},
	{"gh, DNS", `Post "https://api.github.com/graphql": dial tcp: lookup api.github.com: no such host`, 1, 8, ""},
	{"systemd-resolved", `Post "https://api.github.com/graphql": dial tcp: lookup api.github.com on 127.0.0.53:53: server misbehaving`, 1, 8, ""},
	{"ghlint, MissingGhToken", "gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable. Example:\n  env:\n    GH_TOKEN: ${{ github.token }}", 4, 9, ""},
	{"public code that calls gh, automation", "gh: To use GitHub CLI in automation, set the GH_TOKEN environment variable.", 4, 9, ""},
	{"public code that calls gh, status", "You are not logged into any GitHub hosts. To log in, run: gh auth login", 1, 9, ""},
	{"gh", "You are not logged in to any GitHub hosts", 1, 9, ""},
	{"gh, GraphQL", "GraphQL: authentication required; run gh auth login", 1, 9, ""},
	{"exit status alone, in another language", "Um mit der GitHub-Befehlszeile zu beginnen, melden Sie sich an", 4, 9, ""},
	{"exit status alone, without a word", "", 4, 9, ""},
	{"gh: the bare words", "To get started with GitHub CLI, run: gh auth login", 1, 10, ""},
	{"a gh that is too old", "unknown flag: --json", 1, 10, ""},
	{"another host's sign-in", "HTTP 401: Bad credentials (https://git.example.com/api/graphql)\nTry authenticating with:  gh auth login -h git.example.com", 1, 10, ""},
	{"another host's sign-in, by status", "not logged in to git.example.com. To log in, run: gh auth login -h git.example.com", 4, 10, ""},
	{"a crash", "panic: runtime error: invalid memory address or nil pointer dereference", 2, 10, ""},
	{"an empty answer", "", 1, 10, ""},
}

var verdictOfLine = map[int]Verdict{5: VerdictNoChange, 6: VerdictValidated, 7: VerdictNoChange, 8: VerdictNoChange, 9: VerdictUnauthenticated, 10: VerdictNoChange}

// TestClassifyMessages: spec chips C4.2, lines 6 to 10, by words that are on record.
func TestClassifyMessages(t *testing.T) {
	messages := recorded(t)
	if len(messages) < 60 {
		t.Fatalf("only %d messages are on record", len(messages))
	}
	onRecord := regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+`)
	for _, m := range messages {
		if !onRecord.MatchString(m.Source) || m.Why == "" {
			t.Errorf("where is it on record, and why is its outcome so? %+v", m)
		}
	}
	facts := PRFacts{Gh: true, Git: true, Host: "github.com"}
	for _, m := range append(messages, composed...) {
		for _, text := range []string{m.Stderr, m.Stderr + "\n", "\nA new release of gh is available: 2.23.0 → 2.95.0\nTo upgrade, run: brew update && brew upgrade gh\nhttps://github.com/cli/cli/releases/tag/v2.95.0\n\n" + m.Stderr} {
			if strings.Contains(text, "new release") && m.Line == 10 && strings.Contains(m.Stderr, "git.example.com") {
				continue // the notice names github.com, which is this remote's own host
			}
			j := Classify(facts, PRRun{Ended: true, Exit: m.Exit, Stderr: text})
			if j.Line != m.Line || j.Verdict != verdictOfLine[m.Line] {
				t.Errorf("%s: line %d, %s; want line %d, %s\n%s", m.Source, j.Line, j.Verdict, m.Line, verdictOfLine[m.Line], text)
			}
			if j.Reason == "" || strings.ContainsAny(j.Reason, "\n\x1b") {
				t.Errorf("%s: reason %q", m.Source, j.Reason)
			}
		}
	}
}

// TestClassifyLines: spec chips C4.2, the first line that holds wins.
func TestClassifyLines(t *testing.T) {
	good := PRRun{Ended: true, Stdout: []byte(aPullRequest)}
	signedOut := PRRun{Ended: true, Exit: 4, Stderr: "To get started with GitHub CLI, please run:  gh auth login"}
	here := PRFacts{Gh: true, Git: true, Host: "github.com"}
	with := func(change func(*PRFacts)) PRFacts { f := here; change(&f); return f }
	for _, c := range []struct {
		name    string
		facts   PRFacts
		run     PRRun
		line    int
		verdict Verdict
		outcome Outcome
		reason  string
	}{
		{"remote beats a missing gh", PRFacts{Remote: true}, PRRun{}, 1, VerdictNoChange, Failed, "Requires a local session"},
		{"no gh beats no git", PRFacts{}, PRRun{}, 2, VerdictMissing, Denied, "Requires the GitHub CLI"},
		{"no gh beats a place without anything to ask", PRFacts{Decided: "HEAD is detached"}, PRRun{}, 2, VerdictMissing, Denied, "Requires the GitHub CLI"},
		{"no git", PRFacts{Gh: true}, PRRun{}, 3, VerdictNoChange, Failed, "Requires the `git` command"},
		{"decided without gh", with(func(f *PRFacts) { f.Decided = "no remote is on GitHub" }), signedOut, 4, VerdictNoChange, Succeeded, "no remote is on GitHub"},
		{"late", here, PRRun{Late: true, Why: "gh did not answer within 5s", Stderr: "not logged in", Exit: 4}, 5, VerdictNoChange, TimedOut, "gh did not answer within 5s"},
		{"not started", here, PRRun{Why: "exec format error"}, 5, VerdictNoChange, Failed, "exec format error"},
		{"a pull request", here, good, 6, VerdictValidated, Succeeded, "gh found a pull request"},
		{"and an upgrade notice", here, PRRun{Ended: true, Stdout: []byte(aPullRequest), Stderr: "A new release of gh is available: 2.23.0 → 2.95.0"}, 6, VerdictValidated, Succeeded, ""},
		{"a pull request of a run that failed", here, PRRun{Ended: true, Exit: 1, Stdout: []byte(aPullRequest), Stderr: "write: broken pipe"}, 10, VerdictNoChange, Failed, ""},
		{"the words of line 6 on stdout", here, PRRun{Ended: true, Exit: 1, Stdout: []byte("no pull requests found")}, 10, VerdictNoChange, Failed, ""},
		{"the words of line 9 on stdout", here, PRRun{Ended: true, Exit: 1, Stdout: []byte("HTTP 401: Bad credentials")}, 10, VerdictNoChange, Failed, ""},
		{"other JSON", here, PRRun{Ended: true, Stdout: []byte(`{"message":"hello"}`)}, 10, VerdictNoChange, Failed, ""},
		{"an address of something else", here, PRRun{Ended: true, Stdout: []byte(`{"number":12,"url":"https://github.com/o/r/issues/12"}`)}, 10, VerdictNoChange, Failed, ""},
		{"HTML", here, PRRun{Ended: true, Stdout: []byte("<html><body>Sign in</body></html>")}, 10, VerdictNoChange, Failed, ""},
		{"nothing at all", here, PRRun{Ended: true}, 10, VerdictNoChange, Failed, ""},
		{"6 before 7 and 9", here, PRRun{Ended: true, Exit: 4, Stderr: "no pull requests found; GH_HOST; not logged in"}, 6, VerdictValidated, Succeeded, ""},
		{"7 before 8 and 9", here, PRRun{Ended: true, Exit: 4, Stderr: "could not determine base repo: HTTP 404, not logged in"}, 7, VerdictNoChange, Failed, ""},
		{"8 before 9", here, PRRun{Ended: true, Exit: 4, Stderr: "HTTP 401: API rate limit exceeded"}, 8, VerdictNoChange, Failed, ""},
		{"signed out", here, signedOut, 9, VerdictUnauthenticated, Denied, "Run gh auth login to sign in to GitHub"},
		{"signed out of an Enterprise host, in to github.com", with(func(f *PRFacts) { f.Host, f.SignedIn = "git.example.com", []string{"github.com"} }),
			PRRun{Ended: true, Exit: 1, Stderr: "HTTP 401: Bad credentials (https://git.example.com/api/graphql)"}, 9, VerdictNoChange, Denied, "Run gh auth login to sign in to GitHub"},
		{"signed out of an Enterprise host and of github.com", with(func(f *PRFacts) { f.Host = "git.example.com" }),
			PRRun{Ended: true, Exit: 1, Stderr: "HTTP 401: Bad credentials (https://git.example.com/api/graphql)"}, 9, VerdictUnauthenticated, Denied, ""},
		{"signed out of github.com, in to an Enterprise host", with(func(f *PRFacts) { f.SignedIn = []string{"git.example.com"} }), signedOut, 9, VerdictUnauthenticated, Denied, ""},
		{"a tenant's api host is its own", with(func(f *PRFacts) { f.Host = "octo.ghe.com" }),
			PRRun{Ended: true, Exit: 1, Stderr: "HTTP 401: Bad credentials (https://api.octo.ghe.com/graphql)"}, 9, VerdictUnauthenticated, Denied, ""},
		{"a host named like a proxy", with(func(f *PRFacts) { f.Host = "proxy.example.com" }),
			PRRun{Ended: true, Exit: 1, Stderr: "not logged in to proxy.example.com"}, 9, VerdictUnauthenticated, Denied, ""},
	} {
		j := Classify(c.facts, c.run)
		if j.Line != c.line || j.Verdict != c.verdict || j.Outcome != c.outcome || (c.reason != "" && j.Reason != c.reason) {
			t.Errorf("%s: line %d %s %s %q; want line %d %s %s %q", c.name, j.Line, j.Verdict, j.Outcome, j.Reason, c.line, c.verdict, c.outcome, c.reason)
		}
		if (j.PullRequest != nil) != (c.line == 6 && len(c.run.Stdout) > 0 && c.run.Exit == 0) {
			t.Errorf("%s: pull request %v", c.name, j.PullRequest)
		}
		if j.SignedOut != (j.Line == 9) {
			t.Errorf("%s: signed out %v", c.name, j.SignedOut)
		}
	}
}

func TestParsePullRequest(t *testing.T) {
	pr, ok := ParsePullRequest([]byte(`{"number":7,"url":"https://github.com/o/r/pull/7","state":"OPEN","isDraft":true,"title":"A\u0000 \u202etitle\nover lines","baseRefName":"main","headRefName":"x",
		"statusCheckRollup":[
		{"__typename":"CheckRun","name":"build","workflowName":"ci","status":"COMPLETED","conclusion":"FAILURE","startedAt":"2026-01-01T10:00:00Z"},
		{"__typename":"CheckRun","name":"build","workflowName":"ci","status":"COMPLETED","conclusion":"SUCCESS","startedAt":"2026-01-01T11:00:00Z"},
		{"__typename":"CheckRun","name":"lint","workflowName":"ci","status":"IN_PROGRESS","conclusion":"","startedAt":"2026-01-01T11:00:00Z"},
		{"__typename":"CheckRun","name":"docs","workflowName":"ci","status":"COMPLETED","conclusion":"SKIPPED"},
		{"__typename":"StatusContext","context":"ci/old","state":"ERROR"}]}`))
	want := davit.PullRequest{Number: 7, URL: "https://github.com/o/r/pull/7", Title: "A title over lines", State: "draft", Base: "main", Head: "x", Checks: "failing", Passed: 2, Failed: 1, Open: 1}
	if !ok || pr != want {
		t.Errorf("%v %+v\nwant %+v", ok, pr, want)
	}
	for state, want := range map[string]string{"OPEN": "open", "MERGED": "merged", "CLOSED": "closed", "": "open"} {
		pr, ok := ParsePullRequest([]byte(`{"number":1,"url":"http://git.example.com/o/r/pull/1/","state":"` + state + `","statusCheckRollup":null}`))
		if !ok || pr.State != want || pr.Checks != "" {
			t.Errorf("%s: %v %+v", state, ok, pr)
		}
	}
	for address, want := range map[string]int{
		"https://github.com/o/r/pull/12": 12, "https://github.com/o/r/pull/12/files?x#y": 12, "https://github.com/pull/pull/pull/3": 3,
		"https://github.com/o/r/issues/12": 0, "https://github.com/o/r/pull/x": 0, "https://github.com/o/r/pull/0": 0, "https://github.com/o/r/pull/012": 0,
		"javascript:alert(1)//pull/1": 0, "file:///o/r/pull/1": 0, "https://user@github.com/o/r/pull/1": 0, "": 0, "https:///pull/1": 0, "%": 0,
	} {
		if n, ok := PullRequestNumber(address); n != want || ok != (want > 0) {
			t.Errorf("%s: %d %v", address, n, ok)
		}
	}
	c := NewPullRequest(pr)
	if c.Text != "PR #7" || c.Value != pr.URL || c.Data.PullRequest.Title != pr.Title || Prompt(c) != "PR #7" {
		t.Errorf("%+v", c)
	}
}

func FuzzClassify(f *testing.F) {
	for _, m := range append(recorded(f), composed...) {
		f.Add([]byte(aPullRequest), m.Stderr, m.Exit)
	}
	f.Fuzz(func(t *testing.T, stdout []byte, stderr string, exit int) {
		j := Classify(PRFacts{Gh: true, Git: true, Host: "github.com"}, PRRun{Ended: true, Exit: exit, Stdout: stdout, Stderr: stderr})
		if j.Line < 6 || j.Line > 10 || j.Reason == "" || strings.ContainsAny(j.Reason, "\n\r\x1b\x00") {
			t.Errorf("%+v", j)
		}
		if pr := j.PullRequest; pr != nil && (!strings.HasPrefix(pr.URL, "http") || pr.Number <= 0 || strings.ContainsAny(pr.Title, "\n\x1b")) {
			t.Errorf("%+v", pr)
		}
		now := time.Unix(1_800_000_000, 0)
		if until := RateLimit(stderr, now); until.Before(now) || until.After(now.Add(longestLimit)) {
			t.Errorf("until %s", until)
		}
	})
}

// TestRateLimit: spec chips C2.5, until the time that it names.
func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"GraphQL: API rate limit exceeded for user ID 1":                              15 * time.Minute,
		"You have exceeded a secondary rate limit. Please wait a few minutes":         5 * time.Minute,
		"rate limit exceeded, x-ratelimit-reset: 1796041800":                          30 * time.Minute,
		"rate limit exceeded. It resets at 2026-11-30T12:20:00Z":                      20 * time.Minute,
		"API rate limit exceeded; try again after 2026-11-30 12:10:00 UTC":            10 * time.Minute,
		"rate limit: reset at 2026-11-30T14:10:00+02:00":                              10 * time.Minute,
		"secondary rate limit, Retry-After: 60":                                       time.Minute,
		"rate limit exceeded, try again in 35m12s":                                    35*time.Minute + 12*time.Second,
		"rate limit exceeded, resets in 5 minutes":                                    5 * time.Minute,
		"rate limit exceeded, resets at 2031-01-01T00:00:00Z":                         longestLimit,
		"rate limit exceeded, retry after 99999999":                                   longestLimit,
		"rate limit exceeded, it was reset at 2020-01-01T00:00:00Z":                   time.Second,
		"rate limit exceeded, resets at 2026-99-99T00:00:00Z (which is no time)":      15 * time.Minute,
		"API rate limit exceeded for user ID 12345678. (HTTP 403) request 9C31:8954C": 15 * time.Minute,
	} {
		if got := RateLimit(text, now).Sub(now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestPace: spec chips C2.5, at most every 60 s by timer, 10 s after an invalidation,
// backoff after failures, a rate limit stops it.
func TestPace(t *testing.T) {
	t0 := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name string
		past Past
		want time.Duration // after t0; -1 never
	}{
		{"timer", Past{Began: t0}, 60 * time.Second},
		{"invalidated", Past{Began: t0, Invalidated: true}, 10 * time.Second},
		{"one failure", Past{Began: t0, Failures: 1}, 2 * time.Minute},
		{"three failures", Past{Began: t0, Failures: 3}, 8 * time.Minute},
		{"many failures", Past{Began: t0, Failures: 1000}, 16 * time.Minute},
		{"many failures, then a push", Past{Began: t0, Failures: 1000, Invalidated: true}, 10 * time.Second},
		{"denied", Past{Began: t0, Settled: true}, -1},
		{"denied, then gh auth login", Past{Began: t0, Settled: true, Invalidated: true}, 10 * time.Second},
		{"limited", Past{Began: t0, Until: t0.Add(time.Hour)}, time.Hour},
		{"limited, then a push", Past{Began: t0, Invalidated: true, Until: t0.Add(time.Hour)}, time.Hour},
		{"a limit that is over", Past{Began: t0, Until: t0.Add(time.Second)}, 60 * time.Second},
		{"fifty branches at one forge", Past{Began: t0, Peers: 50}, 5 * time.Minute},
	} {
		at, ever := PullRequestPace().Due(c.past)
		if !ever && c.want == -1 {
			continue
		}
		if got := at.Sub(t0); !ever || got != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, got, ever, c.want)
		}
	}
	if at, ever := PullRequestPace().Due(Past{}); !ever || !at.IsZero() {
		t.Errorf("never asked: %s %v", at, ever)
	}
}
