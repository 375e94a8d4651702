// The menus of a tab and of a group in the rail: by the right button, by ⋯, by Shift F10.
import {
	Copy,
	FileCog,
	FolderMinus,
	FolderOpen,
	FolderPlus,
	Palette,
	PanelsTopLeft,
	PanelTopClose,
	Pencil,
	Pin,
	PinOff,
	SquareStack,
	Ungroup,
	X,
} from "lucide";
import type { Group, Tab } from "../api/types";
import { chordOf, focusOn } from "../keys/keys";
import { close, closeTabs, copy } from "../state/actions";
import {
	dissolveGroup,
	editGroup,
	joinGroup,
	makeGroup,
	movePane,
	pinTab,
	recolorTab,
} from "../state/groups";
import {
	chips,
	dialog,
	focusedHere,
	groups,
	panes,
	railMenu,
	renaming,
	sessions,
	tabs,
} from "../state/store";
import { leaves } from "../state/tree";
import { groupName } from "../words/groups";
import { tabRow } from "../words/tabs";
import { Keys } from "./bits";
import { Menu, MenuItem, MenuLine } from "./menu";
import { Swatches } from "./swatches";

function shut(): void {
	railMenu.value = null;
}

function page(name?: string): void {
	if (railMenu.value) railMenu.value = { ...railMenu.value, page: name };
}

/** Whichever is open. */
export function RailMenus() {
	const open = railMenu.value;
	if (!open) return null;
	if (open.kind === "tab") {
		const tab = tabs.value.find((one) => one.id === open.id);
		return tab ? <TabMenu key={`${open.id}${open.page}`} tab={tab} {...open} /> : null;
	}
	const group = groups.value.find((one) => one.id === open.id);
	return group ? <GroupMenu key={`${open.id}${open.page}`} group={group} {...open} /> : null;
}

interface Opened {
	at: { x: number; y: number };
	page?: string;
}

/** Closes the menu, then acts; the keyboard goes back to the list unless the act takes it. */
function then(act: () => void, stay = true): () => void {
	return () => {
		shut();
		if (stay) focusOn("tabs");
		act();
	};
}

function TabMenu({ tab, at, page: shown }: { tab: Tab } & Opened) {
	const row = tabRow(tab, panes.value, chips.value, sessions.value);
	const all = tabs.value;
	const place = all.findIndex((one) => one.id === tab.id);
	const others = all.some((one) => one.id !== tab.id && !one.pinned);
	const below = all.some((one, index) => index > place && !one.pinned);
	const menu = { at, onClose: shut, onLeave: () => focusOn("tabs") };
	if (shown === "color") {
		return (
			<Menu {...menu} label="Colour" onBack={() => page()}>
				<Swatches value={tab.color ?? ""} onPick={(color) => then(() => void recolorTab(tab.id, color))()} />
			</Menu>
		);
	}
	if (shown === "group") {
		const rest = groups.value.filter((group) => group.id !== tab.group);
		return (
			<Menu {...menu} label="Group" onBack={() => page()}>
				<MenuItem icon={FolderPlus} title="New group" onPick={then(() => void makeGroup([tab.id]), false)} />
				{rest.map((group) => (
					<MenuItem
						key={group.id}
						icon={FolderOpen}
						title={groupName(group)}
						onPick={then(() => void joinGroup(tab.id, group.id))}
					/>
				))}
				{tab.group && (
					<MenuItem
						icon={FolderMinus}
						title="Out of the group"
						onPick={then(() => void joinGroup(tab.id, ""))}
					/>
				)}
			</Menu>
		);
	}
	if (shown === "pane") {
		return (
			<Menu {...menu} label="Move pane to" onBack={() => page()}>
				<MovePlaces tab={tab} />
			</Menu>
		);
	}
	const movable = focusedIn(tab) !== "" && (all.length > 1 || leaves(tab.tree).length > 1);
	return (
		<Menu {...menu} label={`Menu of ${row.title}`}>
			<MenuItem
				icon={Pencil}
				title="Rename"
				after={<Keys chord="F2" />}
				onPick={then(() => {
					renaming.value = tab.id;
				}, false)}
			/>
			<MenuItem icon={Palette} title="Colour" page onPick={() => page("color")} />
			<MenuItem
				icon={tab.pinned ? PinOff : Pin}
				title={tab.pinned ? "Unpin" : "Pin"}
				onPick={then(() => void pinTab(tab.id, !tab.pinned))}
			/>
			<MenuItem icon={FolderPlus} title="Group" page onPick={() => page("group")} />
			<MenuItem
				icon={PanelsTopLeft}
				title="Move pane to"
				page
				disabled={!movable}
				onPick={() => page("pane")}
			/>
			<MenuLine />
			<MenuItem
				icon={FileCog}
				title="Save as tab config…"
				onPick={then(() => {
					dialog.value = { kind: "new-config", tab };
				})}
			/>
			<MenuItem
				icon={Copy}
				title="Copy path"
				disabled={!row.directoryFull}
				onPick={then(() => void copy(row.directoryFull, "Path copied"))}
			/>
			<MenuLine />
			<MenuItem
				icon={X}
				title="Close"
				after={<Keys chord={chordOf("close")} />}
				onPick={then(() => void closeTabs([tab.id]))}
			/>
			<MenuItem
				icon={SquareStack}
				title="Close others"
				disabled={!others}
				onPick={then(() => void close({ others: tab.id }))}
			/>
			<MenuItem
				icon={PanelTopClose}
				title="Close those below"
				disabled={!below}
				onPick={then(() => void close({ after: tab.id }))}
			/>
		</Menu>
	);
}

/** The pane of a tab that a move from its menu means: the one in focus. */
function focusedIn(tab: Tab): string {
	const all = leaves(tab.tree);
	return [focusedHere.value[tab.id], tab.focused].find((pane) => pane && all.includes(pane)) ?? all[0] ?? "";
}

function MovePlaces({ tab }: { tab: Tab }) {
	const pane = focusedIn(tab);
	const others = tabs.value.filter((one) => one.id !== tab.id && focusedIn(one) !== "");
	return (
		<>
			{leaves(tab.tree).length > 1 && (
				<MenuItem icon={FolderPlus} title="New tab" onPick={then(() => void movePane(pane, null), false)} />
			)}
			{others.map((one) => (
				<MenuItem
					key={one.id}
					icon={PanelsTopLeft}
					title={tabRow(one, panes.value, chips.value, sessions.value).title}
					onPick={then(() => void movePane(pane, { tab: one.id, beside: focusedIn(one) }), false)}
				/>
			))}
		</>
	);
}

function GroupMenu({ group, at, page: shown }: { group: Group } & Opened) {
	const menu = { at, onClose: shut, onLeave: () => focusOn("tabs") };
	const outside = tabs.value.some((tab) => tab.group !== group.id && !tab.pinned);
	if (shown === "color") {
		return (
			<Menu {...menu} label="Colour" onBack={() => page()}>
				<Swatches
					value={group.color ?? ""}
					onPick={(color) => then(() => void editGroup(group.id, { color }))()}
				/>
			</Menu>
		);
	}
	return (
		<Menu {...menu} label={`Menu of the group ${groupName(group)}`}>
			<MenuItem
				icon={Pencil}
				title="Rename"
				after={<Keys chord="F2" />}
				onPick={then(() => {
					renaming.value = group.id;
				}, false)}
			/>
			<MenuItem icon={Palette} title="Colour" page onPick={() => page("color")} />
			<MenuItem
				icon={group.pinned ? PinOff : Pin}
				title={group.pinned ? "Unpin" : "Pin"}
				onPick={then(() => void editGroup(group.id, { pinned: !group.pinned }))}
			/>
			<MenuItem
				icon={group.collapsed ? FolderOpen : FolderMinus}
				title={group.collapsed ? "Unfold" : "Fold"}
				onPick={then(() => void editGroup(group.id, { collapsed: !group.collapsed }))}
			/>
			<MenuItem icon={Ungroup} title="Dissolve group" onPick={then(() => void dissolveGroup(group.id))} />
			<MenuLine />
			<MenuItem icon={X} title="Close group" onPick={then(() => void close({ group: group.id }))} />
			<MenuItem
				icon={SquareStack}
				title="Close tabs outside it"
				disabled={!outside}
				onPick={then(() => void close({ outside: group.id }))}
			/>
		</Menu>
	);
}
