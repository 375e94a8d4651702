// The question before a close: what it would end, tab by tab (spec tabs T5.3). Pure.
import type { ClosedTab, Fail, Tab, TabClose } from "../api/types";

/** What is to be closed. */
export type Closing = TabClose | { pane: string; yes?: boolean };

export interface Ending {
	kind: "program" | "turn" | "draft";
	what: string;
}

export interface EndingTab {
	tab: string;
	title: string;
	endings: Ending[];
}

/** What a refusal names, by tab. */
export function endings(fail: Fail): EndingTab[] {
	const list = fail.details?.list;
	const found: EndingTab[] = [];
	if (!Array.isArray(list)) return found;
	for (const item of list) {
		if (typeof item !== "object" || item === null) {
			found.push({ tab: "", title: "", endings: [{ kind: "program", what: String(item) }] });
			continue;
		}
		const { tab, title, kind, program } = item as Record<string, unknown>;
		const ending: Ending = {
			kind: kind === "turn" || kind === "draft" ? kind : "program",
			what: String(program ?? "a program"),
		};
		const id = String(tab ?? title ?? "");
		const same = found.find((one) => one.tab === id);
		if (same) same.endings.push(ending);
		else found.push({ tab: id, title: String(title ?? ""), endings: [ending] });
	}
	return found;
}

/**
 * What is closed when the answer is yes: exactly the tabs that the refusal listed, whatever
 * has been opened since.
 */
export function confirmed(what: Closing, fail: Fail): Closing {
	if ("pane" in what) return { pane: what.pane, yes: true };
	const listed = fail.details?.tabs;
	if (Array.isArray(listed) && listed.length > 0) return { tabs: listed.map(String), yes: true };
	return { ...what, yes: true };
}

/** How many tabs a refusal is about, 0: not known. */
export function tabCount(what: Closing, fail: Fail): number {
	if ("pane" in what) return 0;
	const listed = fail.details?.tabs;
	if (Array.isArray(listed) && listed.length > 0) return listed.length;
	return what.tabs?.length ?? 0;
}

export function closeTitle(what: Closing, fail: Fail): string {
	if ("pane" in what) return "Close the pane?";
	const count = tabCount(what, fail);
	if (count === 1) return "Close the tab?";
	return count > 1 ? `Close ${count} tabs?` : "Close these tabs?";
}

export function closeButton(what: Closing, fail: Fail): string {
	const count = tabCount(what, fail);
	return count > 1 ? `Close ${count} tabs` : "Close";
}

/**
 * What goes with the worktrees that a close removes, and which commands delete a branch, in
 * the host's words (spec launch L9.6).
 */
export function goingWords(fail: Fail): string[] {
	const listed = [fail.details?.going, fail.details?.cleanups].flatMap((list) =>
		Array.isArray(list) ? list : [],
	);
	return listed.map((one) => String((one as Record<string, unknown>)?.text ?? "")).filter(Boolean);
}

/** The titles of tabs that close beside those that something runs in. */
export function quietTabs(what: Closing, fail: Fail, tabs: readonly Tab[]): string[] {
	const sure = confirmed(what, fail);
	if ("pane" in sure) return [];
	const busy = new Set(endings(fail).map((one) => one.tab));
	return (sure.tabs ?? [])
		.filter((id) => !busy.has(id))
		.map((id) => tabs.find((tab) => tab.id === id)?.title ?? id);
}

/** What undo would bring back first. */
export function closedWords(closed: readonly ClosedTab[]): string {
	const [first] = closed;
	if (!first) return "";
	if (first.kind === "pane") return `a pane of “${first.title}”`;
	const batch = closed.filter((one) => one.batch !== "" && one.batch === first.batch);
	return batch.length > 1 ? `${batch.length} tabs` : `“${first.title}”`;
}
