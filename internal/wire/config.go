package wire

import (
	"davit"
)

// ConfigList is config.list, sorted by name without regard to case.
type ConfigList struct {
	Configs []Config `json:"configs"`
	Faults  []Fault  `json:"faults" doc:"of the files that are not in the list"`
	Dirs    []string `json:"dirs" doc:"where configs are looked for"`

	Default     string `json:"default,omitempty" doc:"path of the config that a new tab opens; a plain shell when empty"`
	DefaultGone bool   `json:"defaultGone,omitempty" doc:"that file is not there any more: config.open without a name opens a shell and says so"`
}

// ConfigsRequest is config.list. Dir is where the caller is: the repository there may have
// configs of its own.
type ConfigsRequest struct {
	Dir string `json:"dir,omitempty"`
}

// Config is one tab config that can be opened.
type Config struct {
	Name        string  `json:"name"`
	Path        string  `json:"path"`
	Description string  `json:"description,omitempty"`
	Icon        string  `json:"icon,omitempty"`
	Color       string  `json:"color,omitempty"`
	Worktree    bool    `json:"worktree"`
	OnClose     bool    `json:"onClose"`
	Params      []Param `json:"params"`
	Warnings    []Fault `json:"warnings,omitempty"`
	Source      string  `json:"source"` // own | warp | repository
	Trust       string  `json:"trust,omitempty" doc:"of a repository's config: trusted, untrusted, or changed since it was trusted"`
	Digest      string  `json:"digest"`
	Default     bool    `json:"default,omitempty" doc:"what a new tab opens"`
}

// ConfigRef names a config file of config.list, by path. Digest, when given, is of the text
// that the caller saw: an act on another text is refused.
type ConfigRef struct {
	Path   string `json:"path" doc:"empty for config.setDefault: back to a plain shell"`
	Digest string `json:"digest,omitempty"`
}

// ConfigFile is the text of one config, and what is wrong with it: the answer of
// config.read, config.save, config.new and config.saveTab.
type ConfigFile struct {
	Path     string  `json:"path"`
	Text     string  `json:"text"`
	Digest   string  `json:"digest"`
	Faults   []Fault `json:"faults"`
	Editable bool    `json:"editable"`
	Trust    string  `json:"trust,omitempty"`
	Warning  string  `json:"warning,omitempty" doc:"of config.saveTab: what the config does otherwise than the tab"`
}

// ConfigSave is config.save. A text with faults is saved all the same, as an editor would;
// one that was changed on disk meanwhile is refused.
type ConfigSave struct {
	Path   string `json:"path"`
	Text   string `json:"text"`
	Digest string `json:"digest" doc:"of the text that this one replaces"`
}

// ConfigCheck is config.check: a text as it would be loaded, or a file.
type ConfigCheck struct {
	Path string  `json:"path,omitempty"`
	Text *string `json:"text,omitempty"`
}

// Faults answers it.
type Faults struct {
	Faults []Fault `json:"faults"`
}

// ConfigNew is config.new: a commented template. A name that is taken gets a number.
type ConfigNew struct {
	Name string `json:"name"`
}

// ConfigSaveTab is config.saveTab: tree, sizes, titles, colours, directories and focus of
// a tab; no commands, no [on_close] (spec tabs T6.4).
type ConfigSaveTab struct {
	Tab  davit.TabID `json:"tab"`
	Name string      `json:"name,omitempty" doc:"the tab's title when empty"`
}

// ConfigTrusted answers config.trust.
type ConfigTrusted struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// SkillList is skill.list; Skill is skill.get: texts for agents, such as the one that tells
// how tab configs are written.
type SkillList struct {
	Skills []Skill `json:"skills"`
}

// Skill is one of them; the list leaves the text out.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Text        string `json:"text,omitempty"`
}

// Param is one question of a config's form, in form order.
type Param struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Default     *string  `json:"default,omitempty"`
	Options     []string `json:"options,omitempty"`
	Last        *string  `json:"last,omitempty" doc:"the value of the last opening, to be offered; never of a secret"`
}

// Fault is one fault of a config file (spec tabs T1.3).
type Fault struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"` // error | warning
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Text     string `json:"text,omitempty" doc:"the fault as the CLI prints it, with the line and a caret"`
}

// OpenRequest is config.open.
type OpenRequest struct {
	Config            string            `json:"config" doc:"a file (with a slash or ending in .toml) or a name; the default config when empty, a plain shell when there is none"`
	Named             bool              `json:"named,omitempty" doc:"a person wrote the path of the file down: that is consent to a repository's config. Never for one chosen from a list"`
	Params            map[string]string `json:"params,omitempty"`
	Dir               string            `json:"dir,omitempty" doc:"the tab's start directory"`
	Print             bool              `json:"print,omitempty" doc:"answer the plan and run nothing"`
	CreateDirectories bool              `json:"createDirectories,omitempty"`
	Background        bool              `json:"background,omitempty"`
	Setup             string            `json:"setup,omitempty" doc:"run, skip or inherit: the setup script of the worktree that the config makes"`
}

// ValueFault is a value that does not fit its parameter: details.values of a refused
// config.open is a list of them, details.missing the names of those without a value.
type ValueFault struct {
	Param   string `json:"param"`
	Problem string `json:"problem" doc:"goes on from: the value"`
}

// Opened answers config.open without print; with print the answer is {plan}.
type Opened struct {
	TabID    davit.TabID     `json:"tabId,omitempty"`
	Panes    []davit.PaneID  `json:"panes,omitempty"`
	Worktree *davit.Worktree `json:"worktree,omitempty"`
	Launches []davit.Result  `json:"launches"`
	Plan     any             `json:"plan,omitempty"`
	Warnings []Fault         `json:"warnings,omitempty"`
}

// SetupRequest is worktree.setup: which setup script would a new worktree have?
type SetupRequest struct {
	In     string `json:"in,omitempty" doc:"a selector of the repository; the caller's own when empty"`
	Dir    string `json:"dir,omitempty"`
	Base   string `json:"base,omitempty"`
	Branch string `json:"branch,omitempty" doc:"one that is there already is checked out as it is, and its script counts"`
}

// Setup answers it. Script is empty when there is none, or when the file has faults.
type Setup struct {
	Path   string  `json:"path" doc:"where the repository has the file"`
	Script string  `json:"script,omitempty"`
	Text   string  `json:"text,omitempty" doc:"of the whole file: that is what is trusted"`
	Digest string  `json:"digest,omitempty"`
	Trust  string  `json:"trust,omitempty" doc:"trusted, untrusted, or changed: another text was allowed"`
	Faults []Fault `json:"faults"`
}

// SetupAllow is worktree.allowSetup: the text with this digest may run.
type SetupAllow struct {
	In     string `json:"in,omitempty"`
	Dir    string `json:"dir,omitempty"`
	Base   string `json:"base,omitempty"`
	Branch string `json:"branch,omitempty"`
	Digest string `json:"digest" doc:"of the text that the user has seen; another is refused"`
}
