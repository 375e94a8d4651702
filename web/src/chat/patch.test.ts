import { expect, test } from "vitest";
import { hunksOfPatch } from "./patch";

// Spec chips C5.2: the view of changes draws what git says, with its numbers.
test("a patch is read with line numbers, gaps, marks and places", () => {
	const hunks = hunksOfPatch(
		[
			"diff --git a/crane.go b/crane.go",
			"index 1..2 100644",
			"--- a/crane.go",
			"+++ b/crane.go",
			"@@ -4,3 +4,3 @@ package crane",
			" func lower() {",
			'-	say("down")',
			'+	say("down now")',
			" }",
			"@@ -20,2 +20,3 @@ func lift() {",
			" last",
			"-end",
			"+end",
			"\\ No newline at end of file",
			"+--- not a header",
		].join("\n"),
	);
	expect(hunks.map((hunk) => [hunk.skipped, hunk.within])).toEqual([
		[3, "package crane"],
		[13, "func lift() {"],
	]);
	expect(hunks[0]?.lines).toEqual([
		{ kind: "same", old: 4, new: 4, text: "func lower() {" },
		{ kind: "remove", old: 5, new: null, text: '	say("down")', mark: [10, 10] },
		{ kind: "add", old: null, new: 5, text: '	say("down now")', mark: [10, 14] },
		{ kind: "same", old: 6, new: 6, text: "}" },
	]);
	expect(hunks[1]?.lines.at(-2)).toMatchObject({ kind: "add", new: 21, text: "end", bare: true });
	expect(hunks[1]?.lines.at(-1)).toMatchObject({ kind: "add", new: 22, text: "--- not a header" });
});

test("a new file, a deleted one, a rename without changes, and a file with Windows line ends", () => {
	expect(hunksOfPatch("--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+one\n+two\n")).toEqual([
		{
			skipped: 0,
			within: undefined,
			lines: [
				{ kind: "add", old: null, new: 1, text: "one" },
				{ kind: "add", old: null, new: 2, text: "two" },
			],
		},
	]);
	expect(hunksOfPatch("--- a/old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n")[0]).toMatchObject({
		skipped: 0,
		lines: [{ kind: "remove", old: 1, new: null, text: "one" }],
	});
	expect(hunksOfPatch("similarity index 100%\nrename from a\nrename to b\n")).toEqual([]);
	expect(hunksOfPatch("@@ -1 +1 @@\n-one\r\n+two\r\n")[0]?.lines.map((line) => line.text)).toEqual([
		"one",
		"two",
	]);
});

test("a merge's combined patch has the numbers of its result", () => {
	const [hunk] = hunksOfPatch(
		"diff --cc first\n@@@ -1,1 -1,1 +1,4 @@@\n++<<<<<<< HEAD\n +main\n+ side\n--gone\n  same\n",
	);
	expect(hunk?.lines).toEqual([
		{ kind: "add", old: null, new: 1, text: "<<<<<<< HEAD" },
		{ kind: "add", old: null, new: 2, text: "main" },
		{ kind: "add", old: null, new: 3, text: "side" },
		{ kind: "remove", old: null, new: null, text: "gone" },
		{ kind: "same", old: null, new: 4, text: "same" },
	]);
});

test("what is no patch gives nothing, and what follows one is not read", () => {
	for (const text of ["", "hello", "@@ nonsense @@\n+x", "Binary files a/x and b/x differ\n"]) {
		expect(hunksOfPatch(text)).toEqual([]);
	}
	expect(hunksOfPatch("@@ -1 +1 @@\n-a\n+b\ndiff --git a/x b/x\n+no\n")[0]?.lines).toHaveLength(2);
});
