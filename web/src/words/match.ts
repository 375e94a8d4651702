// How well what was typed fits a title: letters in order, better at starts of words and
// side by side. Pure. 0: not at all.
export function fit(typed: string, title: string): number {
	const want = typed.toLowerCase().replace(/\s+/g, "");
	if (want === "") return 1;
	const text = title.toLowerCase();
	const whole = text.indexOf(typed.toLowerCase().trim());
	if (whole >= 0) return 100 + (whole === 0 ? 50 : 0) - title.length / 100;
	let score = 0;
	let from = 0;
	let run = 0;
	for (const letter of want) {
		const at = text.indexOf(letter, from);
		if (at < 0) return 0;
		run = at === from && from > 0 ? run + 1 : 0;
		const start = at === 0 || /[\s/_.-]/.test(text[at - 1] ?? "");
		score += 1 + run + (start ? 4 : 0);
		from = at + 1;
	}
	return score - title.length / 100;
}
