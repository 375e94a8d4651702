// What a chip does when it is pressed, and the menu that it has by a right click or the menu
// key: its raw value and the whole prompt can be copied from each (spec chips C5.1, C5.2).
import { useSignal } from "@preact/signals";
import { Copy, Diff as DiffIcon, type IconNode, ReceiptText } from "lucide";
import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Chip } from "../api/types";
import { copy } from "../state/actions";
import { dialog } from "../state/store";
import { promptText } from "../words/prompttext";
import { Menu, MenuItem } from "./menu";

/** Where a chip is drawn. */
export interface ChipPlace {
	pane: string;
	/** All chips of that place, in order. */
	beside: readonly Chip[];
}

interface Act {
	icon: IconNode;
	title: string;
	/** What a press does, as the tooltip says it. */
	tip: string;
	run: () => void;
}

function actOf(chip: Chip, place: ChipPlace): Act | null {
	if (chip.kind === "git_diff") {
		return {
			icon: DiffIcon,
			title: "Show changes",
			tip: "Click to show changes",
			run: () => {
				dialog.value = { kind: "changes", pane: place.pane };
			},
		};
	}
	return null;
}

export interface ChipUse {
	button: RefObject<HTMLButtonElement | null>;
	open: boolean;
	/** The last words of its name, and of its tooltip. */
	verb: string;
	tip: string;
	onClick: () => void;
	onContextMenu: (event: MouseEvent) => void;
	menu: ComponentChildren;
}

export function useChip(chip: Chip, name: string, place: ChipPlace): ChipUse {
	const button = useRef<HTMLButtonElement>(null);
	const open = useSignal(false);
	const act = actOf(chip, place);
	const take = () => void copy(chip.value || chip.text, `${name} copied`);
	const close = () => {
		open.value = false;
	};
	const done = (run: () => void) => () => {
		close();
		button.current?.focus();
		run();
	};
	return {
		button,
		open: open.value,
		verb: act?.title ?? "Copy",
		tip: act?.tip ?? "Click to copy",
		onClick: act?.run ?? take,
		onContextMenu: (event) => {
			event.preventDefault();
			open.value = true;
		},
		menu: open.value && (
			<Menu label={name} at={button} onClose={close}>
				{act && <MenuItem icon={act.icon} title={act.title} onPick={done(act.run)} />}
				<CopyItems name={name} place={place} onTake={done(take)} onDone={done} />
			</Menu>
		),
	};
}

interface CopyItemsProps {
	name: string;
	place: ChipPlace;
	onTake: () => void;
	onDone: (run: () => void) => () => void;
}

/** What every menu of a chip ends with. */
export function CopyItems({ name, place, onTake, onDone }: CopyItemsProps) {
	return (
		<>
			<MenuItem icon={Copy} title={`Copy ${inSentence(name)}`} onPick={onTake} />
			<CopyPrompt place={place} onDone={onDone} />
		</>
	);
}

export function CopyPrompt({ place, onDone }: Pick<CopyItemsProps, "place" | "onDone">) {
	const text = promptText(place.beside);
	return (
		<MenuItem
			icon={ReceiptText}
			title="Copy prompt"
			note={<span class="cut menu-mono">{text}</span>}
			onPick={onDone(() => void copy(text, "Prompt copied"))}
		/>
	);
}

/** A name in the middle of a sentence; abbreviations stay. */
function inSentence(name: string): string {
	return /^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name;
}
