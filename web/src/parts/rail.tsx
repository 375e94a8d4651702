// The left edge: the tabs, one below the other, and what is needed to make one.
import { useSignal, useSignalEffect } from "@preact/signals";
import { Contrast, GitBranch, GitFork, Keyboard, Monitor, Moon, PanelLeft, Search, Sun, X } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { wantFocus } from "../keys/keys";
import { closeTabs, moveTab, renameTab } from "../state/actions";
import {
	activeTab,
	chips,
	collapsed,
	dialog,
	hostInfo,
	link,
	panes,
	renaming,
	showTab,
	type Theme,
	tabs,
	theme,
} from "../state/store";
import { rowAside, rowPlace, type TabRow, tabRow } from "../words/tabs";
import { Diff, IconButton } from "./bits";
import { Brand, Icon, StateMark } from "./icon";
import { Menu, MenuItem } from "./menu";
import { NewTab } from "./newtab";

export function Rail() {
	return (
		<aside class="rail" aria-label="Tabs">
			<div class="rail-head">
				<span class="brand">
					<Brand /> davit
				</span>
				<span class="spacer" />
				<NewTab />
				<IconButton
					icon={PanelLeft}
					label="Hide the tab list"
					command="rail"
					class="rail-hide"
					onClick={() => {
						collapsed.value = true;
					}}
				/>
			</div>
			<TabList />
			<RailFoot />
		</aside>
	);
}

function TabList() {
	const list = useRef<HTMLUListElement>(null);
	const dragged = useSignal<string | null>(null);
	const over = useSignal<string | null>(null);

	useSignalEffect(() => {
		const { what, n } = wantFocus.value;
		if (n > 0 && what === "tabs") {
			requestAnimationFrame(() => list.current?.querySelector<HTMLElement>('[aria-current="page"]')?.focus());
		}
	});

	const onKey = (event: KeyboardEvent) => {
		if (!(event.target instanceof HTMLElement) || !event.target.classList.contains("row-main")) return;
		const rows = [...(list.current?.querySelectorAll<HTMLElement>(".row-main") ?? [])];
		const at = rows.indexOf(event.target);
		const go = (to: number) => {
			event.preventDefault();
			rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
		};
		const id = event.target.dataset.tab;
		if (event.key === "ArrowDown" && !event.altKey) go(at + 1);
		else if (event.key === "ArrowUp" && !event.altKey) go(at - 1);
		else if (event.key === "Home") go(0);
		else if (event.key === "End") go(rows.length - 1);
		else if (event.key === "F2" && id) renaming.value = id;
		else if (event.key === "Delete" && id) void closeTabs([id]);
	};

	const drop = () => {
		if (dragged.value && over.value && dragged.value !== over.value) void moveTab(dragged.value, over.value);
		dragged.value = null;
		over.value = null;
	};

	return (
		<nav class="rail-list" aria-label="Open tabs">
			<ul ref={list} onKeyDown={onKey}>
				{tabs.value.map((tab) => (
					<Row
						key={tab.id}
						row={tabRow(tab, panes.value, chips.value)}
						active={tab.id === activeTab.value?.id}
						dropAfter={over.value === tab.id && dragged.value !== tab.id}
						onDrag={(what) => {
							if (what === "start") dragged.value = tab.id;
							else if (what === "over" && dragged.value) over.value = tab.id;
							else if (what === "drop") drop();
						}}
					/>
				))}
			</ul>
			{tabs.value.length === 0 && <p class="rail-hint">Tabs stand here.</p>}
		</nav>
	);
}

export interface RowProps {
	row: TabRow;
	active: boolean;
	dropAfter?: boolean;
	onDrag?: (what: "start" | "over" | "drop") => void;
}

export function Row({ row, active, dropAfter, onDrag }: RowProps) {
	const editing = renaming.value === row.id;
	const place = rowPlace(row);
	const tip = [row.title, row.directoryFull, row.branch && `⎇ ${row.branch}`, row.stateWord]
		.filter(Boolean)
		.join("\n");
	return (
		<li
			class="row"
			data-active={active}
			data-drop={dropAfter || undefined}
			draggable={!editing && onDrag !== undefined}
			onDragStart={() => onDrag?.("start")}
			onDragOver={(event) => {
				event.preventDefault();
				onDrag?.("over");
			}}
			onDragEnd={() => onDrag?.("drop")}
		>
			{row.color && (
				<span class="row-stripe" style={{ background: `var(--tab-${row.color}, ${row.color})` }} />
			)}
			<button
				type="button"
				class="row-main"
				data-tab={row.id}
				data-tip={tip}
				aria-current={active ? "page" : undefined}
				onClick={() => showTab(row.id)}
				onDblClick={() => {
					renaming.value = row.id;
				}}
				onAuxClick={(event) => {
					if (event.button === 1) void closeTabs([row.id]);
				}}
			>
				<StateMark state={row.state} />
				<span class="row-title">
					<span class="cut">{row.title}</span>
					{row.practice && <span class="label">practice</span>}
					<span class="hidden-text">{rowAside(row)}</span>
				</span>
				<span class="row-sub">
					{place && <span class="where cut">{place}</span>}
					{row.branch && (
						<span class="branch">
							<Icon of={row.worktree ? GitFork : GitBranch} size={12} />
							<span class="cut">{row.branch}</span>
						</span>
					)}
					{(row.added > 0 || row.removed > 0) && <Diff added={row.added} removed={row.removed} />}
				</span>
			</button>
			{editing ? (
				<Rename row={row} />
			) : (
				<IconButton
					icon={X}
					class="small row-close"
					label={`Close ${row.title}`}
					onClick={() => void closeTabs([row.id])}
				/>
			)}
		</li>
	);
}

function Rename({ row }: { row: TabRow }) {
	const ref = useRef<HTMLInputElement>(null);
	const done = useRef(false);
	useEffect(() => {
		ref.current?.focus();
		ref.current?.select();
	}, []);
	const end = (keep: boolean) => {
		if (done.current) return;
		done.current = true;
		const title = ref.current?.value.trim() ?? "";
		if (keep && title !== row.title) void renameTab(row.id, title);
		else renaming.value = null;
	};
	return (
		<input
			ref={ref}
			class="row-rename"
			aria-label={`New name of ${row.title}; empty gives the old one back`}
			defaultValue={row.title}
			onKeyDown={(event) => {
				event.stopPropagation();
				if (event.key === "Enter") end(true);
				if (event.key === "Escape") end(false);
			}}
			onBlur={() => end(true)}
		/>
	);
}

const themes: { value: Theme; title: string; icon: typeof Sun }[] = [
	{ value: "system", title: "As the system", icon: Monitor },
	{ value: "dark", title: "Dark", icon: Moon },
	{ value: "light", title: "Light", icon: Sun },
	{ value: "contrast", title: "High contrast", icon: Contrast },
];

function RailFoot() {
	const open = useSignal(false);
	const button = useRef<HTMLButtonElement>(null);
	const close = () => {
		open.value = false;
	};
	const place = hostInfo.value?.directory ?? "";
	return (
		<div class="rail-foot">
			<span class="rail-link" data-tip={place && `davit ${hostInfo.value?.version}\n${place}`}>
				<StateMark state={link.value.status === "open" ? "idle" : "lost"} />
				<span class="cut">{link.value.status === "open" ? "connected" : "not connected"}</span>
			</span>
			<span class="spacer" />
			<IconButton
				icon={Search}
				label="Command palette"
				command="palette"
				onClick={() => {
					dialog.value = { kind: "palette" };
				}}
			/>
			<IconButton
				icon={Keyboard}
				label="List of keys"
				command="keys"
				onClick={() => {
					dialog.value = { kind: "keys" };
				}}
			/>
			<IconButton
				icon={themes.find((t) => t.value === theme.value)?.icon ?? Monitor}
				label="Theme"
				refTo={button}
				expanded={open.value}
				onClick={() => {
					open.value = !open.value;
				}}
			/>
			{open.value && (
				<Menu label="Theme" at={button} onClose={close}>
					{themes.map((choice) => (
						<MenuItem
							key={choice.value}
							icon={choice.icon}
							title={choice.title}
							checked={theme.value === choice.value}
							onPick={() => {
								theme.value = choice.value;
								close();
								button.current?.focus();
							}}
						/>
					))}
				</Menu>
			)}
		</div>
	);
}
