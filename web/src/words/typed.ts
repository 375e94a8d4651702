// Which program a line of a shell begins with, so that a chip that belongs to some programs
// is drawn beside them only (spec chips C1, `whileTyping`). Pure. The host reads a finished
// command with more care; here a word that is being typed has to do.
const wrappers: Record<string, string> = { sudo: "ugpCrtTUDRh", env: "uCS", command: "", time: "fo" };

/** The name of the program that a line begins with, or "": wrappers, assignments and paths are passed over. */
export function programOf(line: string): string {
	const words = line.trim().split(/\s+/);
	let at = 0;
	while (at < words.length) {
		const word = words[at] ?? "";
		const name = word.slice(word.lastIndexOf("/") + 1);
		if (/^[A-Za-z_]\w*\+?=/.test(word)) {
			at++;
		} else if (Object.hasOwn(wrappers, name)) {
			at = afterFlags(words, at + 1, wrappers[name] ?? "");
		} else {
			return /^[\w.+@-]+$/.test(name) ? name : "";
		}
	}
	return "";
}

/** Behind a wrapper's own flags; those of `valued` take the word after them. */
function afterFlags(words: readonly string[], from: number, valued: string): number {
	let at = from;
	while (words[at]?.startsWith("-")) {
		const flag = words[at] ?? "";
		at++;
		if (flag === "--") break;
		if (flag.length === 2 && valued.includes(flag.charAt(1))) at++;
	}
	return at;
}
