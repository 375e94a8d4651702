import { expect, test } from "vitest";
import type { Chip, Pane, TabView } from "../api/types";
import { pane, pullChip, pullOf, sampleState, session } from "../dev/fixtures";
import { barChips } from "./chips";
import { checksWords, pullLines, pullName, pullState, safePage } from "./pull";
import {
	agentWords,
	badges,
	found,
	paneState,
	pullOf as pullOfRow,
	rowLines,
	rowsOf,
	type TabRow,
	tabTitle,
	viewOf,
	warnsOfPull,
} from "./tabs";

const state = sampleState("2026-11-30T10:00:00Z");
const chips = Object.fromEntries(Object.entries(state.chips).map(([id, list]) => [id, list ?? []]));
const view = (more: Partial<TabView> = {}): TabView => ({ ...state.tabView, ...more });
const all = (more: Partial<TabView> = {}) =>
	rowsOf(state.tabs ?? [], state.panes, chips, state.sessions, view(more));
const rowOf = (title: string): TabRow => {
	const row = all({ granularity: "tabs" }).find((group) => group.head.title === title)?.head;
	if (!row) throw new Error(title);
	return row;
};
const texts = (row: TabRow, more: Partial<TabView>) => rowLines(row, view(more)).map((line) => line.text);

// Spec chips C6: granularity.
test("by panes a tab with several has a heading and a row for each, by tabs one row", () => {
	expect(all().map((group) => group.rows.length)).toEqual([3, 0, 0, 0, 0, 0]);
	expect(all()[0]?.rows.map((row) => row.title)).toEqual(["zsh", "go test ./...", "zsh"]);
	expect(all({ granularity: "tabs" }).every((group) => group.rows.length === 0)).toBe(true);
	expect(viewOf({ ...view(), granularity: "" })).toEqual(view());
	expect(viewOf(null).granularity).toBe("panes");
});

// Spec chips C6: an expanded row: title; directory; branch. What the title says is not said twice.
test("a row's lines follow the title and the density", () => {
	const row = rowOf("api review");
	const directory = "~/code/harbor.worktrees/api-review";
	expect(texts(row, {})).toEqual([row.title, directory, row.branch]);
	expect(texts(row, { title: "directory" })).toEqual([directory, row.title, row.branch]);
	expect(texts(row, { title: "branch" })).toEqual([row.branch, row.title, directory]);
	expect(texts({ ...row, branch: "" }, { title: "branch" })).toEqual([directory, row.title, ""]);
	expect(texts({ ...row, given: true }, { title: "branch" })).toEqual([row.title, directory, row.branch]);
	expect(texts(row, { density: "compact" })).toEqual([row.title, row.branch]);
	expect(texts(row, { density: "compact", title: "branch" })).toEqual([row.branch, directory]);
	expect(texts({ ...row, branch: "" }, { density: "compact" })).toEqual([row.title, directory]);
	expect(texts(rowOf("make bench"), {})[2]).toBe("failed, exit status 2");
	for (const density of ["expanded", "compact"]) {
		for (const title of ["command", "directory", "branch"]) {
			const count = rowLines(row, view({ density, title })).length;
			expect(count).toBe(density === "compact" ? 2 : 3); // one height for each density
		}
	}
});

// Spec chips C6.1, C6.2.
test("badges go by the plain settings, and by the host's word about the pull request", () => {
	const row = rowOf("api review");
	const show = (more: Partial<TabView>, layout = state.layout) => badges(row, view(more), layout);
	expect(show({}).pull?.number).toBe(418);
	expect(show({}).diff).toEqual({ added: 1204, removed: 388 });
	expect(show({ showPrLink: false }).pull).toBeNull();
	expect(show({ showDiffStats: false }).diff).toBeNull();
	expect(show({ density: "compact" })).toEqual({ diff: null, pull: null });
	expect(show({}, { ...state.layout, validation: "suppressed", badge: false }).pull).toBeNull();
	// A custom layout that names the chip keeps the badge while suppressed.
	expect(show({}, { ...state.layout, validation: "suppressed" }).pull?.number).toBe(418);
	expect(show({}, { ...state.layout, prChip: false }).pull).toBeNull();
	expect(pullOfRow(row, null)).toBeNull();
	expect(badges({ ...row, added: 0, removed: 0 }, view(), state.layout).diff).toBeNull();
});

// Spec chips C6.3: the view is expanded, the setting on, and the state suppressed.
test("the popup warns only when all three hold", () => {
	for (const density of ["expanded", "compact"]) {
		for (const showPrLink of [true, false]) {
			for (const validation of ["unvalidated", "validated", "suppressed"]) {
				const warns = warnsOfPull(view({ density, showPrLink }), { ...state.layout, validation });
				expect(warns).toBe(density === "expanded" && showPrLink && validation === "suppressed");
			}
		}
	}
});

// Spec chips C3.1, C4.5, C4.6: one order, the host's; disabled and unknown ones are left out.
test("a bar draws the kinds of the layout in its order", () => {
	const own: Chip[] = [
		pullChip(pullOf(12, "open")),
		{ kind: "git_branch", value: "main", text: "main", status: "ready" },
		{ kind: "cwd", value: "/x", text: "/x", status: "ready" },
		{ kind: "node", value: "", text: "", status: "ready" },
	];
	const kinds = (value: Pane, prompt: string[], list = own) => {
		const shown = barChips(value, list, { ...state.layout, prompt });
		return [shown.left.map((chip) => chip.kind), shown.right.map((chip) => chip.kind)];
	};
	const shell = pane("p", "t");
	expect(kinds(shell, ["node", "cwd", "a_newer_kind", "github_pr", "cwd"])).toEqual([
		["cwd", "github_pr"],
		[],
	]);
	expect(kinds(shell, [])).toEqual([[], []]);
	const disabled = own.map((chip) => (chip.kind === "github_pr" ? { ...chip, status: "disabled" } : chip));
	expect(kinds(shell, ["github_pr", "cwd"], disabled)).toEqual([["cwd"], []]);
	expect(kinds(pane("p", "t", { kind: "agent" }), ["cwd"])).toEqual([[], ["cwd", "git_branch", "settings"]]);
	expect(barChips(shell, own, null)).toEqual({ left: [], right: [] });
});

test("an agent's status is the row's, also where its pane only runs", () => {
	const chat = pane("p", "t", { kind: "chat", session: "s", running: true });
	const of = (status: string, waiting?: string) => session("s", "p", "t", { status, waiting });
	const states = [
		"working",
		"waiting",
		"done",
		"error",
		"exited",
		"resumable",
		"idle",
		"unknown",
		"a-new-one",
	];
	expect(states.map((status) => paneState(chat, of(status)))).toEqual([
		"working",
		"waiting",
		"done",
		"failed",
		"ended",
		"ended",
		"idle",
		"idle",
		"idle",
	]);
	expect(paneState({ ...chat, status: "lost" }, of("working"))).toBe("lost");
	// Stopped on purpose is calm, whatever its exit status; what failed by itself is not.
	const gone: Pane = { ...chat, status: "ended", exit: { code: 1, at: "" } };
	const fault = { code: "agent_protocol", message: "Practice agent ended with signal SIGSEGV" };
	expect(paneState(gone, of("resumable"))).toBe("ended");
	expect(paneState(gone, { ...of("resumable"), fault })).toBe("failed");
	expect(paneState(gone, { ...of("exited"), fault })).toBe("failed");
	expect(agentWords({ ...of("resumable"), fault })).toContain("SIGSEGV");
	expect(agentWords(of("waiting", "permission"))).toBe("waits for a permission");
	expect(agentWords(of("waiting", "question"))).toBe("waits for an answer");
	const row = rowOf("Tune the fog horn");
	expect([row.state, row.stateWord]).toEqual(["waiting", "waits for a permission"]);
});

test("a shell nobody named is called after what runs in it, else after where it is", () => {
	const tab = { id: "t", title: "first", tree: { pane: "p" }, created: "" };
	const shell = pane("p", "t", { directory: "/srv/first", argv: undefined, command: "make", running: false });
	const cwd = (value: string, text = value): Record<string, Chip[]> => ({
		p: [{ kind: "cwd", value, text, status: "ready" }],
	});
	expect(tabTitle(tab, shell, cwd("/srv/second"))).toBe("second");
	expect(tabTitle(tab, shell, {})).toBe("first");
	expect(tabTitle(tab, shell, cwd("/home/ada", "~"))).toBe("~");
	expect(tabTitle(tab, shell, cwd("/"))).toBe("/");
	expect(tabTitle(tab, { ...shell, running: true }, cwd("/srv/second"))).toBe("make");
	expect(tabTitle({ ...tab, given: "mine" }, shell, cwd("/srv/second"))).toBe("first");
	expect(tabTitle({ ...tab, config: "Dev" }, shell, cwd("/srv/second"))).toBe("first");
	expect(tabTitle(tab, { ...shell, argv: ["top"] }, cwd("/srv/second"))).toBe("first");
	expect(tabTitle(tab, { ...shell, kind: "chat" }, {})).toBe("first");
});

test("the search finds by title, directory and branch, and keeps the order", () => {
	const titles = (typed: string, more: Partial<TabView> = {}) =>
		found(all(more), typed).map((group) => group.head.title);
	expect(titles("  ")).toHaveLength(6);
	expect(titles("fog")).toEqual(["Tune the fog horn"]);
	expect(titles("code/bench")).toEqual(["make bench"]);
	expect(titles("brsk", { granularity: "tabs" })).toEqual(["Teach the harbour to signal"]);
	expect(found(all(), "go test")[0]?.rows.map((row) => row.title)).toEqual(["go test ./..."]);
	expect(titles("zzz")).toEqual([]);
});

test("a pull request in words", () => {
	const pull = pullOf(12, "draft", { checks: "failing", failed: 1, passed: 3, open: 2 });
	expect(pullLines(pull)).toEqual([
		"Teach the harbour to signal in fog",
		"#12 draft · main ← brisk-heron",
		"Checks: 1 failing, 2 pending, 3 passing",
	]);
	expect(pullName(pull)).toContain("Pull request #12, draft");
	expect(checksWords(pullOf(1, "open", { checks: "", passed: 0 }))).toBe("");
	expect(pullState(pullOf(1, "a-new-one"))).toBe("open");
});

test("only a web page is opened by a click", () => {
	expect(safePage("https://github.com/a/b/pull/1")).toBe("https://github.com/a/b/pull/1");
	for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "github.com/a"]) {
		expect(safePage(bad)).toBeUndefined();
	}
});
