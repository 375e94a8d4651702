// A menu at its button, or where it was asked for: arrows move, Enter does, Escape and Tab
// close it and give the focus back. A page of a menu goes back by ← and Escape. A menu with
// a filter has its field above the items, and typing goes there.
import { ArrowLeft, ChevronRight, type IconNode } from "lucide";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icon";

export interface MenuFilter {
	label: string;
	value: string;
	onInput: (text: string) => void;
}

export interface MenuProps {
	label: string;
	at: RefObject<HTMLElement | null> | { x: number; y: number };
	onClose: () => void;
	children: ComponentChildren;
	/** This is a page of another menu: the way back to it. */
	onBack?: () => void;
	filter?: MenuFilter;
	/** Gives the focus back when there is no button. */
	onLeave?: () => void;
}

export function Menu(props: MenuProps) {
	const { label, at, onClose, children, onBack, filter } = props;
	const ref = useRef<HTMLDivElement>(null);
	const field = useRef<HTMLInputElement>(null);
	const button = "current" in at ? at : null;

	useLayoutEffect(() => {
		const menu = ref.current;
		const box = "current" in at ? at.current?.getBoundingClientRect() : pointBox(at);
		if (!menu || !box) return;
		menu.style.maxHeight = "";
		const left = Math.min(Math.max(8, box.left), innerWidth - menu.offsetWidth - 8);
		const below = box.bottom + 4;
		const fits = below + menu.offsetHeight < innerHeight - 8;
		const above = Math.max(8, box.top - 4 - menu.offsetHeight);
		menu.style.left = `${left}px`;
		menu.style.top = `${fits || box.top < innerHeight / 2 ? below : above}px`;
		if (!fits && box.top < innerHeight / 2) menu.style.maxHeight = `${innerHeight - below - 8}px`;
	});

	useEffect(() => {
		(field.current ?? items(ref.current)[0])?.focus();
		const outside = (event: PointerEvent) => {
			const target = event.target as Node;
			if (!ref.current?.contains(target) && !button?.current?.contains(target)) onClose();
		};
		document.addEventListener("pointerdown", outside, true);
		return () => document.removeEventListener("pointerdown", outside, true);
	}, []);

	const leave = () => {
		onClose();
		if (button) button.current?.focus();
		else props.onLeave?.();
	};

	const onKey = (event: KeyboardEvent) => {
		const here = document.activeElement as HTMLElement;
		const typing = here === field.current;
		const all = items(ref.current);
		const at = all.indexOf(here.closest<HTMLElement>(".menu-row")?.querySelector(".menu-item") ?? here);
		const go = (index: number) => {
			event.preventDefault();
			all[(index + all.length) % all.length]?.focus();
		};
		switch (event.key) {
			case "ArrowDown":
				return go(at + 1);
			case "ArrowUp":
				if (at <= 0 && field.current && !typing) {
					event.preventDefault();
					return field.current.focus();
				}
				return go(typing ? all.length - 1 : at - 1);
			case "ArrowRight": {
				const more = here.closest(".menu-row")?.querySelector<HTMLElement>(".menu-side");
				if (typing || (!more && !here.hasAttribute("aria-haspopup"))) break;
				event.preventDefault();
				return (more ?? here).click();
			}
			case "ArrowLeft":
				if (typing || !onBack) break;
				event.preventDefault();
				return onBack();
			case "Home":
				return typing ? undefined : go(0);
			case "End":
				return typing ? undefined : go(all.length - 1);
			case "Enter":
				if (!typing) return;
				event.preventDefault();
				return all[0]?.click();
			case "Escape":
			case "Tab":
				event.preventDefault();
				event.stopPropagation();
				return event.key === "Escape" && onBack ? onBack() : leave();
		}
		if (swatch(here, event)) return;
		if (typing || event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
		if (field.current) return field.current.focus(); // and the letter goes there
		const starts = (item: HTMLElement) =>
			item.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase());
		const next = all.findIndex((item, index) => index > at && starts(item));
		const found = next >= 0 ? next : all.findIndex(starts);
		if (found >= 0) go(found);
	};

	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: keys of its items
		<div class="menu" ref={ref} onKeyDown={onKey}>
			{filter && (
				<div class="menu-filter">
					<input
						ref={field}
						type="text"
						aria-label={filter.label}
						placeholder={filter.label}
						autocomplete="off"
						spellcheck={false}
						value={filter.value}
						onInput={(event) => filter.onInput(event.currentTarget.value)}
					/>
				</div>
			)}
			<div role="menu" aria-label={label} tabIndex={-1} class="menu-list">
				{onBack && (
					<button type="button" role="menuitem" class="menu-item menu-back" tabIndex={-1} onClick={onBack}>
						<Icon of={ArrowLeft} />
						<span class="words">
							<div>
								<span class="cut">{label}</span>
							</div>
						</span>
						<span class="hidden-text">, back</span>
					</button>
				)}
				{children}
			</div>
		</div>
	);
}

function pointBox({ x, y }: { x: number; y: number }) {
	return { left: x, top: y, bottom: y - 4 };
}

function items(menu: HTMLElement | null): HTMLElement[] {
	return menu ? [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(.menu-side)')] : [];
}

/** In a row of swatches ← and → move too. */
function swatch(here: HTMLElement, event: KeyboardEvent): boolean {
	const row = here.closest(".menu-swatches");
	if (!row || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return false;
	const all = [...row.querySelectorAll<HTMLElement>("button")];
	const next = all.indexOf(here) + (event.key === "ArrowRight" ? 1 : -1);
	event.preventDefault();
	all[(next + all.length) % all.length]?.focus();
	return true;
}

export interface MenuItemProps {
	icon: IconNode;
	title: string;
	note?: ComponentChildren;
	/** What the note has no room for. */
	tip?: string;
	label?: string;
	after?: ComponentChildren;
	disabled?: boolean;
	checked?: boolean;
	warn?: boolean;
	danger?: boolean;
	/** It opens a page of this menu. */
	page?: boolean;
	/** Its own actions, by a button beside it and by →. */
	side?: { label: string; icon: IconNode; onPick: () => void };
	onPick: () => void;
}

export function MenuItem(props: MenuItemProps) {
	const item = (
		<button
			type="button"
			role={props.checked === undefined ? "menuitem" : "menuitemradio"}
			aria-checked={props.checked}
			aria-disabled={props.disabled || undefined}
			aria-haspopup={props.page ? "menu" : undefined}
			data-tip={props.tip}
			class={`menu-item ${props.warn ? "warn" : ""} ${props.danger ? "danger" : ""}`}
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
			{props.page && <Icon of={ChevronRight} />}
		</button>
	);
	if (!props.side) return item;
	return (
		// biome-ignore lint/a11y/useSemanticElements: an item and its own actions
		<div class="menu-row" role="group" aria-label={props.title}>
			{item}
			<button
				type="button"
				role="menuitem"
				aria-haspopup="menu"
				class="icon-button small menu-side"
				aria-label={props.side.label}
				data-tip={props.side.label}
				tabIndex={-1}
				onClick={props.side.onPick}
			>
				<Icon of={props.side.icon} />
			</button>
		</div>
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

export function MenuLine() {
	return <hr class="menu-line" />;
}
