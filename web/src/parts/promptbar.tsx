// The prompt bar: the chips of a pane, and what can be done with the pane.
import { useSignal } from "@preact/signals";
import {
	Columns2,
	Copy,
	ExternalLink,
	Maximize2,
	Minimize2,
	ReceiptText,
	Rows2,
	Settings2,
	TriangleAlert,
	X,
} from "lucide";
import { useRef } from "preact/hooks";
import type { Chip, Pane, PullRequest } from "../api/types";
import { closePane, copy, splitPane } from "../state/actions";
import { chips, dialog, layout, tabs, typedPrograms, zoomed } from "../state/store";
import { placeOf, placeWords } from "../words/chiplayout";
import { chipMore, chipName, chipParts, chipText, isClean } from "../words/chipnames";
import { type BarItem, barChips } from "../words/chips";
import { pullLines, pullName, pullState, safePage } from "../words/pull";
import { useBarMenu } from "./barmenu";
import { Diff, IconButton } from "./bits";
import { ChipIcon } from "./chipicon";
import { type ChipPlace, CopyPrompt, useChip } from "./chipmenu";
import { Icon } from "./icon";
import { Menu, MenuItem } from "./menu";
import { PaneNote } from "./pane";
import { PullMark } from "./pull";

export interface PromptBarProps {
	pane: Pane;
	several: boolean;
	zoomed: boolean;
}

export function PromptBar({ pane, several, zoomed: zoom }: PromptBarProps) {
	const tab = tabs.value.find((t) => t.id === pane.tab);
	const launches = tab?.launches ?? [];
	const typed = typedPrograms.value[pane.id];
	const shown = barChips(pane, chips.value[pane.id] ?? [], layout.value, typed);
	const launch = launches.find((r) => r.outcome.paneKey === `${pane.tab}:${pane.id}`) ?? launches[0];
	const edit = useBarMenu(placeOf(pane.kind), pane.id);
	const place: ChipPlace = {
		pane: pane.id,
		beside: [...shown.left, ...shown.right].filter((item) => "text" in item),
		edit: { title: placeWords[placeOf(pane.kind)].edit, open: edit.edit },
	};
	const drawn = (item: BarItem) =>
		"text" in item ? (
			<ChipView key={item.kind} chip={item} place={place} />
		) : (
			<IconButton key={item.kind} icon={Settings2} label="Edit footer" class="small" onClick={edit.edit} />
		);
	return (
		<div class="bar" role="toolbar" aria-label="Prompt bar" onContextMenu={edit.ask}>
			<div class="bar-chips">
				{pane.practice && (
					<span class="chip">
						<span class="label">practice agent</span>
					</span>
				)}
				{shown.left.map(drawn)}
				{tab?.fault && (
					<span class="chip" data-tip={tab.fault}>
						<Icon of={TriangleAlert} size={14} />
						<span class="cut">{tab.fault}</span>
					</span>
				)}
				{pane.note && <PaneNote note={pane.note} />}
				{shown.right.length > 0 && <span class="spacer" />}
				{shown.right.map(drawn)}
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
			{edit.menu}
		</div>
	);
}

/** One chip: its text, its full value in the tooltip, and what its click does. */
export function ChipView({ chip, place }: { chip: Chip; place: ChipPlace }) {
	const pull = chip.kind === "github_pr" ? chip.data?.pullRequest : undefined;
	const page = pull && safePage(pull.url);
	if (pull && page) return <PullChip chip={chip} place={place} pull={pull} page={page} />;
	return <PlainChip chip={chip} place={place} />;
}

/** The pull request: a click opens its page, Alt and a click or its menu copy (spec chips C5.2). */
function PullChip({
	chip,
	place,
	pull,
	page,
}: {
	chip: Chip;
	place: ChipPlace;
	pull: PullRequest;
	page: string;
}) {
	const link = useRef<HTMLAnchorElement>(null);
	const menu = useSignal(false);
	const stale = chip.status === "stale";
	const close = () => {
		menu.value = false;
	};
	const done = (act: () => void) => () => {
		close();
		act();
		link.current?.focus();
	};
	const take = () => void copy(page, "Link copied");
	const tip = [
		...pullLines(pull),
		stale ? `Not up to date${chip.reason ? `: ${chip.reason}` : ""}` : (chip.reason ?? ""),
		"Click to open, Alt-click to copy",
	];
	return (
		<>
			<a
				ref={link}
				class="chip"
				href={page}
				target="_blank"
				rel="noopener noreferrer"
				data-kind={chip.kind}
				data-status={chip.status}
				data-state={pullState(pull)}
				data-tip={menu.value ? undefined : tip.filter(Boolean).join("\n")}
				aria-label={`${pullName(pull)}${stale ? ", not up to date" : ""}. Open its page`}
				onClick={(event) => {
					if (!event.altKey) return;
					event.preventDefault();
					take();
				}}
				onContextMenu={(event) => {
					event.preventDefault();
					menu.value = true;
				}}
			>
				<PullMark pull={pull} size={14} />
				<span>#{pull.number}</span>
			</a>
			{menu.value && (
				<Menu label={`Pull request #${pull.number}`} at={link} onClose={close}>
					<MenuItem
						icon={ExternalLink}
						title="Open page"
						onPick={done(() => window.open(page, "_blank", "noopener,noreferrer"))}
					/>
					<MenuItem icon={Copy} title="Copy link" onPick={done(take)} />
					<MenuItem
						icon={Copy}
						title={`Copy “PR #${pull.number}”`}
						onPick={done(() => void copy(`PR #${pull.number}`, "Number copied"))}
					/>
					<CopyPrompt place={place} onDone={done} />
				</Menu>
			)}
		</>
	);
}

function PlainChip({ chip, place }: { chip: Chip; place: ChipPlace }) {
	const name = chipName(chip.kind, chip.title);
	const use = useChip(chip, name, place);
	const stale = chip.status === "stale";
	const tip = [
		`${name}: ${chip.value || chip.text}`,
		chipMore(chip),
		stale ? `Not up to date${chip.reason ? `: ${chip.reason}` : ""}` : (chip.reason ?? ""),
		use.tip,
	];
	return (
		<>
			<button
				ref={use.button}
				type="button"
				class="chip"
				data-kind={chip.kind}
				data-status={chip.status}
				data-tip={use.open ? undefined : tip.filter(Boolean).join("\n")}
				aria-haspopup={use.list ? "menu" : undefined}
				aria-expanded={use.list ? use.open : undefined}
				aria-label={`${name}: ${chipText(chip)}${stale ? ", not up to date" : ""}. ${use.verb}`}
				onClick={use.onClick}
				onContextMenu={use.onContextMenu}
			>
				<ChipIcon kind={chip.kind} icon={chip.icon} />
				<ChipText chip={chip} />
			</button>
			{use.menu}
		</>
	);
}

/** What a chip shows; with little room its head gives way, and its tail stays. */
export function ChipText({ chip }: { chip: Chip }) {
	if (chip.kind === "git_diff" && chip.data && !isClean(chip)) {
		return (
			<>
				{chip.data.files > 0 && <span>{chip.data.files}</span>}
				<Diff added={chip.data.added} removed={chip.data.removed} />
			</>
		);
	}
	const { head, tail } = chipParts(chip);
	if (chip.kind === "cwd") {
		return (
			<span class="chip-path">
				{head && <span class="cut">{head}</span>}
				<span class="cut chip-tail">{tail}</span>
			</span>
		);
	}
	return (
		<>
			<span class="cut">{head}</span>
			{tail && <span class="chip-counts">{tail}</span>}
		</>
	);
}
