// Key chords: how they are written, matched and shown. Pure. Letters and digits go by the
// physical key, because Alt makes other characters of them on a Mac.

/** "mod+k", "alt+shift+t", "?" */
export type Chord = string;

export interface KeyLike {
	key: string;
	code: string;
	ctrlKey: boolean;
	metaKey: boolean;
	altKey: boolean;
	shiftKey: boolean;
}

const codes: Record<string, string> = {
	left: "ArrowLeft",
	right: "ArrowRight",
	up: "ArrowUp",
	down: "ArrowDown",
	enter: "Enter",
	"[": "BracketLeft",
	"]": "BracketRight",
	"/": "Slash",
	"-": "Minus",
	"=": "Equal",
};

function codeOf(name: string): string {
	if (/^[a-z]$/.test(name)) return `Key${name.toUpperCase()}`;
	if (/^\d$/.test(name)) return `Digit${name}`;
	return codes[name] ?? name;
}

export function matches(chord: Chord, event: KeyLike, mac: boolean): boolean {
	if (chord === "?") return event.key === "?" && !event.ctrlKey && !event.metaKey && !event.altKey;
	const parts = chord.split("+");
	const name = parts.pop() ?? "";
	const mod = parts.includes("mod");
	const ctrl = parts.includes("ctrl") || (mod && !mac);
	const meta = mod && mac;
	return (
		event.code === codeOf(name) &&
		event.ctrlKey === ctrl &&
		event.metaKey === meta &&
		event.altKey === parts.includes("alt") &&
		event.shiftKey === parts.includes("shift")
	);
}

const shown: Record<string, string> = { left: "←", right: "→", up: "↑", down: "↓", enter: "Enter" };

/** The caps of a chord, as they are drawn. */
export function caps(chord: Chord, mac: boolean): string[] {
	return chord.split("+").map((part) => {
		switch (part) {
			case "mod":
				return mac ? "⌘" : "Ctrl";
			case "alt":
				return mac ? "⌥" : "Alt";
			case "shift":
				return mac ? "⇧" : "Shift";
			default:
				return shown[part] ?? part.toUpperCase();
		}
	});
}
