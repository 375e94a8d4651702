// The launch form and the receipt. What the host refuses is shown in the form, and the
// form keeps every word until the host has answered.
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { Agent, Fail, Result, Workspace } from "../api/types";
import { client, closeDialog, copy, launch } from "../state/actions";
import { activeTab, hostInfo, launchForm } from "../state/store";
import { firstAgent, hasChat } from "../words/agents";
import { type LaunchForm as Form, missing, startsTerminal, type Where } from "../words/intent";
import { placementWords, promptWords, surfaceWord, tookAnother } from "../words/receipt";
import { FailBox } from "./bits";
import { Modal } from "./dialog";
import { AgentChoice } from "./launchagents";
import { More } from "./launchmore";
import { SetupChoice } from "./setupchoice";

export function LaunchDialog() {
	const agents = useSignal<readonly Agent[]>([]);
	const workspaces = useSignal<readonly Workspace[]>([]);
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const preferred = useSignal("structured");

	useEffect(() => {
		client
			.call("settings.get", { key: "agent.default_surface", value: null })
			.then(({ value }) => {
				if (value === "terminal") preferred.value = "terminal";
			})
			.catch(() => undefined);
		client
			.call("agent.list", {})
			.then((list) => {
				agents.value = list.agents ?? [];
				const form = launchForm.value;
				launchForm.value = { ...form, agent: firstAgent(list, form.agent) };
			})
			.catch((error: unknown) => {
				fail.value = failOf(error);
			});
		client
			.call("workspace.list", {})
			.then((list) => {
				workspaces.value = list.workspaces ?? [];
			})
			.catch(() => undefined); // the field takes any path
	}, []);

	// A new worktree belongs to the repository, not to the linked worktree one happens to be in.
	const belong = ({ where, workspace }: Form) => {
		if (where !== "worktree" || workspace === "") return;
		client
			.call("worktree.list", { dir: workspace })
			.then(({ worktrees }) => {
				const form = launchForm.value;
				const repository = worktrees?.find((tree) => tree.main)?.path;
				const linked = worktrees?.some((tree) => !tree.main && isWithin(workspace, tree.path));
				if (linked && repository && form.where === where && form.workspace === workspace) {
					launchForm.value = { ...form, workspace: repository };
				}
			})
			.catch(() => undefined); // the launch will say what is wrong with it
	};
	useEffect(() => belong(launchForm.value), []);

	const send = async () => {
		if (busy.value) return;
		busy.value = true;
		const name = agents.value.find((agent) => agent.id === launchForm.value.agent)?.name;
		fail.value = await launch(name ?? launchForm.value.agent);
		busy.value = false;
	};

	return (
		<LaunchView
			form={launchForm.value}
			agents={agents.value}
			workspaces={workspaces.value}
			fail={fail.value}
			busy={busy.value}
			preferred={preferred.value}
			onChange={(form) => {
				if (form.where !== launchForm.value.where) belong(form);
				launchForm.value = form;
			}}
			onSend={() => void send()}
		/>
	);
}

export interface LaunchViewProps {
	form: Form;
	agents: readonly Agent[];
	workspaces: readonly Workspace[];
	fail: Fail | null;
	busy: boolean;
	/** The surface that the host takes when none is asked for. */
	preferred: string;
	onChange: (form: Form) => void;
	onSend: () => void;
}

const places: { value: Where; title: string; help: string }[] = [
	{ value: "workspace", title: "This workspace", help: "It works in the checkout itself, beside you." },
	{ value: "worktree", title: "New worktree", help: "It gets a branch and a checkout of its own." },
	{ value: "folder", title: "Folder", help: "A plain folder, without git." },
];

const surfaces: { value: Form["surface"]; title: string }[] = [
	{ value: "", title: "Default" },
	{ value: "terminal", title: "Terminal" },
	{ value: "structured", title: "Chat" },
];

export function LaunchView(props: LaunchViewProps) {
	const { form, agents, workspaces, fail, busy } = props;
	const id = useId();
	const tried = useSignal(false);
	const chats = agents.some((agent) => agent.id === form.agent && hasChat(agent));
	const faults = missing(form);
	const set = (part: Partial<Form>) => props.onChange({ ...form, ...part });
	const send = (event: Event) => {
		event.preventDefault();
		tried.value = true;
		if (Object.keys(faults).length === 0) props.onSend();
	};
	const problem = (field: keyof Form) => (tried.value ? faults[field] : undefined);
	const chosen = agents.find((agent) => agent.id === form.agent);

	return (
		<Modal
			title="Launch an agent"
			foot={
				<>
					<span class="lead">{chosen?.practice ? "Practice: scripted, no model behind it." : ""}</span>
					<button type="button" class="button plain" onClick={closeDialog}>
						Cancel
					</button>
					<button type="submit" form={id} class="button main" disabled={busy}>
						{busy ? "Launching…" : "Launch"}
					</button>
				</>
			}
		>
			<form
				id={id}
				class="dialog-form"
				onSubmit={send}
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
				}}
			>
				{fail && <FailBox fail={fail} />}
				<AgentChoice
					agents={agents}
					value={form.agent}
					fault={problem("agent")}
					onPick={(agent) => set({ agent: agent.id, surface: keptSurface(form, agent) })}
				/>
				<fieldset>
					<legend>Where</legend>
					<div class="choices">
						{places.map((place) => (
							<label key={place.value}>
								<input
									type="radio"
									name="where"
									value={place.value}
									checked={form.where === place.value}
									onChange={() => set({ where: place.value })}
								/>
								{place.title}
							</label>
						))}
					</div>
					<span class="help">{places.find((place) => place.value === form.where)?.help}</span>
				</fieldset>
				<Place form={form} workspaces={workspaces} problem={problem} set={set} />
				<div class="field">
					<label for={`${id}-prompt`}>Prompt</label>
					<textarea
						id={`${id}-prompt`}
						name="prompt"
						class="input"
						placeholder="What it should do. May stay empty."
						value={form.prompt}
						onInput={(event) => set({ prompt: event.currentTarget.value })}
					/>
				</div>
				<label class="check">
					<input
						type="checkbox"
						name="draft"
						checked={form.draft}
						onChange={(event) => set({ draft: event.currentTarget.checked })}
					/>
					<span>
						Leave the prompt unsent
						<small>
							{chats && !startsTerminal(form, chosen)
								? "It waits in the chat's composer, on every client, until you send it."
								: "It waits in the agent's composer until you send it."}
						</small>
					</span>
				</label>
				<fieldset>
					<legend>Shows up as</legend>
					<div class="choices">
						{surfaces.map((surface) => (
							<label key={surface.value}>
								<input
									type="radio"
									name="surface"
									value={surface.value}
									disabled={surface.value === "structured" && !chats}
									checked={form.surface === surface.value}
									onChange={() => set({ surface: surface.value })}
								/>
								{surface.title}
								{surface.value === "" &&
									` (${chats && props.preferred !== "terminal" ? "chat" : "terminal"})`}
							</label>
						))}
					</div>
					{!chats && <span class="help">No chat for this agent yet: it is started in a terminal.</span>}
				</fieldset>
				<More form={form} agent={chosen} set={set} />
			</form>
		</Modal>
	);
}

function isWithin(path: string, root: string): boolean {
	return path === root || path.startsWith(`${root}/`);
}

/** The name and branch of what a path leads to, when the host knows it. */
function workspaceName(path: string, workspaces: readonly Workspace[]): string | undefined {
	const known = workspaces.find((workspace) => workspace.path === path);
	return known && (known.branch ? `${known.name}, on ${known.branch}` : known.name);
}

/** A chat is no pick for an agent that has none. */
function keptSurface(form: Form, agent: Agent): Form["surface"] {
	return form.surface === "structured" && !hasChat(agent) ? "" : form.surface;
}

interface PlaceProps {
	form: Form;
	workspaces: readonly Workspace[];
	problem: (field: keyof Form) => string | undefined;
	set: (part: Partial<Form>) => void;
}

function Place({ form, workspaces, problem, set }: PlaceProps) {
	const id = useId();
	if (form.where === "folder") {
		return (
			<TextField
				label="Folder"
				name="folder"
				value={form.folder}
				fault={problem("folder")}
				placeholder="/home/me/notes"
				onInput={(folder) => set({ folder })}
			/>
		);
	}
	return (
		<>
			<div class="place">
				<TextField
					label={form.where === "worktree" ? "Of the repository" : "Workspace"}
					name="workspace"
					value={form.workspace}
					fault={problem("workspace")}
					help={workspaceName(form.workspace, workspaces)}
					list={id}
					placeholder={hostInfo.value?.directory}
					onInput={(workspace) => set({ workspace })}
				/>
				{form.where === "worktree" && (
					<TextField
						label="Name"
						name="name"
						value={form.name}
						placeholder="made up when empty"
						onInput={(name) => set({ name })}
					/>
				)}
			</div>
			<datalist id={id}>
				{workspaces.map((workspace) => (
					<option key={workspace.id} value={workspace.path}>
						{workspace.branch ? `${workspace.name} (${workspace.branch})` : workspace.name}
					</option>
				))}
			</datalist>
			{form.where === "worktree" && (
				<label class="check">
					<input
						type="checkbox"
						name="removeOnClose"
						checked={form.removeOnClose}
						onChange={(event) => set({ removeOnClose: event.currentTarget.checked })}
					/>
					<span>
						Remove the worktree when its tab closes
						<small>Never with work in it that would be lost. The branch stays.</small>
					</span>
				</label>
			)}
			{form.where === "worktree" && (
				<SetupChoice
					repo={form.workspace}
					base={form.base.trim()}
					branch={form.branch.trim() || form.name.trim()}
					skip={form.skipSetup}
					onSkip={(skipSetup) => set({ skipSetup })}
				/>
			)}
		</>
	);
}

export interface TextFieldProps {
	label: string;
	name: string;
	value: string;
	onInput: (value: string) => void;
	help?: string;
	fault?: string;
	placeholder?: string;
	list?: string;
	type?: "text" | "password";
	/** It has several lines: an input would drop the ends of them. */
	lines?: boolean;
	/** The label is a name only: what stands around says it to the eye. */
	hideLabel?: boolean;
	/** It has the keyboard as soon as it is there. */
	focus?: boolean;
}

export function TextField(props: TextFieldProps) {
	const id = useId();
	const ref = useRef<HTMLInputElement | HTMLTextAreaElement>(null);
	const described = props.fault || props.help ? `${id}-words` : undefined;
	useEffect(() => {
		if (!props.focus) return;
		ref.current?.focus();
		ref.current?.select();
	}, []);
	const common = {
		id,
		ref: (field: HTMLInputElement | HTMLTextAreaElement | null) => {
			ref.current = field;
		},
		name: props.name,
		value: props.value,
		placeholder: props.placeholder,
		autocomplete: "off",
		autocapitalize: "off",
		spellcheck: false,
		"aria-invalid": props.fault !== undefined,
		"aria-describedby": described,
		onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
			props.onInput(event.currentTarget.value),
	} as const;
	return (
		<div class="field">
			<label for={id} class={props.hideLabel ? "hidden-text" : undefined}>
				{props.label}
			</label>
			{props.type === "password" ? (
				<input {...common} class="input" type="password" />
			) : props.lines ? (
				<textarea {...common} class="input short" />
			) : (
				<input {...common} class="input" type="text" list={props.list} />
			)}
			{described && (
				<span id={described} class={props.fault ? "fault" : "help"}>
					{props.fault ?? props.help}
				</span>
			)}
		</div>
	);
}

export interface ReceiptProps {
	result: Result;
	agent: string;
	prompt: string;
}

/** What a launch did, in words (spec launch L2). */
export function ReceiptDialog({ result, agent, prompt }: ReceiptProps) {
	const words = promptWords(result);
	const path = result.worktree?.path;
	const placed = placementWords(result);
	return (
		<Modal
			title="Receipt"
			toPane
			class="receipt"
			foot={
				<>
					{words?.yours && prompt && (
						<button type="button" class="button" onClick={() => void copy(prompt, "Prompt copied")}>
							Copy prompt
						</button>
					)}
					<button type="button" class="button main" autofocus onClick={closeDialog}>
						{activeTab.value ? "Show it" : "Done"}
					</button>
				</>
			}
		>
			<p class="receipt-lead">{result.receipt.detail}</p>
			<dl class="facts">
				<dt>Agent</dt>
				<dd>{agent}</dd>
				<dt>Shows up as</dt>
				<dd>
					{surfaceWord(result.receipt.mode)}
					{tookAnother(result) && ` instead of a ${surfaceWord(result.receipt.preferred).toLowerCase()}`}
				</dd>
				{path && (
					<>
						<dt>Works in</dt>
						<dd>
							<code>{path}</code>
						</dd>
					</>
				)}
				{result.worktree?.branch && (
					<>
						<dt>Branch</dt>
						<dd>
							<code>{result.worktree.branch}</code>
						</dd>
					</>
				)}
				{words && (
					<>
						<dt>Prompt</dt>
						<dd class={words.tone}>{words.text}</dd>
					</>
				)}
				{result.warning && (
					<>
						<dt>Warning</dt>
						<dd class="careful">{result.warning}</dd>
					</>
				)}
				{placed && (
					<>
						<dt>Placed</dt>
						<dd>{placed}</dd>
					</>
				)}
			</dl>
		</Modal>
	);
}
