// A prompt in its text form (spec chips C5.1): `user ~/src git:(main) PR #12`. Pure.
import type { Chip } from "../api/types";
import { shows } from "./tabs";

/** The text of the chips that are shown, in their order. */
export function promptText(chips: readonly Chip[]): string {
	return chips.filter(shows).map(chipPrompt).join(" ");
}

/** One chip's part of it. */
export function chipPrompt(chip: Chip): string {
	switch (chip.kind) {
		case "git_branch":
		case "git_status":
			return `git:(${chip.text})`;
		case "svn_branch":
			return `svn:(${chip.text})`;
		case "svn_dirty":
			return `±${chip.text}`;
		case "kube":
			return `⎈ ${chip.text}`;
		case "github_pr": {
			const number = chip.data?.pullRequest?.number;
			return number ? `PR #${number}` : chip.text;
		}
		default:
			return chip.text;
	}
}
