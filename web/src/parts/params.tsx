// The form of a tab config that has questions (spec tabs T2): in the config's order, with
// its defaults; what was typed before is offered, except secrets, which are never kept.
import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { failOf } from "../api/client";
import type { Config, Fail, Param, Workspace } from "../api/types";
import { client, closeDialog, openConfig } from "../state/actions";
import { paramValues } from "../state/store";
import { FailBox } from "./bits";
import { Modal } from "./dialog";
import { TextField } from "./launch";

export function ParamsDialog({ config }: { config: Config }) {
	const secrets = useSignal<Record<string, string>>({});
	const workspaces = useSignal<readonly Workspace[]>([]);
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const params = config.params ?? [];

	useEffect(() => {
		if (!params.some((param) => param.type === "repo")) return;
		client
			.call("workspace.list", {})
			.then((list) => {
				workspaces.value = (list.workspaces ?? []).filter((workspace) => workspace.git);
			})
			.catch(() => undefined); // the field takes any path
	}, [config.path]);

	const typed = paramValues.value[config.path] ?? {};
	const valueOf = (param: Param) =>
		param.type === "secret" ? (secrets.value[param.name] ?? "") : (typed[param.name] ?? param.default ?? "");
	const set = (param: Param, value: string) => {
		if (param.type === "secret") secrets.value = { ...secrets.value, [param.name]: value };
		else paramValues.value = { ...paramValues.value, [config.path]: { ...typed, [param.name]: value } };
	};
	const send = async () => {
		if (busy.value) return;
		busy.value = true;
		try {
			await openConfig(config, Object.fromEntries(params.map((param) => [param.name, valueOf(param)])));
		} catch (error) {
			fail.value = failOf(error);
		}
		busy.value = false;
	};

	return (
		<ParamsView
			config={config}
			workspaces={workspaces.value}
			valueOf={valueOf}
			fail={fail.value}
			busy={busy.value}
			onChange={set}
			onSend={() => void send()}
		/>
	);
}

export interface ParamsViewProps {
	config: Config;
	workspaces: readonly Workspace[];
	valueOf: (param: Param) => string;
	fail: Fail | null;
	busy: boolean;
	onChange: (param: Param, value: string) => void;
	onSend: () => void;
}

export function ParamsView(props: ParamsViewProps) {
	const { config, fail, busy } = props;
	const id = useId();
	return (
		<Modal
			title={config.name}
			foot={
				<>
					<span class="lead cut" data-tip={config.path}>
						{config.path}
					</span>
					<button type="button" class="button plain" onClick={closeDialog}>
						Cancel
					</button>
					<button type="submit" form={id} class="button main" disabled={busy}>
						{busy ? "Opening…" : "Open"}
					</button>
				</>
			}
		>
			<form
				id={id}
				class="dialog-form"
				onSubmit={(event) => {
					event.preventDefault();
					props.onSend();
				}}
			>
				{config.description && <p class="help">{config.description}</p>}
				{fail && <FailBox fail={fail} />}
				{(config.params ?? []).map((param) => (
					<ParamField key={param.name} param={param} {...props} />
				))}
			</form>
		</Modal>
	);
}

function ParamField({ param, workspaces, valueOf, onChange }: ParamsViewProps & { param: Param }) {
	const id = useId();
	const value = valueOf(param);
	if (param.type === "boolean") {
		return (
			<label class="check">
				<input
					type="checkbox"
					name={param.name}
					checked={value === "true"}
					onChange={(event) => onChange(param, String(event.currentTarget.checked))}
				/>
				<span>
					{param.name}
					{param.description && <small>{param.description}</small>}
				</span>
			</label>
		);
	}
	if (param.type === "choice") {
		return (
			<div class="field">
				<label for={id}>{param.name}</label>
				<select
					id={id}
					name={param.name}
					class="input"
					value={value}
					onChange={(event) => onChange(param, event.currentTarget.value)}
				>
					{value === "" && <option value="">Choose…</option>}
					{(param.options ?? []).map((option) => (
						<option key={option} value={option}>
							{option}
						</option>
					))}
				</select>
				{param.description && <span class="help">{param.description}</span>}
			</div>
		);
	}
	return (
		<>
			<TextField
				label={param.name}
				name={param.name}
				value={value}
				type={param.type === "secret" ? "password" : "text"}
				help={param.description}
				list={param.type === "repo" ? id : undefined}
				placeholder={
					param.type === "repo" ? "path of a repository" : param.type === "branch" ? "branch" : undefined
				}
				onInput={(next) => onChange(param, next)}
			/>
			{param.type === "repo" && (
				<datalist id={id}>
					{workspaces.map((workspace) => (
						<option key={workspace.id} value={workspace.path} />
					))}
				</datalist>
			)}
		</>
	);
}
