import { expect, test } from "vitest";
import { caretAfter, merged } from "./draft";

// Spec session S1.8: one draft on every client; nothing that was typed is lost.
test.each([
	["only here", "", "hello", "", "hello"],
	["only there", "", "", "hello", "hello"],
	["the same", "a", "ab", "ab", "ab"],
	["typed on from theirs", "a", "abc", "ab", "abc"],
	["they typed on from mine", "a", "ab", "abc", "abc"],
	[
		"before and behind",
		"teach the harbour",
		"please teach the harbour",
		"teach the harbour to signal",
		"please teach the harbour to signal",
	],
	[
		"behind and before",
		"teach the harbour",
		"teach the harbour to signal",
		"please teach the harbour",
		"please teach the harbour to signal",
	],
	["the same place", "x", "mine", "theirs", "mine\n\ntheirs"],
	["cleared there, typed here", "abc", "abd", "", "abd"],
	["cleared here, typed there", "abc", "", "abd", "abd"],
])("%s", (_, base, mine, theirs, want) => {
	expect(merged(base, mine, theirs)).toBe(want);
});

test("the caret stays with the words around it", () => {
	expect(caretAfter(5, "hello", "well, hello")).toBe(11);
	expect(caretAfter(2, "hello", "hello there")).toBe(2);
	expect(caretAfter(3, "hello", "")).toBe(0);
});
