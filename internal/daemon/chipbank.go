package daemon

import (
	"context"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/command"
	"davit/internal/wire"
)

// Bank is chips.bank: what the editors offer, and why some of it shows nothing in a pane at
// present (spec chips C3.1, C3.2). Executables are looked for along the pane's own PATH,
// else the login shell's (C2.6).
func (c *chips) Bank(ctx context.Context, in wire.ChipsRequest) (wire.ChipBank, error) {
	p := c.place(in.Pane)
	search, known := p.search, p.search != ""
	if in.Path != "" {
		search, known = in.Path, true
	}
	if !known {
		search, known = c.pulls.loginPath()
	}
	state := c.d.host.State()
	reason := func(policy chip.Policy) string {
		if policy.Kind == chip.GitHubPR {
			if withheld := chip.Withheld(state.Layout, c.choices.verdict()); withheld != "" {
				return withheld
			}
		}
		facts := chip.Facts{Remote: &p.remote}
		if known {
			facts.Found = map[string]bool{}
			for _, program := range policy.Requires {
				_, facts.Found[program] = command.Find(program, search)
			}
		}
		return chip.Available(policy, facts)
	}
	c.owns.read(ctx)
	policies := chip.Policies()
	for _, own := range c.owns.table.Load().list {
		policies = append(policies, own.Policy)
	}
	bank := wire.ChipBank{Items: []wire.ChipBankItem{}}
	for _, item := range chip.Bank(policies, state.Layout.PRChip, reason) {
		offered := wire.ChipBankItem{Kind: item.Kind, Title: item.Title, Example: item.Example, Chip: item.Chip, Icon: item.Icon, Reason: item.Reason}
		for _, place := range item.Places {
			offered.Places = append(offered.Places, string(place))
		}
		bank.Items = append(bank.Items, offered)
	}
	for _, place := range chip.Places() {
		items := chip.Defaults(place, state.Layout.PRChip, state.Layout.Validation)
		bank.Defaults = append(bank.Defaults, wire.ChipLayoutDefaults{Place: string(place), Items: davit.FooterItems{
			Left: append([]string{}, items.Left...), Right: append([]string{}, items.Right...),
		}})
	}
	return bank, nil
}
