// A tab's pane tree: questions and new weights. Pure.
import type { Split } from "../api/types";

export interface Divider {
	/** Child indices from the root to the split. */
	path: number[];
	/** It lies between this child and the next. */
	at: number;
}

export function leaves(tree: Split | null | undefined): string[] {
	if (!tree) return [];
	if (tree.pane) return [tree.pane];
	return (tree.children ?? []).flatMap(leaves);
}

/** The weights of a split, with 1 for what is absent or no weight. */
export function weights(split: Split): number[] {
	return (split.children ?? []).map((_, at) => {
		const size = split.sizes?.[at];
		return size !== undefined && size > 0 ? size : 1;
	});
}

/** Parts of a whole that the wire's integer weights are taken from. */
export const whole = 1000;
const least = 50;

/**
 * Moves the divider after child `at` by `part` of the whole split. No child gets below
 * a twentieth of it; the others keep theirs. The answer is in integers.
 */
export function moved(sizes: readonly number[], at: number, part: number): number[] {
	const sum = sizes.reduce((a, b) => a + b, 0);
	const scaled = sizes.map((size) => (size / sum) * whole);
	const first = scaled[at];
	const second = scaled[at + 1];
	if (first === undefined || second === undefined) return [...sizes];
	const room = first + second;
	const floor = Math.min(least, room / 2);
	const next = Math.min(Math.max(first + part * whole, floor), room - floor);
	return scaled.map((size, i) =>
		Math.max(1, Math.round(i === at ? next : i === at + 1 ? room - next : size)),
	);
}

export type Direction = "left" | "right" | "up" | "down";

interface Box {
	pane: string;
	x: number;
	y: number;
	w: number;
	h: number;
}

function boxes(tree: Split, x: number, y: number, w: number, h: number): Box[] {
	if (tree.pane) return [{ pane: tree.pane, x, y, w, h }];
	const sizes = weights(tree);
	const sum = sizes.reduce((a, b) => a + b, 0);
	let at = 0;
	return (tree.children ?? []).flatMap((child, i) => {
		const part = (sizes[i] ?? 1) / sum;
		const from = at;
		at += part;
		return tree.direction === "vertical"
			? boxes(child, x, y + from * h, w, part * h)
			: boxes(child, x + from * w, y, part * w, h);
	});
}

/** The pane that lies next to another in a direction, or null at the edge. */
export function neighbour(tree: Split | null | undefined, pane: string, direction: Direction): string | null {
	if (!tree) return null;
	const all = boxes(tree, 0, 0, 1, 1);
	const from = all.find((box) => box.pane === pane);
	if (!from) return null;
	const near = 1e-6;
	const cx = from.x + from.w / 2;
	const cy = from.y + from.h / 2;
	let best: { pane: string; gap: number } | null = null;
	for (const box of all) {
		const beside = {
			left: box.x + box.w <= from.x + near,
			right: box.x >= from.x + from.w - near,
			up: box.y + box.h <= from.y + near,
			down: box.y >= from.y + from.h - near,
		}[direction];
		if (!beside || box === from) continue;
		const dx = Math.abs(box.x + box.w / 2 - cx);
		const dy = Math.abs(box.y + box.h / 2 - cy);
		const across = direction === "left" || direction === "right";
		const gap = across ? dx + dy * 2 : dy + dx * 2;
		if (!best || gap < best.gap) best = { pane: box.pane, gap };
	}
	return best?.pane ?? null;
}
