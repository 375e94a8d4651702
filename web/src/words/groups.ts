// The rail as it is drawn: pinned tabs, groups and single tabs in their order (spec tabs
// T6.5); and what moving one by hand or by key asks of the host. Pure.
import type { Group, Tab } from "../api/types";
import { mostUrgent, type TabRows, type TabState } from "./tabs";

export interface TabItem {
	kind: "tab";
	id: string;
	pinned: boolean;
	rows: TabRows;
}

export interface GroupItem {
	kind: "group";
	id: string;
	pinned: boolean;
	group: Group;
	tabs: TabRows[];
	/** How many of its tabs are in each state that somebody should know of. */
	states: [state: TabState, count: number][];
	/** Of the whole group, the one that needs the eye most. */
	state: TabState;
}

export type RailItem = TabItem | GroupItem;

/** What the rail shows, in order; the pinned part stands first. */
export function railItems(
	rows: readonly TabRows[],
	tabs: readonly Tab[],
	groups: readonly Group[],
): RailItem[] {
	const items: RailItem[] = [];
	const byId = new Map(tabs.map((tab) => [tab.id, tab]));
	for (const one of rows) {
		const tab = byId.get(one.tab);
		const pinned = Boolean(tab?.pinned);
		const group = tab?.group ? groups.find((g) => g.id === tab.group) : undefined;
		if (!group) {
			items.push({ kind: "tab", id: one.tab, pinned, rows: one });
			continue;
		}
		const last = items[items.length - 1];
		if (last?.kind === "group" && last.id === group.id) last.tabs.push(one);
		else items.push({ kind: "group", id: group.id, pinned, group, tabs: [one], states: [], state: "idle" });
	}
	for (const item of items) {
		if (item.kind !== "group") continue;
		const all = item.tabs.map((tab) => tab.head.state);
		item.state = mostUrgent(all) ?? "idle";
		item.states = countStates(all);
	}
	return items;
}

/** States of a folded group that are told by number, the gravest first. */
const told: TabState[] = ["waiting", "fault", "lost", "failed", "done", "working", "running"];

function countStates(all: readonly TabState[]): [TabState, number][] {
	return told
		.map((state): [TabState, number] => [state, all.filter((one) => one === state).length])
		.filter(([, count]) => count > 0);
}

export function groupName(group: Group): string {
	return group.name || "Group";
}

/** A group's header in words, for those who hear it. */
export function groupAside(item: GroupItem, words: Readonly<Record<TabState, string>>): string {
	const count = item.tabs.length === 1 ? "1 tab" : `${item.tabs.length} tabs`;
	return [count, ...item.states.map(([state, n]) => `${n} ${words[state]}`), item.pinned && "pinned"]
		.filter(Boolean)
		.join(", ");
}

/** One move, as the host is asked for it. */
export type Move =
	| { kind: "tab"; tab: string; after: string; group: string; pinned: boolean }
	| { kind: "group"; group: string; after: string; pinned: boolean }
	| { kind: "make"; tabs: string[] };

export type DropPart = "before" | "middle" | "after";

export interface DropTarget {
	kind: "tab" | "group";
	id: string;
	part: DropPart;
}

/** Which part of a target the pointer is over: a header takes most of itself for "into". */
export function dropPart(kind: "tab" | "group", y: number, height: number): DropPart {
	const edge = kind === "group" ? 0.3 : 0.28;
	if (y < height * edge) return "before";
	return kind === "tab" && y > height * (1 - edge) ? "after" : "middle";
}

interface Spot {
	tab: string;
	group: string;
	pinned: boolean;
}

function spots(items: readonly RailItem[]): Spot[] {
	return items.flatMap((item) =>
		item.kind === "tab"
			? [{ tab: item.id, group: "", pinned: item.pinned }]
			: item.tabs.map((tab) => ({ tab: tab.tab, group: item.id, pinned: item.pinned })),
	);
}

/** The tab that stands before a place, what is moved left out. */
function before(all: readonly Spot[], at: number, moved: (spot: Spot) => boolean): string {
	for (let i = at - 1; i >= 0; i--) {
		const spot = all[i];
		if (spot && !moved(spot)) return spot.tab;
	}
	return "";
}

/** What dropping a tab or a group on a target means; null: nothing would change, or it cannot be. */
export function dropped(
	items: readonly RailItem[],
	dragged: { kind: "tab" | "group"; id: string },
	target: DropTarget,
): Move | null {
	if (dragged.kind === target.kind && dragged.id === target.id) return null;
	const all = spots(items);
	return dragged.kind === "group"
		? groupDropped(all, dragged.id, target)
		: tabDropped(all, dragged.id, target);
}

function tabDropped(all: readonly Spot[], tab: string, target: DropTarget): Move | null {
	const own = all.find((spot) => spot.tab === tab);
	if (!own) return null;
	const moved = (spot: Spot) => spot.tab === tab;
	if (target.kind === "group") {
		const members = all.filter((spot) => spot.group === target.id);
		const first = members[0];
		if (!first) return null;
		if (target.part === "before") {
			return {
				kind: "tab",
				tab,
				after: before(all, all.indexOf(first), moved),
				group: "",
				pinned: first.pinned,
			};
		}
		if (own.group === target.id) return null;
		return {
			kind: "tab",
			tab,
			after: members[members.length - 1]?.tab ?? "",
			group: target.id,
			pinned: first.pinned,
		};
	}
	const at = all.findIndex((spot) => spot.tab === target.id);
	const onto = all[at];
	if (!onto) return null;
	if (target.part === "middle") {
		if (onto.group === "" && own.group === "") {
			return onto.pinned === own.pinned ? { kind: "make", tabs: [onto.tab, tab] } : null;
		}
		if (onto.group === "") return { kind: "make", tabs: [onto.tab, tab] };
		if (onto.group === own.group) return null;
		return { kind: "tab", tab, after: onto.tab, group: onto.group, pinned: onto.pinned };
	}
	const after = target.part === "after" ? onto.tab : before(all, at, moved);
	const was = before(all, all.indexOf(own), moved);
	if (after === was && own.group === onto.group && own.pinned === onto.pinned) return null;
	return { kind: "tab", tab, after, group: onto.group, pinned: onto.pinned };
}

function groupDropped(all: readonly Spot[], group: string, target: DropTarget): Move | null {
	const moved = (spot: Spot) => spot.group === group;
	const own = all.find(moved);
	const block = all.filter((spot) =>
		target.kind === "group" ? spot.group === target.id : spot.tab === target.id,
	);
	let [first] = block;
	let last = block[block.length - 1];
	if (!own || !first || !last || first.group === group) return null;
	if (target.kind === "tab" && first.group !== "") {
		// Onto a tab of another group: a group does not go into a group, but beside it.
		const members = all.filter((spot) => spot.group === first?.group);
		first = members[0] ?? first;
		last = members[members.length - 1] ?? last;
	}
	const after = target.part === "before" ? before(all, all.indexOf(first), moved) : last.tab;
	if (after === before(all, all.indexOf(own), moved) && own.pinned === first.pinned) return null;
	return { kind: "group", group, after, pinned: first.pinned };
}

/**
 * One step by key: past a neighbour, into a group beside it, or out of its own; null at the
 * end. Pinned ones and others do not pass each other.
 */
export function stepped(
	items: readonly RailItem[],
	moved: { kind: "tab" | "group"; id: string },
	by: 1 | -1,
): Move | null {
	if (moved.kind === "group") return groupStepped(items, moved.id, by);
	const at = items.findIndex((item) =>
		item.kind === "tab" ? item.id === moved.id : item.tabs.some((tab) => tab.tab === moved.id),
	);
	const item = items[at];
	if (!item) return null;
	const all = spots(items);
	const mine = (spot: Spot) => spot.tab === moved.id;
	const move = (after: string, group: string): Move => ({
		kind: "tab",
		tab: moved.id,
		after,
		group,
		pinned: item.pinned,
	});
	if (item.kind === "group") {
		const ids = item.tabs.map((tab) => tab.tab);
		const place = ids.indexOf(moved.id);
		const next = ids[place + by];
		const start = all.findIndex((spot) => spot.tab === ids[0]);
		if (next === undefined) {
			// The last one of a group has nothing to leave.
			const after =
				by > 0 ? (ids.filter((id) => id !== moved.id).pop() ?? moved.id) : before(all, start, mine);
			return ids.length > 1 ? move(after, "") : null;
		}
		return move(by > 0 ? next : (ids[place - 2] ?? before(all, start, mine)), item.id);
	}
	const next = items[at + by];
	if (!next || next.pinned !== item.pinned) return null;
	if (next.kind === "group") {
		const ids = next.tabs.map((tab) => tab.tab);
		if (next.group.collapsed) {
			const start = all.findIndex((spot) => spot.tab === ids[0]);
			return move(by > 0 ? (ids[ids.length - 1] ?? "") : before(all, start, mine), "");
		}
		const place = all.findIndex(mine);
		// The host puts what joins a group at the end of it that is nearer to `after`.
		return by > 0 ? move(before(all, place, mine), next.id) : move(ids[ids.length - 1] ?? "", next.id);
	}
	const place = all.findIndex((spot) => spot.tab === next.id);
	return move(by > 0 ? next.id : before(all, place, mine), "");
}

function groupStepped(items: readonly RailItem[], id: string, by: 1 | -1): Move | null {
	const at = items.findIndex((item) => item.id === id);
	const item = items[at];
	const next = items[at + by];
	if (!item || !next || next.pinned !== item.pinned) return null;
	return dropped(
		items,
		{ kind: "group", id },
		{ kind: next.kind, id: next.id, part: by > 0 ? "after" : "before" },
	);
}

/** What a move was, said after it. */
export function moveWords(move: Move, title: string, groups: readonly Group[]): string {
	if (move.kind === "make") return "Grouped";
	if (move.kind === "group") return `${title} moved`;
	const group = groups.find((one) => one.id === move.group);
	return group ? `${title} moved, in ${groupName(group)}` : `${title} moved`;
}
