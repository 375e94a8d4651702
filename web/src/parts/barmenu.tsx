// The menu of a prompt bar or footer, where it was asked for: what is shown there.
import { useSignal } from "@preact/signals";
import { RotateCcw, SlidersHorizontal } from "lucide";
import type { VNode } from "preact";
import { focusOn } from "../keys/keys";
import { resetItems } from "../state/chiplayout";
import { dialog, layout } from "../state/store";
import { isCustom, type Place, placeWords } from "../words/chiplayout";
import { Menu, MenuItem } from "./menu";

export interface BarMenu {
	ask: (event: MouseEvent) => void;
	edit: () => void;
	menu: VNode | null;
}

export function useBarMenu(place: Place, pane: string): BarMenu {
	const at = useSignal<{ x: number; y: number } | null>(null);
	const close = () => {
		at.value = null;
	};
	const edit = () => {
		close();
		dialog.value = { kind: "chip-layout", place, pane };
	};
	const own = layout.value !== null && isCustom(layout.value, place);
	const words = placeWords[place];
	return {
		// A chip may have a menu of its own.
		ask: (event) => {
			if (event.defaultPrevented) return;
			event.preventDefault();
			at.value = { x: event.clientX, y: event.clientY };
		},
		edit,
		menu: at.value && (
			<Menu
				label={place === "prompt" ? "Prompt" : "Footer"}
				at={at.value}
				onClose={close}
				onLeave={() => focusOn("pane")}
			>
				<MenuItem icon={SlidersHorizontal} title={words.edit} onPick={edit} />
				<MenuItem
					icon={RotateCcw}
					title="Restore default"
					note={own ? undefined : "It is the default"}
					disabled={!own}
					onPick={() => {
						close();
						resetItems(place, null);
						focusOn("pane");
					}}
				/>
			</Menu>
		),
	};
}
