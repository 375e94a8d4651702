// Which of a journal's items are drawn, and with what of the others. Pure.
import type { Submission } from "../api/types";
import type { Item, Journal } from "./journal";

export interface Shown {
	readonly entries: readonly Item[];
	/** How far a user's message has come, by the message's item. */
	readonly sent: ReadonlyMap<string, Submission>;
	/** Diffs by the tool call that makes them. */
	readonly diffs: ReadonlyMap<string, readonly Item[]>;
}

const quietEvents = new Set(["initialized", "created", "started", "option"]);

export function shown(journal: Journal): Shown {
	const sent = new Map<string, Submission>();
	const diffs = new Map<string, Item[]>();
	for (const item of journal.items) {
		if (item.kind === "submission") {
			const submission = item.body.submission;
			if (submission) sent.set(submission.item, submission);
		} else if (item.kind === "diff") {
			const tool = item.body.diff?.tool ?? "";
			if (!journal.place.has(tool)) continue;
			const list = diffs.get(tool);
			if (list) list.push(item);
			else diffs.set(tool, [item]);
		}
	}
	const entries = journal.items.filter((item) => {
		switch (item.kind) {
			case "message":
				// A queued message waits above the composer, not in the middle of the turn before it.
				return sent.get(item.id)?.state !== "queued" && !(item.text === "" && !item.body.blob);
			case "thought":
				return item.text !== "";
			case "tool":
			case "approval":
			case "question":
				return true;
			case "plan":
				return (item.body.plan ?? []).length > 0;
			case "diff":
				return !journal.place.has(item.body.diff?.tool ?? "");
			case "turn": {
				const turn = item.body.turnState;
				return turn?.state === "ended" && turn.reason !== "end_turn";
			}
			case "submission": {
				// Its message is drawn, unless it is not loaded or was never written.
				const submission = item.body.submission;
				return !!submission && submission.state !== "queued" && !journal.place.has(submission.item);
			}
			case "lifecycle":
				return !quietEvents.has(item.body.lifecycle?.event ?? "");
			default:
				return false; // status, request, and a newer host's kinds
		}
	});
	return { entries, sent, diffs };
}
