package wire

import (
	"davit"
)

// ChipsRequest is chips.get, by pane or by directory.
type ChipsRequest struct {
	Pane davit.PaneID `json:"pane,omitempty"`
	Dir  string       `json:"dir,omitempty"`
	Path string       `json:"path,omitempty" doc:"the caller's PATH"`

	Session map[string]string `json:"session,omitempty" doc:"what the caller's shell would tell: VIRTUAL_ENV, CONDA_DEFAULT_ENV, KUBECONFIG, SSH (user@host)"`
}

// Chips answers it.
type Chips struct {
	Chips      []davit.Chip `json:"chips"`
	Validation string       `json:"validation" doc:"unvalidated, validated or suppressed (spec chips C4.1)"`
	Shown      []string     `json:"shown,omitempty" doc:"the kinds of the effective prompt, in order"`
	Faults     []string     `json:"faults,omitempty" doc:"what is wrong with the chips of config.toml"`
}

// ChipLayoutSet is chips.setLayout. Absent parts stay as they are; a part that is the
// default of the moment is stored as the default (spec chips C4.6).
type ChipLayoutSet struct {
	Prompt    *[]string          `json:"prompt,omitempty"`
	Footer    *davit.FooterItems `json:"footer,omitempty"`
	CLIFooter *davit.FooterItems `json:"cliFooter,omitempty"`
	Reset     []string           `json:"reset,omitempty" doc:"prompt, footer or cliFooter: back to the default"`
}

// ChipRevalidated is chips.revalidate.
type ChipRevalidated struct {
	Layout  davit.ChipLayout `json:"layout"`
	Outcome string           `json:"outcome" doc:"validated, missing_gh, unauthenticated_gh or no_change (spec chips C4.2)"`
	Reason  string           `json:"reason,omitempty"`
}

// ChipBank is chips.bank: all that the editors of a prompt and of the footers offer, in the
// order in which it is offered.
type ChipBank struct {
	Items    []ChipBankItem       `json:"items"`
	Defaults []ChipLayoutDefaults `json:"defaults" doc:"what a reset gives at this moment"`
}

// ChipBankItem is a chip, or a footer item that is no chip.
type ChipBankItem struct {
	Kind    string   `json:"kind"`
	Title   string   `json:"title"`
	Example string   `json:"example,omitempty" doc:"for a preview, where it has no value"`
	Places  []string `json:"places" doc:"prompt, footer, cliFooter: where it may be put"`
	Chip    bool     `json:"chip" doc:"false: an item of a footer"`
	Icon    string   `json:"icon,omitempty" doc:"of the user's own chip"`
	Reason  string   `json:"reason,omitempty" doc:"why it shows nothing here at present; it can be added all the same"`
}

// ChipLayoutDefaults is the default of one place.
type ChipLayoutDefaults struct {
	Place string            `json:"place"`
	Items davit.FooterItems `json:"items" doc:"of a prompt all are at the left"`
}
