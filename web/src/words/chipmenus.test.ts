import { expect, test } from "vitest";
import type { BranchMenu, DirectoryListing, MenuBranch, NodeVersion, Pane } from "../api/types";
import {
	branchRows,
	directoryRows,
	joined,
	newBranchRow,
	nodeRow,
	wantsHidden,
	whyNoCommand,
} from "./chipmenus";

const branch = (name: string, more: Partial<MenuBranch> = {}) =>
	({ name, head: "", date: "", ...more }) as MenuBranch;
const menu = (...branches: MenuBranch[]): BranchMenu =>
	({ branches, current: branches.find((one) => one.current)?.name ?? "", more: false }) as BranchMenu;

// Spec chips C5.2: fuzzy, current first, other worktrees marked and opened instead of checked out.
test("the current branch stands first, what a worktree has is opened there, a remote one tracked", () => {
	const rows = branchRows(
		menu(
			branch("fog"),
			branch("reef", { worktree: "/w/reef", tab: "t_1", pane: "p_1" }),
			branch("main", { current: true }),
			branch("buoy", { worktree: "/w/buoy" }),
			branch("tide", { remote: "origin" }),
		),
		"",
	);
	expect(rows.map((row) => [row.title, row.act])).toEqual([
		["main", { do: "nothing" }],
		["fog", { do: "run", argv: ["git", "switch", "fog"] }],
		["reef", { do: "tab", tab: "t_1", pane: "p_1" }],
		["buoy", { do: "open", directory: "/w/buoy" }],
		["tide", { do: "run", argv: ["git", "switch", "--track", "origin/tide"] }],
	]);
	expect(new Set(rows.map((row) => row.key)).size).toBe(5);
});

test("letters in order find a branch, the best first", () => {
	const rows = branchRows(menu(branch("release/1.2"), branch("fix/login"), branch("login")), "login");
	expect(rows.map((row) => row.title)).toEqual(["login", "fix/login"]);
});

test("a branch is made when the host takes its name, and only then", () => {
	const list = menu(branch("main", { current: true }));
	expect(newBranchRow(list, " main ", { valid: true })).toBeNull();
	expect(newBranchRow(list, "", undefined)).toBeNull();
	expect(newBranchRow(list, "fog", undefined)?.act).toEqual({ do: "nothing" });
	expect(newBranchRow(list, "a..b", { valid: false })?.note).toMatch(/does not take/);
	expect(newBranchRow(list, "main/x", { valid: true, taken: "refs/heads/main" })?.note).toMatch(/in its way/);
	expect(newBranchRow(list, "fog", { valid: true })).toMatchObject({
		note: "from main",
		act: { do: "run", argv: ["git", "switch", "-c", "fog"] },
	});
});

test("a directory is gone into by an argument that no shell takes for an option", () => {
	const listing = {
		directory: "/srv/harbor",
		parent: "/srv",
		more: false,
		entries: [
			{ name: "src", kind: "directory" },
			{ name: "-rf", kind: "directory" },
			{ name: "~ada", kind: "directory" },
			{ name: "a b\n", kind: "directory" },
			{ name: "notes.md", kind: "text" },
		],
	} as DirectoryListing;
	const acts = Object.fromEntries(directoryRows(listing, "").map((row) => [row.key, row.act]));
	expect(acts[".."]).toEqual({ do: "run", argv: ["cd", ".."] });
	expect(acts.src).toEqual({ do: "run", argv: ["cd", "src"] });
	expect(acts["-rf"]).toEqual({ do: "run", argv: ["cd", "./-rf"] });
	expect(acts["~ada"]).toEqual({ do: "run", argv: ["cd", "./~ada"] });
	expect(acts["a b\n"]).toEqual({ do: "run", argv: ["cd", "a b\n"] });
	expect(acts["notes.md"]).toEqual({ do: "copy", text: "/srv/harbor/notes.md" });
	expect(directoryRows(listing, "not").map((row) => row.key)).toEqual(["notes.md"]);
	expect(directoryRows({ ...listing, parent: "" }, "").some((row) => row.key === "..")).toBe(false);
	expect(joined("/", "srv")).toBe("/srv");
	expect([wantsHidden(".c"), wantsHidden(".."), wantsHidden("c")]).toEqual([true, false, false]);
});

test("a version of node tells how far its switch reaches; one that is used, or has none, does nothing", () => {
	const version = (more: Partial<NodeVersion>) =>
		nodeRow({
			version: "20.1.0",
			manager: "nvm",
			active: false,
			effect: "shell",
			switch: null,
			...more,
		} as NodeVersion);
	expect(version({ switch: ["nvm", "use", "20.1.0"] })).toMatchObject({
		note: "nvm, for this shell",
		act: { do: "run", argv: ["nvm", "use", "20.1.0"] },
	});
	expect(version({ manager: "asdf", effect: "directory", switch: ["asdf"] }).note).toMatch(/writes a file/);
	expect(version({ active: true, switch: ["nvm"] })).toMatchObject({ current: true, act: { do: "nothing" } });
	expect(version({}).act).toEqual({ do: "nothing" });
});

test("no command is offered where none can be typed, and why", () => {
	const pane = (more: Partial<Pane>) =>
		whyNoCommand({ kind: "shell", status: "running", running: false, ...more } as Pane);
	expect(pane({})).toBe("");
	expect(pane({ running: true, command: "vim x" })).toBe("vim runs in the shell");
	expect(pane({ status: "ended" })).toMatch(/ended/);
	expect(pane({ kind: "agent" })).toMatch(/no shell/);
	expect(pane({ argv: ["sleep", "9"] })).toMatch(/no shell/);
	expect(whyNoCommand(undefined)).toMatch(/gone/);
});
