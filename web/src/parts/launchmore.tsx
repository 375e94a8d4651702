// What a launch takes beside agent, place and prompt (spec launch L1): behind a fold, as few
// launches need it.
import { useSignal } from "@preact/signals";
import type { Agent } from "../api/types";
import { hasChat } from "../words/agents";
import { changedMore, type LaunchForm as Form, startsTerminal } from "../words/intent";
import { TextField } from "./launch";

interface MoreProps {
	form: Form;
	agent: Agent | undefined;
	set: (part: Partial<Form>) => void;
}

const argsChoices: { value: Form["argsKind"]; title: string }[] = [
	{ value: "saved", title: "Saved ones" },
	{ value: "none", title: "None" },
	{ value: "own", title: "These" },
];

const optionFields = [
	{ key: "model", title: "Model" },
	{ key: "effort", title: "Effort" },
	{ key: "mode", title: "Mode" },
] as const;

export function More({ form, agent, set }: MoreProps) {
	const open = useSignal(changedMore(form));
	const options = optionFields.filter(
		({ key }) => agent !== undefined && (agent.options?.includes(key) || hasChat(agent)),
	);
	return (
		<details
			class="fold"
			open={open.value}
			onToggle={(event) => {
				open.value = event.currentTarget.open;
			}}
		>
			<summary>More options</summary>
			<div class="fold-in">
				{options.length > 0 && (
					<div class="form-three">
						{options.map(({ key, title }) => (
							<TextField
								key={key}
								label={title}
								name={key}
								value={form[key]}
								placeholder="its own default"
								onInput={(value) => set({ [key]: value })}
							/>
						))}
					</div>
				)}
				{form.where === "worktree" && (
					<div class="form-two">
						<TextField
							label="Starts from"
							name="base"
							value={form.base}
							placeholder="the main branch"
							onInput={(base) => set({ base })}
						/>
						<TextField
							label="Branch"
							name="branch"
							value={form.branch}
							placeholder="as its name"
							onInput={(branch) => set({ branch })}
						/>
					</div>
				)}
				<TextField
					label="Start directory"
					name="cwd"
					value={form.cwd}
					placeholder="the root of the workspace"
					help={form.cwd.trim() === "" ? undefined : "Below the root the agent is started in a terminal."}
					onInput={(cwd) => set({ cwd })}
				/>
				{startsTerminal(form, agent) && <Arguments form={form} set={set} />}
				{agent?.resumes && (
					<TextField
						label="Continue its session"
						name="resume"
						value={form.resume}
						placeholder="the agent's own id of it"
						help={form.resume.trim() === "" ? undefined : "It is continued in a terminal."}
						onInput={(resume) => set({ resume })}
					/>
				)}
			</div>
		</details>
	);
}

function Arguments({ form, set }: Omit<MoreProps, "agent">) {
	return (
		<fieldset>
			<legend>Arguments</legend>
			<div class="choices">
				{argsChoices.map((choice) => (
					<label key={choice.value}>
						<input
							type="radio"
							name="argsKind"
							value={choice.value}
							checked={form.argsKind === choice.value}
							onChange={() => set({ argsKind: choice.value })}
						/>
						{choice.title}
					</label>
				))}
			</div>
			{form.argsKind === "own" && (
				<TextField
					label="Arguments in place of the saved ones"
					hideLabel
					name="args"
					value={form.args}
					placeholder="--add-dir ../docs"
					focus
					onInput={(args) => set({ args })}
				/>
			)}
		</fieldset>
	);
}
