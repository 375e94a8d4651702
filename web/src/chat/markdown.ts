// An agent's markdown as tokens (marked's lexer), which parts/chatmarkdown.tsx draws as
// elements. Pure. No HTML is ever made of it: what the page's policy forbids (trusted
// types, spec interfaces A2.2) does not come up, and HTML in a message is text.
import { Lexer, type Token } from "marked";

export interface Lexed {
	readonly text: string;
	readonly tokens: readonly Token[];
}

/** Longer texts are shown as they are. */
export const mostMarkdown = 400_000;

export function lex(text: string): Lexed {
	const plain = text.replaceAll("\r\n", "\n");
	return { text: plain, tokens: new Lexer({ gfm: true }).lex(plain) };
}

/**
 * Lexes a text that has grown: the blocks before the last few cannot change any more (but
 * for link definitions, which the end of a message sees to by lex), so they stay the same
 * objects and only the tail is read anew.
 */
export function lexOn(before: Lexed | null, text: string): Lexed {
	const plain = text.replaceAll("\r\n", "\n");
	if (!before || before.tokens.length < 4 || !plain.startsWith(before.text)) return lex(plain);
	let kept = before.tokens.length;
	// A list may go on after blank lines and a paragraph may become a table: leave two blocks.
	for (let blocks = 0; kept > 0 && blocks < 2; ) {
		kept--;
		if (before.tokens[kept]?.type !== "space") blocks++;
	}
	let at = 0;
	for (let n = 0; n < kept; n++) at += before.tokens[n]?.raw.length ?? 0;
	if (kept === 0 || at > plain.length) return lex(plain);
	const tail = new Lexer({ gfm: true }).lex(plain.slice(at));
	return { text: plain, tokens: [...before.tokens.slice(0, kept), ...tail] };
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/** A link's address when following it is harmless, else null. */
export function safeLink(href: string): string | null {
	try {
		const url = new URL(href);
		return schemes.has(url.protocol) ? url.href : null;
	} catch {
		return null; // a path in the workspace, or nothing that is an address
	}
}

const entities: Record<string, string> = {
	amp: "&",
	lt: "<",
	gt: ">",
	quot: '"',
	"#39": "'",
	"#x27": "'",
	nbsp: "\u00a0",
};

/** Text of a token: marked leaves the author's own entities in. */
export function plainText(text: string): string {
	return text.replace(/&(amp|lt|gt|quot|#39|#x27|nbsp);/g, (whole, name: string) => entities[name] ?? whole);
}

/** A piece of highlighted code: its text, or a classed group of pieces. */
export type Piece = string | { readonly class: string; readonly of: readonly Piece[] };

/**
 * Reads what highlight.js gives (spans with a class, and escaped text; nothing else) into
 * pieces to draw as elements. Anything else in it is text.
 */
export function pieces(html: string): Piece[] {
	const root: Piece[] = [];
	const stack: Piece[][] = [root];
	const put = (text: string) => {
		const list = stack.at(-1) ?? root;
		const last = list.at(-1);
		if (typeof last === "string") list[list.length - 1] = last + text;
		else list.push(text);
	};
	for (const [whole, name, text] of html.matchAll(/<span class="([\w\- ]*)">|<\/span>|([^<]+|<)/g)) {
		if (name !== undefined) {
			const of: Piece[] = [];
			(stack.at(-1) ?? root).push({ class: name, of });
			stack.push(of);
		} else if (whole === "</span>") {
			if (stack.length > 1) stack.pop();
		} else put(plainText(text ?? ""));
	}
	return root;
}
