// Worktrees: the form that makes one, and what is said of those that there are (spec tabs
// T5.10, spec launch L9). Pure.
import type { Fail, Setup, WorktreeInfo, WorktreeOpen } from "../api/types";
import { baseOf } from "./path";

export interface WorktreeForm {
	repo: string;
	/** "" until the list of branches is there. */
	base: string;
	named: boolean;
	name: string;
	/** An agent of the catalogue; "" is a terminal. */
	agent: string;
	prompt: string;
	removeOnClose: boolean;
	deleteBranch: boolean;
	/** Leave the setup script of the repository out. */
	skipSetup: boolean;
}

export const emptyWorktree: WorktreeForm = {
	repo: "",
	base: "",
	named: false,
	name: "",
	agent: "",
	prompt: "",
	removeOnClose: true,
	deleteBranch: false,
	skipSetup: false,
};

export function worktreeRequest(form: WorktreeForm): WorktreeOpen {
	const request: WorktreeOpen = { in: `path:${form.repo}`, removeOnClose: form.removeOnClose };
	if (form.base) request.base = form.base;
	if (form.named) request.branch = form.name.trim();
	if (form.agent) request.agent = form.agent;
	if (form.agent && form.prompt.trim() !== "") request.prompt = form.prompt;
	if (form.deleteBranch && form.removeOnClose) request.deleteBranch = true;
	if (form.skipSetup) request.setup = "skip";
	return request;
}

/** What keeps the form from being sent. */
export function worktreeMissing(form: WorktreeForm, branches: readonly string[]): string {
	if (form.repo === "") return "Choose a repository.";
	return form.named ? nameFault(form.name.trim(), branches) : "";
}

/**
 * What git would say of a branch's name, as far as it can be seen here; the host asks git
 * itself and has the last word (spec launch L9.4).
 */
export function nameFault(name: string, branches: readonly string[]): string {
	if (name === "") return "Name the branch, or let davit draw a name.";
	// biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids them
	const odd = /[\u0000-\u0020\u007f~^:?*[\\]/.exec(name)?.[0];
	if (odd) return odd === " " ? "A branch's name has no blanks." : `A branch's name has no “${odd}”.`;
	if (name.startsWith("-")) return "A branch's name does not begin with a dash.";
	if (/^\/|\/$|\/\/|\.\.|@\{|\.$|^@$/.test(name) || /(^|\/)\.|\.lock(\/|$)/.test(name)) {
		return "git does not allow this name.";
	}
	const above = branches.find((branch) => name.startsWith(`${branch}/`));
	if (above) return `The branch ${above} is in the way: git cannot have both.`;
	const below = branches.find((branch) => branch.startsWith(`${name}/`));
	return below ? `The branch ${below} is in the way: git cannot have both.` : "";
}

/** A name that is a branch already means that branch: it is checked out, not made. */
export function nameNote(name: string, branches: readonly { name: string; worktree?: string }[]): string {
	const same = branches.find((branch) => branch.name === name.trim());
	if (!same) return "";
	return same.worktree
		? `Checked out already in ${same.worktree}.`
		: "This branch exists: it is checked out as it is.";
}

/** What the user has said of a setup script, and what that means (spec launch L9.5). */
export function setupWords(setup: Setup): string {
	switch (setup.trust) {
		case "trusted":
			return "You allowed this text. The agent starts when it has ended well.";
		case "changed":
			return "The repository's script is not the one that you allowed: read it. It can run any command, and is left out until you allow it.";
		default:
			return "This script comes with the repository: read it. It can run any command, and is left out until you allow it.";
	}
}

/** Where a generated worktree goes, in words. */
export function placeWords(form: WorktreeForm): string {
	const repo = baseOf(form.repo);
	return form.named && form.name.trim() !== ""
		? `…/worktrees/${repo}-…/${form.name.trim().replaceAll("/", "-")}`
		: `…/worktrees/${repo}-…/two-words`;
}

export interface Fact {
	text: string;
	tone: "" | "warn";
}

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;

/** What is to be known of a worktree before it is removed; nothing: it is clean. */
export function worktreeFacts(tree: WorktreeInfo): Fact[] {
	const facts: Fact[] = [];
	if (tree.dirty) facts.push({ text: "uncommitted changes", tone: "warn" });
	if (tree.untracked > 0) {
		facts.push({ text: count(tree.untracked, "untracked file", "untracked files"), tone: "warn" });
	}
	if (tree.unpushed > 0)
		facts.push({ text: count(tree.unpushed, "unpushed commit", "unpushed commits"), tone: "" });
	if (tree.stashes > 0) facts.push({ text: count(tree.stashes, "stash", "stashes"), tone: "" });
	if (tree.ignored > 0 && !tree.main)
		facts.push({ text: count(tree.ignored, "ignored by git", "ignored by git"), tone: "" });
	if (tree.locked) facts.push({ text: `locked: ${tree.locked}`, tone: "" });
	return facts;
}

export function aheadWords(tree: WorktreeInfo): string {
	if (tree.ahead === 0 && tree.behind === 0) return "";
	const of = tree.base ? ` of ${tree.base}` : "";
	return [tree.ahead > 0 && `${tree.ahead} ahead`, tree.behind > 0 && `${tree.behind} behind`]
		.filter(Boolean)
		.join(", ")
		.concat(of);
}

export function sizeWords(bytes: number | null | undefined): string {
	if (bytes === null || bytes === undefined) return "";
	const units = ["B", "kB", "MB", "GB", "TB"];
	let value = bytes;
	let unit = 0;
	while (value >= 1000 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export interface LossList {
	what: string;
	names: string[];
}

/** What a refused removal would lose, and the digest that stands for that very list (L9.6). */
export function losses(fail: Fail): { lists: LossList[]; digest: string } {
	const of = (key: string, name: (item: unknown) => string): string[] => {
		const list = fail.details?.[key];
		return Array.isArray(list) ? list.map(name) : [];
	};
	const commit = (item: unknown) => {
		const { commit: id, subject } = (item ?? {}) as { commit?: string; subject?: string };
		return [String(id ?? "").slice(0, 10), subject].filter(Boolean).join(" ");
	};
	const lists = [
		{ what: "Uncommitted", names: of("uncommitted", String) },
		{ what: "Untracked", names: of("untracked", String) },
		{ what: "Commits that nothing else reaches", names: of("commits", commit) },
		{ what: "Submodules", names: of("submodules", String) },
		{ what: "Repositories in ignored folders", names: of("nested", String) },
	].filter((list) => list.names.length > 0);
	const digest = fail.details?.digest;
	return { lists, digest: typeof digest === "string" ? digest : "" };
}

/** What git ignored and went with a worktree, the first few by name. */
export function ignoredWords(count: number, paths: readonly string[]): string {
	const some = paths.slice(0, 5).join(", ");
	const rest = count - Math.min(5, paths.length);
	return `Went with it, as git ignored ${count === 1 ? "it" : "them"}: ${some}${rest > 0 ? ` and ${rest} more` : ""}.`;
}
