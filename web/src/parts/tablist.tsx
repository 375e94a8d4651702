// The list of the vertical tabs: its rows, the field that searches them, the keys that move
// in it, and moving tabs by hand.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { Search, X } from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { focusOn, wantFocus } from "../keys/keys";
import { closePane, closeTabs, moveTab } from "../state/actions";
import {
	activePane,
	activeTab,
	chips,
	layout,
	panes,
	renaming,
	searching,
	sessions,
	tabs,
	tabView,
} from "../state/store";
import { found, groups, type RowGroup, viewOf } from "../words/tabs";
import { IconButton } from "./bits";
import { Icon } from "./icon";
import { carded, dropCard, RowCard } from "./rowcard";
import { Row, rowKey, Stripe } from "./tabrow";

/** With more tabs than this the search field is there by itself. */
const many = 7;

export function TabList() {
	const list = useRef<HTMLUListElement>(null);
	const typed = useSignal("");
	const view = viewOf(tabView.value);
	const all = useComputed(() =>
		groups(tabs.value, panes.value, chips.value, sessions.value, viewOf(tabView.value)),
	);
	const field = tabs.value.length > many || searching.value;
	const shown = field ? found(all.value, typed.value) : all.value;

	useSignalEffect(() => {
		const { what, n } = wantFocus.value;
		if (n > 0 && what === "tabs") {
			requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[aria-current="page"]')?.focus());
		}
	});

	const rows = () => [...(list.current?.querySelectorAll<HTMLElement>(".row-main") ?? [])];
	return (
		<>
			{field && (
				<TabSearch
					value={typed.value}
					onInput={(text) => {
						typed.value = text;
					}}
					onDown={() => rows()[0]?.focus()}
					onEnter={() => rows()[0]?.click()}
				/>
			)}
			<nav class="rail-list" aria-label="Open tabs" onScroll={dropCard}>
				<ul ref={list} onKeyDown={(event) => move(event, rows())}>
					<Groups all={shown} whole={shown.length === tabs.value.length} />
				</ul>
				{tabs.value.length === 0 && <p class="rail-hint">Tabs stand here.</p>}
				{tabs.value.length > 0 && shown.length === 0 && (
					<p class="rail-hint" role="status">
						No tab matches “{typed.value.trim()}”.
					</p>
				)}
			</nav>
			{view.detailsOnHover && <Card all={shown} />}
		</>
	);
}

/** The keys of a row: the arrows go to its neighbours, F2 names its tab, Delete closes it. */
function move(event: KeyboardEvent, rows: HTMLElement[]): void {
	if (!(event.target instanceof HTMLElement) || !event.target.classList.contains("row-main")) return;
	const at = rows.indexOf(event.target);
	const go = (to: number) => {
		event.preventDefault();
		rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
	};
	const { tab, row } = event.target.dataset;
	if (event.key === "ArrowDown" && !event.altKey) go(at + 1);
	else if (event.key === "ArrowUp" && !event.altKey) go(at - 1);
	else if (event.key === "Home") go(0);
	else if (event.key === "End") go(rows.length - 1);
	else if (event.key === "F2" && tab) renaming.value = tab;
	else if (event.key === "Delete" && row) void closePane(row);
	else if (event.key === "Delete" && tab) void closeTabs([tab]);
}

function Groups({ all, whole }: { all: RowGroup[]; whole: boolean }) {
	const dragged = useSignal<string | null>(null);
	const over = useSignal<string | null>(null);
	const view = viewOf(tabView.value);
	const drop = () => {
		if (dragged.value && over.value && dragged.value !== over.value) void moveTab(dragged.value, over.value);
		dragged.value = null;
		over.value = null;
	};
	return (
		<>
			{all.map((group) => {
				const here = group.tab === activeTab.value?.id;
				return (
					<li
						key={group.tab}
						class="row-group"
						data-several={group.rows.length > 0 || undefined}
						data-here={here || undefined}
						data-drop={(over.value === group.tab && dragged.value !== group.tab) || undefined}
						draggable={whole && renaming.value !== group.tab}
						onDragStart={() => {
							dropCard();
							dragged.value = group.tab;
						}}
						onDragOver={(event) => {
							event.preventDefault();
							if (dragged.value) over.value = group.tab;
						}}
						onDragEnd={drop}
					>
						<Stripe color={group.head.color} />
						<Row
							row={group.head}
							view={view}
							layout={layout.value}
							active={here}
							heading={group.rows.length > 0}
						/>
						{group.rows.length > 0 && (
							<ul aria-label={`Panes of ${group.head.title}`}>
								{group.rows.map((row) => (
									<li key={row.pane}>
										<Row
											row={row}
											view={view}
											layout={layout.value}
											active={here && activePane.value === row.pane}
										/>
									</li>
								))}
							</ul>
						)}
					</li>
				);
			})}
		</>
	);
}

function Card({ all }: { all: RowGroup[] }) {
	const want = carded.value;
	if (!want) return null;
	const rows = all.flatMap((group) => (group.rows.length > 0 ? group.rows : [group.head]));
	const row = rows.find((one) => rowKey(one) === want.key);
	const tab = row && tabs.value.find((one) => one.id === row.id);
	return row && tab ? <RowCard row={row} tab={tab} layout={layout.value} box={want.box} /> : null;
}

interface SearchProps {
	value: string;
	onInput: (text: string) => void;
	onDown: () => void;
	onEnter: () => void;
}

/** Finds tabs by title, directory and branch; Escape empties it, then leaves it. */
function TabSearch({ value, onInput, onDown, onEnter }: SearchProps) {
	const input = useRef<HTMLInputElement>(null);
	// At once: what is typed next must not go to the terminal.
	useLayoutEffect(() => {
		if (searching.peek()) input.current?.focus();
	}, []);
	useSignalEffect(() => {
		if (searching.value) input.current?.focus();
	});
	const leave = () => {
		searching.value = false;
		onInput("");
	};
	return (
		<div class="rail-search">
			<Icon of={Search} size={14} />
			<input
				ref={input}
				type="text"
				aria-label="Search tabs"
				placeholder="Search tabs"
				autocomplete="off"
				spellcheck={false}
				value={value}
				onInput={(event) => onInput(event.currentTarget.value)}
				onBlur={() => {
					if (value === "") searching.value = false;
				}}
				onKeyDown={(event) => {
					if (event.key === "ArrowDown") onDown();
					else if (event.key === "Enter" && value.trim() !== "") {
						onEnter();
						leave();
						focusOn("pane");
					} else if (event.key === "Escape" && value !== "") onInput("");
					else if (event.key === "Escape") {
						leave();
						focusOn("pane");
					} else return;
					event.preventDefault();
				}}
			/>
			{value !== "" && (
				<IconButton
					icon={X}
					class="small"
					label="Show all tabs"
					onClick={() => {
						onInput("");
						input.current?.focus();
					}}
				/>
			)}
		</div>
	);
}
