// How the vertical tabs are drawn: asked of the host, which tells every window (spec chips C6).
import { signal } from "@preact/signals";
import type { TabView } from "../api/types";
import { client, tell } from "./actions";

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
