// From what the launch form holds to the intent that the host is asked (spec launch L1).
// Pure: time and random bytes come in.
import type { Intent } from "../api/types";

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
	return intent;
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
			if (form.removeOnClose) create.removeOnClose = true;
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
