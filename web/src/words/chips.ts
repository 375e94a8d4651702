// Which chips a surface draws, from the host's one layout (spec chips C4.5, C4.6). Pure.
import type { Chip, ChipLayout, Pane } from "../api/types";
import { shows } from "./tabs";

export interface ShownChips {
	left: Chip[];
	right: Chip[];
}

/**
 * The chips of a terminal's bar: those of the prompt, or of the footer of a terminal that
 * runs an agent. The order is the layout's; kinds that are not known here or have nothing
 * to say are passed over, and disabled ones left out (C3.1).
 */
export function barChips(pane: Pane, chips: readonly Chip[], layout: ChipLayout | null): ShownChips {
	if (pane.kind === "agent") {
		return {
			left: chipsIn(layout?.cliFooter.left ?? [], chips),
			right: chipsIn(layout?.cliFooter.right ?? [], chips),
		};
	}
	return { left: chipsIn(layout?.prompt ?? [], chips), right: [] };
}

export function chipsIn(kinds: readonly string[], chips: readonly Chip[]): Chip[] {
	return [...new Set(kinds)].flatMap((kind) => {
		const chip = chips.find((one) => one.kind === kind);
		return chip && shows(chip) ? [chip] : [];
	});
}
