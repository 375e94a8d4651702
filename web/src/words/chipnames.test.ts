import { describe, expect, test } from "vitest";
import type { Chip } from "../api/types";
import { chipMore, chipName, chipParts, chipText } from "./chipnames";

const chip = (kind: string, text: string, data: Partial<NonNullable<Chip["data"]>> = {}): Chip => ({
	kind,
	value: text,
	text,
	status: "ready",
	data: { files: 0, added: 0, removed: 0, untracked: 0, ...data },
});

// Spec chips C1: every kind has a name that can be spoken.
describe("names", () => {
	const kinds =
		"cwd user host ssh subshell venv conda node date time12 time24 git_branch git_status git_diff github_pr kube svn_branch svn_dirty agent_plan";
	test("no kind is called by its key", () => {
		for (const kind of kinds.split(" ")) expect(chipName(kind), kind).not.toBe(kind);
	});
	test("the user's own are called by their title, else by their name", () => {
		expect(chipName("custom:depth", "Depth")).toBe("Depth");
		expect(chipName("custom:depth")).toBe("depth");
		expect(chipName("tide")).toBe("tide");
		expect(chipName("constructor")).toBe("constructor");
	});
});

// Spec chips C1.3: where a text gives way.
test("a path keeps its last part, a branch its counts", () => {
	expect(chipParts(chip("cwd", "~/src/harbor/lamps"))).toEqual({ head: "~/src/harbor", tail: "/lamps" });
	expect(chipParts(chip("cwd", "~"))).toEqual({ head: "", tail: "~" });
	expect(chipParts(chip("cwd", "/"))).toEqual({ head: "", tail: "/" });
	expect(chipParts(chip("git_status", "main • ↑1 ↓2"))).toEqual({ head: "main", tail: "↑1 ↓2" });
	expect(chipParts(chip("git_branch", "a • b"))).toEqual({ head: "a • b", tail: "" });
});

test("counts in words", () => {
	expect(chipText(chip("git_diff", "3 • +1", { files: 3, added: 1, untracked: 2 }))).toBe("3 +1 −0");
	expect(chipMore(chip("git_diff", "", { files: 1, added: 1, untracked: 2 }))).toBe(
		"1 file, 1 line added, 0 removed, 2 untracked",
	);
	expect(chipText(chip("svn_dirty", "3", { files: 3 }))).toBe("±3");
	expect(chipMore(chip("svn_dirty", "3", { files: 3 }))).toBe("3 files not committed");
	const tracked = { upstream: "origin/main" };
	expect(chipMore(chip("git_status", "main", { ...tracked, ahead: 1, behind: 2 }))).toBe(
		"1 ahead of and 2 behind origin/main",
	);
	expect(chipMore(chip("git_status", "main", { ...tracked, behind: 2 }))).toBe("2 behind origin/main");
	expect(chipMore(chip("git_status", "main", tracked))).toBe("Level with origin/main");
	expect(chipMore(chip("git_status", "main", { ...tracked, rebased: true }))).toBe(
		"The same changes as origin/main, in other commits",
	);
	expect(chipMore(chip("git_status", "main"))).toBe("");
});
