// Package hooks puts davit's status hooks into the settings of coding agents, and takes
// them out again (spec session S3): Install, Remove and Check of one agent's file.
//
//	the user's file ─ Edit (text, pure) ─► the same file and our hooks ─ read back ─► written at once
//
// The file is edited as text: nothing else in it changes, and what Install put in Remove
// takes out to the byte. An edit is read back before it is written: the file must say what
// it said, and our hooks. What cannot be edited so is refused, with what to add by hand.
//
// It owns no goroutine. It refuses to write a file that its owner made read-only, that has
// several names, or that it cannot read; it deletes only the files that it made itself.
package hooks

import (
	"slices"
	"strings"
)

// Agent is an agent whose hooks davit can install.
type Agent struct {
	ID     string
	Name   string
	File   string   // of its settings, below its directory
	Home   string   // its directory, below the user's home
	Env    string   // the variable that names another directory; "" for none
	Events []string // that its hooks are installed for
	Note   string   // what the user has to do or know after an install
	millis bool     // its timeouts are in milliseconds
	form   form     // how its file is edited

}

// form is how a file is edited.
type form interface {
	// edit gives the text with the hooks (install) or without any of davit's.
	edit(text string, a Agent, self string, install bool) (string, error)
	// has tells the commands of davit's hooks in the text, in order.
	has(text string) ([]string, error)
	// byHand is what a person would add.
	byHand(a Agent, self string) string
}

// Agents lists those that are known, with the events of each that tell its status. The
// formats are those of the agents' manuals: Claude Code "Hooks reference" and "Settings",
// Codex "Hooks" (config.toml), Gemini CLI "Hooks reference", OpenCode "Plugins". Events
// that only new versions know are left out: an older one may refuse the whole file.
func Agents() []Agent {
	return []Agent{
		{
			ID: "claude", Name: "Claude Code", Home: ".claude", File: "settings.json", Env: "CLAUDE_CONFIG_DIR", form: jsonForm{},
			Events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Notification", "PreCompact", "SubagentStop", "Stop", "SessionEnd"},
			Note:   "Claude Code reads it when it is started next.",
		},
		{
			ID: "codex", Name: "Codex", Home: ".codex", File: "config.toml", Env: "CODEX_HOME", form: tomlForm{},
			Events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"},
			Note:   "Codex runs no hook that you have not reviewed: say /hooks in it once, and trust davit's.",
		},
		{
			ID: "gemini", Name: "Gemini CLI", Home: ".gemini", File: "settings.json", form: jsonForm{}, millis: true,
			Events: []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "PreCompress", "AfterAgent", "SessionEnd"},
			Note:   "Gemini CLI reads it when it is started next. Before its version 0.26 hooks have to be switched on there (tools.enableHooks).",
		},
		{
			ID: "opencode", Name: "OpenCode", Home: ".config/opencode", File: "plugin/davit.js", Env: "OPENCODE_CONFIG_DIR", form: pluginForm{},
			Note: "OpenCode reads it when it is started next.",
		},
	}
}

// Find gives one agent.
func Find(id string) (Agent, bool) {
	list := Agents()
	if i := slices.IndexFunc(list, func(a Agent) bool { return a.ID == id }); i >= 0 {
		return list[i], true
	}
	return Agent{}, false
}

// The script that every hook runs. Outside of a davit pane, and where davit is gone, it
// does nothing: it takes its input, says nothing and ends well. /bin/sh runs it because
// Codex gives a hook to the user's own shell, whichever that is. The path is $0, so that
// nothing has to be quoted twice.
const script = `if [ -n "$DAVIT_PANE" ] && [ -x "$0" ]; then "$0" agent report "$@"; else cat; fi >/dev/null 2>&1; exit 0`

// command is the hook of one event.
func command(self, agent, event string) string {
	return "/bin/sh -c " + quote(script) + " " + quote(self) + " --agent " + agent + " --event " + event
}

// isOurs knows a hook of davit's, whichever build installed it.
func isOurs(command string) bool {
	return strings.Contains(command, "DAVIT_PANE") && strings.Contains(command, " agent report ")
}

// quote makes one word of a POSIX shell, which fish and csh read alike.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'"'"'`) + "'" }

func (a Agent) commands(self string) []string {
	var list []string
	for _, event := range a.Events {
		list = append(list, command(self, a.ID, event))
	}
	return list
}

// timeout is how long the agent lets a hook of ours run. It needs a fraction of a second;
// this bounds a machine that stands still.
func (a Agent) timeout() int {
	if a.millis {
		return 5000
	}
	return 5
}
