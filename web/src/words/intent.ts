// From what the launch form holds to the intent that the host is asked (spec launch L1).
// Pure: time and random bytes come in.
import type { Agent, Intent } from "../api/types";
import { hasChat } from "./agents";

export type Where = "workspace" | "worktree" | "folder";

export interface LaunchForm {
	agent: string;
	where: Where;
	/** path of a repository or workspace: for workspace and worktree */
	workspace: string;
	/** of a new worktree; a name is made when empty */
	name: string;
	folder: string;
	prompt: string;
	draft: boolean;
	surface: "" | "terminal" | "structured";
	removeOnClose: boolean;
	/** session options, as the agent names their values */
	model: string;
	effort: string;
	mode: string;
	/** what a new worktree starts from, and its branch when that is not its name */
	base: string;
	branch: string;
	/** start directory */
	cwd: string;
	argsKind: "saved" | "none" | "own";
	args: string;
	/** the agent's own id of a session to continue */
	resume: string;
	/** leave the setup script of the repository out */
	skipSetup: boolean;
}

export const emptyLaunch: LaunchForm = {
	agent: "",
	where: "workspace",
	workspace: "",
	name: "",
	folder: "",
	prompt: "",
	draft: false,
	surface: "",
	removeOnClose: false,
	model: "",
	effort: "",
	mode: "",
	base: "",
	branch: "",
	cwd: "",
	argsKind: "saved",
	args: "",
	resume: "",
	skipSetup: false,
};

export function operationId(now: number, random: Uint8Array): string {
	const hex = Array.from(random.slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
	return `${String(Math.floor(now)).padStart(13, "0")}-${hex.padEnd(32, "0")}`;
}

export function intentOf(form: LaunchForm, id: string): Intent {
	const intent: Intent = {
		agent: form.agent,
		operationId: id,
		target: targetOf(form),
		launchSource: "web",
		presentation: "focused",
	};
	if (form.prompt.trim() !== "") {
		intent.prompt = { text: form.prompt, delivery: form.draft ? "draft" : "submit" };
	}
	if (form.surface !== "") intent.surface = form.surface;
	const options: Record<string, string> = {};
	for (const key of ["model", "effort", "mode"] as const) {
		if (form[key].trim() !== "") options[key] = form[key].trim();
	}
	if (Object.keys(options).length > 0) intent.sessionOptions = options;
	if (form.cwd.trim() !== "") intent.cwd = form.cwd.trim();
	if (form.argsKind === "none") intent.agentArgs = null;
	if (form.argsKind === "own") intent.agentArgs = form.args;
	if (form.resume.trim() !== "") intent.resume = form.resume.trim();
	return intent;
}

/** Something behind the fold was filled in. */
export function changedMore(form: LaunchForm): boolean {
	const texts = [form.model, form.effort, form.mode, form.base, form.branch, form.cwd, form.resume];
	return form.argsKind !== "saved" || texts.some((text) => text.trim() !== "");
}

/** It may become a terminal, as far as the form can tell: the host decides (spec launch L3). */
export function startsTerminal(form: LaunchForm, agent: Agent | undefined): boolean {
	if (form.surface === "terminal" || form.resume.trim() !== "" || form.cwd.trim() !== "") return true;
	return agent !== undefined && !hasChat(agent);
}

function targetOf(form: LaunchForm): Intent["target"] {
	switch (form.where) {
		case "workspace":
			return { kind: "existing", worktree: `path:${form.workspace}` };
		case "folder":
			return { kind: "create-folder-workspace", create: { path: form.folder.trim() } };
		case "worktree": {
			const create: Record<string, string | boolean> = { repo: `path:${form.workspace}` };
			if (form.name.trim() !== "") create.name = form.name.trim();
			if (form.branch.trim() !== "") create.branch = form.branch.trim();
			if (form.base.trim() !== "") create.baseBranch = form.base.trim();
			if (form.removeOnClose) create.removeOnClose = true;
			if (form.skipSetup) create.setupDecision = "skip";
			return { kind: "create-worktree", create };
		}
	}
}

/** What keeps the form from being sent, by field. */
export function missing(form: LaunchForm): Partial<Record<keyof LaunchForm, string>> {
	const faults: Partial<Record<keyof LaunchForm, string>> = {};
	if (form.agent === "") faults.agent = "Choose an agent.";
	if (form.where === "folder" && form.folder.trim() === "") faults.folder = "Name a folder.";
	if (form.where !== "folder" && form.workspace.trim() === "") faults.workspace = "Choose a workspace.";
	return faults;
}
