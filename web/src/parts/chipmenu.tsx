// What a chip does when it is pressed, and the menu that it has by a right click or the menu
// key: its raw value and the whole prompt can be copied from each (spec chips C5.1, C5.2).
import { useSignal } from "@preact/signals";
import {
	Copy,
	Diff as DiffIcon,
	Folder,
	GitBranch,
	Hexagon,
	type IconNode,
	ReceiptText,
	SlidersHorizontal,
} from "lucide";
import type { ComponentChildren, ComponentType, RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Chip } from "../api/types";
import { copy } from "../state/actions";
import { dialog, panes } from "../state/store";
import { promptText } from "../words/prompttext";
import { BranchMenu, type ChipListProps, DirectoryMenu, NodeMenu } from "./chiplists";
import { Menu, MenuItem } from "./menu";

/** Where a chip is drawn. */
export interface ChipPlace {
	pane: string;
	/** All chips of that place, in order. */
	beside: readonly Chip[];
	/** Opens the editor of that place. */
	edit?: { title: string; open: () => void };
}

interface Act {
	icon: IconNode;
	title: string;
	/** What a press does, as the tooltip says it. */
	tip: string;
	run?: () => void;
	/** The menu that a press opens, where there is no `run`. */
	list?: ComponentType<ChipListProps>;
}

/** What the menus of a shell's chips are. On another machine the chips tell, and no more. */
const lists: Readonly<Record<string, { icon: IconNode; title: string; list: ComponentType<ChipListProps> }>> =
	{
		cwd: { icon: Folder, title: "Directories", list: DirectoryMenu },
		git_branch: { icon: GitBranch, title: "Branches", list: BranchMenu },
		git_status: { icon: GitBranch, title: "Branches", list: BranchMenu },
		node: { icon: Hexagon, title: "Versions", list: NodeMenu },
	};

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
	const menu = lists[chip.kind];
	const pane = panes.value[place.pane];
	const away = place.beside.some((other) => other.kind === "ssh" && other.text !== "");
	if (!menu || away || pane?.kind !== "shell" || pane.argv?.length) return null;
	return { ...menu, tip: `Click for ${menu.title.toLowerCase()}` };
}

export interface ChipUse {
	button: RefObject<HTMLButtonElement | null>;
	open: boolean;
	/** A press opens a menu. */
	list: boolean;
	/** The last words of its name, and of its tooltip. */
	verb: string;
	tip: string;
	onClick: () => void;
	onContextMenu: (event: MouseEvent) => void;
	menu: ComponentChildren;
}

export function useChip(chip: Chip, name: string, place: ChipPlace): ChipUse {
	const button = useRef<HTMLButtonElement>(null);
	const open = useSignal<"" | "menu" | "list">("");
	const act = actOf(chip, place);
	const take = () => void copy(chip.value || chip.text, `${name} copied`);
	const close = () => {
		open.value = "";
	};
	const done = (run: () => void) => () => {
		close();
		button.current?.focus();
		run();
	};
	const ask = () => {
		open.value = open.value === "list" ? "" : "list";
	};
	const List = act?.list;
	const run = act?.run ?? ask;
	const copies = <CopyItems name={name} place={place} onTake={done(take)} onDone={done} />;
	return {
		button,
		open: open.value !== "",
		list: List !== undefined,
		verb: act?.title ?? "Copy",
		tip: act?.tip ?? "Click to copy",
		onClick: act ? run : take,
		onContextMenu: (event) => {
			event.preventDefault();
			open.value = "menu";
		},
		menu:
			open.value === "list" && List ? (
				<List pane={place.pane} at={button} onClose={close} end={copies} />
			) : (
				open.value === "menu" && (
					<Menu label={name} at={button} onClose={close}>
						{act && (
							<MenuItem
								icon={act.icon}
								title={act.title}
								page={List !== undefined}
								onPick={List ? ask : done(run)}
							/>
						)}
						{copies}
					</Menu>
				)
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
			{place.edit && (
				<MenuItem icon={SlidersHorizontal} title={place.edit.title} onPick={onDone(place.edit.open)} />
			)}
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
