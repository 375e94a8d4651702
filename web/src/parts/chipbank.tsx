// The bank of an editor: what a place may show and does not. What shows nothing here at
// present is dimmed, with the reason, and can be added all the same (spec chips C3.1).
import { useSignal } from "@preact/signals";
import { Plus } from "lucide";
import { useId, useRef } from "preact/hooks";
import type { Bank, BankItem } from "../api/types";
import { type Items, offered, type Place } from "../words/chiplayout";
import { chipName } from "../words/chipnames";
import type { Dragged } from "./chipdrag";
import { ChipIcon } from "./chipicon";
import { Icon } from "./icon";

export interface ChipBankProps {
	place: Place;
	items: Items;
	bank: Bank | null;
	/** A chip is held over it. */
	over: boolean;
	onDown: (event: PointerEvent, what: Dragged, from: "bank") => void;
	onAdd: (kind: string) => void;
}

export function ChipBank({ place, items, bank, over, onDown, onAdd }: ChipBankProps) {
	const typed = useSignal("");
	const list = useRef<HTMLUListElement>(null);
	const field = useRef<HTMLInputElement>(null);
	const current = useSignal("");
	const id = useId();
	const rest = offered(bank, items, place, typed.value);
	const inOrder = rest.some((item) => item.kind === current.value) ? current.value : rest[0]?.kind;

	const buttons = () => [...(list.current?.querySelectorAll<HTMLElement>(".bank-item") ?? [])];
	const put = (item: BankItem, byKey: boolean) => {
		const all = buttons();
		const at = rest.indexOf(item);
		onAdd(item.kind);
		if (!byKey || document.activeElement === field.current) return;
		// The next one takes its place, so that several can be added in a row.
		(all[at + 1] ?? all[at - 1] ?? field.current)?.focus();
	};
	const step = (event: KeyboardEvent) => {
		const all = buttons();
		const at = all.indexOf(document.activeElement as HTMLElement);
		const typing = at < 0;
		if (event.key === "ArrowDown" || (event.key === "ArrowRight" && !typing)) {
			all[Math.min(at + 1, all.length - 1)]?.focus();
		} else if ((event.key === "ArrowUp" || event.key === "ArrowLeft") && !typing) {
			(all[at - 1] ?? field.current)?.focus();
		} else if (event.key === "Enter" && typing) {
			if (rest[0]) put(rest[0], true);
		} else return;
		event.preventDefault();
	};
	return (
		<section class="bank" data-over={over || undefined} aria-labelledby={`${id}-bank`} onKeyDown={step}>
			<div class="layout-head">
				<h3 id={`${id}-bank`}>{place === "prompt" ? "More chips" : "More"}</h3>
				<input
					ref={field}
					type="search"
					class="input bank-search"
					aria-label="Find a chip"
					placeholder="Find a chip"
					autocomplete="off"
					spellcheck={false}
					value={typed.value}
					onInput={(event) => {
						typed.value = event.currentTarget.value;
					}}
				/>
			</div>
			<ul ref={list} aria-labelledby={`${id}-bank`}>
				{rest.map((item) => (
					<li key={item.kind}>
						<button
							type="button"
							class="bank-item"
							data-kind={item.kind}
							data-dim={Boolean(item.reason) || undefined}
							tabIndex={item.kind === inOrder ? 0 : -1}
							onFocus={() => {
								current.value = item.kind;
							}}
							onPointerDown={(event) => onDown(event, { kind: item.kind, icon: item.icon }, "bank")}
							onClick={(event) => put(item, event.detail === 0)}
						>
							<ChipIcon kind={item.kind} icon={item.icon} size={16} />
							<span class="words">
								<span class="hidden-text">Add </span>
								<span class="cut">{chipName(item.kind, item.title)}</span>
								<small class="cut" data-tip={item.reason}>
									<span class="hidden-text">, </span>
									{item.reason ? <Reason text={item.reason} /> : item.example && `such as ${item.example}`}
								</small>
							</span>
							<Icon of={Plus} size={14} />
						</button>
					</li>
				))}
			</ul>
			{bank && rest.length === 0 && (
				<p class="help">
					{typed.value.trim() ? `Nothing fits “${typed.value.trim()}”.` : "All of it is shown."}
				</p>
			)}
			{!bank && <p class="help">Loading…</p>}
		</section>
	);
}

/** A reason; what stands between back-ticks is a program's name. */
function Reason({ text }: { text: string }) {
	return (
		<>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={String(at)}>{part}</code> : part))}</>
	);
}
