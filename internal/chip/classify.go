package chip

import (
	"regexp"
	"slices"
	"strings"

	"davit"
)

// PRFacts is what is known about a place before gh is asked there.
type PRFacts struct {
	Remote   bool     // the session is on another machine
	Gh, Git  bool     // are found
	Decided  string   // why gh need not be asked, "" when it must be (C4.2, line 4)
	Host     string   // of the remote: github.com, octo.ghe.com, git.example.com
	SignedIn []string // hosts that gh has an account for
}

// PRRun is how gh ended. Ended is false for a run that was not started, had no answer in
// time, or was killed: Why says which.
type PRRun struct {
	Ended  bool
	Why    string
	Late   bool // there was no answer in time
	Exit   int
	Stdout []byte
	Stderr string
}

// Judgement is what one look for a pull request came to.
type Judgement struct {
	Verdict     Verdict // about the default of the chip
	Outcome     Outcome // of the run, for the chip itself
	Line        int     // of the table in C4.2 that decided
	Reason      string  // for a person
	SignedOut   bool    // gh has no account for this remote's host
	Limited     bool    // GitHub's rate limit
	PullRequest *davit.PullRequest
}

// Classify says what facts and result come to: the first line of spec chips C4.2 that
// holds wins. Of what gh printed only stderr and the exit status are believed, and of
// stdout whether it is a pull request.
func Classify(f PRFacts, r PRRun) Judgement {
	no := func(line int, outcome Outcome, reason string) Judgement {
		return Judgement{Verdict: VerdictNoChange, Outcome: outcome, Line: line, Reason: reason}
	}
	switch {
	case f.Remote:
		return no(1, Failed, ReasonRemote)
	case !f.Gh:
		return Judgement{Verdict: VerdictMissing, Outcome: Denied, Line: 2, Reason: ReasonNoGh}
	case !f.Git:
		return no(3, Failed, "Requires the `git` command")
	case f.Decided != "":
		return no(4, Succeeded, f.Decided)
	case !r.Ended && r.Late:
		return no(5, TimedOut, r.Why)
	case !r.Ended:
		return no(5, Failed, r.Why)
	}
	if pr, ok := ParsePullRequest(r.Stdout); ok && r.Exit == 0 {
		return Judgement{Verdict: VerdictValidated, Outcome: Succeeded, Line: 6, Reason: "gh found a pull request", PullRequest: &pr}
	}
	if noPullRequest.MatchString(r.Stderr) {
		return Judgement{Verdict: VerdictValidated, Outcome: Succeeded, Line: 6, Reason: "gh found no pull request"}
	}
	words := firstWords(r.Stderr)
	switch {
	case noRepository.MatchString(r.Stderr):
		return no(7, Failed, words)
	case trouble.MatchString(r.Stderr):
		j := no(8, Failed, words)
		j.Limited = rateLimit.MatchString(r.Stderr)
		return j
	case (signedOut.MatchString(r.Stderr) || r.Exit == exitAuth) && !aboutAnother(r.Stderr, f.Host):
		j := Judgement{Verdict: VerdictUnauthenticated, Outcome: Denied, Line: 9, Reason: ReasonSignedOut, SignedOut: true}
		if f.Host != githubHost && slices.Contains(f.SignedIn, githubHost) {
			j.Verdict = VerdictNoChange // one Enterprise host says nothing about the default
		}
		return j
	case r.Exit == 0:
		return no(10, Failed, "gh printed something that is no pull request")
	}
	return no(10, Failed, words)
}

// The reasons of a disabled chip (spec chips C3.1).
const (
	ReasonRemote    = "Requires a local session"
	ReasonNoGh      = "Requires the GitHub CLI"
	ReasonSignedOut = "Run gh auth login to sign in to GitHub"
)

const (
	githubHost = "github.com"
	exitAuth   = 4 // gh's own status for "not signed in"
)

// The words that gh and GitHub use, by the lines of C4.2.
var (
	noPullRequest = regexp.MustCompile(`(?i)\bno (open )?pull requests found`)
	noRepository  = regexp.MustCompile(`(?i:known GitHub host|no git remotes|could not determine base repo)|GH_HOST`)
	rateLimit     = regexp.MustCompile(`(?i)rate limit|abuse detection|\bHTTP 429\b`)
	trouble       = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`rate limit|abuse detection`,
		`\bSAML\b|\bSSO\b|single sign-on`,
		`(missing|required|granted the|needs the "?[\w:, "']+"?) scopes?\b`,
		`\bHTTP (403|404|407|429|5\d\d)\b`,
		`\bstatus(?: code)?:? (403|404|407|429|5\d\d)\b`,
		`\b(403 Forbidden|404 Not Found|50[0234] \w+ ?\w*)`,
		`could not resolve to a repository`,
		`no such host|name resolution|server misbehaving`,
		`x509:|\btls:|TLS handshake|certificate (is|has|signed)`,
		`proxyconnect|proxy authentication|\bproxy (error|server)`,
		`error connecting|connection (refused|reset|timed out)|i/o timeout|network is unreachable|no route to host|deadline exceeded`,
	}, "|"))
	signedOut = regexp.MustCompile(`(?i)not logged in|authentication required|(populate|set) the GH_TOKEN|\bHTTP 401\b|\bstatus(?: code)?:? 401\b|bad credentials`)
)

// A host is named by an address, or by gh's own advice.
var namedHost = regexp.MustCompile(`(?i)(?:https?://|not logged in(?:to)? (?:to )?|--hostname[ =]|\s-h )([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)+)`)

// aboutAnother says that a complaint names hosts, and none of them is this one.
func aboutAnother(stderr, host string) bool {
	named := false
	for _, m := range namedHost.FindAllStringSubmatch(stderr, -1) {
		switch h := HostOf(m[1]); h {
		case HostOf(host):
			return false
		case "docs.github.com", "cli.github.com", "githubstatus.com":
		default:
			named = true
		}
	}
	return named
}

// HostOf brings the names of one forge to one: lower case, without port, `www.`, and the
// `api.` and `ssh.` of github.com and of *.ghe.com.
func HostOf(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSuffix(name, ".")), ":")
	name = strings.TrimPrefix(name, "www.")
	for _, prefix := range []string{"api.", "ssh."} {
		rest, ok := strings.CutPrefix(name, prefix)
		if ok && (rest == githubHost || strings.HasSuffix(rest, ".ghe.com")) {
			return rest
		}
	}
	return name
}

// IsGitHub says that a host is GitHub's own: github.com, or a tenant of ghe.com.
func IsGitHub(host string) bool {
	host = HostOf(host)
	tenant, ok := strings.CutSuffix(host, ".ghe.com")
	return host == githubHost || ok && tenant != ""
}

// maxReason bounds the words of a program that are shown.
const maxReason = 200

// firstWords gives the first line that says something, fit to be shown.
func firstWords(stderr string) string {
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(Printable(line, maxReason)); line != "" {
			return line
		}
	}
	return "gh ended without a word"
}
