// The page's one store: the host's model, fed by the stream, and this window's view of it.
// Components read signals; only stream.ts and actions.ts write them.
import { computed, signal } from "@preact/signals";
import type { Config, ConfigList, Fail, HostInfo, Result, Tab } from "../api/types";
import type { Status } from "../stream/connection";
import type { Place } from "../words/chiplayout";
import type { Closing } from "../words/closing";
import { emptyLaunch, type LaunchForm } from "../words/intent";
import { emptyWorktree, type WorktreeForm } from "../words/worktrees";
import type { Model } from "./model";
import { remembered } from "./remember";
import { leaves } from "./tree";

// The host's.

export const model = signal<Model | null>(null);
export const hostInfo = signal<HostInfo | null>(null);
export const configs = signal<ConfigList | null>(null);

export const tabs = computed(() => model.value?.tabs ?? []);
export const panes = computed(() => model.value?.panes ?? {});
export const chips = computed(() => model.value?.chips ?? {});
export const notices = computed(() => model.value?.notices ?? []);
export const closed = computed(() => model.value?.closed ?? []);
export const groups = computed(() => model.value?.groups ?? []);
export const sessions = computed(() => model.value?.sessions ?? {});
export const layout = computed(() => model.value?.layout ?? null);
export const tabView = computed(() => model.value?.tabView ?? null);

// The way to it.

export const link = signal<{ status: Status; retryAt: number | null }>({ status: "opening", retryAt: null });
/** in: there is a key, and nothing has refused it yet. */
export const login = signal<"in" | "out">("in");
export const loginFault = signal<Fail | null>(null);

// This window's view.

export type Theme = "system" | "dark" | "light" | "contrast";
export const theme = remembered<Theme>("theme", "system", localStorage);
export const collapsed = remembered("rail", false, localStorage);
export const fontSize = remembered("fontSize", 13, localStorage);
export const drawer = signal(false);
/** The tab list's search field was asked for by key. */
export const searching = signal(false);

export const wantedTab = remembered("tab", "", sessionStorage);
/** The tab that is shown: the wanted one while it is there, else its old neighbour. */
export const activeTab = computed<Tab | null>(() => {
	const list = tabs.value;
	return list.find((tab) => tab.id === wantedTab.value) ?? list[Math.min(lastPlace, list.length - 1)] ?? null;
});
let lastPlace = 0;

export function showTab(id: string): void {
	wantedTab.value = id;
	drawer.value = false;
}

/** Called when the model has changed: keeps the place of the tab that is shown. */
export function keepPlace(): void {
	const at = tabs.value.findIndex((tab) => tab.id === wantedTab.value);
	if (at >= 0) lastPlace = at;
	else if (activeTab.value) wantedTab.value = activeTab.value.id;
}

/** Which pane of a tab this window has in focus; the host's word where it has none. */
export const focusedHere = signal<Readonly<Record<string, string>>>({});
export const activePane = computed<string | null>(() => {
	const tab = activeTab.value;
	if (!tab) return null;
	const all = leaves(tab.tree);
	const here = focusedHere.value[tab.id];
	if (here && all.includes(here)) return here;
	return tab.focused && all.includes(tab.focused) ? tab.focused : (all[0] ?? null);
});
export const zoomed = signal<string | null>(null);

// What lies over it.

export type Dialog =
	| { kind: "launch" }
	| { kind: "receipt"; result: Result; agent: string; prompt: string }
	| { kind: "params"; config: Config }
	| { kind: "close"; what: Closing; fail: Fail }
	| { kind: "keys" }
	| { kind: "agents" }
	| { kind: "palette" }
	| { kind: "configs" }
	| { kind: "trust"; config: Config }
	| { kind: "editor"; path: string; line?: number; column?: number }
	| { kind: "new-config"; tab?: Tab }
	| { kind: "remove-config"; config: Config }
	| { kind: "new-worktree" }
	| { kind: "worktrees" }
	| { kind: "chip-layout"; place: Place; pane?: string }
	| { kind: "add-repository" }
	| { kind: "changes"; pane: string }
	| { kind: "restart"; pane: string; secrets: string[] };
export const dialog = signal<Dialog | null>(null);
/** The tab or the group whose name is being typed. */
export const renaming = signal<string | null>(null);
/** Whose menu is open in the rail, and where it was asked for. */
export const railMenu = signal<RailMenu | null>(null);
export interface RailMenu {
	kind: "tab" | "group";
	id: string;
	at: { x: number; y: number };
	page?: string;
}
/** What was done, for those who do not see it. */
export const said = signal("");

/** Something that went wrong here, or was done, told until it is dismissed or over. */
export interface Told {
	id: number;
	level: "info" | "error";
	title: string;
	body?: string;
	until?: number;
}
export const told = signal<readonly Told[]>([]);
/** Panes whose failed startup command was taken note of, by what it was. */
export const seenStartup = signal<Readonly<Record<string, string>>>({});
/** The program that the line at a pane's prompt begins with, while one is typed here. */
export const typedPrograms = signal<Readonly<Record<string, string>>>({});
/** Why a pane refused what was typed. */
export const refusedInput = signal<Readonly<Record<string, Fail>>>({});
/** A clock that moves only while something counts down. */
export const now = signal(Date.now());

// What was typed, kept over a reload.

export const launchForm = remembered<LaunchForm>("launch", emptyLaunch, sessionStorage);
export const paramValues = remembered<Record<string, Record<string, string>>>("params", {}, sessionStorage);
/** Texts of the config editor that are not saved, with the digest of what they replace. */
export const editing = remembered<Record<string, { text: string; digest: string }>>(
	"editing",
	{},
	sessionStorage,
);
export const worktreeForm = remembered<WorktreeForm>("worktree", emptyWorktree, sessionStorage);
export const openForm = remembered<string>("form", "", sessionStorage);
