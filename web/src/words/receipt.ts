// What a launch did, in words. Pure. A receipt may say less than the truth, never more
// (spec launch L2.2): so do these sentences.
import type { Result } from "../api/types";

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

/** The surface that was made, as a noun. */
export function surfaceWord(mode: string): string {
	return mode === "structured" ? "Chat" : mode === "terminal" ? "Terminal" : mode;
}

/** Whether another surface than the preferred one was taken. */
export function tookAnother(result: Result): boolean {
	return result.receipt.mode !== result.receipt.preferred;
}
