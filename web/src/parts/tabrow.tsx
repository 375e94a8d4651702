// One row of the vertical tabs: a tab, or one pane of a tab (spec chips C6).
import { Ellipsis, GitBranch, GitCommitHorizontal, GitFork, Pin, X } from "lucide";
import type { ChipLayout, TabView } from "../api/types";
import { closePane, closeTabs, focusPane, renameTab } from "../state/actions";
import { dialog, drawer, railMenu, renaming, showTab, zoomed } from "../state/store";
import { badges, type Line, rowAside, rowLines, shortPath, type TabRow } from "../words/tabs";
import { Diff, IconButton } from "./bits";
import { Icon, StateMark } from "./icon";
import { PullBadge } from "./pull";
import { Rename } from "./rename";
import { dropCard, leaveCard, wantCard } from "./rowcard";

export interface RowProps {
	row: TabRow;
	view: TabView;
	layout: ChipLayout | null;
	/** The tab is shown, or the pane has the focus in the tab that is. */
	active: boolean;
	/** The heading of a tab whose panes have rows of their own. */
	heading?: boolean;
}

/** The colour of a tab, beside all its rows. */
export function Stripe({ color }: { color: string }) {
	return color ? <span class="row-stripe" style={{ background: `var(--tab-${color}, ${color})` }} /> : null;
}

/** Opens the menu of a tab or a group: where it was asked for, or below its row. */
export function openMenu(
	kind: "tab" | "group",
	id: string,
	event: MouseEvent | KeyboardEvent,
	page?: string,
): void {
	event.preventDefault();
	event.stopPropagation();
	dropCard();
	const row = event.currentTarget instanceof Element ? event.currentTarget : null;
	const box = (row?.closest(".row, .group-head") ?? row)?.getBoundingClientRect();
	const pointed = event instanceof MouseEvent && (event.clientX > 0 || event.clientY > 0);
	const at = pointed
		? { x: event.clientX, y: event.clientY }
		: { x: (box?.left ?? 0) + 28, y: box?.bottom ?? 0 };
	railMenu.value = { kind, id, at, page };
}

/** Whether a key asks for the menu of what has the focus. */
export function asksMenu(event: KeyboardEvent): boolean {
	return event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey);
}

export function rowKey(row: TabRow): string {
	return row.pane || row.id;
}

function go(row: TabRow): void {
	showTab(row.id);
	if (!row.pane) return;
	focusPane(row.id, row.pane);
	if (zoomed.value && zoomed.value !== row.pane) zoomed.value = null;
}

function showChanges(row: TabRow): void {
	dropCard();
	drawer.value = false;
	dialog.value = { kind: "changes", pane: row.about };
}

function shut(row: TabRow): void {
	dropCard();
	void (row.pane ? closePane(row.pane) : closeTabs([row.id]));
}

export function Row({ row, view, layout, active, heading }: RowProps) {
	const editing = !row.pane && renaming.value === row.id;
	const shown = heading ? { diff: null, pull: null } : badges(row, view, layout);
	const [title, second, third] = heading ? [{ kind: "title", text: row.title } as Line] : rowLines(row, view);
	const hover = view.detailsOnHover && !heading;
	const key = rowKey(row);
	return (
		// biome-ignore lint/a11y/noStaticElementInteractions: its button has the keys
		<div
			class="row"
			data-active={active && !heading}
			data-unread={row.unread || undefined}
			data-density={heading ? "heading" : view.density === "compact" ? "compact" : "expanded"}
			onPointerEnter={(event) => {
				if (hover && event.pointerType === "mouse" && event.buttons === 0) wantCard(key, event.currentTarget);
			}}
			onPointerLeave={leaveCard}
			onPointerDown={dropCard}
			onContextMenu={(event) => {
				if (!editing) openMenu("tab", row.id, event);
			}}
		>
			<button
				type="button"
				class="row-main"
				data-tab={row.pane ? undefined : row.id}
				data-row={row.pane || undefined}
				aria-current={active ? (row.pane ? "true" : "page") : undefined}
				onClick={() => go(row)}
				onDblClick={() => {
					if (!row.pane) renaming.value = row.id;
				}}
				onAuxClick={(event) => {
					if (event.button === 1) shut(row);
				}}
				onFocus={(event) => {
					if (hover && event.currentTarget.matches(":focus-visible")) wantCard(key, event.currentTarget);
				}}
				onBlur={dropCard}
			>
				<StateMark state={row.state} />
				<span class="row-title">
					<span class="cut">
						{title?.kind === "directory" ? shortPath(title.text, 30) : title?.text || row.title}
					</span>
					{row.unread && <span class="unread-dot" aria-hidden="true" />}
					{row.practice && <span class="label">practice</span>}
					{row.pinned && <Icon of={Pin} size={12} />}
					<span class="hidden-text">{rowAside(row, third)}</span>
				</span>
				{second && (
					<span class="row-line">
						<RowLine line={second} row={row} room={view.density === "compact" ? 24 : 36} />
					</span>
				)}
			</button>
			{third && (
				<span class="row-line row-last">
					<span class="row-last-text" aria-hidden="true">
						<RowLine line={third} row={row} room={28} />
					</span>
					{shown.diff && (
						<button
							type="button"
							class="badge diff-badge"
							data-tip={hover ? undefined : "Show changes"}
							onClick={() => showChanges(row)}
						>
							<span class="hidden-text">Changes of {row.title}: </span>
							<Diff added={shown.diff.added} removed={shown.diff.removed} />
						</button>
					)}
					{shown.pull && <PullBadge pull={shown.pull} tip={!hover} />}
				</span>
			)}
			{editing ? (
				<Rename
					id={row.id}
					value={row.title}
					class="row-rename"
					label={`New name of ${row.title}; empty gives the old one back`}
					onKeep={(title) => void renameTab(row.id, title)}
				/>
			) : (
				<span class="row-tools">
					{!row.pane && (
						<IconButton
							icon={Ellipsis}
							class="small row-more"
							label={`Menu of ${row.title}`}
							expanded={railMenu.value?.id === row.id}
							onClick={(event) => openMenu("tab", row.id, event)}
						/>
					)}
					<IconButton
						icon={X}
						class="small row-close"
						label={row.pane ? `Close pane ${row.title}` : `Close ${row.title}`}
						onClick={() => shut(row)}
					/>
				</span>
			)}
		</div>
	);
}

function RowLine({ line, row, room }: { line: Line; row: TabRow; room: number }) {
	if (line.kind === "branch") {
		const icon = row.detached ? GitCommitHorizontal : row.worktree ? GitFork : GitBranch;
		return (
			<>
				<Icon of={icon} size={12} />
				<span class="cut branch-line">{line.text}</span>
			</>
		);
	}
	return <span class="cut">{line.kind === "directory" ? shortPath(line.text, room) : line.text}</span>;
}
