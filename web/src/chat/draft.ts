// The composer's draft, which the host keeps and every client shows (spec session S1.8):
// what this window typed and what another client wrote become one text. Pure.

export interface Draft {
	readonly text: string;
	readonly revision: number;
}

/**
 * Merges two texts that both come from `base`. Changes in different places are both
 * taken; in the same place mine stays and theirs is put below it, so that no word that
 * anybody typed is lost.
 */
export function merged(base: string, mine: string, theirs: string): string {
	if (mine === theirs || theirs === base) return mine;
	if (mine === base) return theirs;
	// One client saw the other's text a moment ago and typed on.
	if (mine.startsWith(theirs)) return mine;
	if (theirs.startsWith(mine)) return theirs;
	const m = change(base, mine);
	const t = change(base, theirs);
	if (m.to <= t.from)
		return `${base.slice(0, m.from)}${m.put}${base.slice(m.to, t.from)}${t.put}${base.slice(t.to)}`;
	if (t.to <= m.from)
		return `${base.slice(0, t.from)}${t.put}${base.slice(t.to, m.from)}${m.put}${base.slice(m.to)}`;
	if (theirs === "") return mine;
	if (mine === "") return theirs;
	return `${mine}\n\n${theirs}`;
}

interface Change {
	from: number;
	to: number;
	put: string;
}

function change(base: string, text: string): Change {
	const room = Math.min(base.length, text.length);
	let head = 0;
	while (head < room && base[head] === text[head]) head++;
	let tail = 0;
	while (tail < room - head && base.at(-1 - tail) === text.at(-1 - tail)) tail++;
	return { from: head, to: base.length - tail, put: text.slice(head, text.length - tail) };
}

/** Where a caret stands after another text has taken the old one's place. */
export function caretAfter(caret: number, before: string, after: string): number {
	const { from, to, put } = change(before, after);
	if (caret <= from) return caret;
	if (caret >= to) return caret + put.length - (to - from);
	return from + put.length;
}
