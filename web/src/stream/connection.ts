// The page's one WebSocket (spec interfaces A1.2). It owns the socket, the timers and the
// input that is not yet answered; it knows nothing of what is shown.
//
//	closed ── connect ──► opening ── hello ──► open
//	   ▲                     │                  │
//	   └─────── backoff ─────┴──── lost ────────┘      refused: the login is void, no retry
//
// After each hello: every wanted pane is subscribed from the offset that its sink has, and
// every wanted chat followed from its cursor (spec session S1.4), then all unanswered input
// goes out again with its ids, in order. The host writes an id once, so nothing is typed
// twice and nothing is lost (spec terminal P3.1, P3.5).
import type { Event, Exit, Fail, JournalRow, State } from "../api/types";
import {
	type ClientFrame,
	type Cursor,
	type InputFrame,
	type Output,
	parseOutput,
	type ServerFrame,
	type Sight,
} from "./frames";

export type Status = "opening" | "open" | "waiting" | "refused";

/** What a subscribed pane is told. */
export interface PaneSink {
	/** The log offset that was received so far, or null when a snapshot is needed. */
	offset(): number | null;
	/** How many lines above the screen a snapshot should hold. */
	lines(): number;
	output(output: Output): void;
	exited(offset: number, exit: Exit): void;
	/** An input was refused (with its id), or the subscription was. */
	failed(error: Fail, input?: InputFrame): void;
}

/** What a followed chat is told. */
export interface ChatSink {
	/** The newest row that it has; null: it wants the newest `tail` ones. */
	cursor(): Cursor | null;
	tail: number;
	/** Rows in order. A reset says why all that is shown is to be dropped first. */
	rows(rows: readonly JournalRow[], cursor: Cursor | null, reset: string): void;
	failed(error: Fail): void;
}

export interface ConnectionConfig {
	url: string;
	client: string;
	key: () => string | null;
	/** The sequence that the model has, or undefined to get a whole state. */
	after: () => number | undefined;
	onState: (state: State) => void;
	onEvent: (event: Event) => void;
	onStatus: (status: Status, retryAt: number | null) => void;
	/** Asks over HTTP whether the login still holds; called when a socket did not open. */
	loginHolds: () => Promise<boolean>;
}

/** Input that waits is bounded; what does not fit is refused, visibly. */
export const pendingLimit = 1 << 20;
const pingEvery = 15_000;
const silentFor = 40_000;
const backoff = [250, 500, 1000, 2000, 4000, 8000];

export class Connection {
	private socket: WebSocket | null = null;
	private greeted = false;
	private attempt = 0;
	private fresh = false;
	private timer: number | undefined;
	private pinger: number | undefined;
	private heard = 0;
	private counter = 0;
	private pendingSize = 0;
	private readonly pending = new Map<string, InputFrame>();
	private readonly sinks = new Map<string, PaneSink>();
	private readonly chats = new Map<string, ChatSink>();
	private sight: Sight | null = null;

	constructor(private readonly config: ConnectionConfig) {}

	/** Opens now, also when a retry is waiting or a new login was made. Harmless while open. */
	connect(): void {
		if (this.socket) return;
		clearTimeout(this.timer);
		this.to("opening");
		const socket = new WebSocket(this.config.url);
		socket.binaryType = "arraybuffer";
		this.socket = socket;
		this.greeted = false;
		this.heard = Date.now();
		socket.onopen = () => this.hello();
		socket.onmessage = (message) => {
			if (this.socket === socket) this.receive(message.data);
		};
		socket.onclose = () => {
			if (this.socket === socket) this.lost();
		};
		clearInterval(this.pinger);
		this.pinger = window.setInterval(() => this.beat(), pingEvery);
	}

	/** Ends the connection for good. */
	close(): void {
		clearTimeout(this.timer);
		clearInterval(this.pinger);
		const socket = this.socket;
		this.socket = null;
		socket?.close();
	}

	subscribe(pane: string, sink: PaneSink): void {
		this.sinks.set(pane, sink);
		if (this.greeted) this.ask(pane, sink);
	}

	unsubscribe(pane: string): void {
		if (this.sinks.delete(pane)) this.send({ type: "unsubscribe", pane });
	}

	follow(session: string, sink: ChatSink): void {
		this.chats.set(session, sink);
		if (this.greeted) this.askChat(session, sink);
	}

	unfollow(session: string): void {
		if (this.chats.delete(session)) this.send({ type: "unfollow", session });
	}

	/** Says what is seen of the page, now and after each hello. */
	look(sight: Sight): void {
		this.sight = sight;
		this.send({ type: "look", ...sight });
	}

	ack(pane: string, offset: number): void {
		this.send({ type: "ack", pane, offset });
	}

	/** Claims a size. False: there is no connection to claim it over. */
	size(pane: string, cols: number, rows: number): boolean {
		this.send({ type: "size", pane, cols, rows });
		return this.greeted;
	}

	/** Sends input, or keeps it for the next hello. False: too much waits already. */
	input(pane: string, content: { data: string } | { bytes: string }, paste = false): boolean {
		const size = "data" in content ? content.data.length : content.bytes.length;
		if (this.pendingSize + size > pendingLimit) return false;
		const frame: InputFrame = {
			type: paste ? "paste" : "input",
			pane,
			id: `${this.config.client}-${++this.counter}`,
			...content,
		};
		this.pending.set(frame.id, frame);
		this.pendingSize += size;
		this.send(frame);
		return true;
	}

	private to(status: Status, retryAt: number | null = null): void {
		this.config.onStatus(status, retryAt);
	}

	private send(frame: ClientFrame): void {
		if (this.greeted || frame.type === "hello") this.socket?.send(JSON.stringify(frame));
	}

	private hello(): void {
		this.send({
			type: "hello",
			client: this.config.client,
			key: this.config.key() ?? undefined,
			after: this.fresh ? undefined : this.config.after(),
		});
	}

	private ask(pane: string, sink: PaneSink): void {
		this.send({ type: "subscribe", pane, from: sink.offset() ?? undefined, lines: sink.lines() });
	}

	private askChat(session: string, sink: ChatSink): void {
		const cursor = sink.cursor();
		this.send(cursor ? { type: "follow", session, cursor } : { type: "follow", session, tail: sink.tail });
	}

	private receive(data: unknown): void {
		this.heard = Date.now();
		if (data instanceof ArrayBuffer) {
			const output = parseOutput(data);
			if (output) this.sinks.get(output.pane)?.output(output);
			return;
		}
		if (typeof data !== "string") return;
		const frame = JSON.parse(data) as ServerFrame;
		switch (frame.type) {
			case "hello":
				return this.welcomed(frame);
			case "resync":
				if (frame.state) this.config.onState(frame.state);
				return;
			case "event":
				if (frame.event) this.config.onEvent(frame.event);
				return;
			case "written":
				return this.written(frame);
			case "exit":
				if (frame.pane && frame.exit) this.sinks.get(frame.pane)?.exited(frame.offset ?? 0, frame.exit);
				return;
			case "again":
				return this.again(frame);
			case "journal":
				if (!frame.session) return;
				this.chats.get(frame.session)?.rows(frame.rows ?? [], frame.cursor ?? null, frame.reset ?? "");
				return;
			case "error":
				return this.refused(frame);
		}
	}

	/** The host follows this pane anew: go on from what was shown. */
	private again(frame: ServerFrame): void {
		const sink = frame.pane ? this.sinks.get(frame.pane) : undefined;
		if (frame.pane && sink) this.ask(frame.pane, sink);
	}

	private welcomed(frame: ServerFrame): void {
		const after = this.config.after();
		if (!frame.state && after !== undefined && (frame.seq ?? 0) < after) {
			// A host that knows less than we do: start from its whole state.
			this.fresh = true;
			this.socket?.close();
			return;
		}
		this.fresh = false;
		this.greeted = true;
		this.attempt = 0;
		if (frame.state) this.config.onState(frame.state);
		this.to("open");
		if (this.sight) this.send({ type: "look", ...this.sight });
		for (const [pane, sink] of this.sinks) this.ask(pane, sink);
		for (const [session, sink] of this.chats) this.askChat(session, sink);
		for (const input of this.pending.values()) this.send(input);
	}

	private written(frame: ServerFrame): void {
		const input = frame.id ? this.pending.get(frame.id) : undefined;
		if (!input) return;
		this.pending.delete(input.id);
		this.pendingSize -= (input.data ?? input.bytes ?? "").length;
		if (frame.error) this.sinks.get(input.pane)?.failed(frame.error, input);
	}

	private refused(frame: ServerFrame): void {
		if (!frame.error) return;
		if (frame.id && this.pending.has(frame.id)) return this.written(frame);
		if (!this.greeted && (frame.error.code === "unauthorized" || frame.error.code === "forbidden")) {
			this.close();
			this.to("refused");
			return;
		}
		if (frame.pane) this.sinks.get(frame.pane)?.failed(frame.error);
		if (frame.session) this.chats.get(frame.session)?.failed(frame.error);
	}

	private beat(): void {
		if (Date.now() - this.heard > silentFor) {
			const socket = this.socket;
			if (!socket) return;
			this.lost();
			socket.close();
			return;
		}
		this.send({ type: "ping" });
	}

	private lost(): void {
		this.socket = null;
		clearInterval(this.pinger);
		const opened = this.greeted;
		this.greeted = false;
		const step = backoff[Math.min(this.attempt, backoff.length - 1)] ?? 8000;
		const wait = Math.round(step * (0.8 + Math.random() * 0.4));
		this.attempt++;
		this.to("waiting", Date.now() + wait);
		this.timer = window.setTimeout(() => this.retry(opened), wait);
	}

	private async retry(opened: boolean): Promise<void> {
		// A refused upgrade looks like a dead host from here: ask before knocking again.
		if (!opened && this.attempt > 1 && !(await this.config.loginHolds())) {
			this.to("refused");
			return;
		}
		this.connect();
	}
}
