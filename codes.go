package davit

// Code is a stable word for one condition. Scripts match on it; messages may change.
type Code string

// CodeInfo is what docs/errors.md says of a code, and how the two outer edges show it.
type CodeInfo struct {
	Code    Code
	HTTP    int    // status of the API's problem document
	Exit    int    // exit status of the CLI (see docs/cli.md)
	Meaning string // one sentence
	Made    string // whether anything may have been made: "nothing", "maybe", or what
	Do      string // what to do
}

// The codes, by area. Each stands in the table below it too; a test holds them together.
const (
	// General.
	CodeInternal     Code = "internal"
	CodeUsage        Code = "usage"
	CodeInvalid      Code = "invalid_request"
	CodeNotFound     Code = "not_found"
	CodeUnauthorized Code = "unauthorized"
	CodeForbidden    Code = "forbidden"
	CodeRateLimited  Code = "rate_limited"
	CodeUnsupported  Code = "unsupported"
	CodeNotServedYet Code = "not_served_yet"
	CodeHostDown     Code = "host_not_running"
	CodeHostRunning  Code = "host_already_running"
	CodeSocketTaken  Code = "socket_taken"
	CodeHomeUnusable Code = "home_unusable"
	CodeShuttingDown Code = "shutting_down"

	// Store.
	CodeStoreNewer   Code = "store_newer"
	CodeStoreDamaged Code = "store_damaged"

	// Panes and the keeper.
	CodePaneNotFound      Code = "pane_not_found"
	CodePaneEnded         Code = "pane_ended"
	CodePaneLost          Code = "pane_lost"
	CodePaneNoPrompt      Code = "pane_no_prompt"
	CodePaneLineUnknown   Code = "pane_line_unknown"
	CodePaneNotShell      Code = "pane_not_shell"
	CodePaneBusy          Code = "pane_busy"
	CodePaneIsChat        Code = "pane_is_chat"
	CodePaneLineTooLong   Code = "pane_line_too_long"
	CodePaneSpawnFailed   Code = "pane_spawn_failed"
	CodeOutputGap         Code = "output_gap"
	CodeWaitTimeout       Code = "wait_timeout"
	CodeKeeperUnreachable Code = "keeper_unreachable"
	CodePaneExists        Code = "pane_exists"
	CodePaneRunning       Code = "pane_running"
	CodePaneInputTooLarge Code = "pane_input_too_large"
	CodeKeeperForeign     Code = "keeper_socket_foreign"
	CodeKeeperStart       Code = "keeper_start_failed"
	CodeKeeperProtocol    Code = "keeper_protocol"
	CodeKeeperVersion     Code = "keeper_version"
	CodeKeeperWrongHome   Code = "keeper_wrong_home"
	CodeKeeperSuperseded  Code = "keeper_superseded"
	CodeKeeperReadOnly    Code = "keeper_read_only"
	CodeKeeperIDReused    Code = "keeper_id_reused"
	CodeKeeperRunning     Code = "keeper_panes_running"

	// Tabs and tab configs.
	CodeTabNotFound          Code = "tab_not_found"
	CodeTabAmbiguous         Code = "tab_ambiguous"
	CodeGroupNotFound        Code = "group_not_found"
	CodeClosePlanLost        Code = "tab_close_plan_would_be_lost"
	CodeTabCloseConfirm      Code = "tab_close_needs_confirmation"
	CodeNothingToUndo        Code = "nothing_to_undo"
	CodeConfigInvalid        Code = "config_invalid"
	CodeConfigNotFound       Code = "config_not_found"
	CodeConfigAmbiguous      Code = "config_ambiguous"
	CodeConfigMissingParam   Code = "config_missing_parameters"
	CodeConfigUnknownParam   Code = "config_unknown_parameter"
	CodeConfigOpenFault      Code = "config_open_fault"
	CodeConfigUntrusted      Code = "config_untrusted"
	CodeConfigChanged        Code = "config_changed"
	CodeConfigProtected      Code = "config_protected"
	CodeNoticeNotFound       Code = "notice_not_found"
	CodeNoticeActionUnknown  Code = "notice_action_unknown"
	CodeCleanupNotRepeatable Code = "cleanup_not_repeatable"

	// Launching (spec launch L6, L10).
	CodeAgentUnknown          Code = "agent_unknown"
	CodeAgentNotInstalled     Code = "agent_not_installed"
	CodeAgentDisabled         Code = "agent_disabled"
	CodeAgentCatalogue        Code = "agent_catalogue_invalid"
	CodeHooksRefused          Code = "agent_hooks_refused"
	CodeOperationInvalid      Code = "agent_session_operation_invalid"
	CodeOperationConflict     Code = "agent_session_operation_conflict"
	CodeOperationExpired      Code = "agent_session_operation_expired"
	CodeOperationUnknown      Code = "agent_session_operation_unknown"
	CodeLaunchFieldRefused    Code = "agent_launch_field_refused"
	CodeLaunchPaneLive        Code = "agent_launch_pane_already_live"
	CodeLaunchSessionExists   Code = "agent_launch_session_already_exists"
	CodeLaunchReuseExisting   Code = "agent_launch_reuse_requires_existing_workspace"
	CodeLaunchReuseNotRunning Code = "agent_launch_terminal_not_running_agent"
	CodeLaunchFailed          Code = "agent_launch_failed"

	// Chats (spec session).
	CodeSessionNotFound    Code = "agent_session_not_found"
	CodeSessionAmbiguous   Code = "agent_session_ambiguous"
	CodeSessionUnsupported Code = "structured_agent_session_unsupported"
	CodeMethodNotFound     Code = "method_not_found"
	CodeSessionStaleFence  Code = "agent_session_stale_fence"
	CodeSessionNotRunning  Code = "agent_session_not_running"
	CodeSessionBusy        Code = "agent_session_busy"
	CodeAlreadyResolved    Code = "already_resolved"
	CodeAgentNotSignedIn   Code = "agent_not_signed_in"
	CodeAgentProtocol      Code = "agent_protocol_error"
	CodePayloadNotFound    Code = "agent_session_payload_not_found"

	// Chips (spec chips).
	CodeChipUnknown   Code = "chip_unknown"
	CodeLayoutInvalid Code = "chip_layout_invalid"

	// Worktrees, workspaces, git.
	CodeGitMissing         Code = "git_missing"
	CodeWorkspaceNotFound  Code = "workspace_not_found"
	CodeWorkspaceAmbiguous Code = "workspace_ambiguous"
	CodeWorktreeCollision  Code = "worktree_create_collision"
	CodeWorktreeName       Code = "worktree_name_invalid"
	CodeWorktreeBase       Code = "worktree_base_missing"
	CodeWorktreeUnborn     Code = "worktree_repository_without_commit"
	CodeWorktreeUnverified Code = "worktree_created_unverified"
	CodeWorktreeDirty      Code = "worktree_dirty"
	CodeWorktreeProtected  Code = "worktree_protected"
	CodeWorktreeGit        Code = "worktree_git_failed"
	CodeWorktreeSetup      Code = "worktree_setup_failed"
	CodeDirectoryMissing   Code = "directory_missing"
)

var codeTable = []CodeInfo{
	{CodeInternal, 500, 70, "Something went wrong that davit has no word for.", "maybe", "Look at `davit logs`, and report it with the message."},
	{CodeUsage, 400, 2, "The command line was not understood.", "nothing", "See `davit help` for the command."},
	{CodeInvalid, 422, 2, "A field of the request is missing, unknown or of the wrong kind.", "nothing", "Correct the field that the message names."},
	{CodeNotFound, 404, 3, "What was asked for is not there.", "nothing", "List what there is, and ask again."},
	{CodeUnauthorized, 401, 4, "The caller has not shown who it is.", "nothing", "Log in again with a fresh link from `davit`."},
	{CodeForbidden, 403, 4, "The caller may not do this.", "nothing", "Use the host's own user, socket or address."},
	{CodeRateLimited, 429, 4, "Too many failed logins.", "nothing", "Wait a minute."},
	{CodeUnsupported, 501, 5, "This build does not know the operation.", "nothing", "Bring client and host to the same version."},
	{CodeNotServedYet, 501, 5, "The field or operation is specified but not served by this version.", "nothing", "Leave the field out."},
	{CodeHostDown, 503, 6, "No davit host answers for this home.", "nothing", "Start one with `davit up`."},
	{CodeHostRunning, 409, 6, "A davit host runs for this home already.", "nothing", "Use it: `davit status` shows it."},
	{CodeSocketTaken, 409, 6, "The socket's place is held by something that is not this home's davit.", "nothing", "Move it away, or choose another DAVIT_HOME."},
	{CodeHomeUnusable, 500, 6, "A directory of the davit home cannot be made, read or written.", "nothing", "Mend its owner or rights, or choose another DAVIT_HOME."},
	{CodeShuttingDown, 503, 6, "The host is stopping.", "nothing", "Ask again when it is back."},
	{CodeStoreNewer, 500, 6, "The store was written by a newer davit.", "nothing", "Run that version; the store is left as it is."},
	{CodeStoreDamaged, 500, 6, "The store cannot be read.", "nothing", "It was set aside under the name told; nothing was overwritten."},
	{CodePaneNotFound, 404, 3, "There is no such pane.", "nothing", "`davit pane list` shows what there is."},
	{CodePaneEnded, 409, 7, "The pane's program has ended.", "nothing", "Open another pane."},
	{CodePaneLost, 409, 7, "The pane's keeper is gone, and with it the way to its program.", "nothing", "Open another pane; what still runs is listed by `davit keeper status`."},
	{CodePaneIsChat, 409, 2, "The pane holds a chat, and what was asked for needs a terminal.", "nothing", "Use `davit session show` and `davit session send`; the error names the session."},
	{CodePaneNoPrompt, 409, 7, "The pane's shell has no prompt open, so no command can be typed there.", "nothing", "Wait for the prompt; the details have the reason."},
	{CodePaneLineUnknown, 409, 7, "Something may be typed at the pane's prompt, and its shell cannot put it aside.", "nothing", "Empty the line, or type the command yourself."},
	{CodePaneNotShell, 422, 7, "The pane holds a program and no shell.", "nothing", "Open a shell beside it."},
	{CodePaneBusy, 429, 7, "The pane's program does not read, and its input queue is full.", "nothing", "Send it again later: nothing of it was taken."},
	{CodePaneLineTooLong, 422, 7, "A line over 4,095 bytes while the terminal reads whole lines.", "nothing", "Send shorter lines: the kernel would cut this one."},
	{CodePaneSpawnFailed, 422, 7, "The program could not be started.", "nothing", "Check the command and its directory."},
	{CodeOutputGap, 410, 7, "The output asked for is no longer kept.", "nothing", "Read from the offset told."},
	{CodeWaitTimeout, 408, 7, "What was waited for did not come in time.", "nothing", "Look at the pane, or wait longer with --timeout."},
	{CodeKeeperUnreachable, 503, 6, "The keeper does not answer.", "maybe", "See `davit keeper status`."},
	{CodePaneExists, 409, 7, "The keeper holds a pane of that name already.", "nothing", "Use another pane id."},
	{CodePaneRunning, 409, 7, "The pane's program still runs.", "nothing", "Close the pane first."},
	{CodePaneInputTooLarge, 422, 7, "One input of more than 4 MiB.", "nothing", "Send it in several inputs."},
	{CodeKeeperForeign, 409, 6, "The keeper's socket belongs to another user, or what answers there is no keeper.", "nothing", "Move it away, or choose another DAVIT_HOME."},
	{CodeKeeperStart, 503, 6, "The keeper could not be started.", "nothing", "Read keeper.log in the state directory."},
	{CodeKeeperProtocol, 502, 6, "Keeper and host did not understand each other.", "maybe", "Bring both to the same version."},
	{CodeKeeperVersion, 409, 6, "Keeper and host have no protocol version in common.", "nothing", "Run the other version, or end the old keeper with `davit down --all`."},
	{CodeKeeperWrongHome, 409, 6, "The keeper serves another davit home.", "nothing", "Look at DAVIT_HOME."},
	{CodeKeeperSuperseded, 409, 6, "A newer host has taken over.", "nothing", "Use the newer host; stop this one."},
	{CodeKeeperReadOnly, 403, 6, "This connection to the keeper may only look.", "nothing", "Ask the host."},
	{CodeKeeperIDReused, 409, 6, "The id of an act came again for something else.", "nothing of this request", "Mint a new id."},
	{CodeKeeperRunning, 409, 8, "Programs still run under the keeper.", "nothing", "Close them first, or force it."},
	{CodeTabNotFound, 404, 3, "There is no such tab.", "nothing", "`davit tab list` shows what there is."},
	{CodeTabAmbiguous, 409, 3, "Several tabs fit.", "nothing", "Use the id."},
	{CodeGroupNotFound, 404, 3, "There is no such group of tabs.", "nothing", "`davit group list` shows what there is."},
	{CodeClosePlanLost, 409, 8, "The last pane of a tab with a close plan cannot go into another tab: nothing would run the plan.", "nothing", "Close the tab, or move the pane into a tab of its own."},
	{CodeTabCloseConfirm, 409, 8, "Closing would end running programs or lose typed text.", "nothing", "Look at the list, then close with --yes."},
	{CodeNothingToUndo, 409, 8, "No closed tab is kept any more.", "nothing", "Open it again."},
	{CodeConfigInvalid, 422, 1, "The tab config has errors.", "nothing", "Mend what the list names."},
	{CodeConfigNotFound, 404, 3, "No tab config of that name.", "nothing", "`davit config list` shows what there is."},
	{CodeConfigAmbiguous, 409, 3, "Several tab configs have that name.", "nothing", "Name the file."},
	{CodeConfigMissingParam, 422, 2, "Parameters without a value.", "nothing", "Give them with -p name=value."},
	{CodeConfigUnknownParam, 422, 2, "The config has no such parameter.", "nothing", "Use the names that the message lists."},
	{CodeConfigOpenFault, 422, 1, "The config is right, but cannot be opened with these values.", "nothing", "Change what the message names."},
	{CodeConfigUntrusted, 403, 8, "A repository's tab config whose text the user has not allowed.", "nothing", "Read it, then `davit config trust FILE`."},
	{CodeConfigChanged, 409, 8, "The tab config's text is not the one that the caller saw.", "nothing", "Look at it again."},
	{CodeConfigProtected, 403, 4, "A file that davit neither writes nor deletes.", "nothing", "Use an editor; davit manages the files of the user's own folder of tab configs."},
	{CodeNoticeNotFound, 404, 3, "There is no such notice.", "nothing", "`davit notice list` shows what there is."},
	{CodeNoticeActionUnknown, 422, 2, "The notice has no such action.", "nothing", "Use one that it lists."},
	{CodeCleanupNotRepeatable, 409, 8, "The cleanup is running or has succeeded.", "nothing", "Nothing is to be done."},
	{CodeAgentUnknown, 404, 3, "The catalogue has no such agent.", "nothing", "`davit agent list` shows them."},
	{CodeAgentNotInstalled, 422, 9, "The agent's program is not on the PATH.", "nothing", "Install it as the hint says."},
	{CodeAgentDisabled, 422, 9, "The agent is switched off in the settings.", "nothing", "Switch it on."},
	{CodeHooksRefused, 422, 1, "An agent's settings file cannot be edited safely.", "nothing", "Mend the file, or add by hand what the message shows."},
	{CodeAgentCatalogue, 422, 1, "The user's agents.toml has an error.", "nothing", "Mend what the message names; until then the embedded agents are used."},
	{CodeOperationInvalid, 422, 9, "The operation id is malformed or from the future.", "nothing", "Mint a new one."},
	{CodeOperationConflict, 409, 9, "The operation id was used for another request.", "nothing of this request", "Mint a new one."},
	{CodeOperationExpired, 410, 9, "The operation id is older than a day and not known.", "nothing", "Mint a new one."},
	{CodeOperationUnknown, 409, 9, "It cannot be known what this operation did.", "maybe", "Look at the worktree and pane that the details name; launch anew with a new id."},
	{CodeLaunchFieldRefused, 422, 9, "The intent has a field that callers may not set, or that nobody knows.", "nothing", "Leave the field out."},
	{CodeLaunchPaneLive, 409, 9, "The pane key is in use.", "nothing", "Choose another."},
	{CodeLaunchSessionExists, 409, 9, "The session id is in use.", "nothing", "Choose another."},
	{CodeLaunchReuseExisting, 422, 9, "A terminal can be reused in an existing workspace only.", "nothing", "Use an existing target."},
	{CodeLaunchReuseNotRunning, 409, 9, "The terminal does not run the agent.", "nothing", "Launch without reuse."},
	{CodeLaunchFailed, 500, 9, "The agent was not started.", "a worktree, when the details name one", "See the message; the worktree is kept."},
	{CodeSessionNotFound, 404, 3, "There is no such chat.", "nothing", "`davit session list` shows what there is."},
	{CodeSessionAmbiguous, 409, 3, "Several chats fit the name that was given.", "nothing", "Use more of the id: `davit session list` shows them."},
	{CodeSessionUnsupported, 422, 9, "This agent cannot be driven as a chat here.", "nothing", "Launch it in a terminal."},
	{CodeMethodNotFound, 422, 9, "The agent does not know what a chat needs.", "nothing", "Launch it in a terminal, or bring the agent up to date."},
	{CodeSessionStaleFence, 409, 9, "The chat has been started, stopped or ended since the caller looked.", "nothing", "Look again: the details have the current fence."},
	{CodeSessionNotRunning, 409, 9, "The chat's agent does not run.", "nothing", "Resume it."},
	{CodeSessionBusy, 429, 9, "The chat has as many queued messages as it takes.", "nothing", "Wait for the turn to end, or cancel it."},
	{CodeAlreadyResolved, 409, 9, "Another client has answered this question already.", "nothing", "Look at the answer in the details."},
	{CodeAgentNotSignedIn, 422, 9, "The agent asks for a login.", "nothing", "Run the command that the hint names, then launch again."},
	{CodeAgentProtocol, 502, 9, "The agent answered what its protocol does not allow, or did not answer in time.", "maybe", "Look at the chat's last rows and at its stderr."},
	{CodePayloadNotFound, 404, 3, "The chat has no payload of that digest.", "nothing", "Use a digest of its journal."},
	{CodeChipUnknown, 404, 3, "There is no such chip.", "nothing", "`davit chips --why` lists them."},
	{CodeLayoutInvalid, 422, 2, "The layout of chips cannot be used.", "nothing", "Correct what the message names."},
	{CodeGitMissing, 422, 10, "There is no git on the PATH of the host.", "nothing", "Install git, and restart davit."},
	{CodeWorkspaceNotFound, 404, 3, "No repository or workspace fits the selector.", "nothing", "Give a path inside a repository; `davit worktree list` shows the worktrees of one."},
	{CodeWorkspaceAmbiguous, 409, 3, "Several workspaces fit the selector.", "nothing", "Use one of the candidates."},
	{CodeWorktreeCollision, 409, 10, "The branch or path is taken.", "nothing", "Use the free name suggested, or open the worktree that has it."},
	{CodeWorktreeName, 422, 10, "git does not take the name for a branch.", "nothing", "Use the suggestion."},
	{CodeWorktreeBase, 422, 10, "The base is not a commit of this repository.", "nothing", "Name a branch, tag or commit."},
	{CodeWorktreeUnborn, 422, 10, "The repository has no commit, so no worktree can start from it.", "nothing", "Make the first commit."},
	{CodeWorktreeUnverified, 500, 10, "The worktree was made, but a check afterwards failed.", "the worktree at the path told", "Look at it before you use it."},
	{CodeWorktreeDirty, 409, 10, "Removing the worktree would lose work.", "nothing", "Save what the list names, or force with its digest."},
	{CodeWorktreeProtected, 403, 10, "This worktree is never removed by davit.", "nothing", "Use git itself if you mean it."},
	{CodeWorktreeGit, 500, 10, "git refused.", "maybe", "Read git's own words in the message."},
	{CodeWorktreeSetup, 500, 10, "The setup script failed: no agent was started.", "the worktree, kept", "Look at the pane; mend it, then launch in that worktree."},
	{CodeDirectoryMissing, 422, 10, "The directory does not exist.", "nothing", "Create it, or name another."},
}

// Codes lists every code with its documentation, in the table's order.
func Codes() []CodeInfo { return append([]CodeInfo(nil), codeTable...) }

// Info gives the documentation of a code; an unknown one is shown as internal.
func (c Code) Info() CodeInfo {
	for _, info := range codeTable {
		if info.Code == c {
			return info
		}
	}
	return codeTable[0]
}
