// How the vertical tabs are drawn: asked of the host, which tells every window (spec chips C6).
import { signal } from "@preact/signals";
import type { TabView } from "../api/types";
import { ask, client, tell } from "./actions";

/** Counts what the host refused: the control that was not heeded shows the truth again. */
export const viewRefusals = signal(0);

export async function setTabView(change: Partial<TabView>): Promise<void> {
	try {
		await client.call("settings.set", { key: "vertical_tabs", value: change });
	} catch (error) {
		tell(error, "The view of the tabs was not changed");
		viewRefusals.value++;
	}
}

/** For how many seconds a close can be undone (spec tabs T6.1); 0: not at all. */
export async function undoSeconds(): Promise<number | null> {
	try {
		const { value } = await client.call("settings.get", { key: "undo_close_seconds", value: null });
		return typeof value === "number" ? value : null;
	} catch {
		return null; // the control is not shown
	}
}

export async function setUndoSeconds(value: number): Promise<void> {
	await ask("The time for undo was not changed", () =>
		client.call("settings.set", { key: "undo_close_seconds", value }),
	);
}
