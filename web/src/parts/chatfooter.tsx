// The agent footer: the pane's chips and the session's items, in the order that the host's
// layout says (spec chips C4.5). What it does not know is kept by the host and skipped here.
import {
	ChevronDown,
	CircleStop,
	Columns2,
	CornerDownLeft,
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
import type { AgentOption, Chip, ChipLayout, Pane, PlanStep, Result, Session } from "../api/types";
import { pick, stopSession } from "../chat/acts";
import { pickers, usageWords } from "../chat/words";
import { closePane, splitPane } from "../state/actions";
import { dialog, zoomed } from "../state/store";
import { shows } from "../words/tabs";
import { IconButton } from "./bits";
import { Icon } from "./icon";
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

export function Footer(props: FooterProps) {
	const items = props.layout?.footer;
	const draw = (kind: string) => <Piece key={kind} kind={kind} {...props} />;
	return (
		<div class="bar chat-bar" role="toolbar" aria-label="Agent footer">
			<div class="bar-chips">
				{props.session.practice && (
					<span class="chip" data-tip="Scripted, no model behind it">
						<span class="label">practice agent</span>
					</span>
				)}
				{(items?.left ?? []).map(draw)}
			</div>
			<div class="bar-right">{(items?.right ?? []).map(draw)}</div>
			<Tools {...props} />
		</div>
	);
}

function Piece({ kind, session, chips, plan, running }: FooterProps & { kind: string }): ComponentChildren {
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
				<span class="chip" data-kind={kind} data-tip={usage.tip}>
					{usage.part !== null && <Ring part={usage.part} />}
					<span class="hidden-text">Context used: </span>
					<span>{usage.text}</span>
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
			return chip && shows(chip) ? <ChipView chip={chip} /> : null;
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

function Tools({ pane, session, launch, several, zoomed: zoom }: FooterProps) {
	const alive = !["exited", "resumable", "error"].includes(session.status);
	return (
		<div class="bar-tools">
			{alive && (
				<IconButton
					icon={CircleStop}
					label="Stop the agent; the chat is kept"
					class="wide"
					onClick={() => void stopSession(session.id)}
				/>
			)}
			{launch && (
				<IconButton
					icon={ReceiptText}
					label="Receipt of the launch"
					class="wide"
					onClick={() => {
						dialog.value = { kind: "receipt", result: launch, agent: session.agentName, prompt: "" };
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
				class="wide"
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
	);
}
