// One pane's terminal: an xterm, the offset it has reached, and the element that it lives
// in. The element is moved between places of the page; the terminal stays. Its size is
// always the host's (a snapshot says it), never a guess of this window.
import "@xterm/xterm/css/xterm.css";
import { FitAddon } from "@xterm/addon-fit";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal } from "@xterm/xterm";
import type { Exit, Fail } from "../api/types";
import type { Connection, PaneSink } from "../stream/connection";
import type { InputFrame, Output } from "../stream/frames";
import { Earlier } from "./earlier";
import { accelerate } from "./gpu";
import { PromptLine } from "./promptline";
import { swallowQueries } from "./queries";
import { fitted, type Size, smallest } from "./size";
import { terminalTheme } from "./theme";

export interface SessionHooks {
	/** True keeps a key from the terminal: it is one of the page's own. */
	ownKey: (event: KeyboardEvent) => boolean;
	focused: () => void;
	failed: (fail: Fail | null) => void;
	copied: (text: string) => void;
	/** The program that the line at the shell's prompt begins with; "" for none. */
	typed: (program: string) => void;
	fontSize: number;
	reducedMotion: boolean;
}

/** How long a size that the host told may differ from the terminal's before a new snapshot is asked for. */
const patience = 400;

export class TerminalSession implements PaneSink {
	readonly element = document.createElement("div");
	private readonly terminal: Terminal;
	private readonly fit = new FitAddon();
	private readonly earlier: Earlier;
	private readonly promptLine: PromptLine;
	private received: number | null = null;
	private opened = false;
	private watching = false;
	private overdue: number | undefined;
	private retry: number | undefined;
	private refusals = 0;
	private asked: Size | null = null;
	/** A size was wanted while there was no connection. */
	private wished = false;

	constructor(
		readonly pane: string,
		label: string,
		private readonly connection: Connection,
		private readonly hooks: SessionHooks,
	) {
		this.element.className = "terminal";
		this.element.dataset.pane = pane;
		this.terminal = new Terminal({
			allowProposedApi: true,
			cols: 80,
			rows: 24,
			cursorBlink: !hooks.reducedMotion,
			cursorInactiveStyle: "outline",
			fontFamily: '"JetBrains Mono", ui-monospace, "DejaVu Sans Mono", monospace',
			fontSize: hooks.fontSize,
			lineHeight: 1,
			fontWeightBold: 700,
			scrollback: 10_000,
			minimumContrastRatio: 4.5,
			drawBoldTextInBrightColors: false,
			macOptionIsMeta: true,
			theme: terminalTheme(),
			linkHandler: { activate: (_, uri) => follow(uri) },
		});
		this.terminal.loadAddon(this.fit);
		this.terminal.loadAddon(new UnicodeGraphemesAddon());
		this.terminal.loadAddon(new WebLinksAddon((_, uri) => follow(uri)));
		this.terminal.unicode.activeVersion = "15-graphemes";
		swallowQueries(this.terminal);
		this.promptLine = new PromptLine(this.terminal, hooks.typed);
		this.terminal.attachCustomKeyEventHandler((event) => this.key(event));
		this.terminal.onData((data) => this.input({ data }));
		this.terminal.onBinary((data) => this.input({ bytes: btoa(data) }));
		this.element.addEventListener("paste", (event) => this.paste(event), true);
		this.element.addEventListener("focusin", () => hooks.focused());
		this.earlier = new Earlier(this.terminal, this.element, () => this.again());
		// What the terminal keeps, with what lies above the window: for the stories.
		Object.assign(this.element, { text: () => this.text() });
		this.label(label);
	}

	// What the stream says.

	offset(): number | null {
		return this.received;
	}

	lines(): number {
		return this.earlier.lines();
	}

	output(output: Output): void {
		if (output.kind === "snapshot") {
			// In order with what is still to be written: a reset that overtakes it would be
			// followed by old output.
			this.terminal.write("", () => {
				this.terminal.reset();
				this.promptLine.lost();
				if (output.cols > 0 && output.rows > 0) this.terminal.resize(output.cols, output.rows);
				this.settled();
			});
		} else if (this.received === null || output.to <= this.received) {
			// Shown already, by an older subscription.
			this.connection.ack(this.pane, output.to);
			return;
		} else if (output.from !== this.received) {
			this.again();
			return;
		}
		this.received = output.to;
		this.refusals = 0;
		this.terminal.write(output.data, () => {
			if (output.kind === "snapshot") this.earlier.drawn();
			this.promptLine.read();
			this.connection.ack(this.pane, output.to);
		});
	}

	exited(_offset: number, _exit: Exit): void {
		this.terminal.options.disableStdin = true;
	}

	failed(fail: Fail, input?: InputFrame): void {
		if (input) return this.hooks.failed(fail);
		// The subscription was refused: a pane that is told before it can be followed, or a
		// gap. Asked again, with more patience each time, while it is looked at.
		if (!this.watching) return;
		clearTimeout(this.retry);
		this.retry = window.setTimeout(() => this.again(), Math.min(100 * 2 ** this.refusals++, 3000));
	}

	/** The size that the state tells; the stream's snapshot should have brought it. */
	told(size: Size): void {
		clearTimeout(this.overdue);
		if (!this.watching || this.received === null || this.is(size)) return;
		this.overdue = window.setTimeout(() => {
			if (!this.is(size)) this.again();
		}, patience);
	}

	// What the page does with it.

	watch(): void {
		if (this.watching) return;
		this.watching = true;
		this.asked = null;
		this.connection.subscribe(this.pane, this);
	}

	unwatch(): void {
		if (!this.watching) return;
		this.watching = false;
		clearTimeout(this.overdue);
		clearTimeout(this.retry);
		this.connection.unsubscribe(this.pane);
	}

	place(parent: HTMLElement): void {
		parent.append(this.element);
		if (this.opened) return;
		this.opened = true;
		this.terminal.open(this.element);
		accelerate(this.terminal);
		this.name();
	}

	/** The size that would fill the element, or null while it has none. */
	room(): Size | null {
		if (!this.opened || this.element.clientWidth === 0) return null;
		const size = this.fit.proposeDimensions();
		if (!size || Number.isNaN(size.cols) || Number.isNaN(size.rows)) return null;
		return { cols: Math.max(size.cols, smallest.cols), rows: Math.max(size.rows, smallest.rows) };
	}

	/**
	 * Asks the host for the size that fits, if it has another. False: what fits is not known
	 * yet, because the terminal has not been drawn.
	 */
	claim(force = false): boolean {
		const room = this.room();
		if (!room) return !this.opened || this.element.clientWidth === 0;
		fitted(room);
		if (!force && (this.is(room) || (this.asked?.cols === room.cols && this.asked.rows === room.rows)))
			return true;
		this.wished = !this.connection.size(this.pane, room.cols, room.rows);
		this.asked = this.wished ? null : room;
		return true;
	}

	/** Whether another window's size is in force. */
	foreign(): Size | null {
		const room = this.room();
		if (!room || this.received === null || this.is(room)) return null;
		return { cols: this.terminal.cols, rows: this.terminal.rows };
	}

	focus(): void {
		this.terminal.focus();
	}

	label(name: string): void {
		this.element.setAttribute("aria-label", `Terminal: ${name}`);
		this.element.setAttribute("role", "group");
		this.name(name);
	}

	look(fontSize: number): void {
		this.terminal.options.theme = terminalTheme();
		if (this.terminal.options.fontSize !== fontSize) this.terminal.options.fontSize = fontSize;
	}

	stop(stopped: boolean): void {
		this.terminal.options.disableStdin = stopped;
	}

	selection(): string {
		return this.terminal.getSelection();
	}

	/** Types as if by hand: for the key row of a phone. */
	type(data: string): void {
		this.input({ data });
	}

	dispose(): void {
		this.unwatch();
		this.promptLine.lost();
		this.terminal.dispose();
		this.element.remove();
	}

	private is(size: Size): boolean {
		return this.terminal.cols === size.cols && this.terminal.rows === size.rows;
	}

	private settled(): void {
		this.asked = null;
		clearTimeout(this.overdue);
		if (this.wished) this.claim();
		this.element.dispatchEvent(new CustomEvent("davit:size", { bubbles: true }));
	}

	private again(): void {
		this.received = null;
		if (this.watching) this.connection.subscribe(this.pane, this);
	}

	private input(content: { data: string } | { bytes: string }, paste = false): void {
		if (this.terminal.options.disableStdin) return;
		// Who types owns the size (spec terminal P3.4).
		this.claim();
		const taken = this.connection.input(this.pane, content, paste);
		this.hooks.failed(
			taken
				? null
				: {
						code: "pane_busy",
						message: "Too much typed text waits for the host.",
						hint: "Wait until it answers again.",
					},
		);
	}

	private paste(event: ClipboardEvent): void {
		const text = event.clipboardData?.getData("text/plain");
		event.preventDefault();
		event.stopPropagation();
		// Framed by the host, which knows what the program asked for (spec terminal P3.5).
		if (text) this.input({ data: text }, true);
	}

	private key(event: KeyboardEvent): boolean {
		if (this.hooks.ownKey(event)) return false;
		const copies = event.ctrlKey && (event.code === "Insert" || (event.shiftKey && event.code === "KeyC"));
		if (event.type === "keydown" && copies && !event.metaKey) {
			const text = this.terminal.getSelection();
			if (text) this.hooks.copied(text);
			event.preventDefault();
			return false;
		}
		// Left to the browser, whose paste event comes to paste().
		if (event.ctrlKey && event.shiftKey && event.code === "KeyV") return false;
		return true;
	}

	private text(): string[] {
		const { active } = this.terminal.buffer;
		const rows: string[] = [];
		for (let y = 0; y < active.length; y++) rows.push(active.getLine(y)?.translateToString(true) ?? "");
		return rows;
	}

	private name(name?: string): void {
		const area = this.element.querySelector("textarea");
		if (!area) return;
		const known = name ?? this.element.getAttribute("aria-label")?.replace(/^Terminal: /, "") ?? "";
		area.setAttribute("aria-label", `Terminal input: ${known}`);
	}
}

function follow(uri: string): void {
	if (/^https?:\/\//i.test(uri)) window.open(uri, "_blank", "noopener,noreferrer");
}
