// The popup of the tab list's gear: how the tabs are drawn, in every window of this host
// (spec chips C6). A native popover: Escape and a press outside close it, and the focus goes
// back to the gear.
import { useSignal } from "@preact/signals";
import { Rows2, Rows4, Settings2, SlidersHorizontal, TriangleAlert } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { ChipLayout, TabView } from "../api/types";
import { desktop, setDesktop } from "../state/agents";
import { activePane, dialog, layout, panes, tabView } from "../state/store";
import { setTabView, setUndoSeconds, undoSeconds, viewRefusals } from "../state/view";
import type { DesktopWish } from "../words/agentlines";
import { placeOf } from "../words/chiplayout";
import { viewOf, warnsOfPull } from "../words/tabs";
import { Icon } from "./icon";

const id = "tab-view";
/** As rail.css has it: the place is found before the popup is drawn. */
const width = 232;

export function ViewSettings() {
	const open = useSignal(false);
	const popup = useRef<HTMLDivElement>(null);
	const gear = useRef<HTMLButtonElement>(null);
	void viewRefusals.value;
	const place = () => {
		const box = gear.current?.getBoundingClientRect();
		if (!box || !popup.current) return;
		popup.current.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
		popup.current.style.top = `${box.bottom + 4}px`;
	};
	return (
		<>
			<button
				type="button"
				ref={gear}
				class="icon-button"
				popoverTarget={id}
				aria-label="View of the tabs"
				aria-haspopup="dialog"
				aria-expanded={open.value}
				data-tip={open.value ? undefined : "View of the tabs"}
			>
				<Icon of={Settings2} />
			</button>
			<div
				ref={popup}
				id={id}
				class="view-popup"
				popover="auto"
				role="dialog"
				aria-label="View of the tabs"
				onBeforeToggle={(event) => {
					if (event.newState === "open") place();
				}}
				onToggle={(event) => {
					open.value = event.newState === "open";
					if (open.value) popup.current?.querySelector<HTMLElement>("input:checked")?.focus();
				}}
			>
				<ViewPanel
					view={viewOf(tabView.value)}
					layout={layout.value}
					onChange={(change) => void setTabView(change)}
				/>
				{open.value && <UndoTime />}
				<Desktop />
				<button
					type="button"
					class="view-more"
					onClick={() => {
						// The focus is back on the gear before the editor takes note of where it was.
						popup.current?.hidePopover();
						const pane = activePane.value;
						dialog.value = {
							kind: "chip-layout",
							place: placeOf(pane ? panes.value[pane]?.kind : undefined),
						};
					}}
				>
					<Icon of={SlidersHorizontal} size={14} /> Edit prompt and footers…
				</button>
			</div>
		</>
	);
}

/** What the desktop is told of agents, by this browser. */
function Desktop() {
	return (
		<Choice
			label="Desktop notifications"
			value={desktop.value}
			of={[
				["off", "Off"],
				["waiting", "Waiting"],
				["all", "And done"],
			]}
			onPick={(wish) => void setDesktop(wish as DesktopWish)}
		/>
	);
}

const undoTimes: [seconds: number, name: string][] = [
	[0, "Off"],
	[60, "1 min"],
	[600, "10 min"],
	[3600, "1 h"],
];

/** How long what was closed can be brought back; a time set elsewhere stands among them. */
function UndoTime() {
	const seconds = useSignal<number | null>(null);
	const load = async () => {
		seconds.value = await undoSeconds();
	};
	useEffect(() => void load(), []);
	const now = seconds.value;
	if (now === null) return null;
	const own: typeof undoTimes = undoTimes.some(([time]) => time === now) ? [] : [[now, `${now} s`]];
	return (
		<Choice
			label="Undo of a close, kept for"
			value={String(now)}
			of={[...undoTimes, ...own].sort((a, b) => a[0] - b[0]).map(([time, name]) => [String(time), name])}
			onPick={(value) => void setUndoSeconds(Number(value)).then(load)}
		/>
	);
}

export interface ViewPanelProps {
	view: TabView;
	layout: ChipLayout | null;
	onChange: (change: Partial<TabView>) => void;
}

const requiresGh = "Requires the GitHub CLI to be installed and authenticated";

/** The popup's content. */
export function ViewPanel({ view, layout: chips, onChange }: ViewPanelProps) {
	return (
		<>
			<Choice
				label="Rows"
				value={view.granularity}
				of={[
					["panes", "Panes"],
					["tabs", "Tabs"],
				]}
				onPick={(granularity) => onChange({ granularity })}
			/>
			<Choice
				label="Density"
				value={view.density}
				of={[
					["expanded", <Named icon={Rows2} name="Expanded" />],
					["compact", <Named icon={Rows4} name="Compact" />],
				]}
				onPick={(density) => onChange({ density })}
			/>
			<Choice
				label="Title"
				value={view.title}
				of={[
					["command", "Command"],
					["directory", "Directory"],
					["branch", "Branch"],
				]}
				onPick={(title) => onChange({ title })}
			/>
			<fieldset class="view-checks">
				<legend>In expanded rows</legend>
				{chips?.prChip !== false && (
					<CheckRow
						name="PR link"
						on={view.showPrLink}
						onSet={(showPrLink) => onChange({ showPrLink })}
						warning={warnsOfPull(view, chips) ? requiresGh : undefined}
					/>
				)}
				<CheckRow
					name="Diff stats"
					on={view.showDiffStats}
					onSet={(showDiffStats) => onChange({ showDiffStats })}
				/>
			</fieldset>
			<fieldset class="view-checks">
				<legend>In all rows</legend>
				<CheckRow
					name="Details on hover"
					on={view.detailsOnHover}
					onSet={(detailsOnHover) => onChange({ detailsOnHover })}
				/>
			</fieldset>
		</>
	);
}

function Named({ icon, name }: { icon: typeof Rows2; name: string }) {
	return (
		<>
			<Icon of={icon} size={14} /> {name}
		</>
	);
}

interface ChoiceProps {
	label: string;
	value: string;
	of: [value: string, shown: ComponentChildren][];
	onPick: (value: string) => void;
}

/** A radio group, drawn as segments. */
function Choice({ label, value, of, onPick }: ChoiceProps) {
	const name = useId();
	return (
		<fieldset class="view-choice">
			<legend>{label}</legend>
			<div class="segments">
				{of.map(([choice, shown]) => (
					<label key={choice} class="segment">
						<input
							type="radio"
							name={name}
							value={choice}
							checked={value === choice}
							onChange={() => onPick(choice)}
						/>
						<span>{shown}</span>
					</label>
				))}
			</div>
		</fieldset>
	);
}

interface CheckRowProps {
	name: string;
	on: boolean;
	onSet: (on: boolean) => void;
	warning?: string;
}

/** `[check] 8px [name] 4px [warning]`: the whole row is the check's, the warning only tells. */
function CheckRow({ name, on, onSet, warning }: CheckRowProps) {
	const tip = useId();
	return (
		<div class="view-row">
			<label>
				<input
					type="checkbox"
					class="view-check"
					checked={on}
					aria-describedby={warning && tip}
					onChange={(event) => onSet(event.currentTarget.checked)}
				/>
				<span class="view-name">{name}</span>
			</label>
			{warning && (
				<span class="view-warning">
					{/* biome-ignore lint/a11y/noNoninteractiveTabindex: its words come by focus as by hover */}
					<span class="view-sign" role="img" aria-label={warning} tabIndex={0}>
						<Icon of={TriangleAlert} size={12} />
					</span>
					<span class="view-tip" role="tooltip" id={tip}>
						{warning}
					</span>
				</span>
			)}
		</div>
	);
}
