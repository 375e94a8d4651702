import { expect, test } from "vitest";
import { changed, colouredLines, cut, languageOf, marking } from "./colours";
import type { Piece } from "./markdown";
import { hunksOfPatch } from "./patch";

const textOf = (of: readonly Piece[]): string =>
	of.map((piece) => (typeof piece === "string" ? piece : textOf(piece.of))).join("");

test("pieces are cut at line ends, and a comment of two lines stays one on both", () => {
	const rows = cut(["a\n", { class: "c", of: ["x\n", { class: "d", of: ["y"] }] }, "\n"]);
	expect(rows).toEqual([
		["a"],
		[{ class: "c", of: ["x"] }],
		[{ class: "c", of: [{ class: "d", of: ["y"] }] }],
		[],
	]);
});

test("the changed part is outside of the colours, and no letter is lost", () => {
	const pieces: Piece[] = ["let ", { class: "s", of: ["'abc'"] }, ";"];
	const made = marking(pieces, [5, 8]);
	expect(made).toEqual([
		"let ",
		{ class: "s", of: ["'"] },
		{ class: changed, of: [{ class: "s", of: ["abc"] }] },
		{ class: "s", of: ["'"] },
		";",
	]);
	for (let from = 0; from <= 10; from++) {
		for (let to = from; to <= 10; to++) expect(textOf(marking(pieces, [from, to]))).toBe("let 'abc';");
	}
	expect(marking(pieces, undefined)).toBe(pieces);
});

test("each side of a hunk is coloured as its own text", () => {
	const [hunk] = hunksOfPatch("@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
	if (!hunk) throw new Error("no hunk");
	const asked: string[] = [];
	const found = colouredLines(hunk, "ts", (code) => {
		asked.push(code);
		return [{ class: "k", of: [code] }];
	});
	expect(asked).toEqual(["one\ntwo", "one\nthree"]);
	expect(hunk.lines.map((line) => textOf(found.get(line) ?? []))).toEqual(["one", "two", "three"]);
	expect(colouredLines(hunk, "", () => ["x"]).size).toBe(0);
	expect(colouredLines(hunk, "ts", () => null).size).toBe(0);
});

test("a file's name tells its language", () => {
	expect(["a/b.go", "x.mts", "Makefile", "README", "deep/.bashrc", "go.mod"].map(languageOf)).toEqual([
		"go",
		"ts",
		"makefile",
		"",
		"bashrc",
		"",
	]);
});
