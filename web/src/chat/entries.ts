// Which of a journal's items are drawn, and with what of the others. Pure.
import type { Submission } from "../api/types";
import { type Cursor, compare, type Item, type Journal } from "./journal";

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
	const began = new Map<string, Cursor>();
	const diffs = new Map<string, Item[]>();
	for (const item of journal.items) {
		if (item.kind === "submission") {
			const submission = item.body.submission;
			if (!submission) continue;
			sent.set(submission.item, submission);
			began.set(submission.item, item.began);
		} else if (item.kind === "diff") {
			const tool = item.body.diff?.tool ?? "";
			if (!journal.place.has(tool)) continue;
			const list = diffs.get(tool);
			if (list) list.push(item);
			else diffs.set(tool, [item]);
		}
	}
	const drawn = journal.items.filter((item) => isShown(item, journal, sent));
	const placeOf = (item: Item) =>
		item.kind === "turn" ? item.last : item.kind === "message" ? began.get(item.id) : undefined;
	return { entries: inPlace(drawn, placeOf), sent, diffs };
}

function isShown(item: Item, journal: Journal, sent: ReadonlyMap<string, Submission>): boolean {
	switch (item.kind) {
		case "message":
			// A queued message waits above the composer, not in the middle of the turn before it.
			return sent.get(item.id)?.state !== "queued" && !(item.text === "" && !item.body.blob);
		case "thought":
			return item.text !== "";
		case "tool":
		case "question":
			return true;
		case "approval":
			// An open one lies above the composer.
			return item.body.approval?.state !== "open";
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
}

/**
 * Items lie where their first row is. A turn's end belongs where it ended, and a message
 * that waited in the queue where its own turn began.
 */
function inPlace(items: readonly Item[], placeOf: (item: Item) => Cursor | undefined): readonly Item[] {
	const entries: Item[] = [];
	let late: { item: Item; at: Cursor }[] = [];
	for (const item of items) {
		if (late.length > 0) {
			const due = late.filter((l) => compare(l.at, item.first) < 0);
			if (due.length > 0) {
				late = late.filter((l) => !due.includes(l));
				entries.push(...due.sort((a, b) => compare(a.at, b.at)).map((l) => l.item));
			}
		}
		const at = placeOf(item);
		// The rows of a message and of its submission follow each other when it does not wait.
		if (at && at.seq - item.first.seq > 1) late.push({ item, at });
		else entries.push(item);
	}
	return [...entries, ...late.sort((a, b) => compare(a.at, b.at)).map((l) => l.item)];
}
