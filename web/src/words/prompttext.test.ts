import { expect, test } from "vitest";
import type { Chip } from "../api/types";
import { promptText } from "./prompttext";

const chip = (kind: string, text: string, more: Partial<Chip> = {}): Chip => ({
	kind,
	value: text,
	text,
	status: "ready",
	...more,
});

// Spec chips C5.1: the text form of what is shown; what is not shown is not in it.
test("a prompt as text", () => {
	expect(
		promptText([
			chip("user", "user"),
			chip("cwd", "~/src", { value: "/home/user/src" }),
			chip("git_branch", "main"),
			chip("github_pr", "PR #12", { value: "https://github.com/ada/harbor/pull/12" }),
		]),
	).toBe("user ~/src git:(main) PR #12");
	expect(
		promptText([
			chip("conda", "base"),
			chip("git_diff", "3 • +10 -2", { status: "stale" }),
			chip("kube", "prod"),
			chip("node", "v22.1.0", { status: "error" }),
			chip("venv", ""),
		]),
	).toBe("base 3 • +10 -2 ⎈ prod");
	expect(promptText([])).toBe("");
});
