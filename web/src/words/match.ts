// How well what was typed fits a title. Pure. 0: not at all; else the whole title, its
// beginning, words that begin so, the text somewhere in it, and letters in order, each kind
// before the next; of two titles of one kind the shorter one.
const whole = 5000;
const start = 4000;
const words = 3000;
const inside = 2000;
/** What has the letters side by side scores more than this, letters in order less. */
export const sideBySide = 1900;

export function fit(typed: string, title: string): number {
	const want = typed.toLowerCase().trim().replace(/\s+/g, " ");
	if (want === "") return 1;
	const text = title.toLowerCase();
	const short = -Math.min(title.length, 500) / 10;
	if (text === want) return whole;
	if (text.startsWith(want)) return start + short;
	if (startsOfWords(want.split(" "), text.split(/[\s/_.:-]+/))) return words + short;
	const at = text.indexOf(want);
	if (at >= 0) return inside + short - Math.min(at, 500) / 100;
	return letters(want.replaceAll(" ", ""), text, short);
}

/** Whether each word that was typed begins a word of the title, in order. */
function startsOfWords(typed: readonly string[], title: readonly string[]): boolean {
	let from = 0;
	for (const word of typed) {
		const at = title.findIndex((one, i) => i >= from && one.startsWith(word));
		if (at < 0) return false;
		from = at + 1;
	}
	return true;
}

/** Letters in order, better at starts of words and side by side. */
function letters(want: string, text: string, short: number): number {
	let score = 100;
	let from = 0;
	let run = 0;
	for (const letter of want) {
		const at = text.indexOf(letter, from);
		if (at < 0) return 0;
		run = at === from && from > 0 ? run + 1 : 0;
		const begins = at === 0 || /[\s/_.-]/.test(text[at - 1] ?? "");
		score += 1 + run + (begins ? 4 : 0);
		from = at + 1;
	}
	return Math.max(1, score + short);
}
