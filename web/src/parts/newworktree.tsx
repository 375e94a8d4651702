// The form of a new worktree: repository, base, name, what runs in it, and what becomes of it
// when its tab closes (spec tabs T5.10). The host writes a config for it, or uses an equal one.
import { useSignal } from "@preact/signals";
import { TriangleAlert } from "lucide";
import { useEffect, useId } from "preact/hooks";
import type { Agent, Fail } from "../api/types";
import { client, startDirectory } from "../state/actions";
import { openWorktree } from "../state/configs";
import { worktreeForm } from "../state/store";
import { usable } from "../words/agents";
import { firstBranch } from "../words/branches";
import {
	emptyWorktree,
	nameNote,
	placeWords,
	type WorktreeForm,
	worktreeMissing,
	worktreeRequest,
} from "../words/worktrees";
import { FormDialog } from "./formdialog";
import { Icon } from "./icon";
import { TextField } from "./launch";
import {
	type Branches,
	BranchPicker,
	RepoPicker,
	type Repositories,
	useBranches,
	useRepositories,
} from "./places";
import { SetupChoice } from "./setupchoice";

export function NewWorktreeDialog() {
	const agents = useSignal<readonly Agent[]>([]);
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const form = worktreeForm.value;
	const set = (part: Partial<WorktreeForm>) => {
		worktreeForm.value = { ...worktreeForm.value, ...part };
	};
	const repositories = useRepositories();
	const branches = useBranches(form.repo === "" ? null : form.repo, (list) => {
		if (worktreeForm.value.base === "") set({ base: firstBranch(list, undefined) });
	});
	useEffect(() => {
		client
			.call("agent.list", {})
			.then((list) => {
				agents.value = usable(list.agents ?? []);
				if (!agents.value.some((agent) => agent.id === worktreeForm.value.agent)) set({ agent: "" });
			})
			.catch(() => undefined); // a terminal needs none
	}, []);
	useEffect(() => {
		if (worktreeForm.value.repo !== "" || !repositories.list) return;
		const here = startDirectory() ?? "";
		const own = repositories.list.find((one) => here === one.path || here.startsWith(`${one.path}/`));
		const first = own ?? repositories.list[0];
		if (first) set({ repo: first.path });
	}, [repositories.list]);

	const names = branches.list?.branches?.map((branch) => branch.name) ?? [];
	const why = worktreeMissing(form, names);
	const send = async () => {
		if (busy.value || why !== "") return;
		busy.value = true;
		fail.value = await openWorktree(worktreeRequest(form));
		busy.value = false;
		if (!fail.value) worktreeForm.value = { ...emptyWorktree, repo: form.repo, agent: form.agent };
	};
	return (
		<NewWorktreeView
			form={form}
			agents={agents.value}
			repositories={repositories}
			branches={branches}
			why={why}
			fail={fail.value}
			busy={busy.value}
			onChange={set}
			onSend={() => void send()}
		/>
	);
}

export interface NewWorktreeViewProps {
	form: WorktreeForm;
	agents: readonly Agent[];
	repositories: Repositories;
	branches: Branches;
	/** Why it cannot be sent yet; "" when it can. */
	why: string;
	fail: Fail | null;
	busy: boolean;
	onChange: (part: Partial<WorktreeForm>) => void;
	onSend: () => void;
}

export function NewWorktreeView(props: NewWorktreeViewProps) {
	const { form, agents, repositories, branches, why, fail, busy } = props;
	const set = props.onChange;
	return (
		<FormDialog
			title="New worktree"
			submit={busy ? "Making it…" : "Open worktree"}
			lead={busy ? "Making the worktree…" : why || "Opens a tab on it, by a tab config that you can edit."}
			ready={why === ""}
			busy={busy}
			fail={fail}
			onSend={props.onSend}
		>
			<div class="form-two">
				<div class="field">
					<RepoPicker
						label="Repository"
						name="repo"
						focus
						value={form.repo}
						repositories={repositories}
						onPick={(repo) => {
							if (repo !== form.repo) set({ repo, base: "" });
						}}
					/>
				</div>
				<BranchPicker
					label="From the branch"
					name="base"
					value={form.base}
					branches={branches}
					waiting={form.repo === ""}
					onPick={(base) => set({ base })}
				/>
			</div>
			<NameChoice {...props} />
			<RunChoice form={form} agents={agents} set={set} />
			<SetupChoice
				repo={form.repo}
				base={form.base}
				branch={form.named ? form.name.trim() : ""}
				skip={form.skipSetup}
				onSkip={(skipSetup) => set({ skipSetup })}
			/>
			<CloseChoice form={form} set={set} />
		</FormDialog>
	);
}

function NameChoice({ form, branches, onChange: set, why }: NewWorktreeViewProps) {
	const fault = form.named && form.name.trim() !== "" && form.repo !== "" ? why : "";
	const note = form.named ? nameNote(form.name, branches.list?.branches ?? []) : "";
	return (
		<fieldset>
			<legend>Name of the new branch</legend>
			<div class="choices">
				<Radio name="named" title="Generated" checked={!form.named} onPick={() => set({ named: false })} />
				<Radio name="named" title="My own" checked={form.named} onPick={() => set({ named: true })} />
			</div>
			{form.named && (
				<TextField
					label="Branch"
					hideLabel
					name="name"
					value={form.name}
					focus
					placeholder="fog-signal"
					fault={fault || undefined}
					help={note || undefined}
					onInput={(name) => set({ name })}
				/>
			)}
			{form.repo !== "" && (
				<span class="help" aria-live="off">
					Its folder: <code>{placeWords(form)}</code>
				</span>
			)}
		</fieldset>
	);
}

interface PartProps {
	form: WorktreeForm;
	set: (part: Partial<WorktreeForm>) => void;
}

function RunChoice({ form, agents, set }: PartProps & { agents: readonly Agent[] }) {
	const id = useId();
	return (
		<>
			<fieldset>
				<legend>Runs in it</legend>
				<div class="choices wrap">
					<Radio
						name="agent"
						title="A terminal"
						checked={form.agent === ""}
						onPick={() => set({ agent: "" })}
					/>
					{agents.map((agent) => (
						<Radio
							key={agent.id}
							name="agent"
							value={agent.id}
							title={agent.name}
							checked={form.agent === agent.id}
							onPick={() => set({ agent: agent.id })}
						/>
					))}
				</div>
			</fieldset>
			{form.agent !== "" && (
				<div class="field">
					<label for={id}>Prompt</label>
					<textarea
						id={id}
						name="prompt"
						class="input short"
						placeholder="What it should do. May stay empty."
						value={form.prompt}
						onInput={(event) => set({ prompt: event.currentTarget.value })}
					/>
				</div>
			)}
		</>
	);
}

function CloseChoice({ form, set }: PartProps) {
	return (
		<fieldset class="checks">
			<legend>When the tab closes</legend>
			<label class="check">
				<input
					type="checkbox"
					name="removeOnClose"
					checked={form.removeOnClose}
					onChange={(event) => set({ removeOnClose: event.currentTarget.checked, deleteBranch: false })}
				/>
				<span>
					Remove the worktree
					<small>Never with changes in it that are not committed.</small>
				</span>
			</label>
			<label class={`check ${form.deleteBranch ? "destructive" : ""}`}>
				<input
					type="checkbox"
					name="deleteBranch"
					checked={form.deleteBranch}
					disabled={!form.removeOnClose}
					onChange={(event) => set({ deleteBranch: event.currentTarget.checked })}
				/>
				<span>
					<span class="check-title">
						Delete its branch too <span class="label danger">destructive</span>
					</span>
					<small>
						{form.deleteBranch && <Icon of={TriangleAlert} size={12} />}
						Git refuses while it holds commits that were not merged, and says so.
					</small>
				</span>
			</label>
		</fieldset>
	);
}

interface RadioProps {
	name: string;
	title: string;
	value?: string;
	checked: boolean;
	onPick: () => void;
}

function Radio({ name, title, value, checked, onPick }: RadioProps) {
	return (
		<label>
			<input type="radio" name={name} value={value ?? title} checked={checked} onChange={onPick} />
			{title}
		</label>
	);
}
