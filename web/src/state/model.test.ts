import { expect, test } from "vitest";
import type { Event } from "../api/types";
import { sampleState } from "../dev/fixtures";
import { apply, fromState } from "./model";

const start = () => fromState(sampleState("2026-11-30T09:01:00Z"));
const event = (seq: number, more: Partial<Event> & { kind: string }): Event => ({
	seq,
	hostId: "h",
	at: "2026-11-30T09:00:00Z",
	...more,
});

test("an event that was seen already changes nothing", () => {
	const model = start();
	expect(apply(model, event(model.seq, { kind: "tabRemoved", tabId: model.tabs[0]?.id }))).toBe(model);
});

test("parts that an event does not touch stay the same objects", () => {
	const model = start();
	const next = apply(model, event(model.seq + 1, { kind: "chips", paneId: "p_00000000000000a1", chips: [] }));
	expect(next.chips.p_00000000000000a1).toEqual([]);
	expect(next.tabs).toBe(model.tabs);
	expect(next.panes).toBe(model.panes);
	expect(next.notices).toBe(model.notices);
});

test("a removed pane takes its chips along", () => {
	const model = start();
	const next = apply(model, event(model.seq + 1, { kind: "paneRemoved", paneId: "p_00000000000000a1" }));
	expect(next.panes.p_00000000000000a1).toBeUndefined();
	expect(next.chips.p_00000000000000a1).toBeUndefined();
	expect(Object.keys(next.panes)).toHaveLength(Object.keys(model.panes).length - 1);
});

test("an order moves tabs and loses none, also those it does not name", () => {
	const model = start();
	const ids = model.tabs.map((tab) => tab.id);
	const order = [...ids].reverse().slice(0, -1);
	const next = apply(model, event(model.seq + 1, { kind: "tabOrder", order }));
	expect(next.tabs.map((tab) => tab.id)).toEqual([...order, ids[0]]);
});

test("events of a newer host are passed over, but counted", () => {
	const model = start();
	const next = apply(model, event(model.seq + 1, { kind: "weather" }));
	expect(next).toEqual({ ...model, seq: model.seq + 1 });
});

test("a null list of the host is an empty one", () => {
	const state = { ...sampleState("2026-11-30T09:01:00Z"), tabs: null, notices: null, closed: null };
	expect(fromState(state)).toMatchObject({ tabs: [], notices: [], closed: [] });
});
