// Tells the host what is seen of this page, as it changes (spec chips C2.4).
import { computed, effect, signal } from "@preact/signals";
import { sightOf } from "../words/sight";
import { collapsed, drawer, panes, tabs } from "./store";
import { connection } from "./stream";
import { leaves } from "./tree";

const narrowRoom = matchMedia("(max-width: 720px)");
const narrow = signal(narrowRoom.matches);
const hidden = signal(document.visibilityState === "hidden");
const focus = signal(document.hasFocus());

/** The pane of a row of the vertical tabs; a tab's row is of the pane that has its focus. */
function paneOf(key: string): string {
	if (!key || key in panes.value) return key;
	const tab = tabs.value.find((one) => one.id === key);
	return tab ? tab.focused || (leaves(tab.tree)[0] ?? "") : "";
}

/** Starts telling; `card` names the row whose card is shown, "" for none. */
export function tellSight(card: () => string): void {
	narrowRoom.addEventListener("change", () => {
		narrow.value = narrowRoom.matches;
	});
	document.addEventListener("visibilitychange", () => {
		hidden.value = document.visibilityState === "hidden";
	});
	for (const kind of ["focus", "blur"]) {
		window.addEventListener(kind, () => {
			focus.value = document.hasFocus();
		});
	}
	const sight = computed(() =>
		JSON.stringify(
			sightOf({
				hidden: hidden.value,
				focus: focus.value,
				narrow: narrow.value,
				collapsed: collapsed.value,
				drawer: drawer.value,
				card: paneOf(card()),
			}),
		),
	);
	// By its text, so that a change of something else tells nothing.
	effect(() => connection.look(JSON.parse(sight.value)));
}
