// What a chat is made of: messages, thoughts, plans, and the quiet lines between them.
import {
	Brain,
	ChevronDown,
	ChevronRight,
	CircleAlert,
	CircleCheck,
	CircleHelp,
	type IconNode,
	Info,
	ListChecks,
} from "lucide";
import type { JournalBody, PlanStep, Submission, TurnState } from "../api/types";
import { answering, settle, settled } from "../chat/acts";
import type { Composer } from "../chat/composer";
import type { Feed } from "../chat/feed";
import type { Item } from "../chat/journal";
import { bytes, endOfTurn, headOf, lifecycleTone, lifecycleWords, outcomeOf, type Tone } from "../chat/words";
import { Markdown } from "./chatmarkdown";
import { BlobView } from "./chattool";
import { Icon } from "./icon";

export interface MessageViewProps {
	item: Item;
	submission?: Submission;
	streaming: boolean;
	composer: Composer;
	feed: Feed;
}

export function MessageView({ item, submission, streaming, composer, feed }: MessageViewProps) {
	if (item.body.role === "user")
		return <UserMessage item={item} submission={submission} composer={composer} />;
	return (
		<article class="said" data-by="agent" aria-label="Agent">
			{item.from > 0 && <p class="chat-note">The beginning of this message is further back.</p>}
			<Markdown text={item.text} streaming={streaming} />
			{item.body.blob && <BlobView title="Content" blob={item.body.blob} feed={feed} />}
		</article>
	);
}

interface UserMessageProps {
	item: Item;
	submission?: Submission;
	composer: Composer;
}

function UserMessage({ item, submission, composer }: UserMessageProps) {
	const at = new Date(item.time);
	return (
		<article class="said" data-by="user" data-state={submission?.state} aria-label="You">
			<div class="bubble" data-tip={Number.isNaN(at.getTime()) ? undefined : at.toLocaleString()}>
				{item.text}
			</div>
			{submission && <SubmissionNote submission={submission} composer={composer} />}
		</article>
	);
}

/** How far a message has come, where that needs saying (spec session S1.5). */
export function SubmissionNote({ submission, composer }: { submission: Submission; composer: Composer }) {
	switch (submission.state) {
		case "pending":
			return <p class="said-note">On its way…</p>;
		case "rejected":
			return (
				<p class="said-note" data-tone="bad">
					<Icon of={CircleAlert} size={14} />
					<span>Not taken. {submission.reason}</span>
					<button type="button" class="button" onClick={() => composer.takeBack(submission.text)}>
						Edit
					</button>
				</p>
			);
		case "unknown": {
			if (settled.value[submission.id]) return <p class="said-note">It is not known whether this arrived.</p>;
			return (
				<p class="said-note" data-tone="careful" role="status">
					<Icon of={CircleHelp} size={14} />
					<span>It is not known whether this arrived.</span>
					<button
						type="button"
						class="button"
						onClick={() => {
							settle(submission.id);
							composer.post(submission.text);
						}}
					>
						Send again
					</button>
					<button type="button" class="button plain" onClick={() => settle(submission.id)}>
						Discard
					</button>
				</p>
			);
		}
		default:
			return null;
	}
}

/** A message whose item is not here: all that is known of it is its submission. */
export function LoneSubmission({ submission, composer }: { submission: Submission; composer: Composer }) {
	return (
		<article class="said" data-by="user" data-state={submission.state} aria-label="You">
			<div class="bubble">{submission.text}</div>
			<SubmissionNote submission={submission} composer={composer} />
		</article>
	);
}

export function ThoughtView({ item, streaming, feed }: { item: Item; streaming: boolean; feed: Feed }) {
	const open = feed.toggled.value.has(item.id);
	const lines = item.text.trimEnd();
	const head = streaming ? headOf(lines.split("\n").reverse().join("\n")) : headOf(lines);
	return (
		<section class="thought" aria-label="Thought">
			<button type="button" class="thought-head" aria-expanded={open} onClick={() => feed.toggle(item.id)}>
				<Icon of={Brain} />
				<span class="cut">{head}</span>
				<Icon of={open ? ChevronDown : ChevronRight} size={14} />
			</button>
			{open && (
				<div class="thought-body">
					<Markdown text={item.text} streaming={streaming} />
				</div>
			)}
		</section>
	);
}

const stepWords: Record<string, string> = { pending: "to do", running: "under way", done: "done" };

export function PlanView({ steps }: { steps: readonly PlanStep[] }) {
	const done = steps.filter((step) => step.state === "done").length;
	return (
		<section class="plan" aria-label={`Plan: ${done} of ${steps.length} done`}>
			<header>
				<Icon of={ListChecks} />
				<span>Plan</span>
				<span class="plan-count">
					{done} of {steps.length}
				</span>
				<span class="plan-bar" aria-hidden="true">
					<span style={{ width: `${steps.length > 0 ? (done / steps.length) * 100 : 0}%` }} />
				</span>
			</header>
			<ol>
				{steps.map((step, at) => (
					<li key={String(at)} data-state={step.state}>
						<StepMark state={step.state} />
						<span>{step.text}</span>
						<span class="hidden-text">: {stepWords[step.state] ?? step.state}</span>
					</li>
				))}
			</ol>
		</section>
	);
}

function StepMark({ state }: { state: string }) {
	return (
		<svg width="14" height="14" viewBox="0 0 14 14" fill="none" stroke="currentColor" aria-hidden="true">
			{state === "done" ? (
				<path d="M3 7.5 6 10.5 11.5 4" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" />
			) : state === "running" ? (
				<>
					<circle cx="7" cy="7" r="5" stroke-width="1.5" />
					<circle cx="7" cy="7" r="2" fill="currentColor" stroke="none" />
				</>
			) : (
				<circle cx="7" cy="7" r="5" stroke-width="1.5" />
			)}
		</svg>
	);
}

export function TurnView({ turn }: { turn: TurnState }) {
	const end = endOfTurn(turn);
	return (
		<section class="turn-end" data-tone={end.tone} aria-label={end.title}>
			<Line tone={end.tone}>
				<b>{end.title}.</b> {end.text}
			</Line>
			{end.stderr && (
				<details>
					<summary>The last that the agent printed</summary>
					<pre>{end.stderr}</pre>
				</details>
			)}
		</section>
	);
}

export function LifecycleView({ body }: { body: JournalBody }) {
	const words = lifecycleWords(body);
	if (words === "") return null;
	const line = <Line tone={lifecycleTone(body)}>{words}</Line>;
	if (!body.blob?.head) return line;
	return (
		<section class="printed" aria-label={words}>
			{line}
			<details>
				<summary>What it printed</summary>
				<pre>{body.blob.head}</pre>
				{body.blob.size > body.blob.head.length && (
					<p class="blob-note">
						The first {bytes(body.blob.head.length)} of {bytes(body.blob.size)}.
					</p>
				)}
			</details>
		</section>
	);
}

/** What became of a question that is no longer, or not here, to be answered. */
export function ApprovalLine({ item }: { item: Item }) {
	const approval = item.body.approval;
	if (!approval) return null;
	const { tone, text } = outcomeOf(approval);
	const said = answering.value[item.id];
	const late = said && said !== "sending" && said.code === "already_resolved";
	return (
		<Line tone={tone} icon={tone === "good" ? CircleCheck : approval.state === "open" ? CircleHelp : Info}>
			<b>{text}</b> <span>{approval.title}</span>
			{approval.state === "answered" && approval.by && <small> · by {approval.by}</small>}
			{late && approval.state !== "open" && <small> · another client had answered before you</small>}
		</Line>
	);
}

function Line({ tone, icon, children }: { tone: Tone; icon?: IconNode; children: preact.ComponentChildren }) {
	return (
		<p class="chat-line" data-tone={tone}>
			<Icon of={icon ?? (tone === "bad" || tone === "careful" ? CircleAlert : Info)} size={14} />
			<span>{children}</span>
		</p>
	);
}
