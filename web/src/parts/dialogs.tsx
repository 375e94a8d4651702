// The other dialogs: the question before running programs are ended, the tab configs with
// their faults, the list of keys; and which dialog is open.
import { FileCog, SquareTerminal } from "lucide";
import { useEffect } from "preact/hooks";
import type { Config, Fail, Fault } from "../api/types";
import { commands } from "../keys/keys";
import { chooseConfig, closeDialog, closePane, closeTabs, copy, loadConfigs } from "../state/actions";
import { type Closing, configs, dialog } from "../state/store";
import { running } from "../words/panes";
import { Keys } from "./bits";
import { Modal } from "./dialog";
import { Icon } from "./icon";
import { LaunchDialog, ReceiptDialog } from "./launch";
import { Palette } from "./palette";
import { ParamsDialog } from "./params";

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
		case "configs":
			return <ConfigsDialog />;
		case "keys":
			return <KeysDialog />;
		case "palette":
			return <Palette />;
		default:
			return null;
	}
}

/** Asked before a close that ends running programs (spec tabs T5.3). */
export function CloseDialog({ what, fail }: { what: Closing; fail: Fail }) {
	const programs = running(fail);
	const title =
		"pane" in what
			? "Close the pane?"
			: what.tabs.length > 1
				? `Close ${what.tabs.length} tabs?`
				: "Close the tab?";
	const close = () => void ("pane" in what ? closePane(what.pane, true) : closeTabs(what.tabs, true));
	return (
		<Modal
			title={title}
			foot={
				<>
					<span class="lead">
						{"tabs" in what && "It can be brought back for a while, not what its cleanup ends."}
					</span>
					<button type="button" class="button plain" autofocus onClick={closeDialog}>
						Keep it
					</button>
					<button type="button" class="button danger" onClick={close}>
						Close
					</button>
				</>
			}
		>
			{programs.length > 0 ? (
				<>
					<p>Still running:</p>
					<ul class="programs">
						{programs.map((program) => (
							<li key={program}>
								<Icon of={SquareTerminal} size={14} />
								{program}
							</li>
						))}
					</ul>
				</>
			) : (
				<p>{fail.message}</p>
			)}
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
	return (
		<Modal title="Tab configs">
			{faults.map((fault) => (
				<FaultText key={`${fault.file}:${fault.line}:${fault.column}:${fault.code}`} fault={fault} />
			))}
			<div>
				{list.map((config) => (
					<button type="button" key={config.path} class="config" onClick={() => pick(config)}>
						<Icon of={FileCog} />
						<span class="words">
							{config.name}
							{config.description && <small>{config.description}</small>}
							{(config.warnings ?? []).map((warning) => (
								<small key={`${warning.line}:${warning.code}`} class="careful">
									line {warning.line}: {warning.message}
								</small>
							))}
						</span>
						{config.worktree && <span class="label">worktree</span>}
						{config.onClose && <span class="label">cleans up</span>}
					</button>
				))}
			</div>
			{list.length === 0 && faults.length === 0 && <p>No tab config yet.</p>}
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
			<div>
				<button type="button" class="button" onClick={() => void copy(place, "Place copied")}>
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
							{group === "Tabs" && (
								<li>
									Tab 1 to 8, last tab
									<Keys chord="alt+shift+1…9" />
								</li>
							)}
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
				In the tab list: arrows move, Enter shows, F2 renames, Delete closes. On a divider: arrows move it. In
				a terminal Ctrl Shift C copies. The palette's key pressed twice goes to the terminal.
			</p>
		</Modal>
	);
}
