// Chats for the gallery, the fake host and the bench: a plausible afternoon with an agent.
import type { JournalBody, JournalRow, Pane, Session, Tab } from "../api/types";
import { pane } from "./fixtures";

const start = Date.parse("2026-11-30T09:00:00Z");
const directory = "/home/ada/code/harbor";

export function session(id: string, more: Partial<Session> = {}): Session {
	return {
		id,
		agent: "practice",
		agentName: "Practice agent",
		practice: true,
		driver: "acp",
		directory,
		status: "idle",
		since: new Date(start).toISOString(),
		source: "protocol",
		fence: 1,
		cursor: { epoch: 1, seq: 1 },
		draft: { text: "", revision: 0 },
		options: [
			{
				id: "model",
				name: "Model",
				category: "model",
				value: "large",
				choices: [
					{ id: "large", name: "Large", description: "Slower, thinks longer" },
					{ id: "small", name: "Small", description: "Quick answers" },
				],
			},
			{
				id: "mode",
				name: "Mode",
				category: "mode",
				value: "ask",
				choices: [
					{ id: "ask", name: "Ask first" },
					{ id: "edit", name: "Edit freely" },
				],
			},
		],
		commands: [
			{ name: "plan", description: "Make a plan before anything is changed", hint: "what for" },
			{ name: "review", description: "Review the branch against its base" },
			{ name: "compact", description: "Shorten what is in context" },
		],
		usage: { used: 42_300, size: 200_000, cost: 0.18, currency: "USD" },
		created: new Date(start).toISOString(),
		...more,
	};
}

/** Writes rows of one session, a second apart. */
export class Writer {
	readonly rows: JournalRow[] = [];
	private seq = 0;
	private turn = "";

	constructor(readonly session: string) {}

	add(kind: string, item: string, body: JournalBody, revision = 1): this {
		this.seq++;
		this.rows.push({
			session: this.session,
			epoch: 1,
			seq: this.seq,
			fence: 1,
			time: new Date(start + this.seq * 1000).toISOString(),
			kind,
			item,
			revision,
			turn: this.turn || undefined,
			body,
		});
		return this;
	}

	user(text: string, state = "accepted"): this {
		const item = `m${this.seq + 1}`;
		this.add("message", item, { role: "user", text });
		return this.add("submission", `s-${item}`, { submission: { id: `op-${item}`, state, text, item } });
	}

	begin(): this {
		this.turn = `t${this.seq + 1}`;
		return this.add("turn", this.turn, { turnState: { state: "running" } });
	}

	end(reason = "end_turn", more: { message?: string; stderr?: string } = {}): this {
		this.add("turn", this.turn, { turnState: { state: "ended", reason, ...more } }, 2);
		this.turn = "";
		return this;
	}

	/** An agent's text, streamed in pieces. */
	say(text: string, kind: "message" | "thought" = "message", size = 24): this {
		const item = `${kind[0]}${this.seq + 1}`;
		for (let at = 0; at < text.length; at += size) {
			this.add(kind, item, { role: at === 0 ? "agent" : undefined, at, text: text.slice(at, at + size) });
		}
		return this;
	}
}

const before = `package signal

// Lamp is a harbour lamp.
type Lamp struct {
	lit bool
}

// Light lights it.
func (l *Lamp) Light() {
	l.lit = true
}

func (l *Lamp) Lit() bool { return l.lit }
`;

const after = `package signal

import "sync"

// Lamp is a harbour lamp. It may be lit from any goroutine.
type Lamp struct {
	mu  sync.Mutex
	lit bool
}

// Light lights it.
func (l *Lamp) Light() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lit = true
}

func (l *Lamp) Lit() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lit
}
`;

const answer = `The race is in \`Lamp.Light\`: two goroutines write \`lit\` without a lock. I did three things:

1. **A mutex** guards the field, held for one assignment only.
2. \`Lit\` reads under the same lock, so \`go test -race\` is quiet.
3. The test lights the lamp from *many* goroutines at once.

\`\`\`go
func TestLampFromManyGoroutines(t *testing.T) {
	var lamp Lamp
	var group sync.WaitGroup
	for range 100 { // enough to be seen
		group.Go(lamp.Light)
	}
	group.Wait()
	if !lamp.Lit() {
		t.Fatal("lamp is dark, want lit")
	}
}
\`\`\`

| Check | Before | After |
| --- | ---: | ---: |
| \`go vet\` | clean | clean |
| \`go test -race\` | 1 race | clean |

> A channel would do too, but the lamp has no one to wait for.

See [the race detector](https://go.dev/doc/articles/race_detector) for how it was found.`;

export function sampleChat(id: string): Writer {
	const w = new Writer(id);
	w.add("lifecycle", "l0", { lifecycle: { event: "created" } });
	w.user("go test -race complains about the lamp. Find out why and mend it, please.");
	w.begin();
	w.say(
		"The race detector names lamp.go:14 and lamp.go:18. Both are in Light. Let me read the file first and see who calls it.",
		"thought",
	);
	w.add("plan", "p1", {
		plan: [
			{ text: "Reproduce the race", state: "done" },
			{ text: "Guard the lamp's state", state: "done" },
			{ text: "Light it from many goroutines in the test", state: "running" },
			{ text: "Run the whole suite", state: "pending" },
		],
	});
	w.add("tool", "c1", {
		tool: {
			id: "1",
			title: "Run go test -race ./internal/signal",
			kind: "execute",
			state: "done",
			input: { head: '{"command":"go test -race ./internal/signal"}', size: 45 },
			output: [
				{
					head: "==================\nWARNING: DATA RACE\nWrite at 0x00c0000b4010 by goroutine 9:\n  harbor/internal/signal.(*Lamp).Light()\n      lamp.go:11\n",
					size: 18_211,
					digest: "d1",
				},
			],
		},
	});
	w.add("tool", "c2", {
		tool: {
			id: "2",
			title: "Read lamp.go",
			kind: "read",
			state: "done",
			locations: [{ path: `${directory}/internal/signal/lamp.go`, line: 8 }],
		},
	});
	w.add("tool", "c3", {
		tool: {
			id: "3",
			title: "Edit the lamp",
			kind: "edit",
			state: "done",
			locations: [{ path: `${directory}/internal/signal/lamp.go` }],
			diffs: ["d-1"],
		},
	});
	w.add("diff", "d-1", {
		diff: {
			tool: "c3",
			path: `${directory}/internal/signal/lamp.go`,
			old: { head: before, size: before.length },
			new: { head: after, size: after.length },
			added: 11,
			removed: 3,
		},
	});
	w.add(
		"approval",
		"a1",
		{
			approval: {
				title: "Run the tests in a container",
				options: approvalOptions,
				state: "answered",
				choice: "once",
				by: "browser",
			},
		},
		2,
	);
	w.add("tool", "c4", {
		tool: {
			id: "4",
			title: "Run podman run harbor-test",
			kind: "execute",
			state: "failed",
			output: [{ head: "Error: short-name harbor-test did not resolve to an alias", size: 57 }],
		},
	});
	w.say(answer);
	w.end();
	return w;
}

const approvalOptions = [
	{ id: "once", name: "Allow once", kind: "allow_once" },
	{ id: "always", name: "Always allow", kind: "allow_always" },
	{ id: "no", name: "Reject", kind: "reject_once" },
];

/** A turn that runs, with a question open and messages that wait. */
export function askingChat(id: string): Writer {
	const w = new Writer(id);
	w.user("Write the notes of today's release, then tag it.");
	w.begin();
	w.say("Reading the changelog since the last tag.", "thought");
	w.say("I have the notes. They go to `NOTES.md`, which does not exist yet.");
	w.add("tool", "c1", {
		tool: {
			id: "1",
			title: "Write NOTES.md",
			kind: "edit",
			state: "pending",
			locations: [{ path: `${directory}/NOTES.md` }],
			diffs: ["d1"],
		},
	});
	const notes = "# Release 0.4\n\n- The lamp no longer races.\n- `signal --all` lights every lamp.\n";
	w.add("diff", "d1", {
		diff: {
			tool: "c1",
			path: `${directory}/NOTES.md`,
			new: { head: notes, size: notes.length },
			added: 4,
			removed: 0,
		},
	});
	w.add("approval", "a1", {
		approval: { tool: "c1", title: "Write NOTES.md", options: approvalOptions, state: "open" },
	});
	w.add("submission", "s9", {
		submission: { id: "op-9", state: "queued", text: "And push the tag when it is made.", item: "m9" },
	});
	return w;
}

/** Every way a turn can go wrong. */
export function troubledChat(id: string): Writer {
	const w = new Writer(id);
	w.user("wait").begin().say("Waiting until somebody says stop.").end("cancelled");
	w.user("Do something that you will not do").begin().end("refusal");
	w.user("fail").begin();
	w.add("tool", "c1", {
		tool: { id: "1", title: "Delete build", kind: "delete", state: "cancelled" },
	});
	w.end("exited", {
		message: "Practice agent ended with exit status 3. Resume the chat to go on.",
		stderr: "practice: told to fail\nexit status 3\n",
	});
	w.add("lifecycle", "l1", { lifecycle: { event: "exited", exit: { code: 3, at: "" } } });
	const junk = "Warning: fog ahead\n\u001b[31mlamp 7\u001b[0m is out\n";
	w.add("lifecycle", "l3", {
		lifecycle: { event: "garbage", count: 2 },
		blob: { head: junk, size: 4096, mime: "text/plain" },
	});
	w.add("lifecycle", "l2", { lifecycle: { event: "skipped", bytes: 52_428_800 } });
	w.user("Are you still there?", "unknown");
	w.user("This one is too long", "rejected");
	return w;
}

/** Many rows: turns of streamed text, tools and diffs. */
export function longChat(id: string, rows: number): Writer {
	const w = new Writer(id);
	for (let turn = 1; w.rows.length < rows; turn++) {
		w.user(`Turn ${turn}: mend the next lamp`).begin();
		w.say(`Looking at lamp ${turn}, which is like the one before it.`, "thought");
		w.add("tool", `c${turn}`, {
			tool: {
				id: String(turn),
				title: `Edit lamp ${turn}`,
				kind: "edit",
				state: "done",
				locations: [{ path: `${directory}/internal/signal/lamp${turn}.go` }],
				diffs: turn % 4 === 0 ? [`d${turn}`] : [],
			},
		});
		if (turn % 4 === 0) {
			w.add("diff", `d${turn}`, {
				diff: {
					tool: `c${turn}`,
					path: `${directory}/internal/signal/lamp${turn}.go`,
					old: { head: before, size: before.length },
					new: { head: after, size: after.length },
					added: 11,
					removed: 3,
				},
			});
		}
		w.say(turn % 3 === 0 ? answer : `Lamp ${turn} is lit. \`go test\` is **clean**.`, "message", 80);
		w.end();
	}
	return w;
}

export interface SampleChat {
	session: Session;
	pane: Pane;
	writer: Writer;
}

export function chatOf(name: string, writer: Writer, more: Partial<Session> = {}): SampleChat {
	const id = writer.session;
	const n = name.padEnd(15, "0");
	const value = pane(`p_${n}c`, `t_${n}c`, {
		kind: "chat",
		session: id,
		agent: "practice",
		practice: true,
		directory,
	});
	const last = writer.rows.at(-1);
	return {
		pane: value,
		writer,
		session: session(id, {
			pane: value.id,
			tab: value.tab,
			cursor: { epoch: 1, seq: last?.seq ?? 0 },
			title: name,
			...more,
		}),
	};
}

export function sampleChats(): SampleChat[] {
	return [
		chatOf("lamp", sampleChat("practice_lamp")),
		chatOf("notes", askingChat("practice_notes"), { status: "waiting", waiting: "permission", queued: 1 }),
		chatOf("trouble", troubledChat("practice_trouble"), { status: "resumable", resume: "abc" }),
		chatOf("signin", new Writer("practice_signin"), {
			agent: "claude",
			agentName: "Claude Code",
			practice: false,
			status: "error",
			usage: undefined,
			fault: {
				code: "agent_not_signed_in",
				message: "Claude Code is not signed in.",
				hint: "claude /login",
			},
		}),
		chatOf("fresh", new Writer("practice_fresh"), { usage: undefined }),
	];
}

export function tabOf(chat: SampleChat, title: string): Tab {
	return {
		id: chat.pane.tab,
		title,
		tree: { pane: chat.pane.id },
		focused: chat.pane.id,
		created: new Date(start).toISOString(),
	};
}
