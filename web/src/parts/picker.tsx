// A field that is filled from a list: typing filters, arrows move, Enter takes, Escape closes
// the list and nothing else. Its list lies in the top layer, so no dialog cuts it off.
import { useSignal } from "@preact/signals";
import { ChevronsUpDown } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { fit } from "../words/match";
import { Icon } from "./icon";

export interface Choice {
	value: string;
	/** In the list and, when it is chosen, in the field. */
	title: string;
	note?: string;
	tip?: string;
}

export interface PickerProps {
	label: string;
	name: string;
	value: string;
	/** What the field says of its value when no choice has it. */
	shown?: string;
	choices: readonly Choice[];
	help?: ComponentChildren;
	fault?: string;
	placeholder?: string;
	disabled?: boolean;
	/** The list is being fetched. */
	busy?: boolean;
	tip?: string;
	/** A last entry that does something else. */
	more?: { title: string; onPick: () => void };
	/** What was typed is a value too, when nothing of the list is meant. */
	free?: boolean;
	/** It has the keyboard as soon as it is there, where there is one. */
	focus?: boolean;
	/** Below the field: an offer, a fault with its retry. */
	below?: ComponentChildren;
	onPick: (value: string) => void;
}

export function Picker(props: PickerProps) {
	const { value, choices, disabled } = props;
	const id = useId();
	const input = useRef<HTMLInputElement>(null);
	const list = useRef<HTMLDivElement>(null);
	const open = useSignal(false);
	const typed = useSignal<string | null>(null);
	const at = useSignal(0);
	// Taken by Enter, or left, before the list was there: decided by the list when it comes.
	// Until then the form is not sent, as it would be sent with the value of before.
	const early = useRef<"" | "taken" | "left">("");
	const wait = (how: "" | "taken" | "left") => {
		early.current = how;
		input.current?.setCustomValidity(how === "" ? "" : "Looking for it. Try again in a moment.");
	};

	const chosen = choices.find((choice) => choice.value === value);
	const shown = chosen?.title ?? props.shown ?? value;
	const found =
		typed.value === null || typed.value.trim() === ""
			? [...choices]
			: choices
					.map((choice) => ({
						choice,
						score: Math.max(fit(typed.value ?? "", choice.title), fit(typed.value ?? "", choice.value) / 2),
					}))
					.filter(({ score }) => score > 0)
					.sort((a, b) => b.score - a.score)
					.map(({ choice }) => choice);
	const count = found.length + (props.more ? 1 : 0);
	const here = Math.min(at.value, count - 1);

	useLayoutEffect(() => {
		const box = list.current;
		if (!box) return;
		if (!open.value) {
			if (box.matches(":popover-open")) box.hidePopover();
			return;
		}
		if (!box.matches(":popover-open")) box.showPopover();
		const field = input.current?.getBoundingClientRect();
		if (!field) return;
		const below = innerHeight - field.bottom - 12;
		const above = field.top - 12;
		const up = below < 160 && above > below;
		box.style.left = `${field.left}px`;
		box.style.width = `${field.width}px`;
		box.style.maxHeight = `${Math.min(280, up ? above : below)}px`;
		box.style.top = up ? "auto" : `${field.bottom + 4}px`;
		box.style.bottom = up ? `${innerHeight - field.top + 4}px` : "auto";
		box.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
	});

	useEffect(() => {
		if (props.focus && matchMedia("(pointer: fine)").matches) input.current?.focus();
	}, []);

	// Before the field can be pressed or the form sent: both have just been let go.
	useLayoutEffect(() => {
		const how = early.current;
		if (props.busy || how === "") return;
		wait("");
		if (how === "taken") takeTyped(0);
		else leave();
	}, [props.busy]);

	// A value that arrives while the field has the keyboard is typed over, as one was that
	// stood there when it got it.
	useLayoutEffect(() => {
		if (typed.value === null && document.activeElement === input.current) input.current?.select();
	}, [shown]);

	const show = () => {
		if (disabled || open.value) return;
		at.value = Math.max(0, found.indexOf(chosen ?? (found[0] as Choice)));
		open.value = true;
	};
	const hide = () => {
		wait("");
		open.value = false;
		typed.value = null;
	};
	const take = (index: number) => {
		const choice = found[index];
		hide();
		if (choice) props.onPick(choice.value);
		else props.more?.onPick();
	};
	const takeTyped = (index: number) => {
		const text = typed.value?.trim() ?? "";
		if (props.busy && text !== "") {
			wait("taken");
			open.value = false;
		} else if (props.free && found.length === 0 && text !== "") {
			hide();
			props.onPick(text);
		} else take(index);
	};
	const onKey = (event: KeyboardEvent) => {
		if (event.isComposing) return;
		if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			event.preventDefault();
			if (!open.value) return show();
			at.value = (here + (event.key === "ArrowDown" ? 1 : -1) + count) % Math.max(1, count);
		} else if (event.key === "Enter" && early.current !== "") {
			event.preventDefault();
			event.stopPropagation();
		} else if (event.key === "Enter" && open.value) {
			const sends = event.ctrlKey || event.metaKey;
			if (sends && typed.value === null) return;
			event.preventDefault(); // the form is sent by the next one
			event.stopPropagation();
			takeTyped(here);
		} else if (event.key === "Escape" && open.value) {
			event.preventDefault();
			event.stopPropagation();
			hide();
		}
	};
	const leave = () => {
		const text = typed.value?.trim() ?? "";
		if (props.busy && text !== "") {
			if (early.current === "") wait("left");
			open.value = false;
			return;
		}
		const same = choices.find((choice) => choice.title === text || choice.value === text);
		hide();
		if (same) props.onPick(same.value);
		else if (props.free && text !== "") props.onPick(text);
	};

	const described = props.fault || props.help ? `${id}-words` : undefined;
	return (
		<div class="field">
			<label for={id}>{props.label}</label>
			<div class="picker" data-open={open.value || undefined}>
				<input
					ref={input}
					id={id}
					class="input"
					name={props.name}
					role="combobox"
					aria-expanded={open.value}
					aria-controls={`${id}-list`}
					aria-autocomplete="list"
					aria-activedescendant={open.value && count > 0 ? `${id}-${here}` : undefined}
					aria-invalid={props.fault !== undefined}
					aria-describedby={described}
					aria-busy={props.busy || undefined}
					data-tip={open.value ? undefined : props.tip}
					autocomplete="off"
					autocapitalize="off"
					spellcheck={false}
					disabled={disabled}
					placeholder={props.placeholder}
					value={typed.value ?? shown}
					onFocus={(event) => event.currentTarget.select()}
					onClick={show}
					onInput={(event) => {
						typed.value = event.currentTarget.value;
						wait("");
						at.value = 0;
						open.value = true;
					}}
					onKeyDown={onKey}
					onBlur={leave}
				/>
				<Icon of={ChevronsUpDown} size={14} />
			</div>
			<div
				ref={list}
				id={`${id}-list`}
				class="picker-list"
				popover="manual"
				role="listbox"
				aria-label={props.label}
				// The field keeps the focus.
				onPointerDown={(event) => event.preventDefault()}
				onMouseDown={(event) => event.preventDefault()}
			>
				{found.map((choice, index) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
					// biome-ignore lint/a11y/useFocusableInteractive: the field has the focus
					<div
						key={choice.value}
						id={`${id}-${index}`}
						class="picker-item"
						role="option"
						aria-selected={index === here}
						data-chosen={choice.value === value || undefined}
						title={choice.tip}
						onPointerMove={() => {
							at.value = index;
						}}
						onClick={() => take(index)}
					>
						<span class="cut">{choice.title}</span>
						{choice.note && (
							<small class="clip-left">
								<bdi>{choice.note}</bdi>
							</small>
						)}
					</div>
				))}
				{found.length === 0 && (
					<p class="picker-none">
						{props.busy ? "Looking…" : props.free ? "Enter takes what you typed." : "Nothing fits."}
					</p>
				)}
				{props.more && (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
					// biome-ignore lint/a11y/useFocusableInteractive: the field has the focus
					<div
						id={`${id}-${found.length}`}
						class="picker-item picker-more"
						role="option"
						aria-selected={here === found.length}
						onPointerMove={() => {
							at.value = found.length;
						}}
						onClick={() => take(found.length)}
					>
						{props.more.title}
					</div>
				)}
			</div>
			{props.below}
			{described && (
				<span id={described} class={props.fault ? "fault" : "help"}>
					{props.fault ?? props.help}
				</span>
			)}
		</div>
	);
}
