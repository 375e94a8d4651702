// The commands of the page: one table for the keys, the palette and the list of keys.
import { signal } from "@preact/signals";
import type { Tab } from "../api/types";
import { type ChatHandle, handles } from "../chat/active";
import {
	askLaunch,
	close,
	closePane,
	closeTabs,
	openTerminal,
	splitPane,
	stepTab,
	undoClose,
} from "../state/actions";
import { newTab } from "../state/configs";
import { pinTab } from "../state/groups";
import {
	activePane,
	activeTab,
	collapsed,
	type Dialog,
	dialog,
	drawer,
	fontSize,
	railMenu,
	renaming,
	searching,
	showTab,
	type Theme,
	tabs,
	theme,
	zoomed,
} from "../state/store";
import { type Direction, leaves, neighbour } from "../state/tree";
import { type Chord, type KeyLike, matches } from "./chord";

export interface Command {
	id: string;
	group: "Go" | "Tabs" | "Panes" | "Chat" | "Page";
	title: string;
	keys: Chord[];
	run: () => void;
	/** Absent: always. */
	when?: () => boolean;
	/** Only outside of terminals and fields. */
	quiet?: boolean;
}

export const mac = /Mac|iPhone|iPad/.test(navigator.platform);
/** Raised to ask for keyboard focus: of the pane in focus, or of the tab list. */
export const wantFocus = signal<{ what: "pane" | "tabs"; n: number }>({ what: "pane", n: 0 });

export function focusOn(what: "pane" | "tabs"): void {
	wantFocus.value = { what, n: wantFocus.value.n + 1 };
}

const hasPane = () => activePane.value !== null;
const hasTab = () => activeTab.value !== null;

function onPane(act: (pane: string) => void): () => void {
	return () => {
		if (activePane.value) act(activePane.value);
	};
}

function onTab(act: (tab: Tab) => void): () => void {
	return () => {
		if (activeTab.value) act(activeTab.value);
	};
}

function shows(what: Dialog): () => void {
	return () => {
		drawer.value = false;
		dialog.value = what;
	};
}

/** A page of the menu of the shown tab, at its row, which comes into view for it. */
function menuPage(page: string): () => void {
	return onTab((tab) => {
		collapsed.value = false;
		if (matchMedia("(max-width: 720px)").matches) drawer.value = true;
		requestAnimationFrame(() => {
			const row = document.querySelector(`.row-main[data-tab="${tab.id}"], .group-head[data-here]`);
			const box = row?.getBoundingClientRect();
			railMenu.value = {
				kind: "tab",
				id: tab.id,
				page,
				at: { x: (box?.left ?? 8) + 24, y: box?.bottom ?? 60 },
			};
		});
	});
}

function towards(direction: Direction): () => void {
	return () => {
		const tab = activeTab.value;
		const next = tab && activePane.value ? neighbour(tab.tree, activePane.value, direction) : null;
		if (next) document.querySelector<HTMLElement>(`[data-pane="${next}"] textarea`)?.focus();
	};
}

function themed(value: Theme): () => void {
	return () => {
		theme.value = value;
	};
}

function inChat(act: (chat: ChatHandle) => void): () => void {
	return () => {
		const chat = activePane.value ? handles.get(activePane.value) : undefined;
		if (chat) act(chat);
	};
}

const hasChat = () => activePane.value !== null && handles.has(activePane.value);

const several = () => leaves(activeTab.value?.tree).length > 1;

export const commands: Command[] = [
	{
		id: "palette",
		group: "Go",
		title: "Command palette",
		keys: ["mod+k"],
		run: () => {
			dialog.value = { kind: "palette" };
		},
	},
	{
		id: "keys",
		group: "Go",
		title: "List of keys",
		keys: ["?", "alt+shift+/"],
		run: () => {
			dialog.value = { kind: "keys" };
		},
	},
	{ id: "agents", group: "Go", title: "Agents", keys: [], run: shows({ kind: "agents" }) },
	{
		id: "next-waiting",
		group: "Go",
		title: "Next waiting agent",
		keys: ["alt+shift+a"],
		// At the time: the module of the agents needs this one.
		run: () => void import("../state/agents").then((agents) => agents.goToNextWaiting()),
	},
	{ id: "tabs", group: "Go", title: "Move between tab list and terminal", keys: ["alt+shift+b"], run: swap },
	{
		id: "search-tabs",
		group: "Go",
		title: "Search tabs",
		keys: ["alt+shift+f"],
		run: () => {
			if (matchMedia("(max-width: 720px)").matches) drawer.value = true;
			collapsed.value = false;
			searching.value = false;
			searching.value = true;
		},
		when: hasTab,
	},
	{
		id: "terminal",
		group: "Tabs",
		title: "New tab: the default config, or a terminal",
		keys: ["alt+shift+t"],
		run: () => void newTab(),
	},
	{ id: "plain-terminal", group: "Tabs", title: "New terminal", keys: [], run: () => void openTerminal() },
	{ id: "launch", group: "Tabs", title: "Launch an agent", keys: ["alt+shift+l"], run: () => askLaunch() },
	{
		id: "worktree",
		group: "Tabs",
		title: "Launch an agent into a new worktree",
		keys: [],
		run: () => askLaunch(undefined, "worktree"),
	},
	{
		id: "new-worktree",
		group: "Tabs",
		title: "New worktree",
		keys: ["alt+shift+n"],
		run: shows({ kind: "new-worktree" }),
	},
	{ id: "worktrees", group: "Tabs", title: "Worktrees", keys: [], run: shows({ kind: "worktrees" }) },
	{
		id: "configs",
		group: "Tabs",
		title: "Open a tab config",
		keys: ["alt+shift+o"],
		run: shows({ kind: "configs" }),
	},
	{ id: "new-config", group: "Tabs", title: "New tab config", keys: [], run: shows({ kind: "new-config" }) },
	{
		id: "add-repository",
		group: "Tabs",
		title: "Add a repository",
		keys: [],
		run: shows({ kind: "add-repository" }),
	},
	{
		id: "next",
		group: "Tabs",
		title: "Next tab",
		keys: ["alt+shift+]"],
		run: () => stepTab(1),
		when: hasTab,
	},
	{
		id: "previous",
		group: "Tabs",
		title: "Previous tab",
		keys: ["alt+shift+["],
		run: () => stepTab(-1),
		when: hasTab,
	},
	{
		id: "rename",
		group: "Tabs",
		title: "Rename tab",
		keys: ["alt+shift+r"],
		run: () => {
			renaming.value = activeTab.value?.id ?? null;
			if (matchMedia("(max-width: 720px)").matches) drawer.value = true;
		},
		when: hasTab,
	},
	{
		id: "pin",
		group: "Tabs",
		title: "Pin or unpin tab",
		keys: [],
		run: onTab((tab) => void pinTab(tab.id, !tab.pinned)),
		when: hasTab,
	},
	{ id: "color", group: "Tabs", title: "Colour tab", keys: [], run: menuPage("color"), when: hasTab },
	{
		id: "group",
		group: "Tabs",
		title: "Group tab",
		keys: ["alt+shift+g"],
		run: menuPage("group"),
		when: hasTab,
	},
	{
		id: "save-tab",
		group: "Tabs",
		title: "Save tab as tab config",
		keys: [],
		run: onTab((tab) => {
			dialog.value = { kind: "new-config", tab };
		}),
		when: hasTab,
	},
	{
		id: "close-others",
		group: "Tabs",
		title: "Close other tabs",
		keys: [],
		run: onTab((tab) => void close({ others: tab.id })),
		when: () => tabs.value.length > 1,
	},
	{
		id: "close-below",
		group: "Tabs",
		title: "Close tabs below",
		keys: [],
		run: onTab((tab) => void close({ after: tab.id })),
		when: () => tabs.value.length > 1,
	},
	{
		id: "close-group",
		group: "Tabs",
		title: "Close the tab's group",
		keys: [],
		run: onTab((tab) => void close({ group: tab.group ?? "" })),
		when: () => Boolean(activeTab.value?.group),
	},
	{
		id: "close",
		group: "Tabs",
		title: "Close tab",
		keys: ["alt+shift+w"],
		run: () => void closeTabs(activeTab.value ? [activeTab.value.id] : []),
		when: hasTab,
	},
	{
		id: "undo",
		group: "Tabs",
		title: "Undo close: bring back the last closed tab",
		keys: ["alt+shift+z"],
		// Also with nothing to bring back: the key is not the terminal's.
		run: () => void undoClose(),
	},
	{
		id: "split-right",
		group: "Panes",
		title: "Split to the right",
		keys: ["alt+shift+d"],
		run: onPane((pane) => void splitPane(pane, "horizontal")),
		when: hasPane,
	},
	{
		id: "split-down",
		group: "Panes",
		title: "Split downwards",
		keys: ["alt+shift+e"],
		run: onPane((pane) => void splitPane(pane, "vertical")),
		when: hasPane,
	},
	{
		id: "zoom",
		group: "Panes",
		title: "Zoom pane",
		keys: ["alt+shift+enter"],
		run: onPane((pane) => {
			zoomed.value = zoomed.value === pane ? null : pane;
		}),
		when: several,
	},
	{
		id: "changes",
		group: "Panes",
		title: "Show changes",
		keys: ["alt+shift+v"],
		run: onPane((pane) => shows({ kind: "changes", pane })()),
		when: hasPane,
	},
	{
		id: "close-pane",
		group: "Panes",
		title: "Close pane",
		keys: ["alt+shift+x"],
		run: onPane((pane) => void closePane(pane)),
		when: hasPane,
	},
	{
		id: "left",
		group: "Panes",
		title: "Pane to the left",
		keys: ["alt+shift+left"],
		run: towards("left"),
		when: several,
	},
	{
		id: "right",
		group: "Panes",
		title: "Pane to the right",
		keys: ["alt+shift+right"],
		run: towards("right"),
		when: several,
	},
	{
		id: "up",
		group: "Panes",
		title: "Pane above",
		keys: ["alt+shift+up"],
		run: towards("up"),
		when: several,
	},
	{
		id: "down",
		group: "Panes",
		title: "Pane below",
		keys: ["alt+shift+down"],
		run: towards("down"),
		when: several,
	},
	{
		id: "chat-question",
		group: "Chat",
		title: "To the permission question",
		keys: ["alt+shift+p"],
		run: inChat((chat) => chat.toQuestion()),
		when: hasChat,
	},
	{
		id: "chat-end",
		group: "Chat",
		title: "To the end of the chat",
		keys: ["alt+shift+j"],
		run: inChat((chat) => chat.toEnd()),
		when: hasChat,
	},
	{
		id: "chat-cancel",
		group: "Chat",
		title: "Cancel the turn",
		keys: ["alt+shift+c"],
		run: inChat((chat) => chat.cancel()),
		when: hasChat,
	},
	{
		id: "rail",
		group: "Page",
		title: "Hide or show the tab list",
		keys: ["alt+shift+s"],
		run: () => {
			collapsed.value = !collapsed.value;
		},
	},
	{
		id: "edit-prompt",
		group: "Page",
		title: "Edit prompt: which chips it shows",
		keys: [],
		run: shows({ kind: "chip-layout", place: "prompt" }),
	},
	{
		id: "edit-footer",
		group: "Page",
		title: "Edit footer of chats",
		keys: [],
		run: shows({ kind: "chip-layout", place: "footer" }),
	},
	{
		id: "edit-cli-footer",
		group: "Page",
		title: "Edit footer of agents’ terminals",
		keys: [],
		run: shows({ kind: "chip-layout", place: "cliFooter" }),
	},
	{ id: "larger", group: "Page", title: "Larger letters", keys: ["alt+shift+="], run: () => letters(1) },
	{ id: "smaller", group: "Page", title: "Smaller letters", keys: ["alt+shift+-"], run: () => letters(-1) },
	{ id: "theme-system", group: "Page", title: "Theme: as the system", keys: [], run: themed("system") },
	{ id: "theme-dark", group: "Page", title: "Theme: dark", keys: [], run: themed("dark") },
	{ id: "theme-light", group: "Page", title: "Theme: light", keys: [], run: themed("light") },
	{ id: "theme-contrast", group: "Page", title: "Theme: high contrast", keys: [], run: themed("contrast") },
];

function letters(by: number): void {
	fontSize.value = Math.min(24, Math.max(9, fontSize.value + by));
}

function swap(): void {
	focusOn(document.activeElement?.closest(".rail") ? "pane" : "tabs");
	if (matchMedia("(max-width: 720px)").matches) drawer.value = true;
	collapsed.value = false;
}

export function chordOf(id: string): Chord | undefined {
	return commands.find((command) => command.id === id)?.keys[0];
}

export function available(command: Command): boolean {
	return command.when?.() ?? true;
}

/** The command that a key means, or a tab by its number. */
function meaning(event: KeyLike): (() => void) | null {
	for (const command of commands) {
		if (!available(command)) continue;
		if (command.keys.some((chord) => chord !== "?" && matches(chord, event, mac))) return command.run;
	}
	const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
	if (digit && event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey) {
		const tab = digit === "9" ? tabs.value.at(-1) : tabs.value[Number(digit) - 1];
		if (tab) return () => showTab(tab.id);
	}
	return null;
}

/** Whether a key is the page's own, also inside a terminal. */
export function ownKey(event: KeyboardEvent): boolean {
	return event.type === "keydown" && !dialog.value && meaning(event) !== null;
}

/** Listens on the window; gives the way to stop. */
export function listen(): () => void {
	const onKey = (event: KeyboardEvent) => {
		if (event.defaultPrevented || dialog.value || event.isComposing) return;
		const typing = event.target instanceof Element && event.target.closest("input, textarea, select");
		const run = meaning(event) ?? (event.key === "?" && !typing ? commands[1]?.run : null);
		if (!run) return;
		event.preventDefault();
		run();
	};
	window.addEventListener("keydown", onKey);
	return () => window.removeEventListener("keydown", onKey);
}
