import { expect, test, vi } from "vitest";
import { ranked } from "./ranked";

// The page's own table of commands, which wants a browser around it.
const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
vi.stubGlobal("localStorage", storage);
vi.stubGlobal("sessionStorage", storage);
vi.stubGlobal("navigator", { platform: "Linux" });
const { commands } = await import("../keys/keys");

const first = (typed: string, used: string[] = []) => ranked(typed, commands, used)[0]?.title;

test("of the page's own commands the one that was named comes first", () => {
	expect(first("new worktree")).toBe("New worktree");
	expect(first("worktrees")).toBe("Worktrees");
	expect(first("new tab")).toBe("New tab config");
	expect(first("close tab")).toBe("Close tab");
	expect(first("theme d")).toBe("Theme: dark");
	expect(first("split r")).toBe("Split to the right");
});

test("what was used goes before what fits as well, never before what fits better", () => {
	expect(first("close")).not.toBe("Close tabs below");
	expect(first("close", ["close-below"])).toBe("Close tabs below");
	expect(first("new worktree", ["worktree"])).toBe("New worktree");
	expect(first("", ["zoom"])).toBe("Zoom pane");
	expect(ranked("", commands, []).map((one) => one.id)).toEqual(commands.map((one) => one.id));
});
