import { expect, test } from "vitest";
import type { Split } from "../api/types";
import { leaves, moved, neighbour, weights, whole } from "./tree";

// a | (b over c)
const tree: Split = {
	direction: "horizontal",
	sizes: [3, 2],
	children: [{ pane: "a" }, { direction: "vertical", children: [{ pane: "b" }, { pane: "c" }] }],
};

test("leaves come in reading order; a tab that opens has none", () => {
	expect(leaves(tree)).toEqual(["a", "b", "c"]);
	expect(leaves(null)).toEqual([]);
});

test("absent and useless weights count as 1", () => {
	expect(weights({ children: [{ pane: "a" }, { pane: "b" }, { pane: "c" }], sizes: [2, 0] })).toEqual([
		2, 1, 1,
	]);
});

test("a moved divider shifts its two neighbours only, in integers", () => {
	expect(moved([1, 1, 2], 0, 0.1)).toEqual([350, 150, 500]);
	for (const part of [-5, -0.3, 0, 0.2, 7]) {
		const sizes = moved([1, 1, 2], 1, part);
		expect(sizes.every((size) => Number.isInteger(size) && size >= 50)).toBe(true);
		expect(sizes.reduce((a, b) => a + b, 0)).toBe(whole);
		expect(sizes[0]).toBe(250);
	}
});

test("neighbours lie where the eye sees them", () => {
	expect(neighbour(tree, "a", "right")).toBe("b");
	expect(neighbour(tree, "b", "down")).toBe("c");
	expect(neighbour(tree, "c", "up")).toBe("b");
	expect(neighbour(tree, "c", "left")).toBe("a");
	expect(neighbour(tree, "a", "left")).toBeNull();
	expect(neighbour(tree, "a", "up")).toBeNull();
});
