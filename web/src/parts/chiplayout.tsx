// The editor of the prompt and of the two footers: what is shown, in order, and the bank of
// the rest. Each change holds at once, in every window; the bar behind it is the same one
// (spec chips C3.1, C3.2, C4.6). A chunk of its own.
import { useSignal } from "@preact/signals";
import { RotateCcw, Undo2 } from "lucide";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Bank, Chip, ChipLayout, Fail } from "../api/types";
import { closeDialog } from "../state/actions";
import {
	bank,
	beginEdits,
	editItems,
	history,
	layoutFail,
	loadBank,
	resetItems,
	shownItems,
	undoEdit,
} from "../state/chiplayout";
import { activePane, chips, layout, panes } from "../state/store";
import {
	add,
	changeWords,
	defaultItems,
	type Items,
	isCustom,
	itemName,
	mayRemove,
	type Place,
	places,
	placeWords,
	put,
	type Side,
	type Spot,
	sidesOf,
	spotOf,
	step,
	undoable,
	without,
} from "../words/chiplayout";
import { FailBox } from "./bits";
import { ChipBank } from "./chipbank";
import { useChipDrag } from "./chipdrag";
import { ChipIcon } from "./chipicon";
import { Preview } from "./chippreview";
import { Tray } from "./chiptray";
import { Modal } from "./dialog";
import { Icon } from "./icon";
import "../styles/chiplayout.css";

const none: readonly Chip[] = [];

export function ChipLayoutDialog({ place: first, pane }: { place: Place; pane?: string }) {
	const place = useSignal(first);
	const about = pane && pane in panes.value ? pane : activePane.value;
	const now = layout.value;
	useEffect(beginEdits, []);
	// What the bank says depends on the pane, on the validation and on the flag (C3.2, C4.3).
	useEffect(() => void loadBank(about), [about, now?.validation, now?.prChip, now?.cause]);
	if (!now) return null;
	const items = shownItems(place.value);
	const change = undoable(history.value, place.value, items);
	return (
		<ChipLayoutView
			place={place.value}
			items={items}
			custom={isCustom(now, place.value)}
			layout={now}
			bank={bank.value}
			chips={(about && chips.value[about]) || none}
			fail={layoutFail.value}
			onPlace={(next) => {
				place.value = next;
			}}
			onEdit={(next) => editItems(place.value, next)}
			onReset={() => resetItems(place.value, defaultItems(bank.value, place.value))}
			onUndo={change && (() => undoEdit(change))}
		/>
	);
}

export interface ChipLayoutViewProps {
	place: Place;
	items: Items;
	/** It is the user's own, not the default. */
	custom: boolean;
	layout: ChipLayout;
	bank: Bank | null;
	/** Of the pane that the preview is about. */
	chips: readonly Chip[];
	fail: Fail | null;
	onPlace: (place: Place) => void;
	onEdit: (items: Items) => void;
	onReset: () => void;
	/** Absent: there is nothing to take back. */
	onUndo?: () => void;
}

const sideWords: Record<Side, string> = { left: "Left", right: "Right" };

export function ChipLayoutView(props: ChipLayoutViewProps) {
	const { place, items, bank: known } = props;
	const said = useSignal("");
	const wanted = useRef<string | null>(null);
	const root = useRef<HTMLDivElement>(null);
	const id = useId();
	const sides = sidesOf(place);

	const say = (words: string) => {
		// The same words again are words again.
		said.value = said.value === words ? `${words}\u00a0` : words;
	};
	const edit = (next: Items, kind: string) => {
		say(changeWords(items, next, kind, place, known));
		if (next !== items) props.onEdit(next);
	};
	const remove = (kind: string) => {
		if (!mayRemove(items, place)) {
			say("A prompt shows at least one chip");
			return;
		}
		const spot = spotOf(items, kind);
		const next = without(items, kind);
		const near = spot && (next[spot.side][Math.min(spot.at, next[spot.side].length - 1)] ?? next.left[0]);
		wanted.current = near ?? null;
		edit(next, kind);
	};
	const drop = (kind: string, spot: Spot | "bank") => {
		if (spot === "bank") return remove(kind);
		wanted.current = kind;
		edit(put(items, kind, spot), kind);
	};
	const drag = useChipDrag(root, drop);
	const undo = () => {
		if (!props.onUndo) return;
		props.onUndo();
		say("Undone");
	};

	// A token that was moved in the document has lost the keyboard.
	useEffect(() => {
		const kind = wanted.current;
		wanted.current = null;
		if (kind) root.current?.querySelector<HTMLElement>(`.token[data-kind="${CSS.escape(kind)}"]`)?.focus();
	});

	return (
		<Modal
			title={placeWords[place].title}
			class="wide chip-layout"
			foot={
				<>
					<span class="lead">Changes hold at once, in every window.</span>
					<button
						type="button"
						class="button plain"
						aria-disabled={!props.onUndo}
						data-tip="Ctrl Z"
						onClick={undo}
					>
						<Icon of={Undo2} size={14} /> Undo
					</button>
					<button
						type="button"
						class="button plain"
						aria-disabled={!props.custom}
						onClick={() => {
							if (!props.custom) return;
							props.onReset();
							say("The default is restored");
						}}
					>
						<Icon of={RotateCcw} size={14} /> Restore default
					</button>
					<button type="button" class="button main" onClick={closeDialog}>
						Done
					</button>
				</>
			}
		>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: a key of all that is in it */}
			<div
				ref={root}
				class="layout-body"
				data-dragging={drag.dragged.value !== null || undefined}
				onKeyDown={(event) => {
					const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
					if (typing || event.key !== "z" || !(event.ctrlKey || event.metaKey)) return;
					event.preventDefault();
					undo();
				}}
			>
				<fieldset class="choices layout-places">
					<legend class="hidden-text">What to edit</legend>
					{places.map((one) => (
						<label key={one}>
							<input
								type="radio"
								name={`${id}-place`}
								checked={one === place}
								onChange={() => props.onPlace(one)}
							/>
							{placeWords[one].short}
						</label>
					))}
				</fieldset>
				{props.fail && <FailBox fail={props.fail} />}
				<Preview place={place} items={items} chips={props.chips} bank={known} />
				<section class="layout-shown" aria-labelledby={`${id}-shown`}>
					<div class="layout-head">
						<h3 id={`${id}-shown`}>Shown</h3>
						<span class="label">{props.custom ? "your own" : "default"}</span>
					</div>
					{sides.map((side) => (
						<Tray
							key={side}
							side={side}
							name={place === "prompt" ? "" : sideWords[side]}
							items={items}
							place={place}
							bank={known}
							helpId={`${id}-help`}
							first={side === "left"}
							mark={drag.over.value}
							dragged={drag.dragged.value?.kind ?? null}
							onDown={drag.down}
							onStep={(kind, by) => {
								wanted.current = kind;
								edit(step(items, kind, by, sides), kind);
							}}
							onMove={(kind, spot) => drop(kind, spot)}
							onRemove={remove}
						/>
					))}
					<p class="help" id={`${id}-help`}>
						Drag to reorder, or press a chip for its menu.
						<span class="by-keys">
							{" "}
							By keys: <Key>←</Key> <Key>→</Key> go along, with <Key>Alt</Key> they move the chip,{" "}
							<Key>Delete</Key> takes it out.
						</span>
					</p>
				</section>
				<ChipBank
					place={place}
					items={items}
					bank={known}
					over={drag.over.value === "bank"}
					onDown={drag.down}
					onAdd={(kind) => edit(add(items, kind, defaultItems(known, place)), kind)}
				/>
				{drag.dragged.value && (
					<span ref={drag.ghost} class="token token-ghost" aria-hidden="true">
						<ChipIcon kind={drag.dragged.value.kind} icon={drag.dragged.value.icon} />
						{itemName(drag.dragged.value.kind, known)}
					</span>
				)}
				<span class="hidden-text" role="status" aria-live="polite">
					{said.value}
				</span>
			</div>
		</Modal>
	);
}

function Key({ children }: { children: string }) {
	return (
		<kbd>
			<i>{children}</i>
		</kbd>
	);
}
