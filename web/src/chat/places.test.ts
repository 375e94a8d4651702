import { expect, test } from "vitest";
import { Places } from "./places";

const list = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, n) => ({ id: `i${from + n}` }));

test("tops follow guesses, then what was measured", () => {
	const places = new Places<{ id: string }>(() => 10);
	places.put(list(0, 5));
	expect(places.height).toBe(50);
	expect(places.measured(1, "i1", 30)).toBe(true);
	expect(places.measured(1, "i1", 30)).toBe(false);
	expect(places.measured(1, "other", 99)).toBe(false);
	expect([0, 1, 2, 5].map((at) => places.top(at))).toEqual([0, 10, 40, 70]);
	expect([0, 9, 10, 39, 40, 1000].map((y) => places.at(y))).toEqual([0, 0, 1, 1, 2, 4]);
});

test("heights stay with their entries when older ones come before them", () => {
	const places = new Places<{ id: string }>(() => 10);
	places.put(list(5, 8));
	places.measured(0, "i5", 25);
	expect(places.top(1)).toBe(25);
	places.put(list(0, 8));
	expect(places.find("i5", 0)).toBe(5);
	expect(places.top(6)).toBe(75);
	places.put([...list(0, 8), { id: "end" }]);
	expect(places.height).toBe(105);
	places.put([]);
	expect(places.height).toBe(0);
	expect(places.at(5)).toBe(0);
});
