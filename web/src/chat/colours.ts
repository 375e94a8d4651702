// The syntax colours of changed lines: each side of a hunk is highlighted as the text that
// it is, and cut at its line ends; the changed part of a line is a piece of its own. Pure.
import type { Hunk, Line } from "./diff";
import type { Piece } from "./markdown";

/** The class of the changed part of a line. */
export const changed = "changed";

/** Longer hunks are drawn without colours. */
const mostColoured = 40_000;

export type Highlight = (code: string, language: string) => Piece[] | null;

/** The language that a file's name tells: as a rule its ending. */
export function languageOf(path: string): string {
	const name = (path.split("/").pop() ?? "").toLowerCase();
	const whole: Record<string, string> = { makefile: "makefile", gnumakefile: "makefile", dockerfile: "bash" };
	const ending = name.includes(".") ? (name.split(".").pop() ?? "") : "";
	const other: Record<string, string> = { mts: "ts", cts: "ts", svg: "xml", toml: "ini", mod: "", sum: "" };
	return whole[name] ?? other[ending] ?? ending;
}

/** The pieces of each line of a hunk that has some. */
export function colouredLines(
	hunk: Hunk,
	language: string,
	highlight: Highlight,
): ReadonlyMap<Line, readonly Piece[]> {
	const found = new Map<Line, readonly Piece[]>();
	if (language === "") return found;
	for (const left of ["add", "remove"] as const) {
		// What both sides have is coloured as the new side has it.
		const side = hunk.lines.filter((line) => line.kind !== left);
		const code = side.map((line) => line.text).join("\n");
		if (code.length > mostColoured) continue;
		const rows = cut(highlight(code, language) ?? []);
		if (rows.length !== side.length) continue;
		side.forEach((line, at) => {
			found.set(line, marking(rows[at] ?? [], line.mark));
		});
	}
	return found;
}

/** Pieces of a text as the pieces of its lines. */
export function cut(of: readonly Piece[]): Piece[][] {
	const rows: Piece[][] = [[]];
	for (const piece of of) {
		const parts: Piece[][] =
			typeof piece === "string"
				? piece.split("\n").map((text) => (text === "" ? [] : [text]))
				: cut(piece.of).map((inner) => (inner.length > 0 ? [{ class: piece.class, of: inner }] : []));
		parts.forEach((part, at) => {
			if (at > 0) rows.push([]);
			rows.at(-1)?.push(...part);
		});
	}
	return rows;
}

/** The changed part put into a piece of its own, which lies outside of the others. */
export function marking(of: readonly Piece[], mark: Line["mark"]): readonly Piece[] {
	if (!mark || mark[0] === mark[1]) return of;
	const [head, rest] = split(of, mark[0]);
	const [middle, tail] = split(rest, mark[1] - mark[0]);
	return [...head, { class: changed, of: middle }, ...tail];
}

function split(of: readonly Piece[], at: number): [Piece[], Piece[]] {
	const head: Piece[] = [];
	const tail: Piece[] = [];
	let room = at;
	for (const piece of of) {
		const size = lengthOf(piece);
		if (size <= room) head.push(piece);
		else if (room <= 0) tail.push(piece);
		else if (typeof piece === "string") {
			head.push(piece.slice(0, room));
			tail.push(piece.slice(room));
		} else {
			const [left, right] = split(piece.of, room);
			head.push({ class: piece.class, of: left });
			tail.push({ class: piece.class, of: right });
		}
		room = Math.max(0, room - size);
	}
	return [head, tail];
}

function lengthOf(piece: Piece): number {
	return typeof piece === "string" ? piece.length : piece.of.reduce((sum, one) => sum + lengthOf(one), 0);
}
