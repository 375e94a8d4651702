// The branch picker's choices (spec tabs T2.1). Pure.
import type { BranchList } from "../api/types";

export interface BranchChoice {
	name: string;
	note: string;
}

/** The branches in the host's order; a default that is not among them stands first. */
export function branchChoices(list: BranchList | null, declared: string | undefined): BranchChoice[] {
	const all = (list?.branches ?? []).map((branch) => ({
		name: branch.name,
		note: branch.name === list?.current ? "checked out" : branch.worktree ? "in a worktree" : "",
	}));
	if (!declared || all.some((choice) => choice.name === declared)) return all;
	return [{ name: declared, note: "default" }, ...all];
}

/** What is chosen by itself: the declared default, else the main branch, else the current one. */
export function firstBranch(list: BranchList, declared: string | undefined): string {
	return declared || list.main || list.current || list.branches?.[0]?.name || "";
}
