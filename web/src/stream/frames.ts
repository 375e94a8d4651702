// The frames of GET /v1/stream (spec interfaces A1.2): JSON text both ways, binary pane
// output from the host. Pure.

export type ClientFrame =
	| { type: "hello"; key?: string; after?: number; client: string }
	| { type: "subscribe"; pane: string; from?: number; lines?: number }
	| { type: "unsubscribe"; pane: string }
	| { type: "ack"; pane: string; offset: number }
	| InputFrame
	| { type: "size"; pane: string; cols: number; rows: number }
	| { type: "follow"; session: string; cursor?: Cursor; tail?: number }
	| { type: "unfollow"; session: string }
	| ({ type: "look" } & Sight)
	| { type: "ping" };

/** What somebody sees of this page besides the panes and chats that it follows: chips are run for that (spec chips C2.4). */
export interface Sight {
	/** Nobody sees the page at all. */
	readonly hidden: boolean;
	/** Nobody is at its window: what it shows is not looked at (spec session S3). */
	readonly away: boolean;
	/** The vertical tabs are seen. */
	readonly tabs: boolean;
	/** Panes of which more is shown for a moment, as the card beside a row does. */
	readonly panes: readonly string[];
}

/** A place in a chat's journal: the rows after it are asked for (spec session S1.4). */
export interface Cursor {
	readonly epoch: number;
	readonly seq: number;
}

export interface InputFrame {
	type: "input" | "paste";
	pane: string;
	id: string;
	data?: string;
	/** base64, of input that is not text */
	bytes?: string;
}

export type { ServerFrame } from "../api/types";

/** A binary frame: a delta of the log [from, to), or a snapshot as of offset to. */
export interface Output {
	kind: "delta" | "snapshot";
	pane: string;
	from: number;
	to: number;
	cols: number;
	rows: number;
	data: Uint8Array;
}

const kinds = ["delta", "snapshot"] as const;
const ascii = new TextDecoder();

/** Reads a binary frame, or gives null when it is malformed. */
export function parseOutput(buffer: ArrayBuffer): Output | null {
	if (buffer.byteLength < 2) return null;
	const view = new DataView(buffer);
	const kind = kinds[view.getUint8(0) - 1];
	const length = view.getUint8(1);
	const at = 2 + length;
	if (!kind || buffer.byteLength < at + 20) return null;
	return {
		kind,
		pane: ascii.decode(new Uint8Array(buffer, 2, length)),
		from: Number(view.getBigUint64(at)),
		to: Number(view.getBigUint64(at + 8)),
		cols: view.getUint16(at + 16),
		rows: view.getUint16(at + 18),
		data: new Uint8Array(buffer, at + 20),
	};
}

/** Writes a binary frame: for the fake host and the tests. */
export function formatOutput(o: Output): Uint8Array {
	const pane = new TextEncoder().encode(o.pane);
	const frame = new Uint8Array(2 + pane.length + 20 + o.data.length);
	const view = new DataView(frame.buffer);
	view.setUint8(0, kinds.indexOf(o.kind) + 1);
	view.setUint8(1, pane.length);
	frame.set(pane, 2);
	const at = 2 + pane.length;
	view.setBigUint64(at, BigInt(o.from));
	view.setBigUint64(at + 8, BigInt(o.to));
	view.setUint16(at + 16, o.cols);
	view.setUint16(at + 18, o.rows);
	frame.set(o.data, at + 20);
	return frame;
}
