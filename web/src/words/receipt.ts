// What a launch did, in words. Pure. A receipt may say less than the truth, never more
// (spec launch L2.2): so do these sentences.
import type { Fail, Result } from "../api/types";

export interface PromptWords {
	tone: "good" | "careful";
	text: string;
	/** The caller still owns the text. */
	yours: boolean;
}

/** What became of the prompt, or null when there was none. */
export function promptWords(result: Result): PromptWords | null {
	const prompt = result.prompt;
	if (!prompt) return null;
	switch (prompt.outcome) {
		case "journaled":
			return { tone: "good", text: "The prompt is in the chat's journal.", yours: false };
		case "handed-to-terminal":
			return prompt.delivery === "draft"
				? { tone: "good", text: "The prompt was handed to the terminal, unsent.", yours: false }
				: { tone: "good", text: "The prompt was handed to the terminal.", yours: false };
		case "not-delivered":
			return prompt.draftPlaced
				? { tone: "good", text: "The prompt lies in the composer, unsent.", yours: false }
				: { tone: "careful", text: "The prompt was not delivered. The text is still yours.", yours: true };
		case "unconfirmed":
			return {
				tone: "careful",
				text: "It cannot be told whether the prompt arrived. Look before you send it again.",
				yours: false,
			};
		default:
			return { tone: "careful", text: `The host says of the prompt: ${prompt.outcome}.`, yours: false };
	}
}

/** Where the tab went instead of where it was wished (spec launch L2.3), or "". */
export function placementWords(result: Result): string {
	switch (result.placement?.fallback ?? "") {
		case "":
			return "";
		case "anchor-group":
			return "Beside the tab it was asked for; the group that was asked for is not there.";
		case "active-group":
			return "At the end of the list; the place that was asked for is not there.";
		default:
			return `Elsewhere than asked for (${result.placement?.fallback}).`;
	}
}

/** The worktree that a launch which failed has made and left (spec launch L5.8), or "". */
export function keptWords(fail: Fail): string {
	const kept = fail.details?.worktree;
	if (typeof kept !== "object" || kept === null) return "";
	const { path, branch } = kept as { path?: unknown; branch?: unknown };
	if (typeof path !== "string" || path === "") return "";
	const on = typeof branch === "string" && branch !== "" ? `, on branch ${branch}` : "";
	return `The new worktree was made and is kept: ${path}${on}.`;
}

/** The surface that was made, as a noun. */
export function surfaceWord(mode: string): string {
	return mode === "structured" ? "Chat" : mode === "terminal" ? "Terminal" : mode;
}

/** Whether another surface than the preferred one was taken. */
export function tookAnother(result: Result): boolean {
	return result.receipt.mode !== result.receipt.preferred;
}
