// Which dialog is open; and the tab configs with their faults, and the list of keys.
import { useSignal } from "@preact/signals";
import { FileCog, FilePlus, ShieldAlert } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import type { Config, Fault } from "../api/types";
import { commands } from "../keys/keys";
import { closeDialog, copy, mention } from "../state/actions";
import { chooseConfig, editConfig, loadConfigs } from "../state/configs";
import { configs, dialog } from "../state/store";
import { placeWords } from "../words/chiplayout";
import { filtered, namedConfigs, needsTrust, sourceWord, trustWords } from "../words/configs";
import { AgentsDialog } from "./agents";
import { Keys } from "./bits";
import { CloseDialog } from "./closedialog";
import { NewConfigDialog, RemoveConfigDialog, TrustDialog } from "./configdialogs";
import { Modal } from "./dialog";
import { Icon } from "./icon";
import { LaunchDialog, ReceiptDialog } from "./launch";
import { Lazy } from "./lazy";
import { NewWorktreeDialog } from "./newworktree";
import { Palette } from "./palette";
import { ParamsDialog } from "./params";
import { AddRepository, useRepositories } from "./places";
import { RestartDialog } from "./restart";

export function Dialogs() {
	const open = dialog.value;
	switch (open?.kind) {
		case "launch":
			return <LaunchDialog />;
		case "receipt":
			return <ReceiptDialog {...open} />;
		case "params":
			return <ParamsDialog config={open.config} />;
		case "close":
			return <CloseDialog what={open.what} fail={open.fail} />;
		case "trust":
			return <TrustDialog config={open.config} />;
		case "new-config":
			return <NewConfigDialog tab={open.tab} />;
		case "remove-config":
			return <RemoveConfigDialog config={open.config} />;
		case "restart":
			return <RestartDialog pane={open.pane} secrets={open.secrets} />;
		case "new-worktree":
			return <NewWorktreeDialog />;
		case "add-repository":
			return <AddRepositoryDialog />;
		case "worktrees":
			return <Lazy load={loadWorktrees} name="worktrees" title="Worktrees" props={{}} />;
		case "chip-layout":
			return (
				<Lazy load={loadChipLayout} name="chip-layout" title={placeWords[open.place].title} props={open} />
			);
		case "changes":
			return <Lazy key={open.pane} load={loadChanges} name="changes" title="Changes" props={open} />;
		case "editor":
			return <Lazy key={open.path} load={loadEditor} name="editor" title="Tab config" props={open} />;
		case "configs":
			return <ConfigsDialog />;
		case "agents":
			return <AgentsDialog />;
		case "keys":
			return <KeysDialog />;
		case "palette":
			return <Palette />;
		default:
			return null;
	}
}

const loadChipLayout = () => import("./chiplayout").then((module) => module.ChipLayoutDialog);
const loadChanges = () => import("./changes").then((module) => module.ChangesDialog);
const loadEditor = () => import("./editor").then((module) => module.EditorDialog);
const loadWorktrees = () => import("./worktrees").then((module) => module.WorktreesDialog);

function AddRepositoryDialog() {
	const { add } = useRepositories();
	return (
		<Modal title="Add a repository">
			<p class="help">It is listed from then on, for worktrees and launches. Nothing on disk changes.</p>
			<AddRepository
				add={add}
				onDone={(added) => {
					closeDialog();
					if (added) mention(`${added.name} is known now`, added.path);
				}}
			/>
		</Modal>
	);
}

function ConfigsDialog() {
	useEffect(() => void loadConfigs(), []);
	const list = configs.value;
	return <ConfigsView configs={list?.configs ?? []} faults={list?.faults ?? []} dirs={list?.dirs ?? []} />;
}

export interface ConfigsViewProps {
	configs: readonly Config[];
	faults: readonly Fault[];
	dirs: readonly string[];
}

export function ConfigsView({ configs: list, faults, dirs }: ConfigsViewProps) {
	const typed = useSignal("");
	const rows = useRef<HTMLDivElement>(null);
	const shown = filtered(namedConfigs(list), typed.value);
	const step = (event: KeyboardEvent) => {
		const all = [...(rows.current?.querySelectorAll("button") ?? [])];
		const at = all.indexOf(document.activeElement as HTMLButtonElement);
		if (event.key === "Enter" && at < 0) all[0]?.click();
		else if (event.key === "ArrowDown") all[Math.min(at + 1, all.length - 1)]?.focus();
		else if (event.key === "ArrowUp" && at > 0) all[at - 1]?.focus();
		else if (event.key === "ArrowUp") field.current?.focus();
		else return;
		event.preventDefault();
	};
	const field = useRef<HTMLInputElement>(null);
	return (
		<Modal title="Tab configs">
			<input
				ref={field}
				class="input"
				aria-label="Find a tab config"
				placeholder="Find a tab config"
				autocomplete="off"
				spellcheck={false}
				value={typed.value}
				onInput={(event) => {
					typed.value = event.currentTarget.value;
				}}
				onKeyDown={step}
			/>
			{faults.map((fault) => (
				<FaultText key={`${fault.file}:${fault.line}:${fault.column}:${fault.code}`} fault={fault} />
			))}
			{/* biome-ignore lint/a11y/noStaticElementInteractions: arrows move between its buttons */}
			<div ref={rows} onKeyDown={(event) => event.key !== "Enter" && step(event)}>
				{shown.map(({ config, apart }) => (
					<button type="button" key={config.path} class="config" onClick={() => pick(config)}>
						<Icon of={needsTrust(config) ? ShieldAlert : FileCog} />
						<span class="words">
							{config.name}
							{(apart || config.description) && (
								<small>{[apart, config.description].filter(Boolean).join(" · ")}</small>
							)}
							{needsTrust(config) && <small class="careful">{trustWords(config)}</small>}
							{(config.warnings ?? []).map((warning) => (
								<small key={`${warning.line}:${warning.code}`} class="careful">
									line {warning.line}: {warning.message}
								</small>
							))}
						</span>
						{config.default && <span class="label">default</span>}
						{sourceWord(config) && <span class="label">{sourceWord(config)}</span>}
						{config.worktree && <span class="label">worktree</span>}
						{config.onClose && <span class="label">cleans up</span>}
					</button>
				))}
			</div>
			{list.length === 0 && faults.length === 0 && <p>No tab config yet.</p>}
			{list.length > 0 && shown.length === 0 && (
				<p class="help" role="status">
					No config fits “{typed.value.trim()}”.
				</p>
			)}
			<div class="button-row">
				<button
					type="button"
					class="button"
					onClick={() => {
						dialog.value = { kind: "new-config" };
					}}
				>
					<Icon of={FilePlus} size={14} /> New tab config
				</button>
			</div>
			<p class="help">
				One TOML file is one config. Looked for in{" "}
				{dirs.map((dir, at) => (
					<span key={dir}>
						{at > 0 && ", "}
						<code>{dir}</code>
					</span>
				))}
			</p>
		</Modal>
	);
}

function pick(config: Config): void {
	closeDialog();
	void chooseConfig(config);
}

function FaultText({ fault }: { fault: Fault }) {
	const place = `${fault.file}:${fault.line}:${fault.column}`;
	// The first line says again what stands above it; the rest is the line with its caret.
	const excerpt = fault.text?.split("\n").slice(1).join("\n") ?? "";
	return (
		<div class="field">
			<div class={`fault-text ${fault.severity}`}>
				{fault.severity}: {fault.message}
				<small>{place}</small>
				{excerpt && <pre>{excerpt}</pre>}
			</div>
			{fault.hint && <span class="help">{fault.hint}</span>}
			<div class="button-row">
				<button type="button" class="button" onClick={() => editConfig(fault.file, fault.line, fault.column)}>
					Open file
				</button>
				<button type="button" class="button plain" onClick={() => void copy(place, "Place copied")}>
					Copy place
				</button>
			</div>
		</div>
	);
}

const groups = ["Go", "Tabs", "Panes", "Chat", "Page"] as const;

/** Keys of the composer and of a permission question. */
const chatKeys: [title: string, chord: string][] = [
	["Send, or queue while a turn runs", "enter"],
	["New line", "shift+enter"],
	["Cancel the turn", "Esc"],
	["Scroll the chat", "PgUp PgDn"],
	["Answer a question by its number", "1…9"],
	["Allow once, allow always, reject", "Y A N"],
];

/** Keys of the tab list, and of its rows. */
const listKeys: [title: string, chord: string][] = [
	["Tab 1 to 8, last tab", "alt+shift+1…9"],
	["In the list: to the next row", "↑ ↓"],
	["Move the tab or group", "alt+↑ ↓"],
	["Fold and unfold a group", "← →"],
	["Rename", "F2"],
	["Menu: colour, pin, group, close", "shift+F10"],
	["Close", "Delete"],
];

export function KeysDialog() {
	return (
		<Modal title="Keys" class="wide">
			<div class="keys">
				{groups.map((group) => (
					<section key={group}>
						<h3>{group}</h3>
						<ul>
							{commands
								.filter((command) => command.group === group && command.keys.length > 0)
								.map((command) => (
									<li key={command.id}>
										{command.title}
										<Keys chord={command.keys[0]} />
									</li>
								))}
							{group === "Tabs" &&
								listKeys.map(([title, chord]) => (
									<li key={title}>
										{title}
										<Keys chord={chord} />
									</li>
								))}
							{group === "Chat" &&
								chatKeys.map(([title, chord]) => (
									<li key={title}>
										{title}
										<Keys chord={chord} />
									</li>
								))}
						</ul>
					</section>
				))}
			</div>
			<p class="help">
				A tab that is moved past a group goes into it, and out at its other end. On a divider: arrows move it.
				In a terminal Ctrl Shift C copies. The palette's key pressed twice goes to the terminal.
			</p>
		</Modal>
	);
}
