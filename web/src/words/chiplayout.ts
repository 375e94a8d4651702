// Editing which chips and items a place shows (spec chips C3.1, C4.5, C4.6): lists go in and
// lists come out, and every change can be said. Kinds that nobody knows are kept. Pure.
import type { Bank, BankItem, ChipLayout, ChipLayoutSet } from "../api/types";
import { chipName, isNamed } from "./chipnames";
import { fit } from "./match";

export type Place = "prompt" | "footer" | "cliFooter";
export type Side = "left" | "right";

export interface Items {
	readonly left: readonly string[];
	readonly right: readonly string[];
}

export interface Spot {
	side: Side;
	at: number;
}

export const places: readonly Place[] = ["prompt", "footer", "cliFooter"];

export const placeWords: Record<Place, { title: string; short: string; edit: string }> = {
	prompt: { title: "Edit prompt", short: "Prompt", edit: "Edit prompt…" },
	footer: { title: "Edit footer of chats", short: "Chats", edit: "Edit footer…" },
	cliFooter: { title: "Edit footer of agents’ terminals", short: "Agents’ terminals", edit: "Edit footer…" },
};

/** Where the chips of a pane are shown. */
export function placeOf(kind: string | undefined): Place {
	return kind === "chat" ? "footer" : kind === "agent" ? "cliFooter" : "prompt";
}

export function sidesOf(place: Place): readonly Side[] {
	return place === "prompt" ? ["left"] : ["left", "right"];
}

export function itemsOf(layout: ChipLayout, place: Place): Items {
	if (place === "prompt") return { left: layout.prompt ?? [], right: [] };
	const items = layout[place];
	return { left: items.left ?? [], right: items.right ?? [] };
}

export function isCustom(layout: ChipLayout, place: Place): boolean {
	return (layout.custom ?? []).includes(place);
}

/** What a reset gives at this moment, as far as it is known. */
export function defaultItems(bank: Bank | null, place: Place): Items | null {
	const found = bank?.defaults?.find((one) => one.place === place)?.items;
	return found ? { left: found.left ?? [], right: found.right ?? [] } : null;
}

export function changeOf(place: Place, items: Items): ChipLayoutSet {
	if (place === "prompt") return { prompt: [...items.left] };
	return { [place]: { left: [...items.left], right: [...items.right] } };
}

export function sameItems(a: Items, b: Items): boolean {
	return sameList(a.left, b.left) && sameList(a.right, b.right);
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
	return a.length === b.length && a.every((kind, at) => kind === b[at]);
}

export function spotOf(items: Items, kind: string): Spot | null {
	for (const side of ["left", "right"] as const) {
		const at = items[side].indexOf(kind);
		if (at >= 0) return { side, at };
	}
	return null;
}

/** Puts a kind at a spot of the lists as they are now: moved when it is there, else added. */
export function put(items: Items, kind: string, to: Spot): Items {
	const from = spotOf(items, kind);
	const at = from && from.side === to.side && from.at < to.at ? to.at - 1 : to.at;
	const rest = without(items, kind);
	return { ...rest, [to.side]: rest[to.side].toSpliced(at, 0, kind) };
}

export function without(items: Items, kind: string): Items {
	return {
		left: items.left.filter((one) => one !== kind),
		right: items.right.filter((one) => one !== kind),
	};
}

/** One step on, over the gap between the two sides too; the same lists at an end. */
export function step(items: Items, kind: string, by: 1 | -1, sides: readonly Side[]): Items {
	const from = spotOf(items, kind);
	if (!from) return items;
	const next = from.at + by;
	if (next >= 0 && next < items[from.side].length) {
		return put(items, kind, { side: from.side, at: by > 0 ? next + 1 : next });
	}
	const other = sides[sides.indexOf(from.side) + by];
	return other ? put(items, kind, { side: other, at: by > 0 ? 0 : items[other].length }) : items;
}

/** Adds a kind at the end of a side: where the default has it, else at the left. */
export function add(items: Items, kind: string, defaults: Items | null): Items {
	const side = defaults?.right.includes(kind) ? "right" : "left";
	return put(items, kind, { side, at: items[side].length });
}

/** A prompt shows at least one chip. */
export function mayRemove(items: Items, place: Place): boolean {
	return place !== "prompt" || items.left.length > 1;
}

/** Whether nobody knows a kind of a saved list: it is kept, and not drawn. */
export function isUnknown(kind: string, bank: Bank | null): boolean {
	return bank !== null && !isNamed(kind) && !itemOf(bank, kind);
}

export function itemOf(bank: Bank | null, kind: string): BankItem | undefined {
	return bank?.items?.find((item) => item.kind === kind);
}

export function itemName(kind: string, bank: Bank | null): string {
	return chipName(kind, itemOf(bank, kind)?.title);
}

/** What is in the bank and not shown; with something typed the best first. */
export function offered(bank: Bank | null, items: Items, place: Place, typed: string): BankItem[] {
	const rest = (bank?.items ?? []).filter(
		(item) => (item.places ?? []).includes(place) && !spotOf(items, item.kind),
	);
	if (typed.trim() === "") return rest;
	return rest
		.map((item) => ({
			item,
			score: Math.max(
				...[chipName(item.kind, item.title), item.title, item.kind].map((name) => fit(typed, name)),
			),
		}))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.map(({ item }) => item);
}

/** Where a kind stands, in words: "3 of 10", in a footer with its side. */
export function spotWords(items: Items, kind: string, place: Place): string {
	const spot = spotOf(items, kind);
	if (!spot) return "not shown";
	const of = `${spot.at + 1} of ${items[spot.side].length}`;
	return place === "prompt" ? of : `${spot.side}, ${of}`;
}

/** What a change did to one kind, for those who do not see it. */
export function changeWords(
	before: Items,
	after: Items,
	kind: string,
	place: Place,
	bank: Bank | null,
): string {
	const name = itemName(kind, bank);
	if (!spotOf(after, kind)) return `${name} removed`;
	if (!spotOf(before, kind)) return `${name} added, ${spotWords(after, kind, place)}`;
	if (sameItems(before, after)) return `${name} stays, ${spotWords(after, kind, place)}`;
	return `${name} moved, ${spotWords(after, kind, place)}`;
}

/** One change that can be taken back, as long as nobody has changed the place since. */
export interface Change {
	place: Place;
	before: Items;
	/** It was the default. */
	wasDefault: boolean;
	after: Items;
}

export function undoable(history: readonly Change[], place: Place, now: Items): Change | undefined {
	const last = history.filter((change) => change.place === place).at(-1);
	return last && sameItems(last.after, now) ? last : undefined;
}
