package chip

import "slices"

// BankItem is something that a list may show: a chip, or a footer item that is no chip.
type BankItem struct {
	Kind    string
	Title   string
	Example string // a value as it may look, for a preview without one
	Places  []Place
	Chip    bool
	Icon    string // of the user's own chip
	Reason  string // why it would show nothing here; "" when it may be shown
}

// examples are what a preview shows of a kind that has no value.
var examples = map[Kind]string{
	Cwd: "~/src/harbor", User: "ada", Host: "lighthouse", SSH: "ada@lighthouse", Venv: "harbor", Conda: "base", Node: "v22.4.0",
	Date: "Tue Dec 01 2026", Time12: "03:48 pm", Time24: "15:48", GitBranch: "fog-signal", GitStatus: "fog-signal • ↑1 ↓2",
	GitDiff: "3 • +10 -2", GitHubPR: "PR #12", Kube: "staging", SVNBranch: "trunk", SVNDirty: "3", AgentPlan: "2 of 5",
}

// items are the footer items that are no chips (spec chips C4.5).
var items = []BankItem{
	{Kind: ItemInputMode, Title: "Input Mode", Example: "Send", Places: []Place{PlaceFooter}},
	{Kind: ItemContextUse, Title: "Context Used", Example: "38 %", Places: []Place{PlaceFooter}},
	{Kind: ItemModel, Title: "Model", Example: "Model", Places: []Place{PlaceFooter}},
	{Kind: ItemAttach, Title: "Attach a File", Example: "Attach", Places: []Place{PlaceFooter, PlaceCLIFooter}, Reason: "Attaching files is not built yet"},
	{Kind: ItemVoice, Title: "Dictation", Example: "Dictate", Places: []Place{PlaceFooter, PlaceCLIFooter}, Reason: "Dictation is not built yet"},
	{Kind: ItemFiles, Title: "File Tree", Example: "Files", Places: []Place{PlaceFooter, PlaceCLIFooter}, Reason: "The file tree is not built yet"},
	{Kind: ItemRichInput, Title: "Composer of Several Lines", Example: "Compose", Places: []Place{PlaceCLIFooter}, Reason: "The composer is not built yet"},
	{Kind: ItemSettings, Title: "Settings of the Footer", Example: "Settings", Places: []Place{PlaceCLIFooter}},
}

// bankOrder is the order of a bank's chips; kinds that are not in it stand behind.
var bankOrder = []Kind{Cwd, User, Host, SSH, GitBranch, GitStatus, GitDiff, GitHubPR, Date, Time12, Time24, Venv, Conda, Node, Kube, SVNBranch, SVNDirty, AgentPlan}

// Bank gives all that the editors offer, the user's own chips behind the known ones. While
// the flag is on the pull-request chip is there in every validation state (spec chips
// C3.2); what is disabled is there too, with its reason (C3.1). A subshell is told of where
// there is one, and is not offered.
func Bank(policies []Policy, flag bool, reason func(Policy) string) []BankItem {
	var bank []BankItem
	for _, p := range policies {
		if p.Kind == Subshell || p.Kind == GitHubPR && !flag {
			continue
		}
		item := BankItem{Kind: string(p.Kind), Title: p.Title, Example: examples[p.Kind], Places: Places(), Chip: true, Icon: p.Icon, Reason: reason(p)}
		if p.Kind == AgentPlan {
			item.Places = []Place{PlaceFooter}
		}
		bank = append(bank, item)
	}
	slices.SortStableFunc(bank, func(a, b BankItem) int { return rank(a.Kind) - rank(b.Kind) })
	return append(bank, items...)
}

func rank(kind string) int {
	if i := slices.Index(bankOrder, Kind(kind)); i >= 0 {
		return i
	}
	return len(bankOrder)
}
