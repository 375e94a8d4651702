// What a tab's row says: its state, directory, branch and diff. Pure.
import type { Chip, Pane, Tab } from "../api/types";
import { leaves } from "../state/tree";

/** The states of a tab, the one that needs the eye most first. */
export type TabState = "fault" | "lost" | "failed" | "running" | "starting" | "ended" | "idle";

const order: TabState[] = ["fault", "lost", "failed", "running", "starting", "ended", "idle"];

export const stateWords: Record<TabState, string> = {
	fault: "opening failed",
	lost: "keeper lost",
	failed: "failed",
	running: "running",
	starting: "starting",
	ended: "ended",
	idle: "idle",
};

export function paneState(pane: Pane): TabState {
	switch (pane.status) {
		case "starting":
			return "starting";
		case "running":
			return pane.running ? "running" : "idle";
		case "lost":
			return "lost";
		case "failed":
			return "failed";
		case "ended":
			return pane.exit && pane.exit.code !== 0 ? "failed" : "ended";
		default:
			return "idle";
	}
}

export interface TabRow {
	id: string;
	title: string;
	state: TabState;
	stateWord: string;
	directory: string;
	directoryFull: string;
	branch: string;
	added: number;
	removed: number;
	worktree: boolean;
	practice: boolean;
	color: string;
	panes: number;
}

export function tabRow(
	tab: Tab,
	panes: Readonly<Record<string, Pane>>,
	chips: Readonly<Record<string, readonly Chip[]>>,
): TabRow {
	const own = leaves(tab.tree).flatMap((id) => panes[id] ?? []);
	const shown = own.find((pane) => pane.id === tab.focused) ?? own[0];
	const states = own.map(paneState);
	if (tab.fault) states.push("fault");
	const state = order.find((word) => states.includes(word)) ?? (tab.tree ? "idle" : "starting");
	const about = (kind: string) =>
		shown ? chips[shown.id]?.find((chip) => chip.kind === kind && shows(chip)) : undefined;
	const diff = about("git_diff")?.data;
	return {
		id: tab.id,
		title: tab.title,
		state,
		stateWord: stateWords[state],
		directory: about("cwd")?.text ?? shown?.directory ?? tab.worktree?.path ?? "",
		directoryFull: about("cwd")?.value ?? shown?.directory ?? tab.worktree?.path ?? "",
		branch: about("git_branch")?.text ?? tab.worktree?.branch ?? "",
		added: diff?.added ?? 0,
		removed: diff?.removed ?? 0,
		worktree: Boolean(tab.worktree),
		practice: own.some((pane) => pane.practice),
		color: tab.color ?? "",
		panes: own.length,
	};
}

/** Whether the prompt bar shows a chip at all (spec chips C3.1). */
export function shows(chip: Chip): boolean {
	return (chip.status === "ready" || chip.status === "cached" || chip.status === "stale") && chip.text !== "";
}

/** What a row says by shape and colour, in words for those who do not see it. */
export function rowAside(row: TabRow): string {
	const parts = [row.stateWord];
	if (row.worktree) parts.push("in a worktree");
	if (row.added || row.removed) parts.push(`${row.added} lines added, ${row.removed} removed`);
	return parts.join(", ");
}

/**
 * The directory as a row has room for it: whole when there is no branch beside it, else its
 * last part, and nothing when that is the branch's own name.
 */
export function rowPlace(row: TabRow): string {
	if (row.branch === "") return shortPath(row.directory, 34);
	const last = row.directory.replace(/\/+$/, "").split("/").pop() ?? "";
	return last === row.branch ? "" : last || row.directory;
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
