// What one side of a place shows, as a row of tokens: one of them is in the tab order, arrows
// go along, with Alt or Ctrl they move the token, Delete takes it out; a press opens its menu,
// which has all of it for those who neither drag nor type.
import { useSignal } from "@preact/signals";
import { ArrowLeft, ArrowLeftRight, ArrowRight, Trash2, X } from "lucide";
import type { Bank } from "../api/types";
import {
	type Items,
	isUnknown,
	itemName,
	itemOf,
	mayRemove,
	type Place,
	type Side,
	type Spot,
	sidesOf,
	spotOf,
	spotWords,
} from "../words/chiplayout";
import type { Dragged } from "./chipdrag";
import { ChipIcon } from "./chipicon";
import { Icon } from "./icon";
import { Menu, MenuItem } from "./menu";

export interface TrayProps {
	side: Side;
	/** Its visible name; "" when there is only one. */
	name: string;
	items: Items;
	place: Place;
	bank: Bank | null;
	helpId: string;
	/** Its first token has the keyboard when the editor comes up. */
	first: boolean;
	mark: Spot | "bank" | null;
	dragged: string | null;
	onDown: (event: PointerEvent, what: Dragged, from: "tray") => void;
	onStep: (kind: string, by: 1 | -1) => void;
	onMove: (kind: string, to: Spot) => void;
	onRemove: (kind: string) => void;
}

export function Tray(props: TrayProps) {
	const { side, name, items, mark } = props;
	const current = useSignal("");
	const kinds = items[side];
	const inOrder = kinds.includes(current.value) ? current.value : kinds[0];
	const marked = mark && mark !== "bank" && mark.side === side ? mark.at : -1;
	return (
		<div class="tray-row">
			{name && (
				<span class="tray-name" aria-hidden="true">
					{name}
				</span>
			)}
			<ul class="tray" data-side={side} aria-label={name ? `Shown at the ${side}` : "Shown"}>
				{kinds.map((kind, at) => (
					<li key={kind} data-mark={marked === at || undefined}>
						<Token
							{...props}
							kind={kind}
							current={kind === inOrder}
							autofocus={props.first && at === 0}
							onCurrent={() => {
								current.value = kind;
							}}
						/>
					</li>
				))}
				{(marked === kinds.length || kinds.length === 0) && (
					<li class="tray-end" data-mark={marked === kinds.length || undefined}>
						{kinds.length === 0 && "Nothing"}
					</li>
				)}
			</ul>
		</div>
	);
}

interface TokenProps extends TrayProps {
	kind: string;
	current: boolean;
	autofocus: boolean;
	onCurrent: () => void;
}

function Token(props: TokenProps) {
	const { kind, items, place, bank, side } = props;
	const menu = useSignal<{ x: number; y: number } | null>(null);
	const own = useSignal<HTMLButtonElement | null>(null);
	const item = itemOf(bank, kind);
	const unknown = isUnknown(kind, bank);
	const name = itemName(kind, bank);
	const why = unknown
		? "davit does not know this chip; it is kept, and not drawn"
		: item?.reason?.replaceAll("`", "");
	const close = () => {
		menu.value = null;
	};
	const open = (event: Event) => {
		const box = (event.currentTarget as Element).getBoundingClientRect();
		event.preventDefault();
		menu.value = { x: box.left, y: box.bottom + 4 };
	};
	return (
		<>
			<button
				type="button"
				ref={(element) => {
					own.value = element;
				}}
				class="token"
				data-kind={kind}
				data-dim={Boolean(why) || undefined}
				data-unknown={unknown || undefined}
				data-gone={props.dragged === kind || undefined}
				data-tip={menu.value || props.dragged ? undefined : why}
				tabIndex={props.current ? 0 : -1}
				autofocus={props.autofocus}
				aria-haspopup="menu"
				aria-expanded={menu.value !== null}
				aria-describedby={props.helpId}
				onFocus={props.onCurrent}
				onPointerDown={(event) => {
					close();
					props.onDown(event, { kind, icon: item?.icon }, "tray");
				}}
				onClick={open}
				onContextMenu={open}
				onKeyDown={(event) => keys(event, props)}
			>
				<ChipIcon kind={kind} icon={item?.icon} unknown={unknown} />
				<span class="cut">{name}</span>
				<span class="hidden-text">
					, {spotWords(items, kind, place)}
					{why && `. ${why}`}
				</span>
			</button>
			<button
				type="button"
				class="token-out"
				tabIndex={-1}
				aria-label={`Remove ${name}`}
				onClick={() => props.onRemove(kind)}
			>
				<Icon of={X} size={12} />
			</button>
			{menu.value && (
				<TokenMenu
					{...props}
					name={name}
					at={menu.value}
					spot={spotOf(items, kind) ?? { side, at: 0 }}
					onClose={close}
					onLeave={() => own.value?.focus()}
				/>
			)}
		</>
	);
}

function keys(event: KeyboardEvent, { kind, onStep, onRemove }: TokenProps): void {
	const by = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
	switch (event.key) {
		case "ArrowLeft":
		case "ArrowRight":
		case "ArrowUp":
		case "ArrowDown":
			if (event.altKey || event.ctrlKey || event.metaKey) onStep(kind, by);
			else go(event.currentTarget, by);
			break;
		case "Home":
			go(event.currentTarget, -Infinity);
			break;
		case "End":
			go(event.currentTarget, Infinity);
			break;
		case "Delete":
		case "Backspace":
			onRemove(kind);
			break;
		default:
			return;
	}
	event.preventDefault();
	event.stopPropagation();
}

/** Along the tokens of all sides. */
function go(from: EventTarget | null, by: number): void {
	if (!(from instanceof HTMLElement)) return;
	const all = [...(from.closest(".layout-shown")?.querySelectorAll<HTMLElement>(".tray .token") ?? [])];
	all[Math.max(0, Math.min(all.length - 1, all.indexOf(from) + by))]?.focus();
}

interface TokenMenuProps extends TokenProps {
	name: string;
	at: { x: number; y: number };
	spot: Spot;
	onClose: () => void;
	onLeave: () => void;
}

function TokenMenu(props: TokenMenuProps) {
	const { kind, items, place, spot, onClose } = props;
	const count = items[spot.side].length;
	const other = sidesOf(place).find((side) => side !== spot.side);
	const done = (act: () => void) => () => {
		onClose();
		act();
	};
	return (
		<Menu label={props.name} at={props.at} onClose={onClose} onLeave={props.onLeave}>
			{spot.at > 0 && (
				<MenuItem icon={ArrowLeft} title="Move left" onPick={done(() => props.onStep(kind, -1))} />
			)}
			{spot.at < count - 1 && (
				<MenuItem icon={ArrowRight} title="Move right" onPick={done(() => props.onStep(kind, 1))} />
			)}
			{other && (
				<MenuItem
					icon={ArrowLeftRight}
					title={`To the ${other} side`}
					onPick={done(() =>
						props.onMove(kind, { side: other, at: other === "left" ? items.left.length : 0 }),
					)}
				/>
			)}
			<MenuItem
				icon={Trash2}
				title="Remove"
				disabled={!mayRemove(items, place)}
				note={mayRemove(items, place) ? undefined : "A prompt shows at least one chip"}
				onPick={done(() => props.onRemove(kind))}
			/>
		</Menu>
	);
}
