// A diff by lines of a file's old and new text, for showing. Pure. It is Myers' O(ND) walk
// between the common head and tail; past `mostEdits` the middle counts as all replaced, so
// that a rewritten file costs no more than its length.

export interface Line {
	readonly kind: "same" | "add" | "remove";
	/** Line numbers from 1; null on the side that does not have it. */
	readonly old: number | null;
	readonly new: number | null;
	readonly text: string;
	/** The part of the line that changed, when its counterpart is plain to see. */
	readonly mark?: readonly [from: number, to: number];
	/** The file ends here without a line end. */
	readonly bare?: true;
}

export interface Hunk {
	/** Lines that are left out before it. */
	readonly skipped: number;
	/** What it stands in, where that is known: a function, a section. */
	readonly within?: string;
	readonly lines: readonly Line[];
}

export const mostEdits = 800;

function linesOf(text: string): string[] {
	if (text === "") return [];
	const lines = text.split("\n");
	if (lines.at(-1) === "") lines.pop();
	return lines;
}

export function diffLines(before: string, after: string): Line[] {
	const a = linesOf(before);
	const b = linesOf(after);
	let head = 0;
	while (head < a.length && head < b.length && a[head] === b[head]) head++;
	let tail = 0;
	while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
	const script = edits(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
	const lines: Line[] = [];
	let i = 0;
	let j = 0;
	const same = () => {
		const text = b[j] ?? "";
		lines.push({ kind: "same", old: ++i, new: ++j, text });
	};
	for (let n = 0; n < head; n++) same();
	for (const step of script) {
		if (step === "same") same();
		else if (step === "remove") {
			const text = a[i] ?? "";
			lines.push({ kind: "remove", old: ++i, new: null, text });
		} else {
			const text = b[j] ?? "";
			lines.push({ kind: "add", old: null, new: ++j, text });
		}
	}
	for (let n = 0; n < tail; n++) same();
	return marked(lines);
}

type Step = Line["kind"];

function edits(a: readonly string[], b: readonly string[]): Step[] {
	const replaced = (): Step[] => [...a.map((): Step => "remove"), ...b.map((): Step => "add")];
	if (a.length === 0 || b.length === 0) return replaced();
	const bound = Math.min(a.length + b.length, mostEdits);
	const size = 2 * bound + 1;
	const reach = new Int32Array(size).fill(-1);
	const trace: Int32Array[] = [];
	reach[bound + 1] = 0;
	for (let d = 0; d <= bound; d++) {
		for (let k = -d; k <= d; k += 2) {
			const down = k === -d || (k !== d && at(reach, bound + k - 1) < at(reach, bound + k + 1));
			let x = down ? at(reach, bound + k + 1) : at(reach, bound + k - 1) + 1;
			let y = x - k;
			while (x < a.length && y < b.length && a[x] === b[y]) {
				x++;
				y++;
			}
			reach[bound + k] = x;
			if (x >= a.length && y >= b.length) return walkBack(trace, a.length, b.length, d);
		}
		trace.push(reach.slice(bound - d, bound + d + 1));
	}
	return replaced();
}

function at(array: Int32Array, index: number): number {
	return array[index] ?? -1;
}

/** The steps of a shortest path, from the reaches of each round before the last. */
function walkBack(trace: readonly Int32Array[], x: number, y: number, rounds: number): Step[] {
	const steps: Step[] = [];
	for (let d = rounds; d > 0; d--) {
		const before = trace[d - 1] ?? new Int32Array();
		const reach = (k: number) => (Math.abs(k) > d - 1 ? -1 : at(before, k + d - 1));
		const k = x - y;
		const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
		const fromX = reach(down ? k + 1 : k - 1);
		const fromY = fromX - (down ? k + 1 : k - 1);
		const startX = down ? fromX : fromX + 1;
		while (x > startX) {
			steps.push("same");
			x--;
			y--;
		}
		steps.push(down ? "add" : "remove");
		x = fromX;
		y = fromY;
	}
	while (x > 0) {
		steps.push("same");
		x--;
	}
	return steps.reverse();
}

/** Marks the changed part of lines that stand against each other. */
export function marked(lines: Line[]): Line[] {
	for (let from = 0; from < lines.length; ) {
		if (lines[from]?.kind !== "remove") {
			from++;
			continue;
		}
		let adds = from;
		while (lines[adds]?.kind === "remove") adds++;
		let end = adds;
		while (lines[end]?.kind === "add") end++;
		if (adds - from === end - adds) {
			for (let n = 0; n < adds - from; n++) {
				const old = lines[from + n];
				const now = lines[adds + n];
				const parts = old && now && changedParts(old.text, now.text);
				if (!parts) continue;
				lines[from + n] = { ...old, mark: parts[0] };
				lines[adds + n] = { ...now, mark: parts[1] };
			}
		}
		from = Math.max(end, from + 1);
	}
	return lines;
}

type Part = readonly [from: number, to: number];

function changedParts(a: string, b: string): [Part, Part] | null {
	const room = Math.min(a.length, b.length);
	let head = 0;
	while (head < room && a[head] === b[head]) head++;
	let tail = 0;
	while (tail < room - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
	// Lines with little in common are better read as a whole.
	if (head + tail < room * 0.4) return null;
	return [
		[head, a.length - tail],
		[head, b.length - tail],
	];
}

/** The changes with some lines around them. */
export function hunksOf(lines: readonly Line[], around = 3): Hunk[] {
	const keep = new Uint8Array(lines.length);
	lines.forEach((line, at) => {
		if (line.kind !== "same") keep.fill(1, Math.max(0, at - around), at + around + 1);
	});
	const hunks: Hunk[] = [];
	let skipped = 0;
	let open: Line[] | null = null;
	lines.forEach((line, at) => {
		if (!keep[at]) {
			skipped++;
			open = null;
			return;
		}
		if (!open) {
			open = [];
			hunks.push({ skipped, lines: open });
			skipped = 0;
		}
		open.push(line);
	});
	return hunks;
}

export interface Pair {
	readonly left: Line | null;
	readonly right: Line | null;
}

/** Lines side by side: what was removed stands against what came for it. */
export function pairsOf(lines: readonly Line[]): Pair[] {
	const pairs: Pair[] = [];
	let waiting: Line[] = [];
	const flush = () => {
		for (const left of waiting) pairs.push({ left, right: null });
		waiting = [];
	};
	for (const line of lines) {
		if (line.kind === "remove") waiting.push(line);
		else if (line.kind === "add") pairs.push({ left: waiting.shift() ?? null, right: line });
		else {
			flush();
			pairs.push({ left: line, right: line });
		}
	}
	flush();
	return pairs;
}
