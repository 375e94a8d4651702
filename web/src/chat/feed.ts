// What this window knows of one chat: its journal, fed by the stream, and what came of
// asking for older rows. Rows that come fast are folded once per frame.
import { type Signal, signal } from "@preact/signals";
import { failOf } from "../api/client";
import type { Fail, JournalRow } from "../api/types";
import { client } from "../state/actions";
import { connection } from "../state/stream";
import type { ChatSink } from "../stream/connection";
import { type Cursor, emptyJournal, fold, type Journal, prepend } from "./journal";

/** Rows asked for at first, and with each look further back. */
export const tailRows = 600;
const keptUnseen = 8;
const firstWait = 500;

export type Older = "none" | "more" | "loading" | "failed";

export class Feed implements ChatSink {
	readonly tail = tailRows;
	readonly journal: Signal<Journal> = signal(emptyJournal);
	/** Whether the first rows have come. */
	readonly ready = signal(false);
	readonly older = signal<Older>("none");
	readonly fault = signal<Fail | null>(null);
	/** Items that the user has opened or closed against their habit, while the page lives. */
	readonly toggled = signal<ReadonlySet<string>>(new Set());
	/** Payloads that were read whole, by digest. */
	readonly payloads = signal<Readonly<Record<string, string | Fail>>>({});
	viewers = 0;
	private waiting: JournalRow[] = [];
	private newest: Cursor | null = null;
	private due = 0;
	private retry: number | undefined;
	private wait = firstWait;

	constructor(readonly session: string) {}

	cursor(): Cursor | null {
		return this.newest;
	}

	rows(rows: readonly JournalRow[], cursor: Cursor | null, reset: string): void {
		if (reset !== "") {
			this.waiting = [];
			this.journal.value = emptyJournal;
			this.newest = null;
			this.ready.value = false;
		}
		this.fault.value = null;
		this.wait = firstWait;
		this.waiting.push(...rows);
		if (cursor) this.newest = cursor;
		if (!this.ready.peek()) return this.flush();
		if (this.due !== 0) return;
		// A window that is not seen draws no frames, but its chat goes on.
		if (document.visibilityState === "visible") this.due = requestAnimationFrame(() => this.flush());
		else this.due = window.setTimeout(() => this.flush(), 200);
	}

	/** The host does not let it be followed now: it is asked again, ever more seldom. */
	failed(error: Fail): void {
		this.fault.value = error;
		clearTimeout(this.retry);
		this.retry = window.setTimeout(() => {
			if (this.viewers === 0) return;
			this.fault.value = null;
			connection.follow(this.session, this);
		}, this.wait);
		this.wait = Math.min(this.wait * 2, 15_000);
	}

	private flush(): void {
		this.due = 0;
		const rows = this.waiting;
		this.waiting = [];
		const first = !this.ready.peek();
		if (rows.length > 0) this.journal.value = fold(this.journal.peek(), rows);
		if (!first) return;
		const start = this.journal.peek().start;
		this.older.value = start && (start.seq > 1 || start.epoch > 1) ? "more" : "none";
		this.ready.value = true;
	}

	async loadOlder(): Promise<void> {
		const before = this.journal.peek().start;
		if (!before || this.older.peek() !== "more") return;
		this.older.value = "loading";
		try {
			const answer = await client.call("agentSession.history", {
				sessionId: this.session,
				before: { ...before },
				limit: tailRows,
			});
			this.journal.value = prepend(this.journal.peek(), answer.rows ?? []);
			this.older.value = answer.more && (answer.rows ?? []).length > 0 ? "more" : "none";
		} catch {
			this.older.value = "failed";
		}
	}

	toggle(item: string): void {
		const next = new Set(this.toggled.peek());
		if (!next.delete(item)) next.add(item);
		this.toggled.value = next;
	}

	/** Reads the whole of what a blob's head stands for. */
	async payload(digest: string): Promise<void> {
		const put = (value: string | Fail) => {
			this.payloads.value = { ...this.payloads.peek(), [digest]: value };
		};
		try {
			const answer = await client.call("agentSession.payload", { sessionId: this.session, digest });
			const bytes = Uint8Array.from(atob(answer.data ?? ""), (letter) => letter.charCodeAt(0));
			put(new TextDecoder().decode(bytes));
		} catch (error) {
			put(failOf(error));
		}
	}
}

const feeds = new Map<string, Feed>();

/** The feed of a chat that is shown from now on; every view gives it back by release. */
export function hold(session: string): Feed {
	const feed = feeds.get(session) ?? new Feed(session);
	feeds.delete(session);
	feeds.set(session, feed);
	if (feed.viewers++ === 0) connection.follow(session, feed);
	return feed;
}

export function release(feed: Feed): void {
	if (--feed.viewers > 0) return;
	connection.unfollow(feed.session);
	let unseen = [...feeds.values()].filter((other) => other.viewers === 0).length;
	for (const [id, other] of feeds) {
		if (unseen <= keptUnseen) break;
		if (other.viewers > 0) continue;
		feeds.delete(id);
		unseen--;
	}
}
