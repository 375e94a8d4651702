// The form of a tab config that has questions (spec tabs T2), in the host's order: with its
// defaults, with pickers for repositories and branches; what was typed before is offered, but
// secrets, which are kept nowhere.
import { useSignal } from "@preact/signals";
import { History } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { Config, Fail, Param } from "../api/types";
import { startDirectory } from "../state/actions";
import { openConfig } from "../state/configs";
import { configs, paramValues } from "../state/store";
import { firstBranch } from "../words/branches";
import {
	fieldFaults,
	offered,
	sentValue,
	severalLines,
	startValue,
	unfilled,
	withoutField,
} from "../words/configs";
import { oneLine, sentences } from "../words/sentences";
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

export function ParamsDialog(props: { config: Config }) {
	// As it is listed now: what the menu showed may be older than the last opening.
	const config = configs.value?.configs?.find((one) => one.path === props.config.path) ?? props.config;
	const secrets = useSignal<Record<string, string>>({});
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const params = config.params ?? [];
	const typed = () => paramValues.value[config.path] ?? {};
	const valueOf = (param: Param) =>
		param.type === "secret"
			? (secrets.value[param.name] ?? "")
			: (typed()[param.name] ?? (param.type === "branch" ? "" : startValue(param)));
	const put = (change: Record<string, string>) => {
		paramValues.value = { ...paramValues.value, [config.path]: { ...typed(), ...change } };
	};

	const repositories = useRepositories();
	const repo = params.find((param) => param.type === "repo");
	const place = repo ? valueOf(repo).trim() || (repo.default ?? "") : (startDirectory() ?? "");
	const asked = params.some((param) => param.type === "branch") && place !== "" ? place : null;
	// The default that the file declares is of the repository that it declares.
	const declares = !repo || place === (repo.default ?? "") || repo.default === undefined;
	const branches = useBranches(asked, (list) => {
		const blank = params.filter((param) => param.type === "branch" && !typed()[param.name]);
		put(
			Object.fromEntries(
				blank.map((param) => [param.name, firstBranch(list, declares ? param.default : undefined)]),
			),
		);
	});

	const set = (param: Param, value: string) => {
		fail.value = withoutField(fail.value, param.name);
		if (param.type === "secret") {
			secrets.value = { ...secrets.value, [param.name]: value };
			return;
		}
		if (param !== repo || value === valueOf(param)) return put({ [param.name]: value });
		// Another repository has other branches.
		const others = params.filter((one) => one.type === "branch").map((one) => [one.name, ""]);
		put({ ...Object.fromEntries(others), [param.name]: value });
	};
	const why = unfilled(params, valueOf);
	const send = async () => {
		if (busy.value || why !== "") return;
		busy.value = true;
		try {
			const values = params.map((param) => [param.name, sentValue(param, valueOf(param))]);
			await openConfig(config, Object.fromEntries(values));
		} catch (error) {
			fail.value = failOf(error);
		}
		busy.value = false;
	};

	return (
		<ParamsView
			config={config}
			repositories={repositories}
			branches={branches}
			waiting={asked === null}
			declares={declares}
			valueOf={valueOf}
			why={why}
			fail={fail.value}
			busy={busy.value}
			onChange={set}
			onSend={() => void send()}
		/>
	);
}

export interface ParamsViewProps {
	config: Config;
	repositories: Repositories;
	branches: Branches;
	/** There is no repository whose branches could be listed. */
	waiting: boolean;
	declares: boolean;
	valueOf: (param: Param) => string;
	/** Why it cannot be sent yet; "" when it can. */
	why: string;
	fail: Fail | null;
	busy: boolean;
	onChange: (param: Param, value: string) => void;
	onSend: () => void;
}

export function ParamsView(props: ParamsViewProps) {
	const { config, why } = props;
	const form = useRef<HTMLFormElement>(null);
	const faults = fieldFaults(props.fail);
	const told = Object.keys(faults).length > 0;
	useEffect(() => {
		// Who sent it stands before the first field that is at fault.
		if (told && !props.busy) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
	}, [told, props.busy]);
	useEffect(() => {
		// The first field that is to be typed; a list is not opened by itself.
		const fields = [...(form.current?.querySelectorAll<HTMLElement>("input, textarea, select") ?? [])];
		const typed = fields.find((field) => !field.matches('[role="combobox"], [type="checkbox"], select'));
		(typed ?? fields[0])?.focus();
	}, []);
	return (
		<FormDialog
			title={config.name}
			submit={props.busy ? "Opening…" : "Open tab"}
			lead={why || <span class="cut block">{config.path}</span>}
			ready={why === ""}
			busy={props.busy}
			fail={told ? null : props.fail}
			form={form}
			onSend={props.onSend}
		>
			{config.description && <p class="help">{config.description}</p>}
			{(config.params ?? []).map((param) => (
				<ParamField key={param.name} param={param} fault={faults[param.name]} {...props} />
			))}
		</FormDialog>
	);
}

function ParamField({ param, fault, ...form }: ParamsViewProps & { param: Param; fault?: string }) {
	const { valueOf, onChange } = form;
	const value = valueOf(param);
	const last = offered(param, value);
	const offer = last !== null && <Offer value={last} onTake={() => onChange(param, last)} />;
	switch (param.type) {
		case "boolean":
			return <Flag param={param} value={value} onChange={onChange} />;
		case "choice":
			return <Options param={param} value={value} fault={fault} onChange={onChange} offer={offer} />;
		case "repo":
			return (
				<div class="field">
					<RepoPicker
						label={param.name}
						name={param.name}
						value={value}
						repositories={form.repositories}
						help={param.description}
						fault={fault}
						onPick={(path) => onChange(param, path)}
					/>
					{offer}
				</div>
			);
		case "branch":
			return (
				<BranchPicker
					label={param.name}
					name={param.name}
					value={value}
					declared={form.declares ? param.default : undefined}
					branches={form.branches}
					waiting={form.waiting}
					help={param.description}
					fault={fault}
					below={offer}
					onPick={(branch) => onChange(param, branch)}
				/>
			);
		default:
			return (
				<div class="field">
					<TextField
						label={param.name}
						name={param.name}
						value={value}
						type={param.type === "secret" ? "password" : "text"}
						lines={severalLines(param, value)}
						help={textHelp(param)}
						fault={fault}
						placeholder={param.default || (param.type === "secret" ? "" : `Enter ${param.name}`)}
						onInput={(next) => onChange(param, next)}
					/>
					{offer}
				</div>
			);
	}
}

function textHelp(param: Param): string | undefined {
	const parts = [
		param.description,
		param.type === "secret" && "Never stored; asked for again when the program is started again.",
		param.type !== "secret" && param.default && `Blank means “${oneLine(param.default)}”.`,
		param.default === "" && "May stay blank.",
	];
	return sentences(...parts.map((part) => part || undefined)) || undefined;
}

/** What was given the last time: one press takes it. */
function Offer({ value, onTake }: { value: string; onTake: () => void }) {
	return (
		<button type="button" class="offer" data-tip={value} onClick={onTake}>
			<Icon of={History} size={12} />
			<span class="cut">last time: {oneLine(value)}</span>
		</button>
	);
}

interface PartProps {
	param: Param;
	value: string;
	fault?: string;
	onChange: ParamsViewProps["onChange"];
}

function Flag({ param, value, onChange }: PartProps) {
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

function Options({ param, value, fault, onChange, offer }: PartProps & { offer: ComponentChildren }) {
	const id = useId();
	return (
		<div class="field">
			<label for={id}>{param.name}</label>
			<select
				id={id}
				name={param.name}
				class="input"
				value={value}
				aria-invalid={fault !== undefined}
				aria-describedby={fault || param.description ? `${id}-help` : undefined}
				onChange={(event) => onChange(param, event.currentTarget.value)}
			>
				{value === "" && <option value="">Choose…</option>}
				{(param.options ?? []).map((option) => (
					<option key={option} value={option}>
						{option}
					</option>
				))}
			</select>
			{offer}
			{(fault || param.description) && (
				<span class={fault ? "fault" : "help"} id={`${id}-help`}>
					{fault ?? param.description}
				</span>
			)}
		</div>
	);
}
