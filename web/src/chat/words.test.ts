import { expect, test } from "vitest";
import { session } from "../dev/chats";
import {
	answers,
	bytes,
	commandIn,
	elapsed,
	endOfTurn,
	headOf,
	lifecycleWords,
	outcomeOf,
	pickers,
	readable,
	slashOf,
	strip,
	takesMessages,
	toolWord,
	usageWords,
	within,
} from "./words";

const options = [
	{ id: "o", name: "Allow once", kind: "allow_once" },
	{ id: "a", name: "Always allow", kind: "allow_always" },
	{ id: "n", name: "Reject", kind: "reject_once" },
	{ id: "m", name: "Reject too", kind: "reject_once" },
	{ id: "x", name: "Other", kind: "ask_again" },
];

// Spec session S1.7: once, always and reject as the protocol offers them.
test("each answer has its number, and the plain ones a letter", () => {
	const list = answers({ title: "t", state: "open", options });
	expect(list.map((a) => a.keys.join(""))).toEqual(["1y", "2a", "3n", "4", "5"]);
	expect(list.map((a) => a.grants)).toEqual([true, true, false, false, false]);
	expect(answers({ title: "t", state: "open", options: null })).toEqual([]);
});

test("what became of a question", () => {
	const say = (more: object) => outcomeOf({ title: "t", options, state: "answered", ...more });
	expect(say({ choice: "o" })).toEqual({ tone: "good", text: "Allow once" });
	expect(say({ choice: "n" })).toEqual({ tone: "calm", text: "Reject" });
	expect(say({ choice: "gone" }).text).toBe("gone");
	expect(say({ state: "denied", reason: "the agent left" }).text).toBe("Denied: the agent left");
	expect(say({ state: "cancelled" }).tone).toBe("calm");
});

// Spec session S1.10: an agent that is not signed in or not there is named as such, with
// the command that mends it.
test.each([
	["agent_not_signed_in", "claude /login", "claude /login", "Try again"],
	["agent_not_signed_in", "Run `opencode auth login` first.", "opencode auth login", "Try again"],
	["agent_not_signed_in", "Sign in with it, then come back.", "", "Try again"],
	["agent_not_installed", "npm install -g opencode-ai", "npm install -g opencode-ai", "Try again"],
])("%s with the hint %s", (code, hint, command, resume) => {
	const said = strip(session("s", { status: "error", fault: { code, message: "No.", hint } }));
	expect(said?.command).toBe(command);
	expect(said?.resume).toBe(resume);
	expect(said?.title).toMatch(/is not (signed in|installed)/);
});

test("a strip only while something keeps the chat from going on", () => {
	for (const status of ["idle", "working", "waiting", "done", "unknown"]) {
		expect(strip(session("s", { status }))).toBeNull();
		expect(takesMessages(session("s", { status }))).toBe(true);
	}
	expect(strip(session("s", { status: "exited" }))?.resume).toBe("");
	expect(strip(session("s", { status: "exited", resume: "abc" }))?.resume).toBe("Resume");
	expect(strip(session("s", { status: "resumable", resume: "abc" }))?.resume).toBe("Resume");
	expect(takesMessages(session("s", { status: "resumable" }))).toBe(false);
	expect(strip(session("s", { status: "starting" }))?.title).toBe("Practice agent starts…");
});

test("ends of turns and of processes in words", () => {
	expect(endOfTurn({ state: "ended", reason: "cancelled" })).toMatchObject({
		tone: "calm",
		title: "Cancelled",
	});
	expect(endOfTurn({ state: "ended", reason: "error", message: "Broken.", stderr: "trace" })).toEqual({
		tone: "bad",
		title: "The turn failed",
		text: "Broken.",
		stderr: "trace",
	});
	expect(endOfTurn({ state: "ended", reason: "tired" }).text).toBe("The agent says: tired.");
	expect(
		lifecycleWords({ lifecycle: { event: "exited", exit: { code: 143, signal: "SIGTERM", at: "" } } }),
	).toBe("The agent was ended by SIGTERM.");
	expect(lifecycleWords({ lifecycle: { event: "skipped", bytes: 52_428_800 } })).toBe(
		"A line of 52 MB was too long and was skipped.",
	);
	expect(lifecycleWords({ lifecycle: { event: "frobbed" } })).toBe("frobbed");
	expect(toolWord("frobbed")).toBe("frobbed");
});

test("context, cost and time in few words", () => {
	expect(
		usageWords(session("s", { usage: { used: 42_300, size: 200_000, cost: 0.184, currency: "USD" } })),
	).toEqual({
		text: "21 % · 0.18 USD",
		tip: "Context: 42.3k of 200k tokens\nCost so far: 0.18 USD",
		part: 0.2115,
	});
	expect(usageWords(session("s", { usage: { used: 900 } }))?.text).toBe("900");
	expect(usageWords(session("s", { usage: {} }))).toBeNull();
	expect([bytes(999), bytes(1500), bytes(18_211), bytes(52_428_800)]).toEqual([
		"999 B",
		"1.5 kB",
		"18 kB",
		"52 MB",
	]);
	expect([elapsed(900), elapsed(65_000), elapsed(3_900_000)]).toEqual(["0 s", "1 min 05 s", "1 h 05 min"]);
});

test("slash commands are completed at the start of the text only", () => {
	expect(slashOf("/", 1)).toBe("");
	expect(slashOf("/pl", 3)).toBe("pl");
	expect(slashOf("/plan it", 8)).toBeNull();
	expect(slashOf("see /plan", 9)).toBeNull();
	expect(slashOf("/pl and more", 3)).toBeNull();
});

test("small words", () => {
	expect(commandIn(undefined)).toBe("");
	expect(headOf("\n**Look** at `lamp.go`\nthen more")).toBe("Look at lamp.go");
	expect(within("/a/b/c.go", "/a/b")).toBe("c.go");
	expect(within("/a/bc.go", "/a/b")).toBe("/a/bc.go");
	expect(readable('{"command":"go test"}')).toBe("command: go test");
	expect(readable('{"a":1,"b":2}')).toBe('{\n  "a": 1,\n  "b": 2\n}');
	expect(readable('{"a":1,"b')).toBe('{"a":1,"b');
	expect(
		pickers([
			{ id: "e", name: "E", value: "", category: "effort", choices: [{ id: "1", name: "1" }] },
			{ id: "m", name: "M", value: "", category: "model", choices: [{ id: "1", name: "1" }] },
			{ id: "n", name: "N", value: "", category: "mode", choices: [] },
		]).map((o) => o.id),
	).toEqual(["m", "e"]);
});
