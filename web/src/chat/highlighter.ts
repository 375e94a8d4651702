// The highlighter, once it is there: fetched when the first code or diff wants it.
import { signal } from "@preact/signals";

export const highlighter = signal<typeof import("./highlight") | null>(null);
let asked = false;

export function wantHighlighter(): void {
	if (asked) return;
	asked = true;
	void import("./highlight").then((module) => {
		highlighter.value = module;
	});
}
