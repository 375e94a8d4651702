// The fake host's chats: fixtures, and an agent that says a few words to whatever it is
// told. For looking at the page only.
import type { JournalBody, JournalRow, Session, State } from "../../src/api/types";
import { type SampleChat, sampleChats, tabOf } from "../../src/dev/chats";

type Body = Record<string, unknown>;
type Tell = (change: { kind: string; session?: Session }) => void;

export class FakeChats {
	private readonly chats = new Map<string, SampleChat>();
	private readonly followers = new Map<string, Set<(frame: object) => void>>();

	constructor(private readonly tell: Tell) {
		for (const chat of sampleChats()) this.chats.set(chat.session.id, chat);
	}

	addTo(state: State): void {
		for (const chat of this.chats.values()) {
			state.tabs = [...(state.tabs ?? []), tabOf(chat, chat.session.title ?? "chat")];
			state.panes[chat.pane.id] = chat.pane;
			state.sessions = { ...state.sessions, [chat.session.id]: chat.session };
			state.chips[chat.pane.id] = state.chips.p_00000000000000a1 ?? [];
		}
	}

	sessionOf(id: string): Session | undefined {
		return this.chats.get(id)?.session;
	}

	follow(id: string, cursor: { seq: number } | undefined, send: (frame: object) => void): () => void {
		const rows = this.chats.get(id)?.writer.rows ?? [];
		const list = this.followers.get(id) ?? new Set();
		this.followers.set(id, list.add(send));
		const after = rows.filter((row) => row.seq > (cursor?.seq ?? 0));
		if (after.length > 0) this.send(id, after, [send]);
		return () => list.delete(send);
	}

	operate(name: string, body: Body): [number, unknown] {
		const id = String(body.sessionId);
		const chat = this.chats.get(id);
		if (!chat) return [404, { code: "agent_session_not_found", message: "There is no such chat." }];
		switch (name) {
			case "agentSession.setDraft":
				if (body.revision !== chat.session.draft.revision) {
					return [400, { code: "invalid_request", message: "An old revision.", details: chat.session.draft }];
				}
				this.change(chat, { draft: { text: String(body.text), revision: Number(body.revision) + 1 } });
				return [200, chat.session.draft];
			case "agentSession.send":
				void this.answer(chat, String(body.text), String(body.clientOperationId));
				return [200, {}];
			case "agentSession.respond":
				this.row(chat, "approval", "a1", {
					approval: {
						title: "Write NOTES.md",
						tool: "c1",
						options: [
							{ id: "once", name: "Allow once", kind: "allow_once" },
							{ id: "no", name: "Reject", kind: "reject_once" },
						],
						state: "answered",
						choice: String(body.option),
						by: "browser",
					},
				});
				return [200, {}];
			default:
				return [200, {}];
		}
	}

	private change(chat: SampleChat, more: Partial<Session>): void {
		chat.session = { ...chat.session, ...more };
		this.tell({ kind: "session", session: chat.session });
	}

	private row(chat: SampleChat, kind: string, item: string, body: JournalBody): void {
		chat.writer.add(kind, item, body);
		const row = chat.writer.rows.at(-1);
		if (row) this.send(chat.session.id, [row], this.followers.get(chat.session.id) ?? []);
	}

	private send(id: string, rows: readonly JournalRow[], to: Iterable<(frame: object) => void>): void {
		const cursor = { epoch: 1, seq: rows.at(-1)?.seq ?? 0 };
		for (const send of to) send({ type: "journal", session: id, rows, cursor });
	}

	private async answer(chat: SampleChat, text: string, operation: string): Promise<void> {
		const item = `m-${operation}`;
		this.row(chat, "message", item, { role: "user", text });
		this.row(chat, "submission", `s-${operation}`, {
			submission: { id: operation, state: "accepted", text, item },
		});
		this.row(chat, "turn", `t-${operation}`, { turnState: { state: "running" } });
		this.change(chat, { status: "working" });
		const words = `You said **${text}**. ${"The tide comes in, the lamps are lit, and a crane swings over. ".repeat(8)}`;
		for (let at = 0; at < words.length; at += 12) {
			this.row(chat, "message", `r-${operation}`, { role: "agent", at, text: words.slice(at, at + 12) });
			await new Promise((resolve) => setTimeout(resolve, 30));
		}
		this.row(chat, "turn", `t-${operation}`, { turnState: { state: "ended", reason: "end_turn" } });
		this.change(chat, { status: "idle" });
	}
}
