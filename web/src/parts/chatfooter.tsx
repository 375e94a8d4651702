// The agent footer: the pane's chips and the session's items, in the order that the host's
// layout says (spec chips C4.5). What it does not know is kept by the host and skipped here.
// Where there is no room for all of it, items go whole, one after the other: see useFit.
import { useSignal } from "@preact/signals";
import {
	ChevronDown,
	Circle,
	CircleDot,
	CircleStop,
	Columns2,
	CornerDownLeft,
	Ellipsis,
	type IconNode,
	ListChecks,
	Maximize2,
	Mic,
	Minimize2,
	Paperclip,
	ReceiptText,
	Rows2,
	X,
} from "lucide";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { AgentOption, Chip, ChipLayout, Pane, PlanStep, Result, Session } from "../api/types";
import { pick, stopSession } from "../chat/acts";
import { pickers, takesMessages, usageWords } from "../chat/words";
import { closePane, splitPane } from "../state/actions";
import { dialog, zoomed } from "../state/store";
import { placeWords } from "../words/chiplayout";
import { besides, chipsIn } from "../words/chips";
import { shows } from "../words/tabs";
import { useBarMenu } from "./barmenu";
import { IconButton } from "./bits";
import type { ChipPlace } from "./chipmenu";
import { type Step, useFit } from "./fit";
import { Icon } from "./icon";
import { Menu, MenuGroup, MenuItem } from "./menu";
import { ChipView } from "./promptbar";

export interface FooterProps {
	pane: Pane;
	session: Session;
	chips: readonly Chip[];
	layout: ChipLayout | null;
	plan: readonly PlanStep[] | null;
	running: boolean;
	launch?: Result;
	several: boolean;
	zoomed: boolean;
}

/** What gives way, the first first (the style hides what is named in data-out). */
const steps: readonly Step[] = [
	"splits",
	"dimmed",
	"plan",
	"cwd",
	"mode",
	"tight",
	"tools",
	"usage",
	"pickers",
	"practice",
	"others",
	"diff",
	"pull",
	"branch",
];

export function Footer(props: FooterProps) {
	const bar = useRef<HTMLDivElement>(null);
	useFit(bar, steps);
	const items = props.layout?.footer;
	const edit = useBarMenu("footer", props.pane.id);
	const place: ChipPlace = {
		pane: props.pane.id,
		beside: chipsIn([...(items?.left ?? []), ...(items?.right ?? [])], props.chips),
		edit: { title: placeWords.footer.edit, open: edit.edit },
	};
	const draw = (kind: string) => <Piece key={kind} kind={kind} place={place} {...props} />;
	return (
		<>
			<div class="bar chat-bar" role="toolbar" aria-label="Agent footer" ref={bar} onContextMenu={edit.ask}>
				{props.session.practice && (
					<span class="chip" data-kind="practice" data-tip="Scripted, no model behind it">
						<span class="label">practice agent</span>
					</span>
				)}
				{(items?.left ?? []).map(draw)}
				<span class="spacer" />
				{(items?.right ?? []).map(draw)}
				<Tools {...props} />
			</div>
			{edit.menu}
		</>
	);
}

function Piece({
	kind,
	place,
	session,
	chips,
	plan,
	running,
}: FooterProps & { kind: string; place: ChipPlace }): ComponentChildren {
	switch (kind) {
		case "input_mode":
			return (
				<span
					class="chip"
					data-kind={kind}
					data-tip={running ? "A turn runs: messages wait for its end" : "Messages are sent at once"}
				>
					<Icon of={CornerDownLeft} size={14} />
					<span>{running ? "Queue" : "Send"}</span>
				</span>
			);
		case "context_use": {
			const usage = usageWords(session);
			if (!usage) return null;
			return (
				<span class="chip" data-kind={kind} data-ring={usage.part !== null} data-tip={usage.tip}>
					{usage.part !== null && <Ring part={usage.part} />}
					<span class="hidden-text">Context used: {usage.text}</span>
					<span class="usage-text" aria-hidden="true">
						{usage.text}
					</span>
				</span>
			);
		}
		case "model":
			return pickers(session.options ?? []).map((option) => (
				<Picker key={option.id} option={option} session={session.id} />
			));
		case "agent_plan": {
			if (!plan || plan.length === 0) return null;
			const done = plan.filter((step) => step.state === "done").length;
			const now = plan.find((step) => step.state === "running")?.text;
			return (
				<span class="chip" data-kind={kind} data-tip={now ? `Now: ${now}` : "The agent's plan"}>
					<Icon of={ListChecks} size={14} />
					<span>
						{done}/{plan.length}
					</span>
				</span>
			);
		}
		case "attach":
			return <Dimmed icon={Paperclip} label="Attach" reason="Attaching files is not there yet" />;
		case "voice":
			return <Dimmed icon={Mic} label="Dictate" reason="Dictation is not there yet" />;
		default: {
			const chip = chips.find((c) => c.kind === kind);
			return chip && shows(chip) && besides(chip, "") ? <ChipView chip={chip} place={place} /> : null;
		}
	}
}

function Dimmed({ icon, label, reason }: { icon: typeof Mic; label: string; reason: string }) {
	return (
		<button
			type="button"
			class="icon-button small dimmed"
			aria-disabled="true"
			aria-label={`${label}: ${reason}`}
			data-tip={reason}
		>
			<Icon of={icon} size={14} />
		</button>
	);
}

/** How full the context is. */
function Ring({ part }: { part: number }) {
	const round = 2 * Math.PI * 5;
	return (
		<svg class="ring" data-full={part > 0.85} width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
			<circle cx="7" cy="7" r="5" />
			<circle cx="7" cy="7" r="5" stroke-dasharray={`${part * round} ${round}`} transform="rotate(-90 7 7)" />
		</svg>
	);
}

function Picker({ option, session }: { option: AgentOption; session: string }) {
	const choices = option.choices ?? [];
	const now = choices.find((choice) => choice.id === option.value);
	return (
		<label class="chip picker" data-kind={option.category} data-tip={now?.description || option.name}>
			<span class="cut">{now?.name ?? option.value}</span>
			<Icon of={ChevronDown} size={12} />
			<select
				aria-label={option.name}
				value={option.value}
				onChange={(event) => void pick(session, option.id, event.currentTarget.value)}
			>
				{!now && <option value={option.value}>{option.value}</option>}
				{choices.map((choice) => (
					<option key={choice.id} value={choice.id}>
						{choice.name}
					</option>
				))}
			</select>
		</label>
	);
}

interface Tool {
	icon: IconNode;
	label: string;
	command?: string;
	/** Where it goes when there is no room: see steps. */
	group: "splits" | "tools" | "panes";
	act: () => void;
}

function toolsOf({ pane, session, launch, several, zoomed: zoom }: FooterProps): Tool[] {
	const tools: Tool[] = [];
	if (takesMessages(session)) {
		tools.push({
			icon: CircleStop,
			label: "Stop the agent; the chat is kept",
			group: "tools",
			act: () => void stopSession(session.id),
		});
	}
	if (launch) {
		tools.push({
			icon: ReceiptText,
			label: "Receipt of the launch",
			group: "tools",
			act: () => {
				dialog.value = { kind: "receipt", result: launch, agent: session.agentName, prompt: "" };
			},
		});
	}
	tools.push(
		{
			icon: Columns2,
			label: "Split to the right",
			command: "split-right",
			group: "splits",
			act: () => void splitPane(pane.id, "horizontal"),
		},
		{
			icon: Rows2,
			label: "Split downwards",
			command: "split-down",
			group: "splits",
			act: () => void splitPane(pane.id, "vertical"),
		},
	);
	if (several) {
		tools.push(
			{
				icon: zoom ? Minimize2 : Maximize2,
				label: zoom ? "Back to all panes" : "Zoom pane",
				command: "zoom",
				group: "panes",
				act: () => {
					zoomed.value = zoom ? null : pane.id;
				},
			},
			{
				icon: X,
				label: "Close pane",
				command: "close-pane",
				group: "panes",
				act: () => void closePane(pane.id),
			},
		);
	}
	return tools;
}

function Tools(props: FooterProps) {
	const { session } = props;
	const more = useRef<HTMLButtonElement>(null);
	const open = useSignal(false);
	const tools = toolsOf(props);
	const close = () => {
		open.value = false;
	};
	const done = (act: () => void) => () => {
		close();
		more.current?.focus();
		act();
	};
	return (
		<div class="bar-tools">
			{tools.map(({ icon, label, command, group, act }) => (
				<IconButton
					key={label}
					icon={icon}
					label={label}
					command={command}
					class={`tool-${group}`}
					onClick={act}
				/>
			))}
			<IconButton
				icon={Ellipsis}
				label="More"
				class="tool-more-menu"
				refTo={more}
				expanded={open.value}
				onClick={() => {
					open.value = !open.value;
				}}
			/>
			{open.value && (
				<Menu label="More of the chat" at={more} onClose={close}>
					{tools.map(({ icon, label, act }) => (
						<MenuItem key={label} icon={icon} title={label} onPick={done(act)} />
					))}
					{pickers(session.options ?? []).map((option) => (
						<MenuGroup key={option.id} title={option.name}>
							{(option.choices ?? []).map((choice) => (
								<MenuItem
									key={choice.id}
									icon={choice.id === option.value ? CircleDot : Circle}
									title={choice.name}
									checked={choice.id === option.value}
									onPick={done(() => void pick(session.id, option.id, choice.id))}
								/>
							))}
						</MenuGroup>
					))}
				</Menu>
			)}
		</div>
	);
}
