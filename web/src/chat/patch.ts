// Git's unified diff of one file as the hunks that are drawn. Pure. It reads the combined
// form of a merge too. What it does not know ends the reading: a line is never invented.
import { type Hunk, type Line, marked } from "./diff";

/** `@@ -1,2 +3,4 @@ within`, and with more sides `@@@ … @@@`. */
const heading = /^(@@+) (-[^@]*) \+(\d+)(?:,\d+)? @@+ ?(.*)$/;

export function hunksOfPatch(text: string): Hunk[] {
	const rows = text.split("\n");
	if (rows.at(-1) === "") rows.pop();
	const hunks: Hunk[] = [];
	let at = rows.findIndex((row) => heading.test(row));
	let last = 0; // of the new side, else of the old one
	while (at >= 0 && at < rows.length) {
		const found = heading.exec(rows[at] ?? "");
		if (!found) break;
		const sides = (found[1]?.length ?? 2) - 1;
		const from = { old: Number(/^-(\d+)/.exec(found[2] ?? "")?.[1] ?? 0), new: Number(found[3]) };
		const read = linesOf(rows, at + 1, sides, from);
		const begins = from.new || from.old; // a side that is not there begins at 0
		hunks.push({
			skipped: Math.max(0, begins - last - 1),
			within: found[4]?.trim() || undefined,
			lines: marked(read.lines),
		});
		last = from.new ? read.end.new : read.end.old;
		at = read.at;
	}
	return hunks;
}

interface Ends {
	old: number;
	new: number;
}

/** The lines of one hunk. Of a merge only the result has numbers. */
function linesOf(rows: readonly string[], start: number, sides: number, from: Ends) {
	const lines: Line[] = [];
	let old = from.old;
	let now = from.new;
	let at = start;
	for (; at < rows.length; at++) {
		const row = rows[at] ?? "";
		if (row.startsWith("\\")) {
			const before = lines.pop();
			if (before) lines.push({ ...before, bare: true });
			continue;
		}
		const signs = row.slice(0, sides);
		if (!/^[ +-]+$/.test(signs) || signs.length < sides) break;
		const line = row.slice(sides).replace(/\r$/, "");
		const one = sides === 1;
		if (signs.includes("-")) lines.push({ kind: "remove", old: one ? old++ : null, new: null, text: line });
		else if (signs.includes("+")) lines.push({ kind: "add", old: null, new: now++, text: line });
		else lines.push({ kind: "same", old: one ? old++ : null, new: now++, text: line });
	}
	return { lines, at, end: { old: old - 1, new: now - 1 } };
}
