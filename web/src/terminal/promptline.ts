// The line that is typed at a shell's prompt, read off the terminal: from where the shell
// said that its prompt ends (OSC 133 B) to the cursor, so that a suggestion behind it does
// not count. A snapshot says it too.
import type { IMarker, Terminal } from "@xterm/xterm";
import { programOf } from "../words/typed";

/** More than a program's name and what may stand before it. */
const mostRows = 4;

export class PromptLine {
	private start: { marker: IMarker; column: number } | null = null;
	private told = "";

	constructor(
		private readonly terminal: Terminal,
		private readonly tell: (program: string) => void,
	) {
		terminal.parser.registerOscHandler(133, (data) => {
			const mark = data.split(";", 1)[0];
			if (mark === "B") this.begin();
			else if (mark === "A" || mark === "C" || mark === "D") this.lost();
			return false;
		});
	}

	/** Called when output has been drawn. */
	read(): void {
		const program = programOf(this.text());
		if (program === this.told) return;
		this.told = program;
		this.tell(program);
	}

	/** No line is typed, or it is not known. */
	lost(): void {
		this.start?.marker.dispose();
		this.start = null;
		this.read();
	}

	private begin(): void {
		this.start?.marker.dispose();
		const marker = this.terminal.registerMarker(0);
		this.start = marker && { marker, column: this.terminal.buffer.active.cursorX };
	}

	private text(): string {
		const { active } = this.terminal.buffer;
		if (!this.start || this.start.marker.isDisposed || active.type === "alternate") return "";
		const { line, isDisposed } = this.start.marker;
		const end = active.baseY + active.cursorY;
		if (isDisposed || end < line) return "";
		let text = "";
		for (let y = line; y <= Math.min(end, line + mostRows - 1); y++) {
			const from = y === line ? this.start.column : 0;
			text +=
				active.getLine(y)?.translateToString(y < end, from, y === end ? active.cursorX : undefined) ?? "";
		}
		return text;
	}
}
