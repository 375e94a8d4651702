// What a host says in one part and hints in another, as sentences side by side. Pure.

/** A text of several lines as one, its line ends to be seen. */
export function oneLine(text: string): string {
	return text.replace(/\r\n|\r|\n/g, " ⏎ ").trim();
}

/** Names of programs stay as they are typed. */
const programs = new Set(["davit", "git", "gh", "claude", "codex", "opencode", "gemini", "npm", "kill"]);

/** Each part with a capital and a stop of its own. */
export function sentences(...parts: (string | undefined)[]): string {
	return parts
		.map((part) => part?.trim() ?? "")
		.filter(Boolean)
		.map((part) => {
			const word = /^[a-z]+(?=[\s,.?!]|$)/.exec(part)?.[0];
			const begun = word && !programs.has(word) ? part[0]?.toUpperCase() + part.slice(1) : part;
			return /[.!?…:]["”’)]?$/.test(begun) ? begun : `${begun}.`;
		})
		.join(" ");
}
