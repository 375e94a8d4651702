// The menus of the chips (spec chips C5.2): branches, directories, versions of node; which
// rows fit what is typed, and what each does. What becomes a command is an argv: the host
// quotes it for the pane's own shell. Pure.
import type { BranchMenu, BranchName, DirectoryListing, MenuBranch, NodeVersion, Pane } from "../api/types";
import { fit } from "./match";

/** What a row does. */
export type RowAct =
	| { do: "nothing" }
	| { do: "tab"; tab: string; pane?: string }
	| { do: "open"; directory: string }
	| { do: "copy"; text: string }
	| { do: "run"; argv: string[] };

export interface MenuRow {
	key: string;
	title: string;
	note: string;
	tip?: string;
	/** It is the one that is used now. */
	current: boolean;
	act: RowAct;
}

/** More rows than these nobody reads: typing narrows them. */
export const mostRows = 60;

/** Why no command can be typed into a pane now; "" when one can, as far as the page knows. */
export function whyNoCommand(pane: Pane | undefined): string {
	if (!pane) return "The pane is gone";
	if (pane.kind !== "shell" || pane.argv?.length) return "There is no shell in this pane";
	if (pane.status !== "running") return "The shell has ended";
	if (pane.running) return `${pane.command?.split(/\s/, 1)[0] || "A program"} runs in the shell`;
	return "";
}

/** The rows that fit, the best first; with nothing typed in their own order. */
function fitting(rows: readonly MenuRow[], typed: string): MenuRow[] {
	if (typed.trim() === "") return [...rows];
	return rows
		.map((row) => ({ row, score: fit(typed, row.title) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.map(({ row }) => row);
}

/** The branches, the current one first; one that a worktree has is opened there. */
export function branchRows(menu: BranchMenu, typed: string): MenuRow[] {
	const all = [...(menu.branches ?? [])];
	all.sort((a, b) => Number(b.current ?? false) - Number(a.current ?? false)); // stable: else as the host says
	return fitting(
		all.map((branch) => branchRow(branch)),
		typed,
	);
}

function branchRow(branch: MenuBranch): MenuRow {
	const remote = branch.remote ? `${branch.remote}/` : "";
	const row = { key: remote + branch.name, title: branch.name, current: Boolean(branch.current) };
	if (branch.current) return { ...row, note: "checked out here", act: { do: "nothing" } };
	if (branch.tab) {
		return {
			...row,
			note: "open in a tab: go there",
			tip: branch.worktree,
			act: { do: "tab", tab: branch.tab, pane: branch.pane },
		};
	}
	if (branch.worktree) {
		return {
			...row,
			note: `in a worktree: open a terminal there`,
			tip: branch.worktree,
			act: { do: "open", directory: branch.worktree },
		};
	}
	if (branch.remote) {
		return {
			...row,
			note: `of ${branch.remote}`,
			act: { do: "run", argv: ["git", "switch", "--track", `${branch.remote}/${branch.name}`] },
		};
	}
	return { ...row, note: "", act: { do: "run", argv: ["git", "switch", branch.name] } };
}

/**
 * The row that makes a branch of what is typed, null when there is one of that name. checked
 * is what the host says of the name, undefined as long as it has not.
 */
export function newBranchRow(
	menu: BranchMenu,
	typed: string,
	checked: BranchName | undefined,
): MenuRow | null {
	const name = typed.trim();
	if (name === "" || (menu.branches ?? []).some((branch) => branch.name === name)) return null;
	const row = { key: "new", title: `Create branch “${name}”`, current: false };
	if (!checked) return { ...row, note: "Looking whether git takes it…", act: { do: "nothing" } };
	if (!checked.valid) return { ...row, note: "git does not take that name", act: { do: "nothing" } };
	if (checked.taken) return { ...row, note: `${checked.taken} is in its way`, act: { do: "nothing" } };
	const from = menu.current ? `from ${menu.current}` : "from what is checked out";
	return { ...row, note: from, act: { do: "run", argv: ["git", "switch", "-c", name] } };
}

/** Whether names that begin with a dot are wanted. */
export function wantsHidden(typed: string): boolean {
	return typed.startsWith(".") && typed !== "..";
}

/** What a directory holds: the way up, directories to go into, files to copy the path of. */
export function directoryRows(listing: DirectoryListing, typed: string): MenuRow[] {
	const rows: MenuRow[] = (listing.entries ?? []).map((entry) =>
		entry.kind === "directory"
			? { key: entry.name, title: `${entry.name}/`, note: "", current: false, act: goInto(below(entry.name)) }
			: {
					key: entry.name,
					title: entry.name,
					note: "copy its path",
					current: false,
					act: { do: "copy", text: joined(listing.directory, entry.name) },
				},
	);
	if (listing.parent) {
		rows.unshift({
			key: "..",
			title: "..",
			note: "",
			tip: listing.parent,
			current: false,
			act: goInto(".."),
		});
	}
	return fitting(rows, typed);
}

/** `cd` to a directory; no name is taken for an option of it. */
export function goInto(directory: string): RowAct {
	return { do: "run", argv: ["cd", directory] };
}

/** A name below the shell's own directory, as an argument. */
function below(name: string): string {
	return /^[-~+]/.test(name) ? `./${name}` : name;
}

export function joined(directory: string, name: string): string {
	return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

/** A version of node: whose it is, and how far a switch reaches. */
export function nodeRow(version: NodeVersion): MenuRow {
	const reach: Record<string, string> = {
		shell: "for this shell",
		directory: "for this directory: it writes a file",
		user: "for all of your shells",
	};
	const can = (version.switch ?? []).length > 0 && !version.active;
	return {
		key: `${version.manager} ${version.version}`,
		title: version.version,
		note: version.active
			? `${version.manager}, used here`
			: [version.manager, can && reach[version.effect ?? ""]].filter(Boolean).join(", "),
		current: Boolean(version.active),
		act: can ? { do: "run", argv: version.switch ?? [] } : { do: "nothing" },
	};
}
