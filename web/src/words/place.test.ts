import { expect, test } from "vitest";
import { placeTip } from "./place";

const room = { width: 1000, height: 600 };
const tip = { width: 200, height: 80 };
const chip = { left: 480, top: 570, right: 520, bottom: 594 };

test("a tooltip is below, or above where there is no room", () => {
	expect(placeTip({ left: 480, top: 10, right: 520, bottom: 34 }, tip, room, [])).toEqual({
		left: 400,
		top: 40,
	});
	expect(placeTip(chip, tip, room, [])).toEqual({ left: 400, top: 484 });
	expect(placeTip({ ...chip, left: 0, right: 20 }, tip, room, []).left).toBe(8);
});

test("a tooltip does not cover what is to be pressed", () => {
	const answers = { left: 300, top: 480, right: 700, bottom: 512 };
	expect(placeTip(chip, tip, room, [answers])).toEqual({ left: 526, top: 514 });
	// A narrow window has no side: it goes above.
	const narrow = { width: 360, height: 600 };
	const wide = { left: 10, top: 480, right: 350, bottom: 512 };
	expect(placeTip({ ...chip, left: 150, right: 200 }, tip, narrow, [wide])).toEqual({ left: 75, top: 394 });
});
