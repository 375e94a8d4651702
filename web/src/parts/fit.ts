// A row of items in the room that there is: what gives way goes whole, in a fixed order, so
// that nothing overlaps its neighbour and nothing is cut in the middle. The row names what is
// out in data-out; its style hides it. Measured, because no width says how long a branch is.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

export type Step = string;

/** Fits the row after each drawing that changes what it shows, and when its room changes. */
export function useFit(row: RefObject<HTMLElement | null>, steps: readonly Step[]): void {
	useLayoutEffect(() => {
		const box = row.current;
		if (box && box.dataset.fitted !== shownIn(box)) fit(box, steps);
	});
	useEffect(() => {
		const box = row.current;
		if (!box) return;
		let width = box.clientWidth;
		const observer = new ResizeObserver(() => {
			if (box.clientWidth === width) return;
			width = box.clientWidth;
			fit(box, steps);
		});
		observer.observe(box);
		return () => observer.disconnect();
	}, [steps]);
}

/** What the row holds, hidden or not: when it is the same, so is what fits. */
function shownIn(row: HTMLElement): string {
	return `${row.childElementCount} ${row.querySelectorAll("button").length} ${row.textContent}`;
}

function fit(row: HTMLElement, steps: readonly Step[]): void {
	row.dataset.fitted = shownIn(row);
	for (let gone = 0; gone <= steps.length; gone++) {
		row.dataset.out = steps.slice(0, gone).join(" ");
		if (!overflows(row)) return;
	}
}

function overflows(row: HTMLElement): boolean {
	const last = row.lastElementChild;
	if (!last) return false;
	const room = row.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(row).paddingRight);
	return last.getBoundingClientRect().right > room + 0.5;
}
