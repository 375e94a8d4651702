// What the view of changes says of a work tree (spec chips C5.2). Pure.
import type { Change, Changes, Chip } from "../api/types";
import { fit } from "./match";

export type Side = "conflicts" | "staged" | "unstaged" | "untracked";

export const sideTitles: Record<Side, string> = {
	conflicts: "In conflict",
	staged: "Staged",
	unstaged: "Not staged",
	untracked: "Untracked",
};

export interface SideFiles {
	side: Side;
	files: readonly Change[];
	added: number;
	removed: number;
}

/** The sides that hold something which fits, each in git's own order. */
export function sidesOf(changes: Changes, typed = ""): SideFiles[] {
	const sides: Side[] = ["conflicts", "staged", "unstaged", "untracked"];
	return sides.flatMap((side) => {
		const files = (changes[side] ?? []).filter(
			(one) => typed.trim() === "" || Math.max(fit(typed, one.path), fit(typed, one.from ?? "")) > 0,
		);
		if (files.length === 0) return [];
		return [{ side, files, added: sum(files, "added"), removed: sum(files, "removed") }];
	});
}

function sum(files: readonly Change[], what: "added" | "removed"): number {
	return files.reduce((all, one) => all + one[what], 0);
}

/** A file of one side: one path can be on two. */
export function fileKey(side: Side, path: string): string {
	return `${side}:${path}`;
}

const letters: Record<string, string> = {
	added: "A",
	modified: "M",
	deleted: "D",
	renamed: "R",
	copied: "C",
	type_changed: "T",
	untracked: "U",
};

/** Its state as one letter; of a conflict "!". */
export function kindLetter(change: Change): string {
	return letters[change.kind] ?? "!";
}

/** Its state in words: "modified", "deleted by them". */
export function kindWords(change: Change): string {
	if (change.kind === "type_changed") return "type changed";
	return change.kind.replaceAll("_", " ");
}

/** Lines of a file's change from which on it is named and not drawn. */
export const mostLines = 20_000;

/** Why a file's lines are not drawn, or "". */
export function undrawn(change: Change): string {
	if (change.submodule) return "A submodule: look at it from inside.";
	if (change.binary) return "A binary file: its content is not shown.";
	if (change.path.endsWith("/")) return "A repository of its own: look at it from inside.";
	const lines = change.added + change.removed;
	if (lines > mostLines) return `${count(lines, "changed line")}: too many to draw here.`;
	return "";
}

/** Unfolded at first: files whose change is read at a glance, where they are few. */
const fewFiles = 12;
const fewLines = 300;

/**
 * Which files are unfolded: as the user left them, new ones by their size. A view that
 * began with many files keeps new ones folded.
 */
export function foldsOf(
	before: Readonly<Record<string, boolean>> | null,
	changes: Changes,
): Record<string, boolean> {
	const all = sidesOf(changes).flatMap(({ side, files }) => files.map((one) => ({ side, one })));
	const few = before ? !before[manyKey] : all.length <= fewFiles;
	const open: Record<string, boolean> = { [manyKey]: !few };
	for (const { side, one } of all) {
		const key = fileKey(side, one.path);
		open[key] = before?.[key] ?? (few && one.added + one.removed <= fewLines && undrawn(one) === "");
	}
	return open;
}

const manyKey = "";

/** In all, as the chip has it: files, and lines for each side that has some. */
export function totalWords(changes: Changes): string {
	return [
		count(changes.files, "file"),
		changes.added > 0 && `${count(changes.added, "line")} added`,
		changes.removed > 0 && `${count(changes.removed, "line")} removed`,
	]
		.filter(Boolean)
		.join(", ");
}

/** Said under the list, when it is not all. */
export function moreWords(changes: Changes): string {
	return [
		changes.more && `${count(changes.more, "more file")} not listed.`,
		changes.partial && "Some untracked files are too many or too large for their lines to be counted.",
	]
		.filter(Boolean)
		.join(" ");
}

/** Changes when something that the view shows may have: the chips' own values. */
export function stampOf(chips: readonly Chip[]): string {
	return ["git_diff", "git_branch"]
		.map((kind) => {
			const chip = chips.find((one) => one.kind === kind);
			return chip ? `${chip.value} ${chip.data?.untracked ?? ""}` : "";
		})
		.join("\n");
}

/** The folder and the name of a path, to be told apart by tone. */
export function pathParts(path: string): [folder: string, name: string] {
	const at = path.replace(/\/$/, "").lastIndexOf("/");
	return [path.slice(0, at + 1), path.slice(at + 1)];
}

function count(n: number, what: string): string {
	return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}
