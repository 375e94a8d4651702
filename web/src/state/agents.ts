// What the page does about agents: counts the unread ones in its title, goes to those that
// wait, and tells the desktop (spec session S3).
import { computed, effect } from "@preact/signals";
import { focusOn } from "../keys/keys";
import {
	agentLines,
	type DesktopWish,
	desktopWords,
	nextWaiting,
	paneOf,
	unreadCount,
} from "../words/agentlines";
import { tabRow } from "../words/tabs";
import { focusPane, mention, tell } from "./actions";
import { remembered } from "./remember";
import {
	activePane,
	activeTab,
	chips,
	dialog,
	model,
	notices,
	panes,
	sessions,
	showTab,
	tabs,
	zoomed,
} from "./store";

export const agents = computed(() =>
	agentLines({ tabs: tabs.value, panes: panes.value, chips: chips.value, sessions: sessions.value }),
);
const unread = computed(() => unreadCount(agents.value));

export function goToPane(tab: string, pane: string): void {
	if (!tabs.value.some((one) => one.id === tab)) return mention("Its tab is closed");
	showTab(tab);
	if (pane) focusPane(tab, pane);
	if (zoomed.value && zoomed.value !== pane) zoomed.value = null;
	focusOn("pane");
}

export function goToNextWaiting(): void {
	const next = nextWaiting(agents.value, activePane.value);
	if (next) goToPane(next.tab, next.pane);
	else mention("No other agent waits for you");
}

// The desktop. Its setting is this browser's, as the permission is.

export const desktop = remembered<DesktopWish>("desktop", "off", localStorage);

/** Sets what the desktop is told of. The browser asks its user, who has just clicked. */
export async function setDesktop(wish: DesktopWish): Promise<void> {
	if (wish !== "off") {
		const may = "Notification" in window ? await Notification.requestPermission() : "denied";
		if (may !== "granted") {
			desktop.value = "off";
			const why =
				"The browser does not let this page notify you. Allow notifications in its settings of this page.";
			return tell(new Error(why), "Desktop notifications are off");
		}
	}
	desktop.value = wish;
}

const toldKey = "davit.desktop-told";

/** Whether this window is the one of all of this browser's that tells of a notice. */
async function isFirst(id: string, since: string): Promise<boolean> {
	const claim = () => {
		const told = JSON.parse(localStorage.getItem(toldKey) ?? "{}") as Record<string, string>;
		if (told[id] === since) return false;
		delete told[id];
		const kept = Object.entries(told).slice(-99);
		localStorage.setItem(toldKey, JSON.stringify(Object.fromEntries([...kept, [id, since]])));
		return true;
	};
	try {
		return navigator.locks ? await navigator.locks.request("davit-desktop", claim) : claim();
	} catch {
		return true; // told twice is better than not at all; the tag makes them one
	}
}

const shown = new Map<string, Notification>();

async function tellDesktop(
	id: string,
	title: string,
	since: string,
	tab: string,
	pane: string,
): Promise<void> {
	if (!(await isFirst(id, since))) return;
	try {
		const note = new Notification(title, { tag: id });
		note.onclick = () => {
			window.focus();
			note.close();
			goToPane(tab, pane);
		};
		shown.set(id, note);
	} catch {
		// Some browsers know notifications of service workers only.
	}
}

/** Begins: the title, and the desktop. */
export function followAgents(): void {
	effect(() => {
		const tab = activeTab.value;
		const name = tab ? tabRow(tab, panes.value, chips.value, sessions.value).title : "";
		document.title = `${unread.value > 0 ? `(${unread.value}) ` : ""}${name ? `${name} · ` : ""}davit`;
	});
	let before: Map<string, unknown> | null = null;
	effect(() => {
		if (!model.value) return;
		const now = new Map(notices.value.map((notice) => [notice.id, notice.details?.since]));
		for (const notice of notices.value) {
			const words = desktopWords(notice, desktop.peek());
			// What was there when the page came is no news.
			const news = before !== null && before.get(notice.id) !== notice.details?.since;
			if (words && news && "Notification" in window && Notification.permission === "granted") {
				void tellDesktop(notice.id, words.title, words.since, notice.tab ?? "", paneOf(notice));
			}
		}
		for (const [id, note] of shown) {
			if (now.has(id)) continue;
			note.close();
			shown.delete(id);
		}
		before = now;
	});
}

export function showAgents(): void {
	dialog.value = { kind: "agents" };
}
