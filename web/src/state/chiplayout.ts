// The layouts of prompt and footers, as this window edits them: shown at once, sent one after
// the other, and then whatever the host says that holds (spec chips C4.6).
import { effect, signal } from "@preact/signals";
import { failOf } from "../api/client";
import type { Bank, ChipLayoutSet, Fail } from "../api/types";
import {
	type Change,
	changeOf,
	type Items,
	isCustom,
	itemsOf,
	type Place,
	sameItems,
} from "../words/chiplayout";
import { client } from "./actions";
import { hostInfo, layout } from "./store";

export const bank = signal<Bank | null>(null);
/** Why the host did not take the last change, or did not tell of its bank. */
export const layoutFail = signal<Fail | null>(null);
/** What was changed here since the editor came up, the last last. */
export const history = signal<readonly Change[]>([]);
/** What was asked of the host and has not come back by the stream. */
const owed = signal<Partial<Record<Place, Items>>>({});

/** How long a list that the host took is shown before its event comes. */
const patience = 1500;

export function shownItems(place: Place): Items {
	return owed.value[place] ?? (layout.value ? itemsOf(layout.value, place) : { left: [], right: [] });
}

/** What the host offers for a pane; an answer about another pane than the last is dropped. */
export async function loadBank(pane: string | null): Promise<void> {
	const mine = ++asked;
	try {
		const answer = await client.call("chips.bank", pane ? { pane } : { dir: hostInfo.peek()?.directory });
		if (mine === asked) bank.value = answer;
	} catch (error) {
		if (mine === asked) layoutFail.value = failOf(error);
	}
}
let asked = 0;

export function beginEdits(): void {
	history.value = [];
	layoutFail.value = null;
}

/** Changes a place; `keep` false: it is an undo, and leaves no trace in the history. */
export function editItems(place: Place, items: Items, keep = true): void {
	note(place, items, keep);
	void send(place, changeOf(place, items), items);
}

/** Back to the default; `items` is what that will be, when it is known. */
export function resetItems(place: Place, items: Items | null, keep = true): void {
	if (items) note(place, items, keep);
	void send(place, { reset: [place] }, items);
}

export function undoEdit(change: Change): void {
	history.value = history.value.filter((one) => one !== change);
	if (change.wasDefault) resetItems(change.place, change.before, false);
	else editItems(change.place, change.before, false);
}

function note(place: Place, after: Items, keep: boolean): void {
	if (keep && layout.value) {
		const wasDefault = !owed.value[place] && !isCustom(layout.value, place);
		const change = { place, before: shownItems(place), wasDefault, after };
		history.value = [...history.value.slice(-49), change];
	}
	owed.value = { ...owed.value, [place]: after };
}

const queue = new Map<Place, { set: ChipLayoutSet; items: Items | null }>();
let busy = false;

/** One call at a time; of what waits for a place only the last is sent. */
async function send(place: Place, set: ChipLayoutSet, items: Items | null): Promise<void> {
	queue.set(place, { set, items });
	if (busy) return;
	busy = true;
	for (let next = queue.entries().next(); !next.done; next = queue.entries().next()) {
		const [at, asked] = next.value;
		queue.delete(at);
		await call(at, asked.set, asked.items);
	}
	busy = false;
}

async function call(place: Place, set: ChipLayoutSet, items: Items | null): Promise<void> {
	const done = () => {
		if (!items || owed.value[place] !== items) return; // something newer is owed
		const { [place]: _, ...rest } = owed.value;
		owed.value = rest;
	};
	let seen = false;
	let answered = false;
	const stop = effect(() => {
		if (!items || !layout.value || !sameItems(itemsOf(layout.value, place), items)) return;
		seen = true;
		if (answered) queueMicrotask(finish);
	});
	const finish = () => {
		stop();
		done();
	};
	try {
		await client.call("chips.setLayout", set);
		layoutFail.value = null;
	} catch (error) {
		layoutFail.value = failOf(error);
		history.value = history.value.filter((change) => change.place !== place);
		return finish();
	}
	answered = true;
	if (seen || !items) finish();
	else setTimeout(finish, patience); // the event comes later than the answer
}
