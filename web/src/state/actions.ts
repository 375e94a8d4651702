// What a user can do, as functions: each asks the host for one thing and shows what came
// of it. No rule of the domain lives here: what the host refuses is shown as it says it.
import { effect } from "@preact/signals";
import { Client, failOf, Problem } from "../api/client";
import type { Fail, NoticeAction } from "../api/types";
import { guessSize } from "../terminal/size";
import type { Closing } from "../words/closing";
import { emptyLaunch, intentOf, operationId } from "../words/intent";
import { batchOf } from "../words/notices";
import { missingSecrets } from "../words/panes";
import { sentences } from "../words/sentences";
import { forgetKey, loadKey, saveKey } from "./key";
import {
	activePane,
	activeTab,
	closed,
	dialog,
	drawer,
	focusedHere,
	hostInfo,
	launchForm,
	login,
	loginFault,
	model,
	openForm,
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

// Telling.

let toldCounter = 0;

export function tell(error: unknown, title: string): void {
	const fail = failOf(error);
	add({ level: "error", title, body: sentences(fail.message, fail.hint) });
}

/** A short word that something was done. */
export function mention(title: string, body?: string): void {
	add({ level: "info", title, body, until: Date.now() + (body ? 8000 : 3000) });
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
export async function ask(title: string, act: () => Promise<unknown>): Promise<void> {
	try {
		await act();
	} catch (error) {
		tell(error, title);
	}
}

// Tabs.

/** Shows a tab that was just made here; a button that asked for it lets the keyboard go,
 * so that the tab's pane takes it and typing does not press the button again. */
export function bring(tab: string): void {
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

/** Closes tabs; what that would end is asked about first (spec tabs T5.3). */
export async function closeTabs(ids: string[]): Promise<void> {
	if (ids.length > 0) await close({ tabs: ids });
}

/** Closes what a selector names: these, all others, those below, a group, all but it. */
export async function close(what: Closing): Promise<void> {
	renaming.value = null;
	try {
		if ("pane" in what) await client.call("pane.close", { pane: what.pane, yes: what.yes ?? false });
		else {
			const done = await client.call("tab.close", what);
			const going = [...(done.going ?? []), ...(done.cleanups ?? [])].map((one) => one.text);
			// Where undo is off no notice says it.
			if (going.length > 0 && Date.parse(done.undo) <= Date.now()) mention("Closed", going.join("\n"));
		}
		if (dialog.value?.kind === "close") closeDialog();
	} catch (error) {
		if (!what.yes && error instanceof Problem && error.code === "tab_close_needs_confirmation") {
			dialog.value = { kind: "close", what, fail: error };
			return;
		}
		if (dialog.value?.kind === "close") closeDialog();
		tell(error, "pane" in what ? "The pane was not closed" : "Nothing was closed");
	}
}

/** Brings back what one act closed: the last one, when no batch is named (spec tabs T6.1). */
export async function undoClose(batch?: string): Promise<void> {
	if (!batch && closed.value.length === 0)
		return mention("Nothing to undo", "No tab or pane was closed a short while ago.");
	await ask("Nothing was brought back", async () => {
		const back = await client.call("tab.undoClose", batch ? { batch } : {});
		if (back.tab) bring(back.tab);
		if (back.tab && back.pane) focusPane(back.tab, back.pane);
		const notes = (back.notes ?? []).join("\n");
		if (notes) mention("Brought back, but not as it was", notes);
	});
}

export async function renameTab(tab: string, title: string): Promise<void> {
	await ask("The tab was not renamed", () => client.call("tab.rename", { tab, title }));
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
export async function closePane(pane: string): Promise<void> {
	await close({ pane });
}

/** Starts the program of an ended pane again; its secrets are asked for, when it has some. */
export async function restartPane(pane: string): Promise<void> {
	const fail = await restartWith(pane, {});
	if (!fail) return;
	const missing = missingSecrets(fail);
	if (missing.length > 0) dialog.value = { kind: "restart", pane, secrets: missing };
	else tell(fail, "The program was not started again");
}

export async function restartWith(pane: string, secrets: Record<string, string>): Promise<Fail | null> {
	try {
		await client.call("pane.restart", { pane, secrets });
		return null;
	} catch (error) {
		return failOf(error);
	}
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
	if (action.id === "undo") return undoNotice(notice, action);
	const call = () =>
		action.id === "dismiss"
			? client.call("notice.dismiss", { id: notice })
			: client.call("notice.act", { id: notice, action: action.id });
	await ask(`“${action.label}” did not work`, async () => {
		if (action.id !== "dismiss") showNextTab();
		await call();
	});
}

/** Undo by a notice is undo of the batch that it tells of, so that what comes back is shown. */
async function undoNotice(notice: string, action: NoticeAction): Promise<void> {
	const told = model.value?.notices.find((item) => item.id === notice);
	const batch = batchOf(told, closed.value);
	if (batch) return undoClose(batch);
	await ask(`“${action.label}” did not work`, async () => {
		await client.call("notice.act", { id: notice, action: action.id });
		if (told?.tab) bring(told.tab);
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
