// The list of the vertical tabs: its rows, the field that searches them, the keys that move
// in it, and moving tabs by hand.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { Search, X } from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { focusOn, wantFocus } from "../keys/keys";
import { close, closePane, closeTabs } from "../state/actions";
import { doMove, editGroup } from "../state/groups";
import {
	chips,
	groups,
	layout,
	panes,
	railMenu,
	renaming,
	said,
	searching,
	sessions,
	tabs,
	tabView,
} from "../state/store";
import { groupName, type RailItem, railItems, stepped } from "../words/groups";
import { found, rowsOf, type TabRows, viewOf } from "../words/tabs";
import { IconButton } from "./bits";
import { Icon } from "./icon";
import { RailItems } from "./railitems";
import { RailMenus } from "./railmenu";
import { carded, dropCard, RowCard } from "./rowcard";
import { asksMenu, rowKey } from "./tabrow";

/** With more tabs than this the search field is there by itself. */
const many = 7;

export function TabList() {
	const list = useRef<HTMLElement>(null);
	const typed = useSignal("");
	const view = viewOf(tabView.value);
	const all = useComputed(() =>
		rowsOf(tabs.value, panes.value, chips.value, sessions.value, viewOf(tabView.value)),
	);
	const field = tabs.value.length > many || searching.value;
	const searched = field && typed.value.trim() !== "";
	const shown = field ? found(all.value, typed.value) : all.value;
	const items = railItems(shown, tabs.value, groups.value);

	useSignalEffect(() => {
		const { what, n } = wantFocus.value;
		if (n === 0 || what !== "tabs") return;
		requestAnimationFrame(() => {
			const rows = list.current;
			// The shown tab; its group's header, when that is folded.
			const here = rows?.querySelector<HTMLElement>('[aria-current="page"]');
			(here ?? rows?.querySelector<HTMLElement>(".group-head[data-here] .group-main, .row-main"))?.focus();
		});
	});

	const rows = () => [...(list.current?.querySelectorAll<HTMLElement>(".row-main, .group-main") ?? [])];
	return (
		<>
			{field && (
				<TabSearch
					value={typed.value}
					onInput={(text) => {
						typed.value = text;
					}}
					onDown={() => rows()[0]?.focus()}
					onEnter={() => list.current?.querySelector<HTMLElement>(".row-main")?.click()}
				/>
			)}
			<nav
				ref={list}
				class="rail-list"
				aria-label="Open tabs"
				onScroll={dropCard}
				onKeyDown={(event) => rowKeys(event, rows(), items)}
			>
				<RailItems items={searched ? unfolded(items) : items} whole={!searched} />
				{tabs.value.length === 0 && <p class="rail-hint">Tabs stand here.</p>}
				{tabs.value.length > 0 && shown.length === 0 && (
					<p class="rail-hint" role="status">
						No tab matches “{typed.value.trim()}”.
					</p>
				)}
			</nav>
			<p class="hidden-text" aria-live="polite">
				{said.value}
			</p>
			{view.detailsOnHover && <Card all={shown} />}
			<RailMenus />
		</>
	);
}

/** What is found is shown, also in a group that is folded. */
function unfolded(items: readonly RailItem[]): RailItem[] {
	return items.map((item) =>
		item.kind === "group" ? { ...item, group: { ...item.group, collapsed: false } } : item,
	);
}

/**
 * The keys of a row: the arrows go to its neighbours, Alt and an arrow move it, F2 names it,
 * Delete closes it, Shift F10 opens its menu; ← and → fold and unfold a group.
 */
function rowKeys(event: KeyboardEvent, rows: HTMLElement[], items: readonly RailItem[]): void {
	const target = event.target;
	if (!(target instanceof HTMLElement) || !target.matches(".row-main, .group-main")) return;
	const at = rows.indexOf(target);
	const go = (to: number) => rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
	const { tab, row, group } = target.dataset;
	const id = group ?? tab;
	if (event.altKey && !event.shiftKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
		if (id) stepRow(items, group ? "group" : "tab", id, event.key === "ArrowDown" ? 1 : -1);
	} else if (event.altKey || event.ctrlKey || event.metaKey) return;
	else if (event.key === "ArrowDown") go(at + 1);
	else if (event.key === "ArrowUp") go(at - 1);
	else if (event.key === "Home") go(0);
	else if (event.key === "End") go(rows.length - 1);
	else if (event.key === "F2" && id) renaming.value = id;
	else if (event.key === "Delete" && row) void closePane(row);
	else if (event.key === "Delete" && tab) void closeTabs([tab]);
	else if (event.key === "Delete" && group) void close({ group });
	else if (asksMenu(event) && id) {
		const box = target.getBoundingClientRect();
		railMenu.value = { kind: group ? "group" : "tab", id, at: { x: box.left + 24, y: box.bottom } };
	} else if (group && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
		const collapsed = event.key === "ArrowLeft";
		const item = items.find((one) => one.id === group);
		if (item?.kind === "group" && Boolean(item.group.collapsed) !== collapsed) {
			void editGroup(group, { collapsed });
		}
	} else return;
	event.preventDefault();
}

/** One step by key; the keyboard stays on what it moved. */
function stepRow(items: readonly RailItem[], kind: "tab" | "group", id: string, by: 1 | -1): void {
	const move = stepped(items, { kind, id }, by);
	if (!move) return;
	const group = kind === "group" && groups.value.find((one) => one.id === id);
	const tab = tabs.value.find((one) => one.id === id);
	void doMove(move, group ? groupName(group) : (tab?.title ?? "")).then(() => {
		requestAnimationFrame(() =>
			document
				.querySelector<HTMLElement>(`.row-main[data-tab="${id}"], .group-main[data-group="${id}"]`)
				?.focus(),
		);
	});
}

function Card({ all }: { all: TabRows[] }) {
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
