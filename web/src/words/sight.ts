// What somebody sees of this page: the host runs chips for that only (spec chips C2.4). Pure.
import type { Sight } from "../stream/frames";

export interface Seen {
	/** The page lies in a tab of the browser that is not shown, or in a window that is minimised. */
	hidden: boolean;
	/** Its window has the focus. */
	focus: boolean;
	/** The page is too narrow for the tab list beside the tab: it slides over it. */
	narrow: boolean;
	collapsed: boolean;
	drawer: boolean;
	/** The pane of the card beside a row, "" when there is none. */
	card: string;
}

export function sightOf(seen: Seen): Sight {
	return {
		hidden: seen.hidden,
		away: seen.hidden || !seen.focus,
		tabs: seen.narrow ? seen.drawer : !seen.collapsed,
		panes: seen.card ? [seen.card] : [],
	};
}
