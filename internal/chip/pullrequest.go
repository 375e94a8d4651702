package chip

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"davit"
)

// PullRequestFields are what gh is asked for.
const PullRequestFields = "number,url,state,isDraft,title,baseRefName,headRefName,statusCheckRollup"

// viewed is gh's answer to `pr view --json`.
type viewed struct {
	Number  int     `json:"number"`
	URL     string  `json:"url"`
	State   string  `json:"state"` // OPEN CLOSED MERGED
	IsDraft bool    `json:"isDraft"`
	Title   string  `json:"title"`
	Base    string  `json:"baseRefName"`
	Head    string  `json:"headRefName"`
	Rollup  []check `json:"statusCheckRollup"`
}

// check is a check run, or a status of the older kind (context, state).
type check struct {
	Type       string    `json:"__typename"`
	Name       string    `json:"name"`
	Workflow   string    `json:"workflowName"`
	Context    string    `json:"context"`
	Status     string    `json:"status"`     // QUEUED IN_PROGRESS COMPLETED …
	Conclusion string    `json:"conclusion"` // SUCCESS FAILURE …
	State      string    `json:"state"`      // of the older kind: SUCCESS FAILURE ERROR PENDING EXPECTED
	Started    time.Time `json:"startedAt"`
}

// ParsePullRequest reads gh's answer. It takes nothing for a pull request whose address is
// not a web address that ends in its own number. What is shown is cleaned of control
// characters and bounded.
func ParsePullRequest(stdout []byte) (davit.PullRequest, bool) {
	var v viewed
	decoder := json.NewDecoder(bytes.NewReader(stdout))
	if err := decoder.Decode(&v); err != nil || v.Number <= 0 {
		return davit.PullRequest{}, false
	}
	if number, ok := PullRequestNumber(v.URL); !ok || number != v.Number {
		return davit.PullRequest{}, false
	}
	pr := davit.PullRequest{
		Number: v.Number, URL: v.URL, Title: Printable(v.Title, 300), Base: Printable(v.Base, 255), Head: Printable(v.Head, 255),
		State: strings.ToLower(v.State),
	}
	switch pr.State {
	case "merged", "closed":
	default:
		pr.State = "open"
		if v.IsDraft {
			pr.State = "draft"
		}
	}
	countChecks(&pr, v.Rollup)
	return pr, true
}

// countChecks counts the newest run of each check.
func countChecks(pr *davit.PullRequest, rollup []check) {
	type name struct{ kind, workflow, name string }
	newest := map[name]check{}
	for _, c := range rollup {
		key := name{c.Type, c.Workflow, c.Name + c.Context}
		if old, seen := newest[key]; !seen || c.Started.After(old.Started) {
			newest[key] = c
		}
	}
	for _, c := range newest {
		verdict := c.State
		if c.Type == "CheckRun" || verdict == "" {
			verdict = c.Conclusion
			if !strings.EqualFold(c.Status, "COMPLETED") {
				verdict = ""
			}
		}
		switch strings.ToUpper(verdict) {
		case "SUCCESS", "NEUTRAL", "SKIPPED":
			pr.Passed++
		case "FAILURE", "ERROR", "TIMED_OUT", "CANCELLED", "ACTION_REQUIRED", "STARTUP_FAILURE":
			pr.Failed++
		default:
			pr.Open++
		}
	}
	switch {
	case pr.Failed > 0:
		pr.Checks = "failing"
	case pr.Open > 0:
		pr.Checks = "pending"
	case pr.Passed > 0:
		pr.Checks = "passing"
	}
}

// PullRequestNumber reads the number off a pull request's web address.
func PullRequestNumber(address string) (int, bool) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil {
		return 0, false
	}
	i := strings.LastIndex(u.Path, "/pull/")
	if i < 0 {
		return 0, false
	}
	digits, _, _ := strings.Cut(u.Path[i+len("/pull/"):], "/")
	number, err := strconv.Atoi(digits)
	if err != nil || number <= 0 || strconv.Itoa(number) != digits {
		return 0, false
	}
	return number, true
}

// NewPullRequest is the chip of a pull request.
func NewPullRequest(pr davit.PullRequest) davit.Chip {
	return davit.Chip{Kind: string(GitHubPR), Value: pr.URL, Text: "PR #" + strconv.Itoa(pr.Number), Status: davit.ChipReady,
		Data: &davit.ChipData{PullRequest: &pr}}
}

// Printable makes foreign text fit for a line: valid, without control and direction
// characters, at most limit characters long.
func Printable(text string, limit int) string {
	var b strings.Builder
	count := 0
	for _, r := range printable(text) {
		if count++; count > limit {
			return b.String() + ellipsis
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// printable leaves out what is no character to be seen.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
