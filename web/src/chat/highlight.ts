// Code highlighting: a chunk of its own, loaded with the first block that wants it.
import hljs from "highlight.js/lib/common";
import { type Piece, pieces } from "./markdown";

export function highlight(code: string, language: string): Piece[] | null {
	if (!hljs.getLanguage(language)) return null;
	return pieces(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}
