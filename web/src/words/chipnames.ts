// What chips and footer items are called, one name for each in the bars, in the editors and
// for those who hear the page (spec chips C1, C4.5). Pure.
import type { Chip } from "../api/types";

const names: Record<string, string> = {
	cwd: "Directory",
	user: "User",
	host: "Host",
	ssh: "Remote login",
	subshell: "Subshell",
	venv: "Python environment",
	conda: "Conda environment",
	node: "Node.js",
	date: "Date",
	time12: "Time, 12 hours",
	time24: "Time, 24 hours",
	git_branch: "Branch",
	git_status: "Branch, ahead and behind",
	git_diff: "Changes",
	github_pr: "Pull request",
	kube: "Kubernetes context",
	svn_branch: "Svn branch",
	svn_dirty: "Svn changes",
	agent_plan: "Plan of the agent",
	input_mode: "Send or queue",
	context_use: "Context used",
	model: "Model",
	attach: "Attach a file",
	voice: "Dictation",
	files: "File tree",
	rich_input: "Composer",
	settings: "Footer settings",
};

const custom = "custom:";

/** Whether this page has a name of its own for a kind. */
export function isNamed(kind: string): boolean {
	return Object.hasOwn(names, kind);
}

/** A kind's name; `title` is that of the user's own chip. What nobody knows is called by its kind. */
export function chipName(kind: string, title?: string): string {
	if (Object.hasOwn(names, kind)) return names[kind] ?? kind;
	return title || (kind.startsWith(custom) ? kind.slice(custom.length) : kind);
}

/** What a chip shows, as the words of its name must have it too. */
export function chipText(chip: Chip): string {
	const data = chip.data;
	if (chip.kind === "svn_dirty" && data) return `±${data.files}`;
	if (chip.kind !== "git_diff" || !data) return chip.text;
	if (isClean(chip)) return "clean";
	return `${data.files > 0 ? `${data.files} ` : ""}+${data.added} −${data.removed}`;
}

export function isClean(chip: Chip): boolean {
	const data = chip.data;
	return chip.kind === "git_diff" && !!data && data.files + data.added + data.removed + data.untracked === 0;
}

/** A text in two parts: the first gives way when there is little room, the second stays. */
export interface Parts {
	head: string;
	tail: string;
}

/**
 * Where a text may be shortened (spec chips C1.3): a path before its last part, a branch
 * before its counts; all else at its end.
 */
export function chipParts(chip: Chip): Parts {
	const text = chipText(chip);
	if (chip.kind === "cwd") {
		const at = text.replace(/\/+$/, "").lastIndexOf("/");
		return at > 0 ? { head: text.slice(0, at), tail: text.slice(at) } : { head: "", tail: text };
	}
	if (chip.kind === "git_status") {
		const at = text.lastIndexOf(" • ");
		if (at > 0) return { head: text.slice(0, at), tail: text.slice(at + 3) };
	}
	return { head: text, tail: "" };
}

/** More about a chip than it shows, or "". */
export function chipMore(chip: Chip): string {
	const data = chip.data;
	if (!data) return "";
	switch (chip.kind) {
		case "git_diff": {
			const fresh = data.untracked > 0 ? `, ${data.untracked} untracked` : "";
			return `${files(data.files)}, ${data.added} ${data.added === 1 ? "line" : "lines"} added, ${data.removed} removed${fresh}`;
		}
		case "svn_dirty":
			return `${files(data.files)} not committed`;
		case "git_status": {
			if (!data.upstream || data.countsUnavailable) return "";
			if (data.rebased && !data.ahead && !data.behind) {
				return `The same changes as ${data.upstream}, in other commits`;
			}
			const ways = [data.ahead && `${data.ahead} ahead of`, data.behind && `${data.behind} behind`];
			return `${ways.filter(Boolean).join(" and ") || "Level with"} ${data.upstream}`;
		}
		default:
			return "";
	}
}

function files(count: number): string {
	return `${count} ${count === 1 ? "file" : "files"}`;
}
