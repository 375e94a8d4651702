import { expect, test } from "vitest";
import type { Group, Tab } from "../api/types";
import { groupedState } from "../dev/fixtures";
import { type DropTarget, dropPart, dropped, groupAside, railItems, stepped } from "./groups";
import { rowsOf, stateWords } from "./tabs";

// A rail of: p (pinned), a, [g: b c], d, [h, folded: e]
const tab = (id: string, more: Partial<Tab> = {}): Tab => ({ id, title: id, tree: {}, created: "", ...more });
const tabs = [
	tab("p", { pinned: true }),
	tab("a"),
	tab("b", { group: "g" }),
	tab("c", { group: "g" }),
	tab("d"),
	tab("e", { group: "h" }),
];
const groups: Group[] = [
	{ id: "g", name: "Harbour" },
	{ id: "h", name: "", collapsed: true },
];
const view = groupedState("").tabView;
const items = railItems(rowsOf(tabs, {}, {}, {}, view), tabs, groups);
const drop = (kind: "tab" | "group", id: string, target: DropTarget) => dropped(items, { kind, id }, target);
const on = (id: string, part: DropTarget["part"]): DropTarget => ({
	kind: id === "g" || id === "h" ? "group" : "tab",
	id,
	part,
});
const tabMove = (id: string, after: string, group = "", pinned = false) => ({
	kind: "tab",
	tab: id,
	after,
	group,
	pinned,
});

// Spec tabs T6.5.
test("the rail shows single tabs and groups in order, the pinned ones first", () => {
	expect(items.map((item) => `${item.kind} ${item.id}`)).toEqual([
		"tab p",
		"tab a",
		"group g",
		"tab d",
		"group h",
	]);
	expect(items[0]?.pinned).toBe(true);
});

test("a tab whose group is not known yet stands alone", () => {
	expect(railItems(rowsOf(tabs, {}, {}, {}, view), tabs, []).every((item) => item.kind === "tab")).toBe(true);
});

test("a group says how many of its tabs need somebody, the gravest first", () => {
	const state = groupedState("2026-11-30T10:00:00Z");
	const chips = Object.fromEntries(Object.entries(state.chips).map(([id, list]) => [id, list ?? []]));
	const rows = rowsOf(state.tabs ?? [], state.panes, chips, state.sessions, view);
	const [, , fog, staging] = railItems(rows, state.tabs ?? [], state.groups ?? []);
	if (fog?.kind !== "group" || staging?.kind !== "group") throw new Error("no groups");
	expect(fog.state).toBe("waiting");
	expect(staging.states).toEqual([
		["lost", 1],
		["failed", 1],
	]);
	expect(groupAside(staging, stateWords)).toBe("2 tabs, 1 keeper lost, 1 failed");
});

test("the rims of a row are places, its middle is itself; a header is mostly itself", () => {
	expect([2, 32, 62].map((y) => dropPart("tab", y, 64))).toEqual(["before", "middle", "after"]);
	expect([2, 14, 26].map((y) => dropPart("group", y, 28))).toEqual(["before", "middle", "middle"]);
});

test("the middle of a single tab makes a group; of a tab in a group, joins it", () => {
	expect(drop("tab", "a", on("d", "middle"))).toEqual({ kind: "make", tabs: ["d", "a"] });
	expect(drop("tab", "a", on("b", "middle"))).toEqual(tabMove("a", "b", "g"));
	expect(drop("tab", "b", on("c", "middle"))).toBeNull();
	expect(drop("tab", "a", on("p", "middle"))).toBeNull(); // pinned and not
});

test("a header takes a tab in at its end; above it is outside", () => {
	expect(drop("tab", "a", on("g", "middle"))).toEqual(tabMove("a", "c", "g"));
	expect(drop("tab", "b", on("g", "middle"))).toBeNull();
	expect(drop("tab", "b", on("g", "before"))).toEqual(tabMove("b", "a"));
});

test("between the tabs of a group is in it, beside a single tab is out of it", () => {
	expect(drop("tab", "d", on("b", "after"))).toEqual(tabMove("d", "b", "g"));
	expect(drop("tab", "c", on("d", "after"))).toEqual(tabMove("c", "d"));
	expect(drop("tab", "c", on("b", "before"))).toEqual(tabMove("c", "a", "g"));
});

test("where a thing is already is no move", () => {
	expect(drop("tab", "a", on("a", "after"))).toBeNull();
	expect(drop("tab", "b", on("c", "before"))).toBeNull();
	expect(drop("tab", "c", on("b", "after"))).toBeNull();
});

test("beside a pinned tab is pinned, beside another it is not", () => {
	expect(drop("tab", "d", on("p", "after"))).toEqual(tabMove("d", "p", "", true));
	expect(drop("tab", "p", on("d", "before"))).toEqual(tabMove("p", "c"));
});

test("a group goes beside a group, never into one", () => {
	expect(drop("group", "h", on("b", "middle"))).toEqual({
		kind: "group",
		group: "h",
		after: "c",
		pinned: false,
	});
	expect(drop("group", "h", on("c", "before"))).toEqual({
		kind: "group",
		group: "h",
		after: "a",
		pinned: false,
	});
	expect(drop("group", "g", on("c", "after"))).toBeNull();
});

test("by key a tab goes into a group beside it, through it, and out at its other end", () => {
	const step = (id: string, by: 1 | -1) => stepped(items, { kind: "tab", id }, by);
	expect(step("a", 1)).toEqual(tabMove("a", "p", "g"));
	expect(step("d", -1)).toEqual(tabMove("d", "c", "g"));
	expect(step("c", -1)).toEqual(tabMove("c", "a", "g"));
	expect(step("b", 1)).toEqual(tabMove("b", "c", "g"));
	expect(step("b", -1)).toEqual(tabMove("b", "a"));
	expect(step("c", 1)).toEqual(tabMove("c", "b"));
	expect(step("d", 1)).toEqual(tabMove("d", "e")); // a folded one is passed
	expect(step("e", 1)).toBeNull();
	expect(step("a", -1)).toBeNull(); // what is pinned is not passed
	expect(step("p", -1)).toBeNull();
});

test("by key a group passes its neighbour, a whole group too", () => {
	expect(stepped(items, { kind: "group", id: "g" }, -1)).toEqual({
		kind: "group",
		group: "g",
		after: "p",
		pinned: false,
	});
	expect(stepped(items, { kind: "group", id: "h" }, 1)).toBeNull();
});
