// A chat's journal as items, folded from its rows (spec session S1.1, S1.4). Pure. Rows of
// one item are about the same thing: a later one replaces what the earlier ones said,
// except that a message's text is replaced from `at` on, in UTF-16 units. Applying a row
// twice is harmless, and an item that no row touches stays the same object.
import type { JournalBody, JournalRow } from "../api/types";

export interface Cursor {
	readonly epoch: number;
	readonly seq: number;
}

export interface Item {
	readonly id: string;
	readonly kind: string;
	/** Of its first row that is known: its place. */
	readonly first: Cursor;
	/** Of the newest row that was applied. */
	readonly last: Cursor;
	/** Of a submission: of the first row in which it no longer waited in the queue. */
	readonly began: Cursor;
	readonly time: string;
	readonly revision: number;
	readonly turn: string;
	readonly body: JournalBody;
	/** Of a message or thought: the text from unit `from` on; what lies before is not loaded. */
	readonly text: string;
	readonly from: number;
}

export interface Journal {
	/** In the order of their first rows. */
	readonly items: readonly Item[];
	readonly place: ReadonlyMap<string, number>;
	/** Of the newest row; null: none yet. */
	readonly cursor: Cursor | null;
	/** Of the oldest row that is loaded. */
	readonly start: Cursor | null;
}

export const emptyJournal: Journal = { items: [], place: new Map(), cursor: null, start: null };

export function compare(a: Cursor, b: Cursor): number {
	return a.epoch - b.epoch || a.seq - b.seq;
}

const texts = new Set(["message", "thought"]);

/** Applies rows that come after what the journal has, or that it has already. */
export function fold(journal: Journal, rows: readonly JournalRow[]): Journal {
	if (rows.length === 0) return journal;
	const items = [...journal.items];
	let place: Map<string, number> | null = null;
	let { cursor, start } = journal;
	for (const row of rows) {
		const at = (place ?? journal.place).get(row.item);
		const old = at === undefined ? undefined : items[at];
		if (old && at !== undefined) {
			if (compare(row, old.last) > 0) items[at] = changed(old, row);
		} else {
			place ??= new Map(journal.place);
			place.set(row.item, items.length);
			items.push(made(row));
		}
		const here = { epoch: row.epoch, seq: row.seq };
		if (!cursor || compare(here, cursor) > 0) cursor = here;
		if (!start || compare(here, start) < 0) start = here;
	}
	return { items, place: place ?? journal.place, cursor, start };
}

function made(row: JournalRow): Item {
	const here = { epoch: row.epoch, seq: row.seq };
	return {
		id: row.item,
		kind: row.kind,
		first: here,
		last: here,
		began: here,
		time: row.time,
		revision: row.revision,
		turn: row.turn ?? "",
		body: row.body,
		text: row.body.text ?? "",
		from: texts.has(row.kind) ? (row.body.at ?? 0) : 0,
	};
}

function changed(old: Item, row: JournalRow): Item {
	const next = made(row);
	const began = isQueued(old) ? next.began : old.began;
	const item = { ...next, first: old.first, began, time: old.time, turn: next.turn || old.turn };
	if (!texts.has(row.kind)) return item;
	const at = row.body.at ?? 0;
	const spliced = splice(old, at, next.text);
	const body = { ...row.body, role: row.body.role || old.body.role, blob: row.body.blob ?? old.body.blob };
	return { ...item, ...spliced, body };
}

function isQueued(item: Item): boolean {
	return item.body.submission?.state === "queued";
}

/** Text `more` from unit `at` on, behind what is known before it. */
function splice(
	old: { text: string; from: number },
	at: number,
	more: string,
): { text: string; from: number } {
	const end = old.from + old.text.length;
	// A hole in the middle cannot be shown as if it were none: what is behind it is.
	if (at < old.from || at > end) return { text: more, from: at };
	return { text: at === end ? old.text + more : old.text.slice(0, at - old.from) + more, from: old.from };
}

/** Puts older rows, which end where the journal starts, before it. */
export function prepend(journal: Journal, rows: readonly JournalRow[]): Journal {
	const start = journal.start;
	const before = fold(emptyJournal, start ? rows.filter((row) => compare(row, start) < 0) : rows);
	if (before.items.length === 0) return journal;
	const items = [...before.items];
	const place = new Map(before.place);
	for (const newer of journal.items) {
		const at = place.get(newer.id);
		const older = at === undefined ? undefined : items[at];
		if (older && at !== undefined) {
			items[at] = joined(older, newer);
			continue;
		}
		place.set(newer.id, items.length);
		items.push(newer);
	}
	return { items, place, cursor: journal.cursor ?? before.cursor, start: before.start };
}

function joined(older: Item, newer: Item): Item {
	const began = isQueued(older) ? newer.began : older.began;
	const item = { ...newer, first: older.first, began, time: older.time, turn: newer.turn || older.turn };
	if (!texts.has(newer.kind)) return item;
	const body = { ...newer.body, role: newer.body.role || older.body.role };
	return { ...item, body, ...splice(older, newer.from, newer.text) };
}

/** What a journal says of its present: the state that is not one item's alone. */
export interface Present {
	/** The turn that runs, or null. */
	readonly running: Item | null;
	/** Messages that wait for the turn's end, oldest first. */
	readonly queued: readonly Item[];
	/** Questions that wait for an answer, oldest first. */
	readonly open: readonly Item[];
	readonly plan: Item | null;
}

/** Looks back from the end as far as an open turn or question can lie. */
export function present(journal: Journal): Present {
	const queued: Item[] = [];
	const open: Item[] = [];
	let running: Item | null = null;
	let plan: Item | null = null;
	let turns = 0;
	for (let at = journal.items.length - 1; at >= 0; at--) {
		const item = journal.items[at];
		if (!item) continue;
		if (isQueued(item)) queued.unshift(item);
		else if (item.kind === "approval" && item.body.approval?.state === "open") open.unshift(item);
		else if (item.kind === "plan") plan ??= item;
		else if (item.kind === "turn") {
			if (item.body.turnState?.state === "running") running ??= item;
			// A queue is bounded by the host; older turns than these hold nothing that waits.
			if (++turns > 4) break;
		}
	}
	return { running, queued, open, plan };
}
