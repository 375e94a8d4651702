// "Earlier lines" over a terminal that shows its first line while the host has more: a
// window gets the screen and 1,000 lines, and more when it is asked for (spec terminal P3.3).
// The terminal is then drawn anew from a larger snapshot, and shows the line that it showed.
import "./earlier.css";
import type { Terminal } from "@xterm/xterm";

/** What a snapshot holds at first, and at most: the host keeps no more. */
export const fewLines = 1000;
export const mostLines = 10_000;

export class Earlier {
	private readonly button = document.createElement("button");
	private wanted = fewLines;
	/** The snapshot was as long as asked for: there may be more. */
	private more = false;
	/** Where the first line shown was, counted from the end, while a snapshot is awaited. */
	private kept: number | null = null;

	constructor(
		private readonly terminal: Terminal,
		parent: HTMLElement,
		private readonly ask: () => void,
	) {
		this.button.type = "button";
		this.button.className = "button earlier";
		this.button.textContent = "Earlier lines";
		this.button.hidden = true;
		this.button.addEventListener("click", () => this.fetch());
		parent.append(this.button);
		terminal.onRender(() => this.look());
	}

	/** How many lines a snapshot of this terminal should hold. */
	lines(): number {
		return this.wanted;
	}

	/** A snapshot has been drawn. */
	drawn(): void {
		const rows = this.terminal.buffer.normal.baseY;
		this.more = this.wanted < mostLines && rows >= this.wanted;
		if (this.kept !== null) this.terminal.scrollToLine(Math.max(0, rows - this.kept));
		this.kept = null;
		this.look();
	}

	private look(): void {
		const { active } = this.terminal.buffer;
		this.button.hidden = !(this.more && active.type === "normal" && active.viewportY === 0);
	}

	private fetch(): void {
		const { baseY, viewportY } = this.terminal.buffer.active;
		this.kept = baseY - viewportY;
		this.wanted = mostLines;
		this.more = false;
		this.look();
		this.ask();
		this.terminal.focus();
	}
}
