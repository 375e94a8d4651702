// The order of what is found: how well it fits, and of what fits as well, what was used last.
// Pure.
import { fit } from "./match";

/** One kind of fit lies a thousand from the next: within it use goes before shortness. */
const kind = 1000;

export function ranked<T extends { id: string; title: string }>(
	typed: string,
	items: readonly T[],
	used: readonly string[],
): T[] {
	const age = (id: string) => {
		const at = used.indexOf(id);
		return at < 0 ? used.length : at;
	};
	const blank = typed.trim() === "";
	return items
		.map((item) => ({ item, score: fit(typed, item.title) }))
		.filter(({ score }) => score > 0)
		.sort(
			(a, b) =>
				// With nothing typed the list keeps its order, but for what was used.
				Math.ceil(b.score / kind) - Math.ceil(a.score / kind) ||
				age(a.item.id) - age(b.item.id) ||
				(blank ? 0 : b.score - a.score),
		)
		.map(({ item }) => item);
}
