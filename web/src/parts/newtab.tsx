// The new-tab menu: a terminal, the agents, the tab configs with their own actions, and new
// worktrees, by the form or of a known repository at once.
import { useSignal } from "@preact/signals";
import {
	Bot,
	Check,
	Copy,
	Download,
	Ellipsis,
	FileCog,
	FilePlus,
	FolderGit2,
	FolderPlus,
	GitBranchPlus,
	GitFork,
	Pencil,
	Plus,
	Settings2,
	ShieldAlert,
	SquareTerminal,
	Trash2,
	TriangleAlert,
} from "lucide";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { Agent, Config, ConfigList, Fail, Workspace } from "../api/types";
import { chordOf } from "../keys/keys";
import { askLaunch, client, copy, openTerminal, tell } from "../state/actions";
import { chooseConfig, editConfig, loadConfigs, openWorktree, setDefault } from "../state/configs";
import { chips, configs, dialog, drawer } from "../state/store";
import { aboutAgent, absent, absentWords, installCommand, usable } from "../words/agents";
import {
	filtered,
	isOwn,
	manyConfigs,
	type NamedConfig,
	namedConfigs,
	needsTrust,
	sourceWord,
	trustWords,
} from "../words/configs";
import { fit } from "../words/match";
import { homeOf, tilde } from "../words/path";
import { IconButton, Keys } from "./bits";
import { Menu, MenuGroup, MenuItem, MenuLine } from "./menu";

export function NewTab() {
	const open = useSignal(false);
	const button = useRef<HTMLButtonElement>(null);
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
				<NewTabMenu
					at={button}
					onClose={() => {
						open.value = false;
					}}
				/>
			)}
		</>
	);
}

type Page = { kind: "top" } | { kind: "config"; path: string } | { kind: "worktrees" } | { kind: "agents" };

interface NewTabMenuProps {
	at: RefObject<HTMLElement | null>;
	onClose: () => void;
}

function NewTabMenu({ at, onClose }: NewTabMenuProps) {
	const page = useSignal<Page>({ kind: "top" });
	const typed = useSignal("");
	const agents = useSignal<readonly Agent[] | null>(null);
	const fault = useSignal<Fail | null>(null);
	const repositories = useSignal<readonly Workspace[] | null>(null);
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
		client
			.call("workspace.list", {})
			.then((list) => {
				repositories.value = (list.workspaces ?? []).filter((workspace) => workspace.git);
			})
			.catch(() => {
				repositories.value = []; // the form says what is wrong
			});
	}, []);
	const go = (next: Page) => {
		typed.value = "";
		page.value = next;
	};
	const back = () => go({ kind: "top" });
	const pick = (act: () => void) => () => {
		onClose();
		drawer.value = false;
		act();
	};
	const named = namedConfigs(configs.value?.configs ?? []);
	const filter = (label: string) => ({
		label,
		value: typed.value,
		onInput: (text: string) => {
			typed.value = text;
		},
	});
	const { kind } = page.value;
	if (page.value.kind === "config") {
		const { path } = page.value;
		const config = named.find((one) => one.config.path === path)?.config;
		if (!config) return null;
		return (
			<Menu key={path} label={config.name} at={at} onClose={onClose} onBack={back}>
				<ConfigActions config={config} pick={pick} />
			</Menu>
		);
	}
	if (kind === "agents") {
		return (
			<Menu
				key="agents"
				label="Not installed"
				at={at}
				onClose={onClose}
				onBack={back}
				filter={filter("Find an agent")}
			>
				<AbsentAgents agents={agents.value ?? []} typed={typed.value} pick={pick} />
			</Menu>
		);
	}
	if (kind === "worktrees") {
		return (
			<Menu
				key={`worktrees ${repositories.value === null}`}
				label="New worktree in"
				at={at}
				onClose={onClose}
				onBack={back}
				filter={(repositories.value?.length ?? 0) > 4 ? filter("Find a repository") : undefined}
			>
				<WorktreePlaces repositories={repositories.value} typed={typed.value} pick={pick} />
			</Menu>
		);
	}
	return (
		<Menu
			key={`top ${named.length > manyConfigs}`}
			label="New tab"
			at={at}
			onClose={onClose}
			filter={named.length > manyConfigs ? filter("Find a tab config") : undefined}
		>
			<NewTabView
				agents={agents.value}
				configs={configs.value}
				fault={fault.value}
				typed={typed.value}
				pick={pick}
				onConfig={(path) => go({ kind: "config", path })}
				onWorktrees={() => go({ kind: "worktrees" })}
				onAgents={() => go({ kind: "agents" })}
			/>
		</Menu>
	);
}

type Picking = (act: () => void) => () => void;

export interface NewTabViewProps {
	agents: readonly Agent[] | null;
	configs: ConfigList | null;
	fault: Fail | null;
	typed: string;
	pick: Picking;
	onConfig: (path: string) => void;
	onWorktrees: () => void;
	onAgents: () => void;
}

export function NewTabView(props: NewTabViewProps) {
	const { agents, configs: list, fault, typed, pick } = props;
	const named = namedConfigs(list?.configs ?? []);
	const shown = filtered(named, typed);
	const others = absent(agents ?? []);
	const preset = (list?.configs ?? []).some((config) => config.default);
	if (typed.trim() !== "") {
		return (
			<>
				{shown.map((one) => (
					<ConfigItem key={one.config.path} named={one} {...props} />
				))}
				{shown.length === 0 && (
					<MenuItem
						icon={FileCog}
						title={`No config fits “${typed.trim()}”`}
						disabled
						onPick={pick(() => undefined)}
					/>
				)}
			</>
		);
	}
	return (
		<>
			<MenuItem
				icon={SquareTerminal}
				title="Terminal"
				after={!preset && <Keys chord={chordOf("terminal")} />}
				onPick={pick(() => void openTerminal())}
			/>
			<MenuItem
				icon={GitBranchPlus}
				title="New worktree…"
				after={<Keys chord={chordOf("new-worktree")} />}
				onPick={pick(() => {
					dialog.value = { kind: "new-worktree" };
				})}
			/>
			<MenuItem icon={FolderGit2} title="New worktree in" page onPick={props.onWorktrees} />
			<MenuGroup title="Agents">
				{agents === null && !fault && (
					<MenuItem icon={Bot} title="Looking for agents…" disabled onPick={pick(() => undefined)} />
				)}
				{fault && (
					<MenuItem
						icon={TriangleAlert}
						title={fault.message}
						note={fault.hint}
						disabled
						warn
						onPick={pick(() => undefined)}
					/>
				)}
				{usable(agents ?? []).map((agent) => (
					<MenuItem
						key={agent.id}
						icon={Bot}
						title={agent.name}
						label={agent.practice ? "practice" : undefined}
						note={agent.doubt}
						tip={aboutAgent(agent) || undefined}
						onPick={pick(() => askLaunch(agent.id))}
					/>
				))}
				{others.length > 0 && (
					<MenuItem icon={Download} title={`Not installed (${others.length})`} page onPick={props.onAgents} />
				)}
			</MenuGroup>
			<MenuGroup title="Tab configs">
				{list === null && (
					<MenuItem icon={FileCog} title="Looking for tab configs…" disabled onPick={pick(() => undefined)} />
				)}
				{shown.map((one) => (
					<ConfigItem key={one.config.path} named={one} {...props} />
				))}
				<Faults list={list} pick={pick} />
				<MenuItem
					icon={FilePlus}
					title="New tab config…"
					onPick={pick(() => {
						dialog.value = { kind: "new-config" };
					})}
				/>
			</MenuGroup>
			<MenuLine />
			<MenuItem
				icon={GitFork}
				title="Worktrees"
				onPick={pick(() => {
					dialog.value = { kind: "worktrees" };
				})}
			/>
		</>
	);
}

interface AbsentAgentsProps {
	agents: readonly Agent[];
	typed: string;
	pick: Picking;
}

/** The agents that are not here, each with what would install it: a press copies that. */
function AbsentAgents({ agents, typed, pick }: AbsentAgentsProps) {
	const found = absent(agents).filter((agent) => fit(typed, agent.name) > 0 || fit(typed, agent.id) > 0);
	return (
		<>
			{found.map((agent) => {
				const command = installCommand(agent);
				return (
					<MenuItem
						key={agent.id}
						icon={command ? Copy : Bot}
						title={agent.name}
						note={absentWords(agent)}
						tip={agent.missing}
						disabled={command === ""}
						onPick={pick(() => void copy(command, "Command copied"))}
					/>
				);
			})}
			{found.length === 0 && (
				<MenuItem icon={Bot} title={`No agent fits “${typed}”`} disabled onPick={pick(() => undefined)} />
			)}
		</>
	);
}

function ConfigItem({ named, pick, onConfig }: ConfigItemProps) {
	const { config, apart } = named;
	const careful = needsTrust(config);
	const source = sourceWord(config);
	return (
		<MenuItem
			icon={careful ? ShieldAlert : FileCog}
			warn={careful}
			title={config.name}
			label={source || (config.worktree ? "worktree" : undefined)}
			note={
				[apart, careful ? trustWords(config) : config.description].filter(Boolean).join(" · ") || undefined
			}
			after={config.default && <Keys chord={chordOf("terminal")} />}
			tip={config.path}
			side={{ label: `Actions of ${config.name}`, icon: Ellipsis, onPick: () => onConfig(config.path) }}
			onPick={pick(() => void chooseConfig(config))}
		/>
	);
}

interface ConfigItemProps {
	named: NamedConfig;
	pick: Picking;
	onConfig: (path: string) => void;
}

function Faults({ list, pick }: { list: ConfigList | null; pick: Picking }) {
	const errors = (list?.faults ?? []).filter((fault) => fault.severity === "error");
	const files = new Set(errors.map((fault) => fault.file)).size;
	if (files === 0) return null;
	return (
		<MenuItem
			icon={TriangleAlert}
			warn
			title={files === 1 ? "1 config has errors" : `${files} configs have errors`}
			note="Show what is wrong"
			onPick={pick(() => {
				dialog.value = { kind: "configs" };
			})}
		/>
	);
}

export function ConfigActions({ config, pick }: { config: Config; pick: Picking }) {
	const own = isOwn(config);
	return (
		<>
			<MenuItem
				icon={FileCog}
				title={needsTrust(config) ? "Read and allow…" : "Open"}
				onPick={pick(() => void chooseConfig(config))}
			/>
			<MenuItem
				icon={Pencil}
				title={own ? "Edit" : "Show the file"}
				onPick={pick(() => editConfig(config.path))}
			/>
			<MenuItem
				icon={config.default ? Check : Settings2}
				title={config.default ? "Is the default: back to a terminal" : "Make it the default"}
				note={config.default ? undefined : "What the key for a new tab opens"}
				onPick={pick(() => void setDefault(config.default ? null : config))}
			/>
			<MenuItem icon={Copy} title="Copy path" onPick={pick(() => void copy(config.path, "Path copied"))} />
			<MenuLine />
			<MenuItem
				icon={Trash2}
				title="Remove…"
				danger
				disabled={!own}
				note={own ? undefined : `It belongs to ${config.source === "warp" ? "Warp" : "the repository"}.`}
				onPick={pick(() => {
					dialog.value = { kind: "remove-config", config };
				})}
			/>
		</>
	);
}

export interface WorktreePlacesProps {
	repositories: readonly Workspace[] | null;
	typed: string;
	pick: Picking;
}

/** One press: a tab on a fresh worktree of that repository, with a drawn name. */
export function WorktreePlaces({ repositories, typed, pick }: WorktreePlacesProps) {
	const found = (repositories ?? []).filter((one) => fit(typed, one.name) > 0 || fit(typed, one.path) > 0);
	const home = homeOf(chips.value, found[0]?.path);
	return (
		<>
			{repositories === null && (
				<MenuItem
					icon={FolderGit2}
					title="Looking for repositories…"
					disabled
					onPick={pick(() => undefined)}
				/>
			)}
			{found.map((one) => (
				<MenuItem
					key={one.path}
					icon={FolderGit2}
					title={one.name}
					note={
						<span class="clip-left">
							<bdi>{tilde(one.path, home)}</bdi>
						</span>
					}
					tip={one.path}
					onPick={pick(() => {
						void openWorktree({ in: `path:${one.path}`, removeOnClose: true }).then((fail) => {
							if (fail) tell(fail, `No worktree of ${one.name} was made`);
						});
					})}
				/>
			))}
			{repositories !== null && found.length === 0 && (
				<MenuItem
					icon={FolderGit2}
					title={typed ? `No repository fits “${typed}”` : "No repository is known yet"}
					disabled
					onPick={pick(() => undefined)}
				/>
			)}
			<MenuLine />
			<MenuItem
				icon={FolderPlus}
				title="Add repository…"
				onPick={pick(() => {
					dialog.value = { kind: "add-repository" };
				})}
			/>
		</>
	);
}
