// A stand-in for davit's HTTP side, for looking at the page while it is made: it serves
// dist with the policy of embed.go, answers the operations from fixtures, and speaks the
// stream with a pretended shell. It decides nothing and is no test double: the stories
// run against a real davit.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join, normalize } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";
import type { Event, Intent, State, Tab } from "../../src/api/types";
import { agents, configs, pane, receipt, sampleState } from "../../src/dev/fixtures";
import { formatOutput } from "../../src/stream/frames";
import { FakeChats } from "./chats";
import * as screens from "./screens";

const web = new URL("../..", import.meta.url).pathname;
const types: Record<string, string> = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript",
	".css": "text/css",
	".svg": "image/svg+xml",
	".woff2": "font/woff2",
};

export function policy(): string {
	const source = readFileSync(join(web, "embed.go"), "utf8");
	const block = /const CSP = ([\s\S]*?)\n\n/.exec(source)?.[1] ?? "";
	return [...block.matchAll(/"([^"]*)"/g)].map((m) => m[1]).join("");
}

interface PaneLog {
	bytes: Buffer;
	line: string;
	cols: number;
	rows: number;
	seen: Set<string>;
}

type Body = Record<string, unknown>;

export class FakeHost {
	state: State;
	readonly server: Server;
	private readonly sockets = new Map<WebSocket, Set<string>>();
	private readonly logs = new Map<string, PaneLog>();
	private counter = 0;
	private readonly chats = new FakeChats((change) => this.emit(change));

	constructor(empty = false) {
		this.state = sampleState(new Date(Date.now() + 55_000).toISOString());
		if (empty) this.state = { ...this.state, tabs: [], panes: {}, chips: {}, notices: [], closed: [] };
		if (!empty) this.chats.addTo(this.state);
		this.server = createServer((request, response) => void this.answer(request, response));
		const upgrader = new WebSocketServer({ noServer: true });
		this.server.on("upgrade", (request, socket, head) => {
			upgrader.handleUpgrade(request, socket, head, (ws) => this.stream(ws));
		});
	}

	listen(port: number): Promise<number> {
		return new Promise((resolve) => {
			this.server.listen(port, "127.0.0.1", () => {
				const address = this.server.address();
				resolve(typeof address === "object" && address ? address.port : port);
			});
		});
	}

	drop(): void {
		for (const socket of this.sockets.keys()) socket.terminate();
	}

	close(): void {
		this.drop();
		this.server.close();
	}

	print(id: string, text: string): void {
		const log = this.log(id);
		const from = log.bytes.length;
		const data = Buffer.from(text);
		log.bytes = Buffer.concat([log.bytes, data]);
		for (const [socket, panes] of this.sockets) {
			if (panes.has(id)) {
				socket.send(
					formatOutput({ kind: "delta", pane: id, from, to: log.bytes.length, cols: 0, rows: 0, data }),
				);
			}
		}
	}

	private log(id: string): PaneLog {
		let log = this.logs.get(id);
		if (!log) {
			const agent = this.state.panes[id]?.kind === "agent";
			const text = agent ? screens.agent : this.state.panes[id]?.running ? screens.tests : screens.shell;
			log = { bytes: Buffer.from(text), line: "", cols: 100, rows: 30, seen: new Set() };
			this.logs.set(id, log);
		}
		return log;
	}

	emit(change: Partial<Event> & { kind: string }): void {
		this.state.seq++;
		const event: Event = {
			seq: this.state.seq,
			hostId: this.state.hostId,
			at: new Date().toISOString(),
			...change,
		};
		for (const socket of this.sockets.keys()) socket.send(JSON.stringify({ type: "event", event }));
	}

	/** As if gh had been found to be missing, or had come back (spec chips C4.3). */
	suppress(suppressed: boolean): void {
		const { layout } = this.state;
		this.state.layout = {
			...layout,
			validation: suppressed ? "suppressed" : "validated",
			badge: !suppressed,
			prompt: suppressed
				? (layout.prompt ?? []).filter((kind) => kind !== "github_pr")
				: [...(layout.prompt ?? []), "github_pr"],
		};
		this.emit({ kind: "layout", layout: this.state.layout });
	}

	private stream(ws: WebSocket): void {
		const followed = new Map<string, () => void>();
		ws.on("message", (data) => {
			const frame = JSON.parse(String(data)) as Body;
			const id = String(frame.pane ?? "");
			switch (frame.type) {
				case "hello": {
					this.sockets.set(ws, new Set());
					const resumed = frame.after === this.state.seq;
					ws.send(
						JSON.stringify({
							type: "hello",
							hostId: this.state.hostId,
							seq: this.state.seq,
							state: resumed ? undefined : this.state,
						}),
					);
					return;
				}
				case "subscribe": {
					this.sockets.get(ws)?.add(id);
					const log = this.log(id);
					const from = typeof frame.from === "number" ? frame.from : -1;
					if (from < 0) this.snapshot(ws, id);
					else if (from < log.bytes.length) {
						ws.send(
							formatOutput({
								kind: "delta",
								pane: id,
								from,
								to: log.bytes.length,
								cols: 0,
								rows: 0,
								data: log.bytes.subarray(from),
							}),
						);
					}
					return;
				}
				case "unsubscribe":
					this.sockets.get(ws)?.delete(id);
					return;
				case "input":
				case "paste": {
					const log = this.log(id);
					const key = String(frame.id);
					if (!log.seen.has(key)) {
						log.seen.add(key);
						this.type(id, String(frame.data ?? ""));
					}
					ws.send(JSON.stringify({ type: "written", pane: id, id: key }));
					return;
				}
				case "size": {
					const log = this.log(id);
					log.cols = Number(frame.cols);
					log.rows = Number(frame.rows);
					const value = this.state.panes[id];
					if (value) {
						this.state.panes[id] = { ...value, cols: log.cols, rows: log.rows };
						this.emit({ kind: "pane", pane: this.state.panes[id] });
					}
					for (const [socket, panes] of this.sockets) if (panes.has(id)) this.snapshot(socket, id);
					return;
				}
				case "follow":
				case "unfollow": {
					const session = String(frame.session);
					followed.get(session)?.();
					if (frame.type === "unfollow") return;
					const cursor = frame.cursor as { seq: number } | undefined;
					followed.set(
						session,
						this.chats.follow(session, cursor, (f) => ws.send(JSON.stringify(f))),
					);
					return;
				}
				case "ping":
					ws.send(JSON.stringify({ type: "pong" }));
			}
		});
		ws.on("close", () => {
			this.sockets.delete(ws);
			for (const stop of followed.values()) stop();
		});
	}

	private snapshot(ws: WebSocket, id: string): void {
		const log = this.log(id);
		ws.send(
			formatOutput({
				kind: "snapshot",
				pane: id,
				from: 0,
				to: log.bytes.length,
				cols: log.cols,
				rows: log.rows,
				data: log.bytes,
			}),
		);
	}

	/** The pretended shell: it echoes, and knows the one command echo. */
	private type(id: string, text: string): void {
		const log = this.log(id);
		for (const letter of text) {
			if (letter !== "\r") {
				log.line += letter;
				this.print(id, letter);
				continue;
			}
			const said = /^echo (.*)$/.exec(log.line)?.[1];
			log.line = "";
			this.print(id, `\r\n${said === undefined ? "" : `${said}\r\n`}$ `);
		}
	}

	private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const path = new URL(request.url ?? "/", "http://x").pathname;
		response.setHeader("Content-Security-Policy", policy());
		if (!path.startsWith("/v1/")) return file(path, response);
		let text = "";
		for await (const part of request) text += part;
		const [status, body] = this.operate(path.slice(4), JSON.parse(text || "{}") as Body);
		response.writeHead(status, {
			"Content-Type": status < 400 ? "application/json" : "application/problem+json",
		});
		response.end(JSON.stringify(body));
	}

	private operate(name: string, body: Body): [number, unknown] {
		if (name.startsWith("agentSession.")) {
			const answer = this.chats.operate(name, body);
			const session = this.chats.sessionOf(String(body.sessionId));
			if (session) this.state.sessions = { ...this.state.sessions, [session.id]: session };
			return answer;
		}
		switch (name) {
			case "login":
				return body.token === "wrong-token-wrong-token"
					? [
							401,
							{
								code: "unauthorized",
								message: "The link was used already, or is too old.",
								hint: "Run davit for a fresh one.",
							},
						]
					: [200, { key: "fake" }];
			case "host.info":
				return [
					200,
					{ version: "0.1.0-dev", hostId: "h_sample", directory: "/home/ada/code/harbor", capabilities: [] },
				];
			case "agent.list":
				return [200, { agents }];
			case "config.list":
				return [200, configs];
			case "workspace.list":
				return [
					200,
					{
						workspaces: [
							{ id: "1", path: "/home/ada/code/harbor", name: "harbor", branch: "main", git: true },
						],
					},
				];
			case "tab.open":
			case "config.open":
				return [200, { tabId: this.openTab("shell"), panes: [], launches: [] }];
			case "agent.launch":
				return this.launched(body as unknown as Intent);
			case "tab.close":
				return this.closeTabs(body.tabs as string[], body.yes === true);
			case "tab.rename": {
				const tab = this.state.tabs?.find((t) => t.id === body.tab);
				if (tab) {
					tab.title = String(body.title);
					this.emit({ kind: "tab", tab });
				}
				return [200, {}];
			}
			case "settings.set":
				if (body.key === "vertical_tabs") {
					this.state.tabView = { ...this.state.tabView, ...(body.value as Partial<State["tabView"]>) };
					this.emit({ kind: "tabView", tabView: this.state.tabView });
				}
				return [200, body];
			case "notice.dismiss":
				this.state.notices = (this.state.notices ?? []).filter((n) => n.id !== body.id);
				this.emit({ kind: "noticeRemoved", noticeId: String(body.id) });
				return [200, {}];
			default:
				return [200, {}];
		}
	}

	private openTab(title: string, more: Partial<Tab> = {}, kind = "shell"): string {
		const n = (++this.counter).toString(16).padStart(15, "0");
		const id = `t_${n}f`;
		const leaf = `p_${n}f`;
		const tab: Tab = { id, title, tree: { pane: leaf }, created: new Date().toISOString(), ...more };
		this.state.panes[leaf] = pane(
			leaf,
			id,
			kind === "agent" ? { kind, agent: "practice", practice: true, running: true } : {},
		);
		this.state.tabs = [...(this.state.tabs ?? []), tab];
		this.emit({ kind: "pane", pane: this.state.panes[leaf] });
		this.emit({ kind: "tab", tab });
		return id;
	}

	private launched(intent: Intent): [number, unknown] {
		if (intent.prompt?.text.includes("fail")) {
			return [
				409,
				{
					code: "worktree_create_collision",
					message: "The branch brisk-heron exists already.",
					hint: "Use brisk-heron-2, which is free.",
				},
			];
		}
		const tabId = this.openTab("practice", { launches: [receipt] }, "agent");
		return [200, { ...receipt, outcome: { ...receipt.outcome, tabId } }];
	}

	private closeTabs(ids: string[], yes: boolean): [number, unknown] {
		const busy = Object.values(this.state.panes).filter((p) => ids.includes(p.tab) && p.running);
		if (busy.length > 0 && !yes) {
			return [
				409,
				{
					code: "tab_close_needs_confirmation",
					message: "A program is running.",
					details: {
						list: busy.map((p) => ({
							tab: p.tab,
							pane: p.id,
							title: "harbor",
							program: p.command ?? p.agent,
							pid: 4711,
						})),
					},
				},
			];
		}
		for (const id of ids) {
			this.state.tabs = (this.state.tabs ?? []).filter((t) => t.id !== id);
			this.emit({ kind: "tabRemoved", tabId: id });
		}
		return [200, { closed: ids, undo: new Date().toISOString() }];
	}
}

function file(path: string, response: ServerResponse): void {
	const name = normalize(path === "/" || path === "/dev/gallery" ? "/index.html" : path);
	try {
		const body = readFileSync(join(web, process.env.DAVIT_DIST ?? "dist", name));
		response.writeHead(200, { "Content-Type": types[extname(name)] ?? "application/octet-stream" });
		response.end(body);
	} catch {
		response.writeHead(404);
		response.end();
	}
}
