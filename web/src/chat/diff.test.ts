import { expect, test } from "vitest";
import { diffLines, hunksOf, mostEdits, pairsOf } from "./diff";

function sides(before: string, after: string) {
	const lines = diffLines(before, after);
	return {
		old: lines.filter((line) => line.kind !== "add").map((line) => line.text),
		new: lines.filter((line) => line.kind !== "remove").map((line) => line.text),
		edits: lines.filter((line) => line.kind !== "same").length,
	};
}

/** A small generator of numbers that are the same in each run. */
function numbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1664525 + 1013904223) % 4294967296;
		return state / 4294967296;
	};
}

test("each side reads back, and no more is changed than must be", () => {
	const next = numbers(7);
	for (let round = 0; round < 300; round++) {
		const text = () => Array.from({ length: Math.floor(next() * 12) }, () => "abc"[Math.floor(next() * 3)]);
		const a = text();
		const b = text();
		const got = sides(a.join("\n"), b.join("\n"));
		expect(got.old).toEqual(a);
		expect(got.new).toEqual(b);
		expect(got.edits).toBe(a.length + b.length - 2 * common(a, b));
	}
});

function common(a: readonly unknown[], b: readonly unknown[]): number {
	const best = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
	for (let i = a.length - 1; i >= 0; i--) {
		for (let j = b.length - 1; j >= 0; j--) {
			const row = best[i];
			if (!row) continue;
			row[j] =
				a[i] === b[j] ? 1 + (best[i + 1]?.[j + 1] ?? 0) : Math.max(best[i + 1]?.[j] ?? 0, row[j + 1] ?? 0);
		}
	}
	return best[0]?.[0] ?? 0;
}

test("line numbers count each side", () => {
	const lines = diffLines("a\nb\nc\n", "a\nB\nB2\nc\n");
	expect(lines.map((l) => [l.kind, l.old, l.new])).toEqual([
		["same", 1, 1],
		["remove", 2, null],
		["add", null, 2],
		["add", null, 3],
		["same", 3, 4],
	]);
});

test("a new file is all added, a removed one all removed", () => {
	expect(diffLines("", "a\nb\n").map((l) => l.kind)).toEqual(["add", "add"]);
	expect(diffLines("a\n", "").map((l) => l.kind)).toEqual(["remove"]);
	expect(diffLines("", "")).toEqual([]);
});

test("the changed part of a line is marked", () => {
	const [before, after] = diffLines("lamp := dark", "lamp := lit");
	expect(before?.text.slice(...(before.mark ?? [0, 0]))).toBe("dark");
	expect(after?.text.slice(...(after.mark ?? [0, 0]))).toBe("lit");
});

test("hunks leave out what is far from a change, and say how much", () => {
	const text = (at: number) =>
		Array.from({ length: 40 }, (_, n) => (n === at ? "x" : `line ${n}`)).join("\n");
	const hunks = hunksOf(diffLines(text(99), text(20)));
	expect(hunks).toHaveLength(1);
	expect(hunks[0]?.skipped).toBe(17);
	expect(hunks[0]?.lines).toHaveLength(8);
});

test("side by side, removed lines stand against the ones that came for them", () => {
	const pairs = pairsOf(diffLines("a\nb\nc\nd", "a\nX\nd"));
	expect(pairs.map((p) => [p.left?.text, p.right?.text])).toEqual([
		["a", "a"],
		["b", "X"],
		["c", undefined],
		["d", "d"],
	]);
});

test("a file that is another one altogether still ends soon", () => {
	const many = (word: string) => Array.from({ length: 6 * mostEdits }, (_, n) => `${word} ${n}`).join("\n");
	const started = performance.now();
	expect(sides(many("old"), many("new")).edits).toBe(12 * mostEdits);
	expect(performance.now() - started).toBeLessThan(2000);
});
