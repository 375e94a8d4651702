// Which chips a surface draws, from the host's one layout (spec chips C4.5, C4.6). Pure.
import type { Chip, ChipLayout, Pane } from "../api/types";
import { shows } from "./tabs";
import { programOf } from "./typed";

/** A chip, or the button of the footer's own settings. */
export type BarItem = Chip | { kind: "settings" };

export interface ShownChips {
	left: BarItem[];
	right: BarItem[];
}

/**
 * The chips of a terminal's bar: those of the prompt, or of the footer of a terminal that
 * runs an agent. The order is the layout's; kinds that are not known here or have nothing
 * to say are passed over, and disabled ones left out (C3.1). `typed` is the program that the
 * line at the prompt begins with.
 */
export function barChips(
	pane: Pane,
	chips: readonly Chip[],
	layout: ChipLayout | null,
	typed = "",
): ShownChips {
	const program = pane.running && pane.command ? programOf(pane.command) : typed;
	const drawn = (kinds: readonly string[] | null | undefined) =>
		[...new Set(kinds ?? [])].flatMap((kind): BarItem[] => {
			if (kind === "settings" && pane.kind === "agent") return [{ kind: "settings" }];
			return chipsIn([kind], chips).filter((chip) => besides(chip, program));
		});
	if (pane.kind === "agent") {
		return { left: drawn(layout?.cliFooter.left), right: drawn(layout?.cliFooter.right) };
	}
	return { left: drawn(layout?.prompt), right: [] };
}

/** Whether a chip is drawn beside a program: always, but for those that belong to some. */
export function besides(chip: Chip, program: string): boolean {
	const programs = chip.data?.whileTyping ?? [];
	return programs.length === 0 || programs.includes(program);
}

export function chipsIn(kinds: readonly string[], chips: readonly Chip[]): Chip[] {
	return [...new Set(kinds)].flatMap((kind) => {
		const chip = chips.find((one) => one.kind === kind);
		return chip && shows(chip) ? [chip] : [];
	});
}
