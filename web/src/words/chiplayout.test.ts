import { describe, expect, test } from "vitest";
import type { Bank, ChipLayout } from "../api/types";
import {
	add,
	changeOf,
	changeWords,
	type Items,
	isUnknown,
	itemsOf,
	mayRemove,
	offered,
	put,
	sidesOf,
	spotWords,
	step,
	undoable,
	without,
} from "./chiplayout";

const prompt: Items = { left: ["cwd", "git_branch", "tide"], right: [] };
const footer: Items = { left: ["cwd", "git_branch"], right: ["model", "attach"] };
const bank = {
	items: [
		{ kind: "cwd", title: "Working Directory", places: ["prompt", "footer"], chip: true },
		{
			kind: "github_pr",
			title: "GitHub Pull Request",
			places: ["prompt"],
			chip: true,
			reason: "Requires the GitHub CLI",
		},
		{ kind: "model", title: "Model", places: ["footer"], chip: false },
		{ kind: "time24", title: "Time (24-hour format)", places: ["prompt"], chip: true },
	],
	defaults: [{ place: "footer", items: { left: ["cwd"], right: ["model"] } }],
} as unknown as Bank;

describe("moving", () => {
	test("to a spot of the list as it is seen", () => {
		expect(put(prompt, "cwd", { side: "left", at: 3 }).left).toEqual(["git_branch", "tide", "cwd"]);
		expect(put(prompt, "tide", { side: "left", at: 0 }).left).toEqual(["tide", "cwd", "git_branch"]);
		expect(put(prompt, "cwd", { side: "left", at: 1 })).toEqual(prompt);
		expect(put(footer, "cwd", { side: "right", at: 1 })).toEqual({
			left: ["git_branch"],
			right: ["model", "cwd", "attach"],
		});
	});
	test("step by step, over the gap between the sides, and no further than the ends", () => {
		const kinds: Items[] = [footer];
		for (let i = 0; i < 5; i++) kinds.push(step(kinds.at(-1) as Items, "cwd", 1, sidesOf("footer")));
		expect(kinds.map((one) => `${one.left.join(" ")} | ${one.right.join(" ")}`)).toEqual([
			"cwd git_branch | model attach",
			"git_branch cwd | model attach",
			"git_branch | cwd model attach",
			"git_branch | model cwd attach",
			"git_branch | model attach cwd",
			"git_branch | model attach cwd",
		]);
		expect(step(prompt, "tide", 1, sidesOf("prompt"))).toEqual(prompt);
		expect(step(footer, "model", -1, sidesOf("footer")).left).toEqual(["cwd", "git_branch", "model"]);
	});
});

// Spec chips C4.6: what nobody knows survives every edit.
test("an unknown kind is kept, and is known as unknown", () => {
	expect(isUnknown("tide", bank)).toBe(true);
	expect(isUnknown("tide", null)).toBe(false); // nobody can say yet
	expect(isUnknown("subshell", bank)).toBe(false);
	for (const edited of [
		put(prompt, "cwd", { side: "left", at: 2 }),
		without(prompt, "cwd"),
		add(prompt, "node", null),
	]) {
		expect(edited.left).toContain("tide");
	}
	expect(changeOf("prompt", prompt)).toEqual({ prompt: ["cwd", "git_branch", "tide"] });
	expect(changeOf("cliFooter", footer)).toEqual({ cliFooter: footer });
});

test("the bank has what is not shown here, with its reason, found by any of its names", () => {
	const kinds = (typed: string, items = prompt, place: "prompt" | "footer" = "prompt") =>
		offered(bank, items, place, typed).map((item) => item.kind);
	expect(kinds("")).toEqual(["github_pr", "time24"]);
	expect(kinds("pull")).toEqual(["github_pr"]);
	expect(kinds("github")).toEqual(["github_pr"]);
	expect(kinds("24-hour")).toEqual(["time24"]);
	expect(kinds("zzz")).toEqual([]);
	expect(kinds("", { left: [], right: [] }, "footer")).toEqual(["cwd", "model"]);
	expect(add({ left: ["cwd"], right: [] }, "model", { left: [], right: ["model"] }).right).toEqual(["model"]);
});

test("a prompt keeps one chip", () => {
	expect(mayRemove({ left: ["cwd"], right: [] }, "prompt")).toBe(false);
	expect(mayRemove({ left: ["cwd"], right: [] }, "footer")).toBe(true);
});

test("what was done is said", () => {
	const moved = put(footer, "cwd", { side: "right", at: 0 });
	expect(changeWords(footer, moved, "cwd", "footer", bank)).toBe("Directory moved, right, 1 of 3");
	expect(changeWords(footer, footer, "cwd", "footer", bank)).toBe("Directory stays, left, 1 of 2");
	expect(changeWords(footer, without(footer, "cwd"), "cwd", "footer", bank)).toBe("Directory removed");
	expect(
		changeWords(without(prompt, "cwd"), put(prompt, "cwd", { side: "left", at: 0 }), "cwd", "prompt", bank),
	).toBe("Directory added, 1 of 3");
	expect(spotWords(prompt, "node", "prompt")).toBe("not shown");
});

test("a change is taken back only while nobody has changed the place since", () => {
	const history = [{ place: "prompt" as const, before: footer, wasDefault: true, after: prompt }];
	expect(undoable(history, "prompt", prompt)).toBe(history[0]);
	expect(undoable(history, "prompt", without(prompt, "cwd"))).toBeUndefined();
	expect(undoable(history, "footer", prompt)).toBeUndefined();
});

test("absent lists are empty ones", () => {
	const layout = { prompt: null, footer: { left: null, right: null } } as unknown as ChipLayout;
	expect(itemsOf(layout, "prompt")).toEqual({ left: [], right: [] });
	expect(itemsOf(layout, "footer")).toEqual({ left: [], right: [] });
});
