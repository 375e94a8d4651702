// Which notices are shown, and in which order. Pure.
import type { ClosedTab, Notice } from "../api/types";

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

/** After so long a passing notice is one line; its words come back when it is unfolded. */
export const fullFor = 10_000;

/**
 * The notices that are drawn while the stack is folded: the gravest, then those that stay,
 * then the newest, in their own order.
 */
export function folded(shown: readonly Notice[], most: number): Notice[] {
	const grave = (notice: Notice) =>
		(notice.level === "error" ? 4 : notice.level === "warning" ? 2 : 0) + (notice.persistent ? 1 : 0);
	const first = [...shown].sort((a, b) => grave(b) - grave(a) || shown.indexOf(b) - shown.indexOf(a));
	const drawn = new Set(first.slice(0, most));
	return shown.filter((notice) => drawn.has(notice));
}

/** Whether a notice is drawn as one line. */
export function isSlim(notice: Notice, now: number, narrow: boolean): boolean {
	if (narrow) return true;
	if (notice.persistent || notice.level === "error") return false;
	return now - Date.parse(notice.created) > fullFor;
}

/** Which batch of closed things a notice tells of. */
export function batchOf(notice: Notice | undefined, closed: readonly ClosedTab[]): string | undefined {
	const named = notice?.details?.batch;
	if (typeof named === "string" && named) return named;
	return closed.find((one) => one.id === notice?.tab && one.kind === "tab")?.batch || undefined;
}

/** How much of a notice's time is left, from 1 to 0. */
export function left(notice: Notice, now: number): number {
	const end = Date.parse(notice.until ?? "");
	const begin = Date.parse(notice.created);
	if (Number.isNaN(end) || Number.isNaN(begin) || end <= begin) return 0;
	return Math.min(1, Math.max(0, (end - now) / (end - begin)));
}

export interface CleanupWords {
	command: string;
	/** What is said beside the command and its output. */
	text: string;
	output: string;
}

/**
 * A failed cleanup in its parts: the command, how it ended and what was skipped, the end of
 * its output (spec tabs T5.5). Of a notice without a command all is text.
 */
export function cleanupWords(notice: Notice): CleanupWords {
	const text = (value: unknown) => (typeof value === "string" ? value.trimEnd() : "");
	const command = text(notice.details?.command);
	const output = text(notice.details?.output);
	const body = notice.body ?? "";
	const file = text(notice.details?.file);
	// The title names the file, and a button opens it.
	const rest = (command ? body.replace(`${command}\n`, "") : body).replaceAll(file ? `${file}:` : "\0", "");
	return { command, text: rest.trim(), output: output && !rest.includes(output) ? output : "" };
}

/** The config file that a notice is about, with the place of its first fault. */
export function fileOf(notice: Notice): { path: string; line?: number; column?: number } | null {
	const path = notice.details?.file;
	if (typeof path !== "string" || path === "") return null;
	const place = new RegExp(`${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}:(\\d+):(\\d+)`).exec(
		notice.body ?? "",
	);
	return place ? { path, line: Number(place[1]), column: Number(place[2]) } : { path };
}
