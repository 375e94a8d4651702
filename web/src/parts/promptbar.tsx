// The prompt bar: the chips of a pane, and what can be done with the pane.
import {
	Columns2,
	Diff as DiffIcon,
	Folder,
	GitBranch,
	type IconNode,
	Maximize2,
	Minimize2,
	ReceiptText,
	Rows2,
	Tag,
	TriangleAlert,
	X,
} from "lucide";
import type { Chip, Pane } from "../api/types";
import { closePane, copy, splitPane } from "../state/actions";
import { chips, dialog, tabs, zoomed } from "../state/store";
import { shortPath, shows } from "../words/tabs";
import { Diff, IconButton } from "./bits";
import { Icon } from "./icon";
import { PaneNote } from "./pane";

export interface PromptBarProps {
	pane: Pane;
	several: boolean;
	zoomed: boolean;
}

export function PromptBar({ pane, several, zoomed: zoom }: PromptBarProps) {
	const tab = tabs.value.find((t) => t.id === pane.tab);
	const launches = tab?.launches ?? [];
	const launch = launches.find((r) => r.outcome.paneKey === `${pane.tab}:${pane.id}`) ?? launches[0];
	return (
		<div class="bar" role="toolbar" aria-label="Prompt bar">
			<div class="bar-chips">
				{pane.practice && (
					<span class="chip">
						<span class="label">practice agent</span>
					</span>
				)}
				{(chips.value[pane.id] ?? []).filter(shows).map((chip) => (
					<ChipView key={chip.kind} chip={chip} />
				))}
				{tab?.fault && (
					<span class="chip" data-tip={tab.fault}>
						<Icon of={TriangleAlert} size={14} />
						<span class="cut">{tab.fault}</span>
					</span>
				)}
				{pane.note && <PaneNote note={pane.note} />}
			</div>
			<div class="bar-tools">
				{launch && (
					<IconButton
						icon={ReceiptText}
						label="Receipt of the launch"
						onClick={() => {
							dialog.value = {
								kind: "receipt",
								result: launch,
								agent: pane.agent ?? "The agent",
								prompt: "",
							};
						}}
					/>
				)}
				<IconButton
					icon={Columns2}
					label="Split to the right"
					command="split-right"
					class="wide"
					onClick={() => void splitPane(pane.id, "horizontal")}
				/>
				<IconButton
					icon={Rows2}
					label="Split downwards"
					command="split-down"
					onClick={() => void splitPane(pane.id, "vertical")}
				/>
				{several && (
					<IconButton
						icon={zoom ? Minimize2 : Maximize2}
						label={zoom ? "Back to all panes" : "Zoom pane"}
						command="zoom"
						onClick={() => {
							zoomed.value = zoom ? null : pane.id;
						}}
					/>
				)}
				{several && (
					<IconButton
						icon={X}
						label="Close pane"
						command="close-pane"
						onClick={() => void closePane(pane.id)}
					/>
				)}
			</div>
		</div>
	);
}

const icons: Record<string, IconNode> = { cwd: Folder, git_branch: GitBranch, git_diff: DiffIcon };
const names: Record<string, string> = { cwd: "Directory", git_branch: "Branch", git_diff: "Changes" };

/** One chip: its text, its full value in the tooltip, its value on the clipboard by a click. */
export function ChipView({ chip }: { chip: Chip }) {
	const name = names[chip.kind] ?? chip.kind;
	const stale = chip.status === "stale";
	const tip = [
		`${name}: ${chip.value || chip.text}`,
		chip.kind === "git_diff" && chip.data ? diffWords(chip) : "",
		stale ? `Not up to date${chip.reason ? `: ${chip.reason}` : ""}` : (chip.reason ?? ""),
		"Click to copy",
	];
	return (
		<button
			type="button"
			class="chip"
			data-kind={chip.kind}
			data-status={chip.status}
			data-tip={tip.filter(Boolean).join("\n")}
			aria-label={`${name}: ${visible(chip)}${stale ? ", not up to date" : ""}. Copy`}
			onClick={() => void copy(chip.value || chip.text, `${name} copied`)}
		>
			<Icon of={icons[chip.kind] ?? Tag} size={14} />
			<ChipText chip={chip} />
		</button>
	);
}

function isClean(chip: Chip): boolean {
	const data = chip.data;
	return chip.kind === "git_diff" && !!data && data.files + data.added + data.removed + data.untracked === 0;
}

/** What ChipText shows, as the words of the button's name must have it too. */
function visible(chip: Chip): string {
	if (chip.kind !== "git_diff" || !chip.data) return chip.text;
	if (isClean(chip)) return "clean";
	const files = chip.data.files > 0 ? `${chip.data.files} ` : "";
	return `${files}+${chip.data.added} −${chip.data.removed}`;
}

function ChipText({ chip }: { chip: Chip }) {
	if (chip.kind === "git_diff" && chip.data) {
		if (isClean(chip)) return <span>clean</span>;
		return (
			<>
				{chip.data.files > 0 && <span>{chip.data.files}</span>}
				<Diff added={chip.data.added} removed={chip.data.removed} />
			</>
		);
	}
	return <span class="cut">{chip.kind === "cwd" ? shortPath(chip.text, 40) : chip.text}</span>;
}

function diffWords(chip: Chip): string {
	const data = chip.data;
	if (!data) return "";
	const files = `${data.files} ${data.files === 1 ? "file" : "files"}`;
	const fresh = data.untracked > 0 ? `, ${data.untracked} untracked` : "";
	return `${files}, ${data.added} lines added, ${data.removed} removed${fresh}`;
}
