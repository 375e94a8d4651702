// A pull request in words (spec chips C5.2). Pure.
import type { PullRequest } from "../api/types";

export type PullState = "open" | "draft" | "merged" | "closed";

/** Its state; a word that this page does not know is drawn as open. */
export function pullState(pull: PullRequest): PullState {
	const state = pull.state;
	return state === "draft" || state === "merged" || state === "closed" ? state : "open";
}

/** How its checks stand, or "" without checks. */
export function checksWords(pull: PullRequest): string {
	const parts = [
		pull.failed ? `${pull.failed} failing` : "",
		pull.open ? `${pull.open} pending` : "",
		pull.passed ? `${pull.passed} passing` : "",
	].filter(Boolean);
	return parts.length > 0 ? parts.join(", ") : (pull.checks ?? "");
}

/** Where it goes: "main ← brisk-heron", or "" when that is not known. */
export function pullWay(pull: PullRequest): string {
	return pull.base && pull.head ? `${pull.base} ← ${pull.head}` : "";
}

/** Its title, state, branches and checks, a line each. */
export function pullLines(pull: PullRequest): string[] {
	const checks = checksWords(pull);
	return [
		pull.title || `Pull request #${pull.number}`,
		[`#${pull.number} ${pullState(pull)}`, pullWay(pull)].filter(Boolean).join(" · "),
		checks && `Checks: ${checks}`,
	].filter(Boolean);
}

/** Its name for those who hear the page. */
export function pullName(pull: PullRequest): string {
	const checks = checksWords(pull);
	return `Pull request #${pull.number}, ${pullState(pull)}: ${pull.title}${checks ? `. Checks: ${checks}` : ""}`;
}

/** The address of a page that may be opened by a click: http and https, and nothing else. */
export function safePage(address: string): string | undefined {
	try {
		const url = new URL(address);
		return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
	} catch {
		return undefined;
	}
}
