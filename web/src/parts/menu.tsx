// A menu at its button: arrows move, Enter does, Escape and Tab close it and give the
// focus back.
import type { IconNode } from "lucide";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icon";

export interface MenuProps {
	label: string;
	at: RefObject<HTMLElement | null>;
	onClose: () => void;
	children: ComponentChildren;
}

export function Menu({ label, at, onClose, children }: MenuProps) {
	const ref = useRef<HTMLDivElement>(null);

	useLayoutEffect(() => {
		const menu = ref.current;
		const box = at.current?.getBoundingClientRect();
		if (!menu || !box) return;
		const left = Math.min(Math.max(8, box.left), innerWidth - menu.offsetWidth - 8);
		const below = box.bottom + 4;
		const fits = below + menu.offsetHeight < innerHeight - 8;
		const above = Math.max(8, box.top - 4 - menu.offsetHeight);
		menu.style.left = `${left}px`;
		menu.style.top = `${fits || box.top < innerHeight / 2 ? below : above}px`;
		if (!fits && box.top < innerHeight / 2) menu.style.maxHeight = `${innerHeight - below - 8}px`;
	});

	useEffect(() => {
		items(ref.current)[0]?.focus();
		const outside = (event: PointerEvent) => {
			const target = event.target as Node;
			if (!ref.current?.contains(target) && !at.current?.contains(target)) onClose();
		};
		document.addEventListener("pointerdown", outside, true);
		return () => document.removeEventListener("pointerdown", outside, true);
	}, []);

	const onKey = (event: KeyboardEvent) => {
		const all = items(ref.current);
		const here = all.indexOf(document.activeElement as HTMLElement);
		const go = (index: number) => {
			event.preventDefault();
			all[(index + all.length) % all.length]?.focus();
		};
		switch (event.key) {
			case "ArrowDown":
				return go(here + 1);
			case "ArrowUp":
				return go(here - 1);
			case "Home":
				return go(0);
			case "End":
				return go(all.length - 1);
			case "Escape":
			case "Tab":
				event.preventDefault();
				event.stopPropagation();
				onClose();
				at.current?.focus();
				return;
			default:
				if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
				go(
					all.findIndex(
						(item, index) =>
							index > here && item.textContent?.toLowerCase().startsWith(event.key.toLowerCase()),
					),
				);
		}
	};

	return (
		<div class="menu" role="menu" aria-label={label} ref={ref} onKeyDown={onKey} tabIndex={-1}>
			{children}
		</div>
	);
}

function items(menu: HTMLElement | null): HTMLElement[] {
	return menu ? [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')] : [];
}

export interface MenuItemProps {
	icon: IconNode;
	title: string;
	note?: string;
	/** What the note has no room for. */
	tip?: string;
	label?: string;
	after?: ComponentChildren;
	disabled?: boolean;
	checked?: boolean;
	warn?: boolean;
	onPick: () => void;
}

export function MenuItem(props: MenuItemProps) {
	return (
		<button
			type="button"
			role={props.checked === undefined ? "menuitem" : "menuitemradio"}
			aria-checked={props.checked}
			aria-disabled={props.disabled || undefined}
			data-tip={props.tip}
			class={`menu-item ${props.warn ? "warn" : ""}`}
			tabIndex={-1}
			onClick={() => {
				if (!props.disabled) props.onPick();
			}}
		>
			<Icon of={props.icon} />
			<span class="words">
				<div>
					<span class="cut">{props.title}</span>
					{props.label && <span class="label">{props.label}</span>}
				</div>
				{props.note && <small>{props.note}</small>}
			</span>
			{props.after}
		</button>
	);
}

export function MenuGroup({ title, children }: { title: string; children: ComponentChildren }) {
	return (
		// biome-ignore lint/a11y/useSemanticElements: a group of a menu
		<div role="group" aria-label={title}>
			<div class="menu-group" aria-hidden="true">
				{title}
			</div>
			{children}
		</div>
	);
}
