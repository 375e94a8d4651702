import { expect, test } from "vitest";
import { type Seen, sightOf } from "./sight";

const seen = (more: Partial<Seen>): Seen => ({
	hidden: false,
	focus: true,
	narrow: false,
	collapsed: false,
	drawer: false,
	card: "",
	...more,
});

// Spec chips C2.4: only what is seen is run.
test.each([
	["wide", {}, true],
	["wide, without tab list", { collapsed: true }, false],
	["narrow", { narrow: true }, false],
	["narrow, tab list over it", { narrow: true, drawer: true }, true],
	["narrow, folded away on a wide page", { narrow: true, drawer: true, collapsed: true }, true],
])("the tab list of a page is seen: %s", (_, more, tabs) => {
	expect(sightOf(seen(more))).toEqual({ hidden: false, away: false, tabs, panes: [] });
});

test("a hidden page says so, and a card is of its pane", () => {
	expect(sightOf(seen({ hidden: true })).hidden).toBe(true);
	expect(sightOf(seen({ card: "p1" })).panes).toEqual(["p1"]);
});

// Spec session S3: what a window without the focus shows nobody looks at.
test("somebody is at a window that has the focus", () => {
	expect(sightOf(seen({})).away).toBe(false);
	expect(sightOf(seen({ focus: false })).away).toBe(true);
	expect(sightOf(seen({ hidden: true })).away).toBe(true);
});
