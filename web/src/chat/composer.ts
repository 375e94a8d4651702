// A chat's composer: its text, which the host keeps as the session's draft (spec session
// S1.8), and messages on their way (S1.5). Both lie in sessionStorage until the host has
// answered, so that a reload or a lost connection costs no word; a message goes out again
// with its own id, which the host takes once.
import { effect, type Signal, signal } from "@preact/signals";
import { failOf, Problem } from "../api/client";
import type { Fail } from "../api/types";
import { client } from "../state/actions";
import { link, sessions } from "../state/store";
import { operationId } from "../words/intent";
import { type Draft, merged } from "./draft";

/** A message that the host has not answered yet. */
export interface Outgoing {
	readonly id: string;
	readonly text: string;
	/** Why the host did not take it. */
	readonly fault?: Fail;
}

interface Stored {
	text: string;
	base: Draft;
	sends: Outgoing[];
}

const quiet = 300;
const nothing: Draft = { text: "", revision: 0 };

export function newOperation(): string {
	return operationId(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
}

export class Composer {
	readonly text: Signal<string>;
	readonly sends: Signal<readonly Outgoing[]>;
	/** The host's draft that the text comes from. */
	private base: Draft;
	private saving: string | null = null;
	private timer: number | undefined;
	private readonly underway = new Set<string>();

	constructor(readonly session: string) {
		const kept = load(session);
		this.base = kept.base;
		this.text = signal(kept.text);
		this.sends = signal(kept.sends);
		effect(() => {
			const draft = sessions.value[session]?.draft;
			if (draft) this.heard(draft);
		});
		effect(() => {
			if (link.value.status !== "open" || !sessions.value[session]) return;
			this.soon();
			for (const out of this.sends.peek()) if (!out.fault) void this.deliver(out);
		});
	}

	/** The user typed. */
	type(text: string): void {
		this.text.value = text;
		this.keep();
		this.soon();
	}

	/** Takes the text as a message. False: there is none. */
	send(): boolean {
		const text = this.text.peek().trimEnd();
		if (text.trim() === "") return false;
		this.post(text);
		this.type("");
		void this.save();
		return true;
	}

	/** Sends a text as a message of its own, beside what is being written. */
	post(text: string): void {
		const out = { id: newOperation(), text };
		this.sends.value = [...this.sends.peek(), out];
		this.keep();
		void this.deliver(out);
	}

	drop(id: string): void {
		this.sends.value = this.sends.peek().filter((out) => out.id !== id);
		this.keep();
	}

	/** Puts a text back into the composer, before what stands there. */
	takeBack(text: string): void {
		const now = this.text.peek();
		this.type(now.trim() === "" ? text : `${text}\n\n${now}`);
	}

	/** The host has a draft: its own echo, or another client's text. */
	private heard(draft: Draft): void {
		if (draft.revision <= this.base.revision) return;
		const before = this.base.text;
		this.base = { text: draft.text, revision: draft.revision };
		if (draft.text !== this.saving) this.text.value = merged(before, this.text.peek(), draft.text);
		this.keep();
		this.soon();
	}

	private soon(): void {
		clearTimeout(this.timer);
		if (this.text.peek() !== this.base.text) this.timer = window.setTimeout(() => void this.save(), quiet);
	}

	private async save(): Promise<void> {
		clearTimeout(this.timer);
		const text = this.text.peek();
		if (text === this.base.text) return;
		if (this.saving !== null) return this.soon();
		this.saving = text;
		try {
			const draft = await client.call("agentSession.setDraft", {
				sessionId: this.session,
				text,
				revision: this.base.revision,
			});
			this.heard(draft);
		} catch (error) {
			const current = error instanceof Problem ? draftIn(error.details) : null;
			// What it is refused for otherwise (no connection, no such chat) is said elsewhere;
			// the text is kept here, and goes out with the next key or connection.
			if (current) this.heard(current);
		}
		this.saving = null;
		if (link.peek().status === "open") this.soon();
	}

	private async deliver(out: Outgoing, fence?: number): Promise<void> {
		if (this.underway.has(out.id)) return;
		this.underway.add(out.id);
		let again: number | null = null;
		try {
			await client.call("agentSession.send", {
				sessionId: this.session,
				clientOperationId: out.id,
				expectedFence: fence ?? sessions.peek()[this.session]?.fence ?? 0,
				text: out.text,
			});
			this.drop(out.id);
		} catch (error) {
			const fail = failOf(error);
			const current = fail.details?.fence;
			if (fail.code === "agent_session_stale_fence" && fence === undefined && typeof current === "number") {
				again = current; // it was not taken, and a message is meant for the chat, not for a process
			} else if (!(error instanceof Problem) || error.status !== 0) {
				this.sends.value = this.sends.peek().map((o) => (o.id === out.id ? { ...out, fault: fail } : o));
				this.keep();
			}
		}
		this.underway.delete(out.id);
		if (again !== null) await this.deliver(out, again);
	}

	private keep(): void {
		const stored: Stored = { text: this.text.peek(), base: this.base, sends: [...this.sends.peek()] };
		try {
			if (stored.sends.length === 0 && stored.text === this.base.text)
				sessionStorage.removeItem(key(this.session));
			else sessionStorage.setItem(key(this.session), JSON.stringify(stored));
		} catch {
			// Full, or storage is off.
		}
	}
}

function key(session: string): string {
	return `davit.chat.${session}`;
}

function load(session: string): Stored {
	const host = sessions.peek()[session]?.draft ?? nothing;
	const fresh = { text: host.text, base: { text: host.text, revision: host.revision }, sends: [] };
	try {
		const text = sessionStorage.getItem(key(session));
		if (text === null) return fresh;
		const stored = JSON.parse(text) as Partial<Stored>;
		const base = draftIn({ draft: stored.base });
		if (typeof stored.text !== "string" || !base || !Array.isArray(stored.sends)) return fresh;
		return { text: stored.text, base, sends: stored.sends };
	} catch {
		return fresh;
	}
}

function draftIn(details: { [key: string]: unknown } | undefined): Draft | null {
	const draft = (details?.draft ?? details) as Partial<Draft> | undefined;
	return typeof draft?.text === "string" && typeof draft.revision === "number"
		? { text: draft.text, revision: draft.revision }
		: null;
}

const composers = new Map<string, Composer>();

export function composerOf(session: string): Composer {
	let composer = composers.get(session);
	if (!composer) {
		composer = new Composer(session);
		composers.set(session, composer);
	}
	return composer;
}
