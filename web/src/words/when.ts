// Times as words. Pure: the caller says what time it is.

/** Whole seconds until a time, never below 0. */
export function secondsUntil(until: string | number | null | undefined, now: number): number {
	if (until === null || until === undefined) return 0;
	const at = typeof until === "number" ? until : Date.parse(until);
	return Number.isNaN(at) ? 0 : Math.max(0, Math.ceil((at - now) / 1000));
}
