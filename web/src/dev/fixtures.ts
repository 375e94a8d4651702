// Values for the gallery and the fake host: a plausible afternoon.
import type {
	Agent,
	Chip,
	Config,
	ConfigList,
	Fault,
	Group,
	Notice,
	Pane,
	PullRequest,
	Result,
	Session,
	State,
	Tab,
	WorktreeInfo,
} from "../api/types";

const since = "2026-11-30T09:00:00Z";

export function pane(id: string, tab: string, more: Partial<Pane> = {}): Pane {
	return {
		id,
		tab,
		kind: "shell",
		directory: "/home/ada/code/harbor",
		running: false,
		status: "running",
		cols: 100,
		rows: 30,
		offset: 0,
		shell: "/bin/zsh",
		...more,
	};
}

export function chipsOf(
	branch: string,
	diff: [files: number, added: number, removed: number],
	cwd = "~/code/harbor",
	stale = false,
): Chip[] {
	const [files, added, removed] = diff;
	return [
		{ kind: "cwd", value: cwd.replace("~", "/home/ada"), text: cwd, status: "ready" },
		{ kind: "git_branch", value: branch, text: branch, status: "ready" },
		{
			kind: "git_diff",
			value: `${files} files, +${added} -${removed}`,
			text: `${files} +${added} -${removed}`,
			status: stale ? "stale" : "ready",
			reason: stale ? "git takes long here" : undefined,
			data: { files, added, removed, untracked: 1 },
		},
	];
}

export const pullOf = (number: number, state: string, more: Partial<PullRequest> = {}): PullRequest => ({
	number,
	url: `https://github.com/ada/harbor/pull/${number}`,
	title: "Teach the harbour to signal in fog",
	state,
	base: "main",
	head: "brisk-heron",
	checks: "passing",
	passed: 12,
	...more,
});

export function pullChip(pull: PullRequest, more: Partial<Chip> = {}): Chip {
	return {
		kind: "github_pr",
		value: pull.url,
		text: `PR #${pull.number}`,
		status: "ready",
		data: { files: 0, added: 0, removed: 0, untracked: 0, pullRequest: pull },
		...more,
	};
}

export function session(id: string, paneId: string, tabId: string, more: Partial<Session> = {}): Session {
	return {
		id,
		agent: "practice",
		agentName: "Practice agent",
		driver: "acp",
		tab: tabId,
		pane: paneId,
		directory: "/home/ada/code/harbor",
		status: "working",
		since,
		source: "protocol",
		fence: 1,
		cursor: { epoch: 1, seq: 1 },
		draft: { text: "", revision: 0 },
		created: since,
		...more,
	};
}

export const receipt: Result = {
	outcome: {
		kind: "terminal",
		handle: "p_00000000000000b1",
		tabId: "t_000000000000000b",
		paneKey: "t_000000000000000b:p_00000000000000b1",
	},
	worktreeId: "w_brisk-heron",
	receipt: {
		mode: "terminal",
		preferred: "structured",
		reason: "agent_without_structured_session",
		detail: "You prefer chats, but the practice agent has none here, so it was started in a terminal.",
	},
	prompt: { delivery: "submit", outcome: "handed-to-terminal" },
	worktree: { path: "/home/ada/code/harbor.worktrees/brisk-heron", branch: "brisk-heron" },
};

export const undelivered: Result = {
	...receipt,
	receipt: {
		mode: "terminal",
		preferred: "terminal",
		reason: "requested",
		detail: "You asked for a terminal, and the agent was started in one.",
	},
	prompt: { delivery: "submit", outcome: "not-delivered" },
	warning: "The setup script had not ended after 60 s; the agent was started beside it.",
};

const tab = (id: string, title: string, more: Partial<Tab> = {}): Tab => ({
	id,
	title,
	tree: {},
	created: since,
	...more,
});

export const failedCleanup: Notice = {
	id: "n_cleanup",
	kind: "cleanup_failed",
	level: "error",
	title: "Cleanup of “review 418” failed",
	body: "git worktree remove ../review-418\nexit status 128\n1 command was skipped",
	persistent: true,
	tab: "t_gone",
	actions: [
		{ id: "run_again", label: "Run again", kind: "host" },
		{ id: "copy_commands", label: "Copy commands", kind: "copy", text: "git worktree remove ../review-418" },
		{ id: "open_terminal", label: "Open terminal there", kind: "open", text: "/home/ada/code/harbor" },
	],
	details: {
		command: "git worktree remove ../review-418",
		output: "fatal: '../review-418' contains modified or untracked files,\nuse --force to delete it",
	},
	created: since,
};

export function closedNotice(until: string): Notice {
	return {
		id: "n_closed",
		details: { batch: "b1" },
		kind: "tab_closed",
		level: "info",
		title: "Closed “docs”",
		persistent: false,
		until,
		tab: "t_docs",
		actions: [{ id: "undo", label: "Undo", kind: "host" }],
		created: since,
	};
}

export const heldNotice: Notice = {
	id: "n_held",
	kind: "cleanup_held",
	level: "warning",
	title: "Cleanup waits for another tab",
	body: "“api review” uses the same worktree. The cleanup runs when it closes.",
	persistent: false,
	created: since,
};

export const configNotice: Notice = {
	id: "n_config",
	kind: "config_error",
	level: "error",
	title: "Tab config release.toml cannot be used",
	body: '/home/ada/.config/davit/tab_configs/release.toml:7:1: error: unknown key "comands"; did you mean "commands"?\n  7 | comands = ["make release"]\n    | ^^^^^^^',
	persistent: true,
	details: { file: "/home/ada/.config/davit/tab_configs/release.toml" },
	actions: [{ id: "copy_path", label: "Copy path", kind: "copy", text: "release.toml" }],
	created: since,
};

export const agents: Agent[] = [
	{
		id: "claude",
		name: "Claude Code",
		installed: true,
		path: "/usr/local/bin/claude",
		version: "2.1.4",
		offered: true,
		options: ["effort", "mode", "model"],
		resumes: true,
		surfaces: ["terminal"],
	},
	{
		id: "codex",
		name: "Codex",
		installed: false,
		offered: true,
		missing: "No codex on the PATH.",
		installHint: "npm install -g @openai/codex",
		surfaces: ["terminal"],
	},
	{
		id: "aider",
		name: "Aider",
		installed: false,
		missing: "No aider on the PATH.",
		installHint: "python -m pip install aider-install && aider-install",
		surfaces: ["terminal"],
	},
	{
		id: "goose",
		name: "Goose",
		installed: true,
		path: "/usr/local/bin/goose",
		doubt: "/usr/local/bin/goose may be a tool for database migrations, which has the same name",
		surfaces: ["terminal"],
	},
	{
		id: "kiro",
		name: "Kiro CLI",
		installed: false,
		missing: "No kiro-cli on the PATH.",
		installHint: "see https://kiro.dev/docs/cli/",
		surfaces: ["terminal"],
	},
	{
		id: "practice",
		name: "Practice agent",
		installed: true,
		practice: true,
		tested: true,
		options: ["effort", "mode", "model"],
		resumes: true,
		surfaces: ["terminal"],
	},
];

export const configFault: Fault = {
	file: "/home/ada/.config/davit/tab_configs/release.toml",
	line: 7,
	column: 1,
	severity: "error",
	code: "unknown_key",
	message: 'unknown key "comands"; did you mean "commands"?',
	hint: "Keys of a pane: id, type, directory, commands, agent, prompt, env, on_exit.",
	text: '/home/ada/.config/davit/tab_configs/release.toml:7:1: error: unknown key "comands"; did you mean "commands"?\n  7 | comands = ["make release"]\n    | ^^^^^^^',
};

export const reviewConfig: Config = {
	name: "Review",
	path: "/home/ada/.config/davit/tab_configs/review.toml",
	description: "A pull request in its own worktree, tests beside it",
	worktree: true,
	source: "own",
	digest: "1",
	onClose: true,
	params: [
		{ name: "repo", type: "repo", description: "Where the branch lives", default: "/home/ada/code/harbor" },
		{ name: "branch", type: "branch", description: "What to review", last: "ada/feature-418" },
		{ name: "depth", type: "choice", options: ["quick", "thorough"], default: "quick" },
		{ name: "tests", type: "boolean", description: "Run the tests at once", default: "true" },
		{ name: "token", type: "secret", description: "For the private registry; never stored" },
	],
};

export const strangeConfig: Config = {
	name: "Serve",
	path: "/home/ada/code/harbor/.davit/tab_configs/serve.toml",
	description: "The server, as the repository has it",
	worktree: false,
	source: "repository",
	trust: "untrusted",
	digest: "3",
	onClose: false,
	params: [],
};

export const configs: ConfigList = {
	configs: [
		{
			default: true,
			name: "Dev",
			path: "/home/ada/.config/davit/tab_configs/dev.toml",
			description: "Server, tests and a shell",
			worktree: false,
			source: "own",
			digest: "2",
			onClose: false,
			params: [],
		},
		reviewConfig,
		{ ...reviewConfig, path: "/home/ada/.warp/tab_configs/review.toml", source: "warp", description: "" },
		strangeConfig,
	],
	faults: [configFault],
	dirs: ["/home/ada/.config/davit/tab_configs"],
};

const worktree = {
	id: "w_brisk-heron",
	path: "/home/ada/code/harbor.worktrees/brisk-heron",
	branch: "brisk-heron",
	repo: "/home/ada/code/harbor",
	removeOnClose: true,
};

export const sampleGroups: Group[] = [
	{ id: "g_00000000000000a1", name: "Fog horn", color: "yellow" },
	{ id: "g_00000000000000b2", name: "Staging", color: "cyan", collapsed: true },
];

/** The same afternoon with a pinned tab and two groups, one of them folded. */
export function groupedState(until: string): State {
	const state = sampleState(until);
	const [first, second, third, fourth, fifth, sixth] = state.tabs ?? [];
	if (!first || !second || !third || !fourth || !fifth || !sixth) return state;
	const [fog, staging] = sampleGroups;
	return {
		...state,
		groups: sampleGroups,
		tabs: [
			{ ...second, pinned: true },
			first,
			{ ...third, group: fog?.id },
			{ ...fourth, group: fog?.id },
			{ ...fifth, group: staging?.id },
			{ ...sixth, group: staging?.id },
		],
	};
}

export function sampleState(until: string): State {
	const tabs: Tab[] = [
		tab("t_000000000000000a", "harbor", {
			tree: {
				direction: "horizontal",
				sizes: [3, 2],
				children: [
					{ pane: "p_00000000000000a1" },
					{
						direction: "vertical",
						sizes: [1, 1],
						children: [{ pane: "p_00000000000000a2" }, { pane: "p_00000000000000a3" }],
					},
				],
			},
			focused: "p_00000000000000a1",
			color: "blue",
			config: "Dev",
		}),
		tab("t_000000000000000b", "Teach the harbour to signal", {
			tree: { pane: "p_00000000000000b1" },
			worktree,
			launches: [receipt],
		}),
		tab("t_000000000000000c", "api review", {
			config: "api review",
			tree: { pane: "p_00000000000000c1" },
			color: "magenta",
		}),
		tab("t_000000000000000f", "Tune the fog horn", { tree: { pane: "p_00000000000000f1" } }),
		tab("t_000000000000000d", "make bench", { tree: { pane: "p_00000000000000d1" } }),
		tab("t_000000000000000e", "logs on staging", { tree: { pane: "p_00000000000000e1" } }),
	];
	const panes: Pane[] = [
		pane("p_00000000000000a1", "t_000000000000000a"),
		pane("p_00000000000000a2", "t_000000000000000a", { running: true, command: "go test ./..." }),
		pane("p_00000000000000a3", "t_000000000000000a"),
		pane("p_00000000000000b1", "t_000000000000000b", {
			kind: "agent",
			agent: "practice",
			practice: true,
			running: true,
			directory: worktree.path,
		}),
		pane("p_00000000000000c1", "t_000000000000000c", {
			directory: "/home/ada/code/harbor.worktrees/api-review",
		}),
		pane("p_00000000000000f1", "t_000000000000000f", {
			directory: "/home/ada/code/harbor.worktrees/fog-horn",
			kind: "chat",
			session: "practice_f1",
		}),
		pane("p_00000000000000d1", "t_000000000000000d", {
			status: "ended",
			exit: { code: 2, at: since },
			argv: ["make", "bench"],
			directory: "/home/ada/code/bench",
		}),
		pane("p_00000000000000e1", "t_000000000000000e", { status: "lost", directory: "/home/ada" }),
	];
	return {
		hostId: "h_sample",
		seq: 100,
		tabs,
		panes: Object.fromEntries(panes.map((p) => [p.id, p])),
		notices: [failedCleanup, heldNotice, closedNotice(until)],
		chips: {
			p_00000000000000a1: chipsOf("main", [3, 42, 7]),
			p_00000000000000a2: chipsOf("main", [3, 42, 7]),
			p_00000000000000a3: chipsOf("main", [3, 42, 7], "~/code/harbor/internal/signal", true),
			p_00000000000000b1: [
				...chipsOf("brisk-heron", [12, 318, 94], "~/code/harbor.worktrees/brisk-heron"),
				pullChip(pullOf(417, "draft", { checks: "pending", passed: 3, open: 9 })),
			],
			p_00000000000000c1: [
				...chipsOf(
					"ada/feature-with-a-rather-long-name-418",
					[2, 1204, 388],
					"~/code/harbor.worktrees/api-review",
				),
				pullChip(pullOf(418, "open", { checks: "failing", passed: 11, failed: 2 })),
			],
			p_00000000000000f1: [
				...chipsOf("fog-horn", [0, 0, 0], "~/code/harbor.worktrees/fog-horn"),
				pullChip(pullOf(402, "merged")),
			],
			p_00000000000000d1: [
				{ kind: "cwd", value: "/home/ada/code/bench", text: "~/code/bench", status: "ready" },
			],
			p_00000000000000e1: [{ kind: "cwd", value: "/home/ada", text: "~", status: "ready" }],
		},
		closed: [{ id: "t_docs", kind: "tab", batch: "b1", title: "docs", until }],
		sessions: {
			practice_f1: session("practice_f1", "p_00000000000000f1", "t_000000000000000f", {
				status: "waiting",
				waiting: "permission",
				title: "Tune the fog horn",
			}),
		},
		groups: [],
		layout: {
			validation: "unvalidated",
			prChip: true,
			prompt: [
				"conda",
				"venv",
				"ssh",
				"subshell",
				"node",
				"cwd",
				"git_branch",
				"git_diff",
				"github_pr",
				"kube",
			],
			footer: {
				left: ["ssh", "cwd", "git_branch", "git_diff", "github_pr", "input_mode"],
				right: ["agent_plan", "context_use", "model", "attach"],
			},
			cliFooter: {
				left: ["attach", "git_diff", "files", "rich_input"],
				right: ["cwd", "git_branch", "settings"],
			},
			badge: true,
			custom: [],
		},
		tabView: {
			granularity: "panes",
			density: "expanded",
			title: "command",
			showPrLink: true,
			showDiffStats: true,
			detailsOnHover: true,
		},
	};
}

export const trees: WorktreeInfo[] = [
	{ ...tree("/home/ada/code/harbor", "main"), main: true, ownerTab: "t_000000000000000a", size: 184_300_000 },
	{
		...tree("/home/ada/.local/state/davit/worktrees/harbor-1a2b3c4d/brisk-heron", "brisk-heron"),
		made: true,
		ownerTab: "t_000000000000000b",
		dirty: true,
		untracked: 3,
		unpushed: 2,
		ahead: 2,
		behind: 14,
		base: "main",
		size: 96_000_000,
	},
	{ ...tree("/home/ada/code/harbor.worktrees/fog-horn", "fog-horn"), stashes: 1, ahead: 1, base: "main" },
];

function tree(path: string, branch: string): WorktreeInfo {
	return {
		path,
		branch,
		head: "5f2c1d9e0a",
		ahead: 0,
		behind: 0,
		dirty: false,
		untracked: 0,
		unpushed: 0,
		stashes: 0,
		ignored: 0,
	};
}
