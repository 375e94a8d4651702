import { expect, test } from "vitest";
import type { Change, Changes, Chip } from "../api/types";
import {
	foldsOf,
	kindLetter,
	kindWords,
	moreWords,
	pathParts,
	sidesOf,
	stampOf,
	totalWords,
	undrawn,
} from "./changes";

const change = (path: string, more: Partial<Change> = {}): Change => ({
	path,
	kind: "modified",
	added: 1,
	removed: 0,
	...more,
});

const changes = (more: Partial<Changes> = {}): Changes => ({
	root: "/src/harbor",
	branch: "main",
	files: 1,
	added: 1,
	removed: 0,
	conflicts: [],
	staged: [],
	unstaged: [],
	untracked: [],
	...more,
});

// Spec chips C5.2: staged and unstaged apart, a path on both sides is in both.
test("sides hold what fits, in their order, with their own sums", () => {
	const all = changes({
		staged: [change("src/crane.go", { added: 2 }), change("new.go", { kind: "renamed", from: "old.go" })],
		unstaged: [change("src/crane.go", { removed: 3 })],
	});
	expect(sidesOf(all).map(({ side, added, removed }) => [side, added, removed])).toEqual([
		["staged", 3, 0],
		["unstaged", 1, 3],
	]);
	expect(sidesOf(all, "crane").map(({ files }) => files.length)).toEqual([1, 1]);
	expect(sidesOf(all, "old")[0]?.files[0]?.path).toBe("new.go");
	expect(sidesOf(all, "nothing like it")).toEqual([]);
});

test("states are letters and words", () => {
	const of = (kind: string) => [kindLetter(change("x", { kind })), kindWords(change("x", { kind }))];
	expect(["modified", "untracked", "type_changed", "deleted_by_them"].map(of)).toEqual([
		["M", "modified"],
		["U", "untracked"],
		["T", "type changed"],
		["!", "deleted by them"],
	]);
});

test("what is not drawn is named with the reason", () => {
	expect(undrawn(change("a"))).toBe("");
	expect(undrawn(change("a", { binary: true }))).toMatch(/binary/);
	expect(undrawn(change("a", { submodule: true }))).toMatch(/submodule/);
	expect(undrawn(change("a/", { kind: "untracked" }))).toMatch(/repository of its own/);
	expect(undrawn(change("a", { added: 30_000 }))).toBe("30,000 changed lines: too many to draw here.");
});

test("few small files are unfolded, and what the user folded stays so over a refresh", () => {
	const first = foldsOf(null, changes({ staged: [change("a"), change("big", { added: 5000 })] }));
	expect([first["staged:a"], first["staged:big"]]).toEqual([true, false]);
	const next = foldsOf(
		{ ...first, "staged:a": false },
		changes({ staged: [change("a", { added: 9 })], untracked: [change("b", { kind: "untracked" })] }),
	);
	expect([next["staged:a"], next["untracked:b"]]).toEqual([false, true]);
	const many = Array.from({ length: 13 }, (_, n) => change(`f${n}`));
	const folded = foldsOf(null, changes({ unstaged: many }));
	expect(folded["unstaged:f0"]).toBe(false);
	expect(foldsOf(folded, changes({ unstaged: [change("late")] }))["unstaged:late"]).toBe(false);
});

test("totals, rests and paths in words", () => {
	expect(totalWords(changes({ files: 3, added: 10, removed: 1 }))).toBe(
		"3 files, 10 lines added, 1 line removed",
	);
	expect(totalWords(changes())).toBe("1 file, 1 line added");
	expect(moreWords(changes())).toBe("");
	expect(moreWords(changes({ more: 2 }))).toBe("2 more files not listed.");
	expect(pathParts("a/b/c.go")).toEqual(["a/b/", "c.go"]);
	expect(pathParts("sub/repo/")).toEqual(["sub/", "repo/"]);
	expect(pathParts("c.go")).toEqual(["", "c.go"]);
});

test("a stamp is another one when the diff or the branch is", () => {
	const chip = (kind: string, value: string): Chip => ({ kind, value, text: value, status: "ready" });
	const one = stampOf([chip("git_diff", "1 • +1"), chip("git_branch", "main"), chip("cwd", "/a")]);
	expect(stampOf([chip("git_diff", "1 • +1"), chip("git_branch", "main"), chip("cwd", "/b")])).toBe(one);
	expect(stampOf([chip("git_diff", "1 • +2"), chip("git_branch", "main")])).not.toBe(one);
	expect(stampOf([chip("git_diff", "1 • +1"), chip("git_branch", "next")])).not.toBe(one);
});
