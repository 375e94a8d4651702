import { expect, test } from "vitest";
import type { Notice, Pane, Result } from "../api/types";
import { pane, receipt, sampleState } from "../dev/fixtures";
import { matches } from "../keys/chord";
import { tokenOf } from "../state/key";
import { changedMore, emptyLaunch, intentOf, missing, operationId } from "./intent";
import { fit } from "./match";
import { folded, isSlim, shownNotices } from "./notices";
import { endWords, startupWords } from "./panes";
import { keptWords, placementWords, promptWords } from "./receipt";
import { badges, paneState, rowAside, shortPath, tabRow } from "./tabs";

const told = (outcome: string, more: object = {}): Result => ({
	...receipt,
	prompt: { delivery: "submit", outcome, ...more },
});

// Spec launch L2.2: a receipt may under-claim, never over-claim.
test("only a prompt that was not delivered is said to be still the caller's", () => {
	expect(promptWords(told("not-delivered"))?.yours).toBe(true);
	expect(promptWords(told("not-delivered", { delivery: "draft", draftPlaced: true }))?.yours).toBe(false);
	for (const outcome of ["journaled", "handed-to-terminal", "unconfirmed", "a-newer-word"]) {
		expect(promptWords(told(outcome))?.yours).toBe(false);
	}
	expect(promptWords(told("unconfirmed"))?.tone).toBe("careful");
	expect(promptWords(told("a-newer-word"))?.text).toContain("a-newer-word");
	expect(promptWords({ ...receipt, prompt: undefined })).toBeNull();
});

// Spec launch L1: <13-digit unix ms>-<32 lowercase hex>.
test("operation ids have the form that the host demands", () => {
	expect(operationId(1_796_000_000_123.7, new Uint8Array(16).fill(10))).toBe(
		`1796000000123-${"0a".repeat(16)}`,
	);
	expect(operationId(Date.now(), crypto.getRandomValues(new Uint8Array(16)))).toMatch(
		/^\d{13}-[0-9a-f]{32}$/,
	);
});

test("the form becomes an intent without fields that nobody filled in", () => {
	const base = { ...emptyLaunch, agent: "practice", workspace: "/r" };
	expect(intentOf(base, "id")).toEqual({
		agent: "practice",
		operationId: "id",
		target: { kind: "existing", worktree: "path:/r" },
		launchSource: "web",
		presentation: "focused",
	});
	expect(
		intentOf(
			{ ...base, where: "worktree", name: " fix ", removeOnClose: true, prompt: "go", draft: true },
			"id",
		),
	).toMatchObject({
		target: { kind: "create-worktree", create: { repo: "path:/r", name: "fix", removeOnClose: true } },
		prompt: { text: "go", delivery: "draft" },
	});
	expect(intentOf({ ...base, prompt: " \n" }, "id").prompt).toBeUndefined();
	expect(Object.keys(missing({ ...base, where: "folder" }))).toEqual(["folder"]);
	expect(
		intentOf(
			{
				...base,
				where: "worktree",
				model: " m ",
				effort: "high",
				mode: "plan",
				base: "main",
				branch: "own",
				cwd: "sub",
				argsKind: "none",
				args: "left over",
				resume: "s-1",
				surface: "terminal",
			},
			"1",
		),
	).toMatchObject({
		target: { create: { branch: "own", baseBranch: "main" } },
		sessionOptions: { model: "m", effort: "high", mode: "plan" },
		cwd: "sub",
		agentArgs: null,
		resume: "s-1",
		surface: "terminal",
	});
	expect(intentOf({ ...base, argsKind: "own", args: "" }, "1").agentArgs).toBe("");
	expect("agentArgs" in intentOf(base, "1")).toBe(false);
	expect(changedMore(base)).toBe(false);
	expect(changedMore({ ...base, effort: "low" })).toBe(true);
});

// Spec tabs T5.5: persistent notices are never pushed out.
test("persistent notices all stay, passing ones show the newest and end with their time", () => {
	const notice = (id: string, more: Partial<Notice> = {}): Notice => ({
		id,
		kind: "x",
		level: "info",
		title: id,
		persistent: false,
		created: "2026-11-30T09:00:00Z",
		...more,
	});
	const fixed = Array.from({ length: 6 }, (_, at) => notice(`fixed${at}`, { persistent: true }));
	const rest = Array.from({ length: 5 }, (_, at) => notice(`rest${at}`));
	const over = notice("over", { until: new Date(999).toISOString() });
	const { shown, more } = shownNotices([...fixed, ...rest, over], 1000);
	expect(shown.map((n) => n.id)).toEqual([...fixed.map((n) => n.id), "rest2", "rest3", "rest4"]);
	expect(more).toBe(2);
});

test("a pane's state is told apart by shape-worthy words", () => {
	const of = (more: Partial<Pane>) => paneState(pane("p", "t", more));
	expect(of({ running: true })).toBe("running");
	expect(of({ running: false })).toBe("idle");
	expect(of({ status: "ended", exit: { code: 0, at: "" } })).toBe("ended");
	expect(of({ status: "ended", exit: { code: 1, at: "" } })).toBe("failed");
	expect(of({ status: "lost" })).toBe("lost");
	expect(
		endWords(pane("p", "t", { status: "ended", exit: { code: 143, signal: "SIGTERM", at: "" } }))?.title,
	).toBe("Ended");
	expect(endWords(pane("p", "t"))).toBeNull();
});

test("a program that was told to end is no failure, one that was killed or crashed is", () => {
	const end = (exit: { code: number; signal?: string }) =>
		pane("p", "t", { status: "ended", exit: { at: "", ...exit } });
	for (const calm of [
		{ code: 0 },
		{ code: 129 },
		{ code: 143 },
		{ code: 129, signal: "SIGHUP" },
		{ code: 143, signal: "SIGTERM" },
	]) {
		expect(paneState(end(calm))).toBe("ended");
		expect(endWords(end(calm))?.tone).toBe("calm");
	}
	for (const bad of [
		{ code: 1 },
		{ code: 130 },
		{ code: 137, signal: "SIGKILL" },
		{ code: 139, signal: "SIGSEGV" },
	]) {
		expect(paneState(end(bad))).toBe("failed");
		expect(endWords(end(bad))?.tone).toBe("bad");
	}
});

// Spec launch L2.3, L5.8.
test("a receipt says where the tab went, a failed launch what it has left", () => {
	const placed = (fallback?: string) => placementWords({ ...receipt, placement: { groupId: "g", fallback } });
	expect(placementWords(receipt)).toBe("");
	expect(placed()).toBe("");
	expect(placed("anchor-group")).toContain("Beside the tab");
	expect(placed("active-group")).toContain("At the end");
	expect(placed("a-newer-word")).toContain("a-newer-word");
	const kept = (worktree: unknown) => keptWords({ code: "", message: "", details: { worktree } });
	expect(kept({ path: "/w/lamp", branch: "lamp" })).toBe(
		"The new worktree was made and is kept: /w/lamp, on branch lamp.",
	);
	for (const odd of [undefined, null, "x", { branch: "lamp" }, { path: 7 }]) expect(kept(odd)).toBe("");
});

test("a row says what the eye gets, and a broken pane is not hidden by a running one", () => {
	const state = sampleState("2026-11-30T09:01:00Z");
	const chips = Object.fromEntries(Object.entries(state.chips).map(([id, list]) => [id, list ?? []]));
	const [harbor, signal] = state.tabs ?? [];
	if (!harbor || !signal) throw new Error("fixture");
	const row = tabRow(signal, state.panes, chips);
	expect(row.practice).toBe(true);
	expect(rowAside(row)).toBe("running, in a worktree");
	expect(badges(row, state.tabView, state.layout).diff).toEqual({ added: 318, removed: 94 });
	const lost = {
		...state.panes,
		p_00000000000000a3: pane("p_00000000000000a3", harbor.id, { status: "lost" }),
	};
	expect(tabRow(harbor, lost, chips).state).toBe("lost");
});

test("paths keep their end", () => {
	expect(shortPath("~/a", 10)).toBe("~/a");
	expect(shortPath("~/code/harbor/internal/signal", 18)).toBe("…/internal/signal");
	expect(shortPath("/averyveryverylongname", 10)).toHaveLength(10);
});

test("the palette finds by words, starts and letters in order", () => {
	expect(fit("split", "Split to the right")).toBeGreaterThan(fit("str", "Split to the right"));
	expect(fit("str", "Split to the right")).toBeGreaterThan(0);
	expect(fit("xyz", "Split to the right")).toBe(0);
});

// The palette's own titles: what is typed finds what is meant.
test("what was typed finds the title that begins so, then words, then letters", () => {
	const titles = [
		"New terminal",
		"New worktree",
		"Open a tab config",
		"Close tab",
		"Close all other tabs",
		"Close the tab's group",
		"Undo close: bring back the last closed tab",
		"Show worktrees of the repository",
		"Zoom pane",
	];
	const first = (typed: string) =>
		titles.map((title) => ({ title, score: fit(typed, title) })).sort((a, b) => b.score - a.score)[0]?.title;
	expect(first("new worktree")).toBe("New worktree");
	expect(first("worktree")).toBe("New worktree");
	expect(first("close")).toBe("Close tab");
	expect(first("undo")).toBe("Undo close: bring back the last closed tab");
	expect(first("n w")).toBe("New worktree");
	expect(first("zp")).toBe("Zoom pane");
	expect(fit("close tab", "Close tab")).toBeGreaterThan(fit("close tab", "Close tabs below"));
});

test("chords go by the physical key, and by Command on a Mac", () => {
	const key = { key: "†", code: "KeyT", ctrlKey: false, metaKey: false, altKey: true, shiftKey: true };
	expect(matches("alt+shift+t", key, true)).toBe(true);
	expect(matches("alt+t", key, true)).toBe(false);
	const k = { key: "k", code: "KeyK", ctrlKey: true, metaKey: false, altKey: false, shiftKey: false };
	expect(matches("mod+k", k, false)).toBe(true);
	expect(matches("mod+k", k, true)).toBe(false);
});

test("the token comes out of a login link's fragment", () => {
	expect(tokenOf("#login=abc")).toBe("abc");
	expect(tokenOf("#token=abc")).toBe("abc");
	expect(tokenOf("#0123456789abcdef0123")).toBe("0123456789abcdef0123");
	expect(tokenOf("#top")).toBeNull();
	expect(tokenOf("")).toBeNull();
});

// Spec tabs T4.1: which command failed, how, and what was not run after it.
test("a failed startup command is told, and its tab is marked", () => {
	const failed = { ...pane("p", "t"), startup: { command: "make\ndev", exit: 2, skipped: ["echo two"] } };
	expect(startupWords(failed)).toMatchObject({
		title: "make ⏎ dev failed.",
		text: "Exit status 2. Not run: echo two.",
	});
	expect(startupWords({ ...failed, startup: { command: "x", exit: -1 } })?.text).toMatch(/does not tell/);
	expect(startupWords({ ...failed, startup: undefined })).toBeNull();
	expect(paneState({ ...failed, running: false })).toBe("failed");
	expect(paneState({ ...failed, running: true })).toBe("running");
});

// Spec tabs T5.5: what stays and what is grave is not folded away by what passes.
test("the gravest notices are drawn while the stack is folded", () => {
	const at = Date.parse("2026-12-01T00:00:30Z");
	const notice = (id: string, level: string, persistent: boolean, created: string): Notice => ({
		id,
		kind: "x",
		level,
		title: id,
		persistent,
		created,
	});
	const list = [
		notice("cleanup", "error", true, "2026-12-01T00:00:00Z"),
		notice("held", "info", true, "2026-12-01T00:00:10Z"),
		notice("one", "info", false, "2026-12-01T00:00:15Z"),
		notice("two", "info", false, "2026-12-01T00:00:25Z"),
	];
	expect(folded(list, 1).map((n) => n.id)).toEqual(["cleanup"]);
	expect(folded(list, 3).map((n) => n.id)).toEqual(["cleanup", "held", "two"]);
	expect(list.map((n) => isSlim(n, at, false))).toEqual([false, false, true, false]);
	expect(list.every((n) => isSlim(n, at, true))).toBe(true);
});
