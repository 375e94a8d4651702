// The pickers of a repository and of a branch (spec tabs T2.1).
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { BranchList, Fail, Workspace } from "../api/types";
import { client } from "../state/actions";
import { chips } from "../state/store";
import { branchChoices } from "../words/branches";
import { homeOf, tilde } from "../words/path";
import { sentences } from "../words/sentences";
import { Picker } from "./picker";

/** The repositories that are known, newest use first, as the host has them. */
export interface Repositories {
	list: readonly Workspace[] | null;
	fail: Fail | null;
	/** Makes another one known; what the host refuses is its answer. */
	add: (path: string) => Promise<Workspace | Fail>;
}

export function useRepositories(): Repositories {
	const list = useSignal<readonly Workspace[] | null>(null);
	const fail = useSignal<Fail | null>(null);
	useEffect(() => {
		client
			.call("workspace.list", {})
			.then((answer) => {
				list.value = (answer.workspaces ?? []).filter((workspace) => workspace.git);
			})
			.catch((error: unknown) => {
				fail.value = failOf(error);
				list.value = [];
			});
	}, []);
	return {
		list: list.value,
		fail: fail.value,
		add: async (path) => {
			try {
				const added = await client.call("workspace.add", { path });
				list.value = [added, ...(list.value ?? []).filter((one) => one.path !== added.path)];
				return added;
			} catch (error) {
				return failOf(error);
			}
		},
	};
}

export interface RepoPickerProps {
	label: string;
	name: string;
	value: string;
	repositories: Repositories;
	help?: string;
	fault?: string;
	focus?: boolean;
	onPick: (path: string) => void;
}

export function RepoPicker(props: RepoPickerProps) {
	const { repositories, value } = props;
	const adding = useSignal(false);
	const home = useComputed(() => homeOf(chips.value, value)).value;
	const short = (path: string) => tilde(path, home);
	const list = repositories.list ?? [];
	return (
		<>
			<Picker
				label={props.label}
				name={props.name}
				value={value}
				shown={short(value)}
				choices={list.map((one) => ({
					value: one.path,
					title: list.some((other) => other !== one && other.name === one.name) ? short(one.path) : one.name,
					note: short(one.path),
					tip: one.path,
				}))}
				tip={value || undefined}
				busy={repositories.list === null}
				placeholder={repositories.list === null ? "Looking for repositories…" : "Choose a repository"}
				help={props.help}
				fault={props.fault}
				focus={props.focus}
				free
				more={{
					title: "+ Add repository…",
					onPick: () => {
						adding.value = true;
					},
				}}
				below={
					value !== "" && (
						<span class="field-path clip-left" data-tip={value}>
							<bdi>{short(value)}</bdi>
						</span>
					)
				}
				onPick={props.onPick}
			/>
			{adding.value && (
				<AddRepository
					add={repositories.add}
					onDone={(added) => {
						adding.value = false;
						if (added) props.onPick(added.path);
					}}
				/>
			)}
		</>
	);
}

export interface AddRepositoryProps {
	add: Repositories["add"];
	onDone: (added: Workspace | null) => void;
}

/** The path of a repository, which the host looks at before it is known. */
export function AddRepository({ add, onDone }: AddRepositoryProps) {
	const path = useSignal("");
	const fault = useSignal("");
	const busy = useSignal(false);
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => input.current?.focus(), []);
	const send = async () => {
		if (busy.value || path.value.trim() === "") return;
		busy.value = true;
		const answer = await add(path.value.trim());
		busy.value = false;
		if ("code" in answer) fault.value = sentences(answer.message, answer.hint);
		else onDone(answer);
	};
	return (
		<div class="field field-add">
			<label>
				Path of the repository
				<input
					ref={input}
					class="input"
					name="add-repository"
					placeholder="~/code/harbor"
					autocomplete="off"
					autocapitalize="off"
					spellcheck={false}
					aria-invalid={fault.value !== ""}
					value={path.value}
					onInput={(event) => {
						path.value = event.currentTarget.value;
						fault.value = "";
					}}
					onKeyDown={(event) => {
						if (event.key !== "Enter" && event.key !== "Escape") return;
						event.preventDefault();
						event.stopPropagation();
						if (event.key === "Enter") void send();
						else onDone(null);
					}}
				/>
			</label>
			<button type="button" class="button" disabled={busy.value} onClick={() => void send()}>
				{busy.value ? "Looking…" : "Add"}
			</button>
			<button type="button" class="button plain" onClick={() => onDone(null)}>
				Cancel
			</button>
			{fault.value && (
				<span class="fault" role="alert">
					{fault.value}
				</span>
			)}
		</div>
	);
}

/** The branches of one repository; late answers about another one are dropped. */
export interface Branches {
	list: BranchList | null;
	fail: Fail | null;
	again: () => void;
}

export function useBranches(repo: string | null, onList: (list: BranchList) => void): Branches {
	const list = useSignal<BranchList | null>(null);
	const fail = useSignal<Fail | null>(null);
	const round = useRef(0);
	const fetch = () => {
		const mine = ++round.current;
		list.value = null;
		fail.value = null;
		if (repo === null) return;
		client
			.call("workspace.branches", { in: `path:${repo}` })
			.then((answer) => {
				if (round.current !== mine) return;
				list.value = answer;
				onList(answer);
			})
			.catch((error: unknown) => {
				if (round.current === mine) fail.value = failOf(error);
			});
	};
	useEffect(fetch, [repo]);
	return { list: list.value, fail: fail.value, again: fetch };
}

export interface BranchPickerProps {
	label: string;
	name: string;
	value: string;
	declared?: string;
	branches: Branches;
	/** There is no repository to look at yet. */
	waiting?: boolean;
	help?: string;
	fault?: string;
	below?: ComponentChildren;
	onPick: (branch: string) => void;
}

export function BranchPicker(props: BranchPickerProps) {
	const { branches, waiting } = props;
	const fetching = !waiting && branches.list === null && branches.fail === null;
	return (
		<Picker
			label={props.label}
			name={props.name}
			value={props.value}
			choices={branchChoices(branches.list, props.declared).map((choice) => ({
				value: choice.name,
				title: choice.name,
				note: choice.note,
			}))}
			// Not while they are fetched: who types fast is not sent past it by Tab.
			disabled={waiting}
			busy={fetching}
			placeholder={
				waiting ? "Choose a repository first" : fetching ? "Fetching branches…" : "Choose a branch"
			}
			free
			help={
				branches.list?.more
					? [props.help, `The newest ${branches.list.branches?.length ?? 0} are listed; type any other.`]
							.filter(Boolean)
							.join(" ")
					: props.help
			}
			fault={props.fault}
			below={
				<>
					{branches.fail && (
						<span class="fault field-retry" role="alert">
							{sentences(branches.fail.message, branches.fail.hint)}
							<button type="button" class="button" onClick={branches.again}>
								Try again
							</button>
						</span>
					)}
					{props.below}
				</>
			}
			onPick={props.onPick}
		/>
	);
}
