// The stack of notices: the host's, persistent ones never pushed out (spec tabs T5.5), and
// what this page has to say.
import {
	CircleAlert,
	CircleCheck,
	Copy,
	FolderPlus,
	Hourglass,
	Info,
	Pencil,
	RotateCw,
	SquareTerminal,
	TriangleAlert,
	Undo2,
	X,
} from "lucide";
import { useEffect } from "preact/hooks";
import type { Notice, NoticeAction } from "../api/types";
import { actOn, dismiss, untell } from "../state/actions";
import { editConfig } from "../state/configs";
import { notices, now, type Told, told } from "../state/store";
import { cleanupWords, fileOf, left, shownNotices } from "../words/notices";
import { secondsUntil } from "../words/when";
import { IconButton, tipOf } from "./bits";
import { Icon } from "./icon";

export function Notices() {
	const { shown, more } = shownNotices(notices.value, now.value);
	const counts = shown.some((notice) => notice.until);
	useEffect(() => {
		if (!counts) return;
		now.value = Date.now();
		const timer = setInterval(() => {
			now.value = Date.now();
		}, 1000);
		return () => clearInterval(timer);
	}, [counts]);
	return (
		<section class="notices" aria-label="Notices" aria-live="polite">
			{shown.map((notice) => (
				<NoticeCard key={notice.id} notice={notice} at={now.value} />
			))}
			{more > 0 && <span class="notices-more">{more} older</span>}
			{told.value.map((item) => (
				<ToldCard key={item.id} told={item} />
			))}
		</section>
	);
}

const levels = { info: Info, warning: TriangleAlert, error: CircleAlert };
const actionIcons: Record<string, typeof Info> = {
	undo: Undo2,
	run_again: RotateCw,
	copy_commands: Copy,
	open_terminal: SquareTerminal,
	create_and_open: FolderPlus,
};

export function NoticeCard({ notice, at }: { notice: Notice; at: number }) {
	const { command, text, output } = cleanupWords(notice);
	const actions = (notice.actions ?? []).filter((action) => action.id !== "dismiss");
	const file = fileOf(notice);
	return (
		<article class="notice" data-level={notice.level} data-kind={notice.kind} aria-label={notice.title}>
			<Icon of={notice.kind === "cleanup_held" ? Hourglass : levelIcon(notice.level)} />
			<div class="notice-title">{notice.title}</div>
			<IconButton icon={X} class="small" label="Dismiss notice" onClick={() => void dismiss(notice.id)} />
			{command && <code class="notice-command">{command}</code>}
			{text && (
				<div class="notice-body" tabIndex={text.length > 300 ? 0 : undefined}>
					{text}
				</div>
			)}
			{output && (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
				<pre class="notice-tail" tabIndex={0} aria-label="End of its output">
					{output}
				</pre>
			)}
			{(actions.length > 0 || file) && (
				<div class="notice-actions">
					{file && (
						<button
							type="button"
							class="button"
							onClick={() => editConfig(file.path, file.line, file.column)}
						>
							<Icon of={Pencil} size={14} />
							Open file
						</button>
					)}
					{actions.map((action) => (
						<Action key={action.id} notice={notice} action={action} at={at} />
					))}
				</div>
			)}
		</article>
	);
}

function levelIcon(level: string): typeof Info {
	return levels[level as keyof typeof levels] ?? Info;
}

function Action({ notice, action, at }: { notice: Notice; action: NoticeAction; at: number }) {
	const icon = actionIcons[action.id];
	const counts = action.id === "undo" && Boolean(notice.until);
	return (
		<button
			type="button"
			class="button"
			data-tip={action.id === "undo" ? tipOf("undo") : undefined}
			onClick={() => void actOn(notice.id, action)}
		>
			{counts ? <Ring part={left(notice, at)} /> : icon && <Icon of={icon} size={14} />}
			{action.label}
			{counts && <time aria-hidden="true">{secondsUntil(notice.until, at)} s</time>}
		</button>
	);
}

/** How much time is left: a ring that gets shorter each second, without motion between. */
function Ring({ part }: { part: number }) {
	const round = 2 * Math.PI * 5.5;
	return (
		<svg class="ring" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
			<circle cx="7" cy="7" r="5.5" class="ring-whole" />
			<circle
				cx="7"
				cy="7"
				r="5.5"
				class="ring-left"
				stroke-dasharray={`${part * round} ${round}`}
				transform="rotate(-90 7 7)"
			/>
		</svg>
	);
}

export function ToldCard({ told: item }: { told: Told }) {
	return (
		<div class="notice" data-level={item.level} role={item.level === "error" ? "alert" : undefined}>
			<Icon of={item.level === "error" ? CircleAlert : CircleCheck} />
			<div class="notice-title">{item.title}</div>
			<IconButton icon={X} class="small" label="Dismiss message" onClick={() => untell(item.id)} />
			{item.body && <div class="notice-body">{item.body}</div>}
		</div>
	);
}
