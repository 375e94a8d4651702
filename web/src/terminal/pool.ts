// The terminals of this window, by pane. The code of the terminal is a chunk of its own,
// loaded with the first pane; the least recently shown ones beyond a bound are let go and
// drawn again from a snapshot.
import { ownKey } from "../keys/keys";
import { copy, focusPane } from "../state/actions";
import { fontSize, model, panes, refusedInput, typedPrograms } from "../state/store";
import { connection } from "../state/stream";
import { paneName } from "../words/panes";
import type { TerminalSession } from "./session";

const most = 24;
const sessions = new Map<string, TerminalSession>();
let code: Promise<typeof import("./session")> | undefined;

/** Starts loading the terminal's code and font before the first pane asks. */
export function preload(): Promise<typeof import("./session")> {
	code ??= Promise.all([import("./session"), document.fonts.load('13px "JetBrains Mono"')]).then(
		([module]) => module,
	);
	return code;
}

export async function sessionOf(pane: string): Promise<TerminalSession> {
	const { TerminalSession } = await preload();
	let session = sessions.get(pane);
	if (!session) {
		const value = panes.value[pane];
		session = new TerminalSession(pane, value ? paneName(value) : pane, connection, {
			ownKey,
			focused: () => {
				const tab = panes.value[pane]?.tab;
				if (tab) focusPane(tab, pane);
			},
			failed: (fail) => {
				const { [pane]: had, ...rest } = refusedInput.value;
				if (fail) refusedInput.value = { ...rest, [pane]: fail };
				else if (had) refusedInput.value = rest;
			},
			copied: (text) => copy(text, "Copied"),
			typed: (program) => {
				const { [pane]: had, ...rest } = typedPrograms.value;
				if (program) typedPrograms.value = { ...rest, [pane]: program };
				else if (had) typedPrograms.value = rest;
			},
			fontSize: fontSize.value,
			reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
		});
	}
	sessions.delete(pane);
	sessions.set(pane, session);
	for (const [id, old] of sessions) {
		if (sessions.size <= most) break;
		if (old.element.isConnected) continue;
		old.dispose();
		sessions.delete(id);
	}
	return session;
}

/** The terminal of a pane that has been shown, or undefined. */
export function shownSession(pane: string | null): TerminalSession | undefined {
	return pane === null ? undefined : sessions.get(pane);
}

/** Lets go of terminals whose pane the state no longer has. */
export function prune(): void {
	if (!model.value) return;
	for (const [pane, session] of sessions) {
		if (pane in panes.value) continue;
		session.dispose();
		sessions.delete(pane);
	}
}

/** Draws every terminal in the colours and size of letters now in force. */
export function lookAgain(): void {
	for (const session of sessions.values()) session.look(fontSize.value);
}
