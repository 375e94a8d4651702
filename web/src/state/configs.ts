// What a user can do with tab configs: open, read and allow, edit, make the default, remove.
import { failOf, Problem } from "../api/client";
import type { Config, ConfigFile, Fail, Tab, WorktreeOpen } from "../api/types";
import { needsTrust } from "../words/configs";
import { sentences } from "../words/sentences";
import { ask, bring, client, closeDialog, mention, openTerminal, startDirectory, tell } from "./actions";
import { configs, dialog, drawer, openForm, paramValues } from "./store";

export async function loadConfigs(): Promise<void> {
	try {
		const dir = startDirectory();
		configs.value = await client.call("config.list", dir ? { dir } : {});
	} catch (error) {
		tell(error, "The tab configs could not be listed");
	}
}

/** Opens what a new tab opens: the default config, or a plain shell (spec tabs T6.4). */
export async function newTab(): Promise<void> {
	try {
		const dir = startDirectory();
		configs.value = await client.call("config.list", dir ? { dir } : {});
	} catch {
		return openTerminal(); // a list that cannot be read is no reason to have no terminal
	}
	const config = configs.value.configs?.find((one) => one.default);
	if (config) return chooseConfig(config);
	if (configs.value.defaultGone) {
		const path = configs.value.default;
		tell(
			new Error(`The default tab config ${path ?? ""} is not there any more: a plain shell was opened.`),
			"No default config",
		);
	}
	await openTerminal();
}

/** Opens a config; its form first when it has questions, its text when it must be allowed. */
export async function chooseConfig(config: Config): Promise<void> {
	drawer.value = false;
	if (needsTrust(config)) {
		dialog.value = { kind: "trust", config };
		return;
	}
	if ((config.params ?? []).length > 0) {
		dialog.value = { kind: "params", config };
		openForm.value = config.path;
		return;
	}
	try {
		await openConfig(config, {});
	} catch (error) {
		if (error instanceof Problem && error.code === "config_untrusted") {
			dialog.value = { kind: "trust", config };
			return;
		}
		tell(error, `“${config.name}” was not opened`);
	}
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

/** Allows the text that was shown, and no other, and opens it. */
export async function trustAndOpen(config: Config, digest: string): Promise<Fail | null> {
	try {
		await client.call("config.trust", { path: config.path, digest });
	} catch (error) {
		return failOf(error);
	}
	await loadConfigs();
	const now = configs.value?.configs?.find((one) => one.path === config.path);
	closeDialog();
	await chooseConfig(now && !needsTrust(now) ? now : { ...config, trust: "trusted" });
	return null;
}

export async function setDefault(config: Config | null): Promise<void> {
	await ask("The default was not changed", async () => {
		await client.call("config.setDefault", { path: config?.path ?? "" });
		mention(config ? `New tabs open “${config.name}”` : "New tabs open a terminal");
	});
	await loadConfigs();
}

export async function removeConfig(config: Config): Promise<void> {
	await ask("The config was not removed", async () => {
		await client.call("config.remove", { path: config.path, digest: config.digest });
		mention(`“${config.name}” removed`);
	});
	closeDialog();
	await loadConfigs();
}

/** Writes a config to start from, of a tab when one is given, and shows it in the editor. */
export async function newConfig(name: string, tab?: Tab): Promise<Fail | null> {
	try {
		const made: ConfigFile = tab
			? await client.call("config.saveTab", { tab: tab.id, name })
			: await client.call("config.new", { name });
		dialog.value = { kind: "editor", path: made.path };
		if (made.warning) mention("Saved, but not as the tab is", sentences(made.warning));
		void loadConfigs();
		return null;
	} catch (error) {
		return failOf(error);
	}
}

export function editConfig(path: string, line?: number, column?: number): void {
	drawer.value = false;
	dialog.value = { kind: "editor", path, line, column };
}

/** Opens a tab on a fresh worktree, and says which config did it (spec tabs T5.10). */
export async function openWorktree(request: WorktreeOpen): Promise<Fail | null> {
	try {
		const opened = await client.call("worktree.open", { ...request, dir: startDirectory() });
		closeDialog();
		if (opened.tabId) bring(opened.tabId);
		const branch = opened.worktree?.branch;
		mention(
			branch ? `New worktree on ${branch}` : "New worktree",
			`${opened.reused ? "By the config" : "Its config was written:"} ${opened.config}`,
		);
		const first = opened.launches?.[0];
		if (first)
			dialog.value = {
				kind: "receipt",
				result: first,
				agent: request.agent ?? "",
				prompt: request.prompt ?? "",
			};
		return null;
	} catch (error) {
		return failOf(error);
	}
}
