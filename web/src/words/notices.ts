// Which notices are shown, and in which order. Pure.
import type { Notice } from "../api/types";

/** How many passing notices are shown at once; persistent ones are always all shown. */
export const passing = 3;

/**
 * Persistent notices first and never pushed out (spec tabs T5.5), then the newest passing
 * ones whose time is not over.
 */
export function shownNotices(notices: readonly Notice[], now: number): { shown: Notice[]; more: number } {
	const live = notices.filter((notice) => !notice.until || Date.parse(notice.until) > now);
	const fixed = live.filter((notice) => notice.persistent);
	const rest = live.filter((notice) => !notice.persistent);
	return { shown: [...fixed, ...rest.slice(-passing)], more: Math.max(0, rest.length - passing) };
}
