// What the rows of the vertical tabs say: state, title, directory, branch, badges (spec
// chips C6). Pure.
import type { Chip, ChipLayout, Pane, PullRequest, Session, Tab, TabView } from "../api/types";
import { leaves } from "../state/tree";
import { fit, sideBySide } from "./match";
import { endedCalmly, paneName } from "./panes";
import { oneLine } from "./sentences";

/** The states of a row, the one that needs the eye most first. */
const order = [
	"waiting",
	"fault",
	"lost",
	"failed",
	"done",
	"working",
	"running",
	"starting",
	"ended",
	"idle",
] as const;

export type TabState = (typeof order)[number];

/** The state that needs the eye most. */
export function mostUrgent(states: readonly TabState[]): TabState | undefined {
	return order.find((word) => states.includes(word));
}

export const stateWords: Record<TabState, string> = {
	waiting: "waits for you",
	fault: "opening failed",
	lost: "keeper lost",
	failed: "failed",
	done: "done, not looked at",
	working: "working",
	running: "running",
	starting: "starting",
	ended: "ended",
	idle: "idle",
};

/** The state of a pane: of the agent's session when it is a chat, else of its program. */
export function paneState(pane: Pane, session?: Session): TabState {
	if (session && pane.status !== "lost" && pane.status !== "failed") return agentState(session);
	const told = pane.status === "running" ? pane.agentState : undefined;
	if (told && told.status !== "exited") return told.status === "unknown" ? "running" : agentState(told);
	switch (pane.status) {
		case "starting":
			return "starting";
		case "running":
			return pane.running ? "running" : pane.startup ? "failed" : "idle";
		case "lost":
			return "lost";
		case "failed":
			return "failed";
		case "ended":
			return pane.exit && !endedCalmly(pane.exit) ? "failed" : "ended";
		default:
			return "idle";
	}
}

function agentState(session: { status: string; fault?: unknown }): TabState {
	switch (session.status) {
		case "starting":
		case "working":
		case "waiting":
		case "done":
			return session.status;
		case "error":
			return "failed";
		case "exited":
		case "resumable":
			return session.fault ? "failed" : "ended";
		default:
			return "idle";
	}
}

/** What an agent's session is doing, in words. */
export function agentWords(session: Session): string {
	switch (session.status) {
		case "waiting":
			return session.waiting === "permission"
				? "waits for a permission"
				: session.waiting === "question"
					? "waits for an answer"
					: "waits for you";
		case "error":
			return session.fault?.message ?? "stopped by an error";
		case "resumable":
			return session.fault ? `${session.fault.message}; can go on` : "ended, can go on";
		case "exited":
			return session.fault?.message ?? "ended";
		case "unknown":
			return "not known";
		default:
			return stateWords[agentState(session)];
	}
}

/** What the agent in a terminal does, in words; a guess and an old word say so. */
export function terminalWords(state: NonNullable<Pane["agentState"]>): string {
	const words =
		state.status === "waiting"
			? state.waiting === "permission"
				? "waits for a permission"
				: state.waiting === "question"
					? "waits for an answer"
					: "waits for you"
			: state.status === "unknown"
				? "not known"
				: state.status === "exited"
					? "ended"
					: stateWords[agentState(state)];
	const guess = state.source === "title" || state.source === "screen";
	return words + (state.unconfirmed ? ", not confirmed" : guess ? ", as it seems" : "");
}

/** Whether an agent waits or is done, and nobody has looked at its pane since. */
export function isUnread(pane: Pane, session?: Session): boolean {
	if (!session) return pane.agentState?.unread ?? false;
	if (session.status === "done") return true;
	return session.status === "waiting" && Date.parse(pane.seen ?? "") !== Date.parse(session.since);
}

export interface TabRow {
	/** Of the tab, and of the pane when the row is one pane of several. */
	id: string;
	pane: string;
	/** The pane whose facts these are. */
	about: string;
	title: string;
	/** The title was given by the user or a config: no view setting replaces it. */
	given: boolean;
	state: TabState;
	stateWord: string;
	directory: string;
	directoryFull: string;
	branch: string;
	detached: boolean;
	files: number;
	added: number;
	removed: number;
	untracked: number;
	pull: PullRequest | null;
	worktree: boolean;
	practice: boolean;
	color: string;
	panes: number;
	pinned: boolean;
	/** An agent waits or is done, and nobody has looked since. */
	unread: boolean;
}

type PaneMap = Readonly<Record<string, Pane>>;
type ChipMap = Readonly<Record<string, readonly Chip[]>>;
type SessionMap = Readonly<Record<string, Session>>;

const nobody: SessionMap = {};

/** The row of a whole tab: its panes' most urgent state, the facts of the pane in focus. */
export function tabRow(tab: Tab, panes: PaneMap, chips: ChipMap, sessions: SessionMap = nobody): TabRow {
	const own = leaves(tab.tree).flatMap((id) => panes[id] ?? []);
	const shown = own.find((pane) => pane.id === tab.focused) ?? own[0];
	const found = own.map((pane) => ({ pane, state: paneState(pane, sessionOf(pane, sessions)) }));
	const states = found.map((one) => one.state);
	if (tab.fault) states.push("fault");
	const state = mostUrgent(states) ?? (tab.tree ? "idle" : "starting");
	const urgent = found.find((one) => one.state === state)?.pane;
	return {
		...facts(tab, shown, chips),
		title: tabTitle(tab, shown, chips),
		given: Boolean(tab.given),
		state,
		stateWord: wordOf(state, urgent, sessions),
		practice: own.some((pane) => pane.practice),
		unread: own.some((pane) => isUnread(pane, sessionOf(pane, sessions))),
		panes: own.length,
	};
}

/**
 * What a tab is called. One that nobody named and that holds a plain shell is called after
 * what runs in it, else after the directory it is in now.
 */
export function tabTitle(tab: Tab, shown: Pane | undefined, chips: ChipMap): string {
	const plain = shown && !tab.given && !tab.config && shown.kind === "shell" && !shown.argv?.length;
	if (!plain) return tab.title;
	if (shown.running && shown.command) return shown.command;
	const cwd = chips[shown.id]?.find((chip) => chip.kind === "cwd" && shows(chip));
	return baseName(cwd?.value || shown.directory, cwd?.text) || tab.title;
}

function baseName(path: string, short = path): string {
	return short === "~" || path === "/" ? short : (path.replace(/\/+$/, "").split("/").pop() ?? "");
}

/** The row of one pane of a tab that has several. */
export function paneRow(tab: Tab, pane: Pane, chips: ChipMap, sessions: SessionMap = nobody): TabRow {
	const session = sessionOf(pane, sessions);
	const state = paneState(pane, session);
	return {
		...facts(tab, pane, chips),
		pane: pane.id,
		title: session?.title || paneName(pane),
		given: false,
		state,
		stateWord: wordOf(state, pane, sessions),
		practice: pane.practice ?? false,
		unread: isUnread(pane, session),
		color: "",
		panes: 1,
		pinned: false,
	};
}

export interface TabRows {
	tab: string;
	/** The tab's own row; of a tab with several panes in the view by panes, its heading. */
	head: TabRow;
	/** One row for each pane, when there are several and the view is by panes. */
	rows: TabRow[];
}

/** The rows of all tabs as a view asks for them. */
export function rowsOf(
	tabs: readonly Tab[],
	panes: PaneMap,
	chips: ChipMap,
	sessions: SessionMap,
	view: TabView,
): TabRows[] {
	return tabs.map((tab) => {
		const own = leaves(tab.tree).flatMap((id) => panes[id] ?? []);
		const apart = view.granularity !== "tabs" && own.length > 1;
		return {
			tab: tab.id,
			head: tabRow(tab, panes, chips, sessions),
			rows: apart ? own.map((pane) => paneRow(tab, pane, chips, sessions)) : [],
		};
	});
}

function sessionOf(pane: Pane | undefined, sessions: SessionMap): Session | undefined {
	return pane?.session ? sessions[pane.session] : undefined;
}

function wordOf(state: TabState, pane: Pane | undefined, sessions: SessionMap): string {
	const session = sessionOf(pane, sessions);
	if (session && state === paneState(pane as Pane, session) && state !== "lost") return agentWords(session);
	if (state === "failed" && pane?.exit) {
		return pane.exit.signal ? `ended by ${pane.exit.signal}` : `failed, exit status ${pane.exit.code}`;
	}
	if (state === "failed" && pane?.startup && pane.status === "running")
		return `startup failed: ${oneLine(pane.startup.command)}`;
	const told = pane?.status === "running" ? pane.agentState : undefined;
	if (told && pane && state === paneState(pane) && told.status !== "exited") return terminalWords(told);
	return stateWords[state];
}

function facts(tab: Tab, shown: Pane | undefined, chips: ChipMap) {
	const about = (kind: string) =>
		shown ? chips[shown.id]?.find((chip) => chip.kind === kind && shows(chip)) : undefined;
	const diff = about("git_diff")?.data;
	const branch = about("git_branch");
	return {
		id: tab.id,
		pane: "",
		about: shown?.id ?? "",
		directory: about("cwd")?.text ?? shown?.directory ?? tab.worktree?.path ?? "",
		directoryFull: about("cwd")?.value ?? shown?.directory ?? tab.worktree?.path ?? "",
		branch: branch?.text ?? tab.worktree?.branch ?? "",
		detached: branch?.data?.detached ?? false,
		files: diff?.files ?? 0,
		added: diff?.added ?? 0,
		removed: diff?.removed ?? 0,
		untracked: diff?.untracked ?? 0,
		pull: about("github_pr")?.data?.pullRequest ?? null,
		worktree: Boolean(tab.worktree),
		color: tab.color ?? "",
		pinned: tab.pinned ?? false,
	};
}

/** A view with the defaults where a host has said nothing. */
export function viewOf(view: TabView | null): TabView {
	if (view?.granularity) return view;
	return {
		granularity: "panes",
		density: "expanded",
		title: "command",
		showPrLink: true,
		showDiffStats: true,
		detailsOnHover: true,
	};
}

/** One line of a row: what it says, and of what kind it is. */
export interface Line {
	kind: "title" | "directory" | "branch" | "state";
	text: string;
}

const none: Line = { kind: "state", text: "" };

/**
 * The lines of a row: three when the view is expanded, two when it is compact. What the title
 * says is not said again; a given title stands before every setting.
 */
export function rowLines(row: TabRow, view: TabView): Line[] {
	const title: Line = { kind: "title", text: row.title };
	const directory: Line = { kind: "directory", text: row.directory };
	const branch: Line | null = row.branch ? { kind: "branch", text: row.branch } : null;
	const calm = row.state === "idle" || row.state === "running" || row.state === "starting";
	const last = branch ?? (calm ? none : { kind: "state", text: row.stateWord });
	const lines =
		row.given || view.title === "command"
			? [title, directory, last]
			: view.title === "directory"
				? [directory, title, last]
				: branch
					? [branch, title, directory]
					: [directory, title, last];
	if (view.density !== "compact") return lines;
	const [first = title] = lines;
	const rest = [branch, directory, title].find((line) => line && line.kind !== first.kind && line.text);
	return [first, rest ?? none];
}

export interface Badges {
	diff: { added: number; removed: number } | null;
	pull: PullRequest | null;
}

/**
 * The badges of a row: in the expanded view only, by the plain settings (spec chips C6.2).
 * The pull request is the chip's own value, and none at all while the host forbids the badge
 * (C6.1: not even the last value).
 */
export function badges(row: TabRow, view: TabView, layout: ChipLayout | null): Badges {
	const expanded = view.density !== "compact";
	const changed = row.added > 0 || row.removed > 0;
	return {
		diff: expanded && view.showDiffStats && changed ? { added: row.added, removed: row.removed } : null,
		pull: expanded && view.showPrLink ? pullOf(row, layout) : null,
	};
}

/** The pull request of a row as far as it may be shown at all (spec chips C6.1). */
export function pullOf(row: TabRow, layout: ChipLayout | null): PullRequest | null {
	return layout?.badge && layout.prChip ? row.pull : null;
}

/** Whether the popup warns beside "PR link" (spec chips C6.3). */
export function warnsOfPull(view: TabView, layout: ChipLayout | null): boolean {
	return view.density === "expanded" && view.showPrLink && layout?.validation === "suppressed";
}

/** How well a row fits what was typed into the search field; 0: not at all. */
export function rowFit(row: TabRow, typed: string): number {
	return Math.max(...[row.title, row.directory, row.branch].map((text) => fit(typed, text)));
}

/**
 * The groups that fit, in their own order: what is found does not move under the hand. Where
 * some have the letters side by side, those that only have them in order are left out.
 */
export function found(all: readonly TabRows[], typed: string): TabRows[] {
	if (typed.trim() === "") return [...all];
	const best = Math.max(
		0,
		...all.flatMap(({ head, rows }) => [head, ...rows].map((row) => rowFit(row, typed))),
	);
	const fits = (row: TabRow) => rowFit(row, typed) >= (best >= sideBySide ? sideBySide : Number.MIN_VALUE);
	return all.flatMap((group) => {
		const rows = group.rows.filter(fits);
		if (rows.length > 0) return [{ ...group, rows }];
		return fits(group.head) ? [group] : [];
	});
}

/** Whether the prompt bar shows a chip at all (spec chips C3.1). */
export function shows(chip: Chip): boolean {
	return (chip.status === "ready" || chip.status === "cached" || chip.status === "stale") && chip.text !== "";
}

/** What a row says by shape and colour, or beside its button, in words for those who hear it. */
export function rowAside(row: TabRow, last?: Line): string {
	const parts = [row.stateWord];
	if (row.unread) parts.push("unread");
	if (last?.text && last.kind !== "state") {
		parts.push(last.kind === "branch" ? `branch ${last.text}` : last.text);
	}
	if (row.pinned) parts.push("pinned");
	if (row.worktree) parts.push("in a worktree");
	return parts.join(", ");
}

/** A long path with its middle left out; the end is what tells paths apart. */
export function shortPath(path: string, room: number): string {
	if (path.length <= room) return path;
	const parts = path.split("/");
	let tail = parts.pop() ?? "";
	while (parts.length > 0) {
		const next = `${parts[parts.length - 1]}/${tail}`;
		if (next.length + 2 > room) break;
		tail = next;
		parts.pop();
	}
	return `…/${tail}`.length <= room ? `…/${tail}` : `…${tail.slice(1 - room)}`;
}
