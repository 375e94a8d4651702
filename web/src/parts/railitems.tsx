// What stands in the rail: pinned tabs, groups and single tabs; and moving them by hand. A
// tab dropped on the middle of another makes a group of both (spec tabs T6.5).
import { useSignal } from "@preact/signals";
import { ChevronDown, ChevronRight, Ellipsis, Pin } from "lucide";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { doMove, editGroup } from "../state/groups";
import { activePane, activeTab, layout, railMenu, renaming, tabView } from "../state/store";
import {
	type DropTarget,
	dropPart,
	dropped,
	type GroupItem,
	groupAside,
	groupName,
	type Move,
	type RailItem,
} from "../words/groups";
import { stateWords, type TabRows, viewOf } from "../words/tabs";
import { IconButton } from "./bits";
import { Icon, StateMark } from "./icon";
import { type Lifted, useTouchDrag } from "./raildrag";
import { Rename } from "./rename";
import { dropCard } from "./rowcard";
import { openMenu, Row, Stripe } from "./tabrow";

interface Dragged {
	kind: "tab" | "group";
	id: string;
	title: string;
}

export interface RailItemsProps {
	items: readonly RailItem[];
	/** All tabs are shown: places mean what they seem to. */
	whole: boolean;
}

export function RailItems({ items, whole }: RailItemsProps) {
	const root = useRef<HTMLDivElement>(null);
	const dragged = useSignal<Dragged | null>(null);
	const over = useSignal<DropTarget | null>(null);
	const moveOf = (target: DropTarget | null): Move | null =>
		dragged.value && target ? dropped(items, dragged.value, target) : null;
	const drop = () => {
		const move = moveOf(over.value);
		if (move && dragged.value) void doMove(move, dragged.value.title);
		end();
	};
	const end = () => {
		dragged.value = null;
		over.value = null;
	};
	/** Whether what is dragged may be dropped there; marks the place. */
	const aim = ({ kind, id }: Lifted, y: number, height: number): boolean => {
		const target: DropTarget = { kind, id, part: dropPart(kind, y, height) };
		const may = moveOf(target) !== null;
		if (!may) over.value = null;
		else if (over.value?.id !== id || over.value.part !== target.part) over.value = target;
		return may;
	};
	const drag: DragContext = {
		may: whole,
		start: (event, what) => {
			dropCard();
			event.stopPropagation();
			event.dataTransfer?.setData("text/plain", what.title);
			if (event.dataTransfer) event.dataTransfer.effectAllowed = "move";
			dragged.value = what;
		},
		over: (event, kind, id) => {
			if (!dragged.value) return;
			event.stopPropagation();
			const box = (event.currentTarget as Element).getBoundingClientRect();
			if (aim({ kind, id }, event.clientY - box.top, box.height)) event.preventDefault();
		},
		end,
		mark: (id) => (over.value?.id === id ? over.value.part : undefined),
		lifted: (id) => dragged.value?.id === id || undefined,
	};
	useTouchDrag(root, {
		may: whole,
		lift: (what) => {
			if (renaming.value === what.id) return false;
			dropCard();
			dragged.value = { ...what, title: titleOf(items, what) };
			return true;
		},
		over: (on, y, height) => {
			if (on) aim(on, y, height);
			else over.value = null;
		},
		drop,
		cancel: end,
		menu: (what, event) => openMenu(what.kind, what.id, event),
	});
	const pinned = items.filter((item) => item.pinned);
	const rest = items.filter((item) => !item.pinned);
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: what is dropped has its keys and menus
		<div
			ref={root}
			class="rail-items"
			data-dragging={dragged.value !== null || undefined}
			onDrop={(event) => {
				event.preventDefault();
				drop();
			}}
			onDragLeave={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget as Node | null)) over.value = null;
			}}
		>
			{pinned.length > 0 && (
				<>
					<p class="rail-label" aria-hidden="true">
						Pinned
					</p>
					<ul class="rail-pinned" aria-label="Pinned tabs">
						<Items items={pinned} drag={drag} />
					</ul>
				</>
			)}
			{rest.length > 0 && (
				<ul aria-label="Tabs">
					<Items items={rest} drag={drag} />
				</ul>
			)}
		</div>
	);
}

interface DragContext {
	may: boolean;
	start: (event: DragEvent, what: Dragged) => void;
	over: (event: DragEvent, kind: "tab" | "group", id: string) => void;
	end: () => void;
	mark: (id: string) => string | undefined;
	lifted: (id: string) => boolean | undefined;
}

function titleOf(items: readonly RailItem[], what: Lifted): string {
	for (const item of items) {
		if (item.kind === "group" && item.id === what.id) return groupName(item.group);
		const tabs = item.kind === "group" ? item.tabs : [item.rows];
		const tab = tabs.find((one) => one.tab === what.id);
		if (tab) return tab.head.title;
	}
	return "";
}

function Items({ items, drag }: { items: readonly RailItem[]; drag: DragContext }) {
	return (
		<>
			{items.map((item) =>
				item.kind === "tab" ? (
					<TabItem key={item.id} rows={item.rows} drag={drag} />
				) : (
					<GroupPart key={item.id} item={item} drag={drag} />
				),
			)}
		</>
	);
}

function TabItem({ rows, drag, inGroup }: { rows: TabRows; drag: DragContext; inGroup?: boolean }) {
	const view = viewOf(tabView.value);
	const here = rows.tab === activeTab.value?.id;
	const head = inGroup ? { ...rows.head, pinned: false } : rows.head;
	return (
		<li
			class="row-group"
			data-several={rows.rows.length > 0 || undefined}
			data-here={here || undefined}
			data-item="tab"
			data-id={rows.tab}
			data-lifted={drag.lifted(rows.tab)}
			data-drop={drag.mark(rows.tab)}
			draggable={drag.may && renaming.value !== rows.tab}
			onDragStart={(event) => drag.start(event, { kind: "tab", id: rows.tab, title: rows.head.title })}
			onDragOver={(event) => drag.over(event, "tab", rows.tab)}
			onDragEnd={drag.end}
		>
			<Stripe color={rows.head.color} />
			<Row row={head} view={view} layout={layout.value} active={here} heading={rows.rows.length > 0} />
			{rows.rows.length > 0 && (
				<ul aria-label={`Panes of ${rows.head.title}`}>
					{rows.rows.map((row) => (
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
}

function GroupPart({ item, drag }: { item: GroupItem; drag: DragContext }) {
	const name = groupName(item.group);
	const folded = item.group.collapsed ?? false;
	const here = item.tabs.some((tab) => tab.tab === activeTab.value?.id);
	return (
		<li
			class="tab-group"
			data-color={item.group.color || undefined}
			data-lifted={drag.lifted(item.id)}
			data-drop={drag.mark(item.id)}
			style={
				item.group.color ? { "--group": `var(--tab-${item.group.color}, ${item.group.color})` } : undefined
			}
			draggable={drag.may && renaming.value !== item.id}
			onDragStart={(event) => drag.start(event, { kind: "group", id: item.id, title: name })}
			onDragEnd={drag.end}
		>
			<GroupHead
				item={item}
				folded={folded}
				here={here && folded}
				onDragOver={(event) => drag.over(event, "group", item.id)}
			/>
			{!folded && (
				<ul aria-label={`Tabs of ${name}`}>
					{item.tabs.map((rows) => (
						<TabItem key={rows.tab} rows={rows} drag={drag} inGroup />
					))}
				</ul>
			)}
		</li>
	);
}

export interface GroupHeadProps {
	item: GroupItem;
	folded: boolean;
	here: boolean;
	onDragOver?: (event: DragEvent) => void;
}

/** Name, count, and what its tabs are up to; a press folds it. */
export function GroupHead({ item, folded, here, onDragOver }: GroupHeadProps) {
	const name = groupName(item.group);
	const editing = renaming.value === item.id;
	const unread = item.tabs.filter((tab) => tab.head.unread).length;
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: its parts have their roles
		<div
			class="group-head"
			data-item="group"
			data-id={item.id}
			data-here={here || undefined}
			onDragOver={onDragOver}
			onContextMenu={(event) => openMenu("group", item.id, event)}
		>
			<button
				type="button"
				class="group-main"
				data-group={item.id}
				aria-expanded={!folded}
				onClick={() => void editGroup(item.id, { collapsed: !folded })}
				onDblClick={() => {
					renaming.value = item.id;
				}}
			>
				<span class="group-fold">
					<Icon of={folded ? ChevronRight : ChevronDown} size={14} />
				</span>
				<span class="group-name cut">{name}</span>
				<span class="group-count" aria-hidden="true">
					{item.tabs.length}
				</span>
				{item.group.pinned && <Icon of={Pin} size={12} />}
				<span class="hidden-text">
					, {groupAside(item, stateWords)}
					{unread > 0 && `, ${unread} unread`}
				</span>
				{unread > 0 && (
					<span class="group-unread" data-tip={`${unread} unread`} aria-hidden="true">
						{unread}
					</span>
				)}
				<GroupStates states={item.states} />
			</button>
			{editing ? (
				<Rename
					id={item.id}
					value={item.group.name}
					class="row-rename"
					label={`Name of the group ${name}`}
					onKeep={(next) => void editGroup(item.id, { name: next })}
				/>
			) : (
				<span class="row-tools">
					<IconButton
						icon={Ellipsis}
						class="small row-more"
						label={`Menu of the group ${name}`}
						expanded={railMenu.value?.id === item.id}
						onClick={(event) => openMenu("group", item.id, event)}
					/>
				</span>
			)}
		</div>
	);
}

function GroupStates({ states }: { states: GroupItem["states"] }): ComponentChildren {
	return (
		<span class="group-states" aria-hidden="true">
			{states.slice(0, 3).map(([state, count]) => (
				<span key={state} class="group-state">
					<StateMark state={state} />
					{count > 1 && count}
				</span>
			))}
		</span>
	);
}
