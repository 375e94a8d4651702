// Code highlighting: a chunk of its own, loaded with the first block that wants it.
import hljs from "highlight.js/lib/common";
import { type Piece, pieces } from "./markdown";

const most = 100;
const known = new Map<string, Piece[]>();

/** Code that is scrolled back into view is coloured already. */
export function highlight(code: string, language: string): Piece[] | null {
	if (!hljs.getLanguage(language)) return null;
	const key = `${language} ${code}`;
	let made = known.get(key);
	if (!made) {
		made = pieces(hljs.highlight(code, { language, ignoreIllegals: true }).value);
		const oldest = known.keys().next().value;
		if (known.size >= most && oldest !== undefined) known.delete(oldest);
		known.set(key, made);
	}
	return made;
}
