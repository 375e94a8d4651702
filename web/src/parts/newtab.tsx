// The new-tab menu: a terminal, the agents, the tab configs, a new worktree.
import { useSignal } from "@preact/signals";
import { Bot, FileCog, GitBranchPlus, Plus, SquareTerminal, TriangleAlert } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { Agent, ConfigList, Fail } from "../api/types";
import { chordOf } from "../keys/keys";
import { askLaunch, chooseConfig, client, loadConfigs, openTerminal } from "../state/actions";
import { configs, dialog } from "../state/store";
import { IconButton, Keys } from "./bits";
import { Menu, MenuGroup, MenuItem } from "./menu";

export function NewTab() {
	const open = useSignal(false);
	const button = useRef<HTMLButtonElement>(null);
	const close = () => {
		open.value = false;
	};
	return (
		<>
			<IconButton
				icon={Plus}
				label="New tab"
				refTo={button}
				expanded={open.value}
				onClick={() => {
					open.value = !open.value;
				}}
			/>
			{open.value && (
				<Menu label="New tab" at={button} onClose={close}>
					<NewTabItems onPick={close} />
				</Menu>
			)}
		</>
	);
}

function NewTabItems({ onPick }: { onPick: () => void }) {
	const agents = useSignal<readonly Agent[] | null>(null);
	const fault = useSignal<Fail | null>(null);
	useEffect(() => {
		void loadConfigs();
		client
			.call("agent.list", {})
			.then((list) => {
				agents.value = list.agents ?? [];
			})
			.catch((error: unknown) => {
				fault.value = failOf(error);
			});
	}, []);
	return <NewTabView agents={agents.value} configs={configs.value} fault={fault.value} onPick={onPick} />;
}

export interface NewTabViewProps {
	agents: readonly Agent[] | null;
	configs: ConfigList | null;
	fault: Fail | null;
	onPick: () => void;
}

export function NewTabView({ agents, configs, fault, onPick }: NewTabViewProps) {
	const pick = (act: () => void) => () => {
		onPick();
		act();
	};
	const errors = (configs?.faults ?? []).filter((f) => f.severity === "error");
	const files = new Set(errors.map((f) => f.file)).size;
	return (
		<>
			<MenuItem
				icon={SquareTerminal}
				title="Terminal"
				after={<Keys chord={chordOf("terminal")} />}
				onPick={pick(() => void openTerminal())}
			/>
			<MenuItem
				icon={GitBranchPlus}
				title="New worktree…"
				after={<Keys chord={chordOf("worktree")} />}
				onPick={pick(() => askLaunch(undefined, "worktree"))}
			/>
			<MenuGroup title="Agents">
				{agents === null && !fault && (
					<MenuItem icon={Bot} title="Looking for agents…" disabled onPick={onPick} />
				)}
				{fault && (
					<MenuItem
						icon={TriangleAlert}
						title={fault.message}
						note={fault.hint}
						disabled
						warn
						onPick={onPick}
					/>
				)}
				{[...(agents ?? [])]
					.sort((a, b) => Number(b.installed) - Number(a.installed))
					.map((agent) => (
						<MenuItem
							key={agent.id}
							icon={Bot}
							title={agent.name}
							label={agent.practice ? "practice" : undefined}
							note={
								agent.installed ? undefined : ["Not installed.", agent.installHint].filter(Boolean).join(" ")
							}
							tip={agent.installed ? agent.path : agent.missing}
							disabled={!agent.installed}
							onPick={pick(() => askLaunch(agent.id))}
						/>
					))}
			</MenuGroup>
			<MenuGroup title="Tab configs">
				{(configs?.configs ?? []).map((config) => (
					<MenuItem
						key={config.path}
						icon={FileCog}
						title={config.name}
						label={config.worktree ? "worktree" : undefined}
						note={config.description}
						onPick={pick(() => void chooseConfig(config))}
					/>
				))}
				{configs && (configs.configs ?? []).length === 0 && files === 0 && (
					<MenuItem
						icon={FileCog}
						title="None yet"
						note={`Put one into ${configs.dirs?.[0] ?? "the tab_configs folder"}`}
						disabled
						onPick={onPick}
					/>
				)}
				{files > 0 && (
					<MenuItem
						icon={TriangleAlert}
						warn
						title={files === 1 ? "1 config has errors" : `${files} configs have errors`}
						note="Show what is wrong"
						onPick={pick(() => {
							dialog.value = { kind: "configs" };
						})}
					/>
				)}
			</MenuGroup>
		</>
	);
}
