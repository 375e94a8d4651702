import { expect, test } from "vitest";
import type { Agent } from "../api/types";
import { aboutAgent, absent, absentWords, firstAgent, installCommand, usable } from "./agents";

const agent = (id: string, more: Partial<Agent> = {}): Agent => ({
	id,
	name: id,
	installed: true,
	surfaces: ["terminal"],
	...more,
});

const agents = [
	agent("aider", { installed: false, installHint: "pip install aider" }),
	agent("claude", { offered: true }),
	agent("codex", { installed: false, offered: true }),
	agent("off", { disabled: true }),
	agent("practice", { practice: true }),
];

test("a list shows what can be launched, and the rest behind it, the best known first", () => {
	expect(usable(agents).map((one) => one.id)).toEqual(["claude", "practice"]);
	expect(absent(agents).map((one) => one.id)).toEqual(["codex", "aider", "off"]);
	expect(absentWords(agents[0] as Agent)).toBe("pip install aider");
	expect(absentWords(agents[3] as Agent)).toContain("agents.toml");
	expect(installCommand(agent("x", { installHint: "see https://x.example" }))).toBe("");
	expect(installCommand(agents[0] as Agent)).toBe("pip install aider");
});

test("the last agent is taken first, else what the host suggests, else any", () => {
	expect(firstAgent({ agents, suggest: "claude" }, "practice")).toBe("practice");
	expect(firstAgent({ agents, suggest: "practice" }, "aider")).toBe("practice");
	expect(firstAgent({ agents, suggest: "off" }, "")).toBe("claude");
	expect(firstAgent({ agents: null }, "x")).toBe("");
});

test("what is not tested says so", () => {
	expect(aboutAgent(agent("x", { version: "1", path: "/x" }))).toBe("1\n/x\ndavit's tests do not drive it.");
	expect(aboutAgent(agent("x", { tested: true, path: "/x" }))).toBe("/x");
});
