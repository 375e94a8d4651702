package chip

import (
	"slices"
	"testing"
)

// Spec chips C3.1, C3.2: a bank offers every kind, what is disabled with its reason, and the
// pull request in every validation state as long as its flag is on.
func TestBank(t *testing.T) {
	own := Policy{Kind: "custom:moon", Title: "Moon", Icon: "moon"}
	bank := Bank(append(Policies(), own), true, func(p Policy) string {
		if p.Kind == Node {
			return "Requires the `node` command"
		}
		return ""
	})
	seen := map[string]BankItem{}
	for _, item := range bank {
		if _, twice := seen[item.Kind]; twice || item.Title == "" || len(item.Places) == 0 {
			t.Errorf("%+v", item)
		}
		seen[item.Kind] = item
	}
	for _, p := range Policies() {
		item, there := seen[string(p.Kind)]
		if there == (p.Kind == Subshell) {
			t.Errorf("%s is offered: %v", p.Kind, there)
		}
		if there && item.Example == "" {
			t.Errorf("%s has nothing to preview", p.Kind)
		}
	}
	if seen["node"].Reason == "" || seen["github_pr"].Reason != "" || seen["custom:moon"].Icon != "moon" {
		t.Errorf("%+v", seen)
	}
	for _, place := range Places() {
		for _, name := range slices.Concat(Defaults(place, true, "").Left, Defaults(place, true, "").Right) {
			if name == string(Subshell) {
				continue // in the default, and drawn in a subshell
			}
			if item := seen[name]; !slices.Contains(item.Places, place) {
				t.Errorf("%s is in the default of the %s, and its bank has %+v", name, place, item)
			}
		}
	}
	off := Bank(Policies(), false, func(Policy) string { return "" })
	if slices.ContainsFunc(off, func(i BankItem) bool { return i.Kind == string(GitHubPR) }) {
		t.Error("with its flag off the kind does not exist")
	}
}
