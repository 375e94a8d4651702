import { expect, test } from "vitest";
import type { BranchList, ClosedTab, Config, Notice, Pane, Param, WorktreeInfo } from "../api/types";
import { failedCleanup, reviewConfig } from "../dev/fixtures";
import { branchChoices, firstBranch } from "./branches";
import { closeButton, closedWords, closeTitle, confirmed, endings, quietTabs } from "./closing";
import {
	faultCount,
	fieldFaults,
	filtered,
	namedConfigs,
	offered,
	offsetOf,
	sentValue,
	severalLines,
	startValue,
	unfilled,
	withoutField,
} from "./configs";
import { batchOf, cleanupWords, fileOf, left } from "./notices";
import { missingSecrets, paneLabel } from "./panes";
import { homeOf, tilde } from "./path";
import {
	aheadWords,
	emptyWorktree,
	losses,
	nameFault,
	nameNote,
	sizeWords,
	worktreeFacts,
	worktreeMissing,
	worktreeRequest,
} from "./worktrees";

const config = (name: string, path: string): Config => ({ ...reviewConfig, name, path });
const param = (more: Partial<Param>): Param => ({ name: "x", type: "text", ...more });
const fail = (details: Record<string, unknown>) => ({ code: "", message: "", details });

test("equal names are told apart by the part of the folder that differs", () => {
	const all = namedConfigs([
		config("review", "/home/ada/.warp/tab_configs/review.toml"),
		config("Review", "/home/ada/.config/davit/tab_configs/review.toml"),
		config("Dev", "/x/dev.toml"),
		config("twice", "/x/one.toml"),
		config("twice", "/x/two.toml"),
	]);
	expect(all.map((one) => [one.config.name, one.apart])).toEqual([
		["Dev", ""],
		["Review", "davit/tab_configs"],
		["review", ".warp/tab_configs"],
		["twice", "one.toml"],
		["twice", "two.toml"],
	]);
	expect(filtered(all, "warp").map((one) => one.apart)).toEqual([".warp/tab_configs"]);
	expect(filtered(all, " ")).toHaveLength(5);
});

// Spec tabs T2.1.
test("a blank takes the default, an empty default counts, a blank without one holds the form", () => {
	expect(sentValue(param({ default: "main" }), "  ")).toBe("main");
	expect(sentValue(param({}), " kept as typed ")).toBe(" kept as typed ");
	expect(startValue(param({ type: "boolean" }))).toBe("false");
	const params = [
		param({ name: "a" }),
		param({ name: "b", default: "" }),
		param({ name: "c", type: "secret" }),
	];
	expect(unfilled(params, () => " ")).toBe("a and c are still blank.");
	expect(unfilled(params, (one) => (one.name === "a" ? "1" : ""))).toBe("c is still blank.");
	expect(unfilled(params, () => "x")).toBe("");
});

test("the last value is offered where it differs, and never of a secret", () => {
	expect(offered(param({ last: "old" }), "new")).toBe("old");
	expect(offered(param({ last: "old" }), "old")).toBeNull();
	expect(offered(param({ type: "secret", last: "old" }), "")).toBeNull();
});

test("a place in a text is found, also past its ends", () => {
	const text = "one\ntwo\n\nfour";
	expect([offsetOf(text, 1, 1), offsetOf(text, 2, 2), offsetOf(text, 3, 9), offsetOf(text, 9, 1)]).toEqual([
		0, 5, 8, 13,
	]);
	expect(faultCount([])).toBe("no faults");
});

test("the default that is no branch stands first, and is chosen by itself; else the main branch", () => {
	const list: BranchList = {
		repo: "/r",
		main: "main",
		current: "lamp",
		branches: [{ name: "main" }, { name: "lamp" }],
	};
	expect(branchChoices(list, "gone").map((one) => one.name)).toEqual(["gone", "main", "lamp"]);
	expect(branchChoices(list, "lamp").map((one) => one.note)).toEqual(["", "checked out"]);
	expect(firstBranch(list, "gone")).toBe("gone");
	expect(firstBranch(list, undefined)).toBe("main");
});

// Spec tabs T5.3: what is confirmed is what was shown.
test("a yes closes the ids of the refusal, whatever was asked for", () => {
	const refusal = fail({
		tabs: ["t1", "t2"],
		list: [
			{ tab: "t1", title: "bench", kind: "program", program: "make", pid: 7 },
			{ tab: "t1", title: "bench", kind: "draft", program: "an unsent message" },
		],
	});
	expect(endings(refusal)).toEqual([
		{
			tab: "t1",
			title: "bench",
			endings: [
				{ kind: "program", what: "make" },
				{ kind: "draft", what: "an unsent message" },
			],
		},
	]);
	expect(confirmed({ others: "t3" }, refusal)).toEqual({ tabs: ["t1", "t2"], yes: true });
	expect(confirmed({ pane: "p" }, refusal)).toEqual({ pane: "p", yes: true });
	expect(closeTitle({ others: "t3" }, refusal)).toBe("Close 2 tabs?");
	expect(closeButton({ pane: "p" }, refusal)).toBe("Close");
	expect(quietTabs({ others: "t3" }, refusal, [{ id: "t2", title: "docs", tree: {}, created: "" }])).toEqual([
		"docs",
	]);
	expect(endings(fail({}))).toEqual([]);
});

test("undo says what it would bring back", () => {
	const one = (id: string, more: Partial<ClosedTab> = {}): ClosedTab => ({
		id,
		kind: "tab",
		batch: "b",
		title: id,
		until: "",
		...more,
	});
	expect(closedWords([one("x", { batch: "c" }), one("y")])).toBe("“x”");
	expect(closedWords([one("x"), one("y")])).toBe("2 tabs");
	expect(closedWords([one("x", { kind: "pane" })])).toBe("a pane of “x”");
	expect(closedWords([])).toBe("");
	const notice = { ...failedCleanup, tab: "x", details: undefined };
	expect(batchOf(notice, [one("x")])).toBe("b");
	expect(batchOf({ ...notice, details: { batch: "named" } }, [])).toBe("named");
	expect(batchOf(undefined, [])).toBeUndefined();
});

// Spec tabs T5.5.
test("a failed cleanup is told in its parts: command, end, output", () => {
	expect(cleanupWords(failedCleanup)).toMatchObject({
		command: "git worktree remove ../review-418",
		text: "exit status 128\n1 command was skipped",
	});
	const plain: Notice = { ...failedCleanup, details: undefined, body: "words" };
	expect(cleanupWords(plain)).toEqual({ command: "", text: "words", output: "" });
});

test("a notice of a faulty config leads to the place of its first fault", () => {
	const notice: Notice = {
		...failedCleanup,
		details: { file: "/c/a.toml" },
		body: "/c/a.toml:7:3: error: x\n/c/a.toml:9:1: error: y",
	};
	expect(fileOf(notice)).toEqual({ path: "/c/a.toml", line: 7, column: 3 });
	expect(cleanupWords(notice).text).toBe("7:3: error: x\n9:1: error: y");
	expect(fileOf(failedCleanup)).toBeNull();
});

test("the ring of a notice gets shorter, from whole to nothing", () => {
	const notice: Notice = { ...failedCleanup, created: "2026-11-30T10:00:00Z", until: "2026-11-30T10:01:00Z" };
	const at = (time: string) => left(notice, Date.parse(time));
	expect([at("2026-11-30T10:00:00Z"), at("2026-11-30T10:00:45Z"), at("2026-11-30T10:02:00Z")]).toEqual([
		1, 0.25, 0,
	]);
});

test("paths are short below the home that the chips know", () => {
	const chips = { p: [{ kind: "cwd", value: "/srv/ada/code", text: "~/code", status: "ready" }] };
	expect(homeOf(chips, "/home/bob/x")).toBe("/srv/ada");
	expect(homeOf({}, "/home/bob/x")).toBe("/home/bob");
	expect([tilde("/home/bob/x", "/home/bob"), tilde("/home/bobby", "/home/bob"), tilde("/x", "")]).toEqual([
		"~/x",
		"/home/bobby",
		"/x",
	]);
});

test("the form of a worktree asks for no more than it holds", () => {
	const form = { ...emptyWorktree, repo: "/r", base: "main" };
	expect(worktreeRequest(form)).toEqual({ in: "path:/r", base: "main", removeOnClose: true });
	expect(
		worktreeRequest({
			...form,
			named: true,
			name: " fog ",
			agent: "",
			prompt: "p",
			removeOnClose: false,
			deleteBranch: true,
		}),
	).toEqual({
		in: "path:/r",
		base: "main",
		branch: "fog",
		removeOnClose: false,
	});
	expect(worktreeMissing(emptyWorktree, [])).toBe("Choose a repository.");
});

test.each([
	["", /Name the branch/],
	["two words", /no blanks/],
	["a~b", /no “~”/],
	["-x", /dash/],
	["a..b", /does not allow/],
	["x.lock", /does not allow/],
	["main/lamp", /main is in the way/],
	["fog", /fog\/signal is in the way/],
])("the name %j is refused before it is sent", (name, words) => {
	expect(nameFault(name, ["main", "fog/signal"])).toMatch(words);
});

test("a name that git takes is not doubted; one that exists is checked out", () => {
	expect(nameFault("ada/fog-signal", ["main"])).toBe("");
	expect(nameNote("lamp", [{ name: "lamp" }])).toMatch(/checked out as it is/);
	expect(nameNote("lamp", [{ name: "lamp", worktree: "/w" }])).toMatch(/already in \/w/);
});

const tree: WorktreeInfo = {
	path: "/w",
	branch: "b",
	head: "1",
	ahead: 0,
	behind: 0,
	dirty: false,
	untracked: 0,
	unpushed: 0,
	stashes: 0,
	ignored: 0,
};

test("a worktree says what would be missed", () => {
	expect(worktreeFacts(tree)).toEqual([]);
	expect(worktreeFacts({ ...tree, dirty: true, untracked: 1, unpushed: 2 }).map((fact) => fact.text)).toEqual(
		["uncommitted changes", "1 untracked file", "2 unpushed commits"],
	);
	expect(aheadWords({ ...tree, ahead: 2, behind: 1, base: "main" })).toBe("2 ahead, 1 behind of main");
	expect([0, 999, 1500, 184_300_000].map(sizeWords)).toEqual(["0 B", "999 B", "1.5 kB", "184 MB"]);
	expect(sizeWords(undefined)).toBe("");
});

// Spec launch L9.6.
test("a refused removal gives its list and the digest of it", () => {
	const refused = losses(
		fail({
			digest: "d1",
			untracked: ["a"],
			commits: [{ commit: "5f2c1d9e0a77", subject: "lamp" }],
			nested: [],
		}),
	);
	expect(refused).toEqual({
		digest: "d1",
		lists: [
			{ what: "Untracked", names: ["a"] },
			{ what: "Commits that nothing else reaches", names: ["5f2c1d9e0a lamp"] },
		],
	});
	expect(losses(fail({})).digest).toBe("");
	expect(missingSecrets(fail({ missing: ["token"] }))).toEqual(["token"]);
});

test("a value of several lines gets a field of several lines, a secret does not", () => {
	const words = { name: "words", type: "text" } as Param;
	expect(severalLines(words, "one")).toBe(false);
	expect(severalLines(words, "one\ntwo")).toBe(true);
	expect(severalLines({ ...words, last: "one\ntwo" }, "")).toBe(true);
	expect(severalLines({ ...words, default: "one\r\ntwo" }, "")).toBe(true);
	expect(severalLines({ ...words, type: "secret" }, "one\ntwo")).toBe(false);
});

// Spec tabs T2.1.
test("a refused opening is told at its fields, until they are changed", () => {
	const refused = {
		...fail({
			missing: ["words"],
			values: [{ param: "branch", problem: 'names no branch of /r: "mian", did you mean "main"?' }],
		}),
		code: "config_missing_parameters",
	};
	expect(fieldFaults(refused)).toEqual({
		words: "A value is needed.",
		branch: 'The value names no branch of /r: "mian", did you mean "main"?',
	});
	const left = withoutField(refused, "branch");
	expect(fieldFaults(left)).toEqual({ words: "A value is needed." });
	expect(withoutField(left, "words")).toBeNull();
	expect(withoutField(refused, "other")).toBe(refused);
	expect(fieldFaults({ ...refused, code: "config_unknown_parameter" })).toEqual({});
});

test("two panes of one name are told apart", () => {
	const pane = (id: string, title: string) => ({ id, title }) as Pane;
	const all = [pane("a", "bash"), pane("b", "bash"), pane("c", "bash 2"), pane("d", "vi")];
	expect(all.map((one) => paneLabel(one, all))).toEqual(["bash", "bash 2", "bash 2 2", "vi"]);
});
