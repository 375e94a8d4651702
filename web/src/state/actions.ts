// What a user can do, as functions: each asks the host for one thing and shows what came
// of it. No rule of the domain lives here: what the host refuses is shown as it says it.
import { effect } from "@preact/signals";
import { Client, failOf, Problem } from "../api/client";
import type { Config, Fail, NoticeAction } from "../api/types";
import { guessSize } from "../terminal/size";
import { emptyLaunch, intentOf, operationId } from "../words/intent";
import { sentences } from "../words/sentences";
import { forgetKey, loadKey, saveKey } from "./key";
import {
	activePane,
	activeTab,
	type Closing,
	closed,
	configs,
	dialog,
	drawer,
	focusedHere,
	hostInfo,
	launchForm,
	login,
	loginFault,
	model,
	openForm,
	paramValues,
	renaming,
	showTab,
	type Told,
	tabs,
	told,
} from "./store";

export const client = new Client({
	key: loadKey,
	onUnauthorized: () => {
		login.value = "out";
	},
});

// Login.

/** Takes the one-time token of a login link for a key (spec interfaces A2.1). */
export async function logIn(token: string): Promise<boolean> {
	try {
		saveKey((await client.login(token)).key);
		login.value = "in";
		loginFault.value = null;
		return true;
	} catch (error) {
		// A key from before may still hold.
		loginFault.value = failOf(error);
		return loadKey() !== null;
	}
}

export function logOut(): void {
	forgetKey();
	login.value = "out";
}

export async function loadHost(): Promise<void> {
	hostInfo.value = await client.call("host.info", {});
}

export async function loadConfigs(): Promise<void> {
	try {
		configs.value = await client.call("config.list", {});
	} catch (error) {
		tell(error, "The tab configs could not be listed");
	}
}

// Telling.

let toldCounter = 0;

export function tell(error: unknown, title: string): void {
	const fail = failOf(error);
	add({ level: "error", title, body: sentences(fail.message, fail.hint) });
}

/** A short word that something was done. */
export function mention(title: string): void {
	add({ level: "info", title, until: Date.now() + 3000 });
}

function add(words: Omit<Told, "id">): void {
	const id = ++toldCounter;
	told.value = [...told.value.slice(-4), { id, ...words }];
	if (words.until) setTimeout(() => untell(id), words.until - Date.now());
}

export function untell(id: number): void {
	told.value = told.value.filter((item) => item.id !== id);
}

/** Runs an act whose only answer is a change of the state; a refusal is told. */
async function ask(title: string, act: () => Promise<unknown>): Promise<void> {
	try {
		await act();
	} catch (error) {
		tell(error, title);
	}
}

// Tabs.

/** Shows a tab that was just made here; a button that asked for it lets the keyboard go,
 * so that the tab's pane takes it and typing does not press the button again. */
function bring(tab: string): void {
	const here = document.activeElement;
	if (here instanceof HTMLButtonElement && !here.closest("dialog")) here.blur();
	showTab(tab);
}

export async function openTerminal(directory?: string): Promise<void> {
	await ask("The terminal was not opened", async () => {
		const size = guessSize();
		const opened = await client.call("tab.open", {
			directory: directory ?? startDirectory(),
			cols: size.cols,
			rows: size.rows,
		});
		if (opened.tabId) bring(opened.tabId);
	});
}

/** Where a new tab starts: beside the pane in focus, else where the host was started. */
export function startDirectory(): string | undefined {
	const pane = activePane.value ? model.value?.panes[activePane.value] : undefined;
	return pane?.directory || hostInfo.value?.directory;
}

/** Opens a config; its params form first when it has questions. */
export async function chooseConfig(config: Config): Promise<void> {
	drawer.value = false;
	if ((config.params ?? []).length > 0) {
		dialog.value = { kind: "params", config };
		openForm.value = config.path;
		return;
	}
	await ask(`“${config.name}” was not opened`, () => openConfig(config, {}));
}

export async function openConfig(config: Config, params: Record<string, string>): Promise<void> {
	const opened = await client.call("config.open", {
		config: config.path,
		params,
		dir: startDirectory(),
	});
	const { [config.path]: _, ...rest } = paramValues.value;
	paramValues.value = rest;
	closeDialog();
	if (opened.tabId) bring(opened.tabId);
	const first = opened.launches?.[0];
	if (first) dialog.value = { kind: "receipt", result: first, agent: config.name, prompt: "" };
}

/** Closes tabs; running programs are asked about first (spec tabs T5.3). */
export async function closeTabs(ids: string[], yes = false): Promise<void> {
	if (ids.length === 0) return;
	renaming.value = null;
	await close({ tabs: ids }, yes, "The tab was not closed", () =>
		client.call("tab.close", { tabs: ids, yes }),
	);
}

async function close(what: Closing, yes: boolean, title: string, act: () => Promise<unknown>): Promise<void> {
	try {
		await act();
		if (dialog.value?.kind === "close") closeDialog();
	} catch (error) {
		if (!yes && error instanceof Problem && error.code === "tab_close_needs_confirmation") {
			dialog.value = { kind: "close", what, fail: error };
			return;
		}
		if (dialog.value?.kind === "close") closeDialog();
		tell(error, title);
	}
}

export async function undoClose(tab?: string): Promise<void> {
	await ask("Nothing was brought back", async () => {
		const id = tab ?? closed.value[0]?.id;
		await client.call("tab.undoClose", id ? { tab: id } : {});
		if (id) bring(id);
	});
}

export async function renameTab(tab: string, title: string): Promise<void> {
	renaming.value = null;
	await ask("The tab was not renamed", () => client.call("tab.rename", { tab, title }));
}

export async function recolorTab(tab: string, color: string): Promise<void> {
	await ask("The colour was not set", () => client.call("tab.recolor", { tab, color }));
}

/** Moves a tab behind another; "" is the front. */
export async function moveTab(tab: string, after: string): Promise<void> {
	await ask("The tab was not moved", () => client.call("tab.move", { tab, after }));
}

export function stepTab(by: number): void {
	const list = tabs.value;
	const at = list.findIndex((tab) => tab.id === activeTab.value?.id);
	const next = list[(at + by + list.length) % list.length];
	if (next) showTab(next.id);
}

// Panes.

export function focusPane(tab: string, pane: string): void {
	if (focusedHere.value[tab] === pane) return;
	focusedHere.value = { ...focusedHere.value, [tab]: pane };
	if (model.value?.tabs.find((t) => t.id === tab)?.focused === pane) return;
	// The host's word is for the next window; this one has its own.
	client.call("tab.focus", { tab, pane }).catch(() => undefined);
}

export async function splitPane(pane: string, direction: "horizontal" | "vertical"): Promise<void> {
	await ask("The pane was not split", async () => {
		const made = await client.call("pane.split", { pane, direction });
		const tab = model.value?.panes[pane]?.tab;
		const fresh = made.panes?.[0];
		if (tab && fresh) focusPane(tab, fresh);
	});
}

/** Closes one pane; the host closes the tab with its last one. */
export async function closePane(pane: string, yes = false): Promise<void> {
	await close({ pane }, yes, "The pane was not closed", () => client.call("pane.close", { pane, yes }));
}

export async function sizeSplit(tab: string, path: number[], sizes: number[]): Promise<void> {
	await ask("The sizes were not kept", () => client.call("pane.sizes", { tab, path, sizes }));
}

// Launching.

let owed: { id: string; of: string } | null = null;

/**
 * Launches what the form holds. The id stays the same until there is a definite answer,
 * so that asking again after a dropped connection never starts a second agent.
 */
export async function launch(agentName: string): Promise<Fail | null> {
	const form = launchForm.value;
	const of = JSON.stringify(form);
	if (owed?.of !== of) {
		owed = { id: operationId(Date.now(), crypto.getRandomValues(new Uint8Array(16))), of };
	}
	try {
		const result = await client.call("agent.launch", intentOf(form, owed.id));
		owed = null;
		launchForm.value = { ...emptyLaunch, agent: form.agent, workspace: form.workspace };
		openForm.value = "";
		if (result.outcome.tabId) bring(result.outcome.tabId);
		dialog.value = { kind: "receipt", result, agent: agentName, prompt: form.prompt };
		return null;
	} catch (error) {
		if (!(error instanceof Problem) || error.status !== 0) owed = null;
		return failOf(error);
	}
}

export function askLaunch(agent?: string, where?: "worktree"): void {
	const form = launchForm.value;
	launchForm.value = {
		...form,
		agent: agent ?? form.agent,
		where: where ?? form.where,
		workspace: form.workspace || startDirectory() || "",
	};
	openForm.value = "launch";
	drawer.value = false;
	dialog.value = { kind: "launch" };
}

export function closeDialog(): void {
	dialog.value = null;
	openForm.value = "";
}

// Notices.

/** Does a notice's action: copies and opens here, asks the host for all else. */
export async function actOn(notice: string, action: NoticeAction): Promise<void> {
	if (action.kind === "copy") return copy(action.text ?? "", "Copied");
	if (action.kind === "open") return openTerminal(action.text);
	const call = () =>
		action.id === "dismiss"
			? client.call("notice.dismiss", { id: notice })
			: client.call("notice.act", { id: notice, action: action.id });
	const tab = model.value?.notices.find((item) => item.id === notice)?.tab;
	await ask(`“${action.label}” did not work`, async () => {
		if (action.id !== "dismiss") showNextTab();
		await call();
		if (action.id === "undo" && tab) bring(tab);
	});
}

/** Shows the tab that an act of the host's makes, when it comes soon. */
function showNextTab(): void {
	const before = new Set(tabs.value.map((tab) => tab.id));
	const stop = effect(() => {
		const made = tabs.value.find((tab) => !before.has(tab.id));
		if (!made) return;
		bring(made.id);
		queueMicrotask(() => stop());
	});
	setTimeout(stop, 3000);
}

export async function dismiss(notice: string): Promise<void> {
	await ask("The notice stays", () => client.call("notice.dismiss", { id: notice }));
}

export async function copy(text: string, said: string): Promise<void> {
	try {
		await navigator.clipboard.writeText(text);
		mention(said);
	} catch {
		tell(new Error("The browser does not let this page write to the clipboard."), "Not copied");
	}
}
