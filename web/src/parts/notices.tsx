// The stack of notices: the host's, persistent ones never pushed out (spec tabs T5.5), and
// what this page has to say.
import { useSignal } from "@preact/signals";
import {
	ChevronDown,
	ChevronUp,
	CircleAlert,
	CircleCheck,
	Copy,
	CornerDownRight,
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
import { goToPane } from "../state/agents";
import { editConfig } from "../state/configs";
import { notices, now, type Told, told } from "../state/store";
import { paneOf } from "../words/agentlines";
import { cleanupWords, fileOf, folded, isSlim, left, shownNotices } from "../words/notices";
import { secondsUntil } from "../words/when";
import { IconButton, tipOf } from "./bits";
import { Icon } from "./icon";

export function Notices() {
	const { shown, more } = shownNotices(notices.value, now.value);
	const narrow = useNarrow();
	const open = useSignal(false);
	const drawn = open.value ? shown : folded(shown, narrow ? 1 : 3);
	const hidden = more + shown.length - drawn.length;
	const counts = shown.some((notice) => notice.until || !notice.persistent);
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
			{drawn.map((notice) => (
				<NoticeCard
					key={notice.id}
					notice={notice}
					at={now.value}
					slim={!open.value && isSlim(notice, now.value, narrow)}
				/>
			))}
			{(hidden > 0 || open.value || drawn.some((notice) => isSlim(notice, now.value, narrow))) && (
				<button
					type="button"
					class="notices-more"
					aria-expanded={open.value}
					onClick={() => {
						open.value = !open.value;
					}}
				>
					<Icon of={open.value ? ChevronDown : ChevronUp} size={14} />
					{open.value ? "Fold the notices" : hidden > 0 ? `${hidden} more` : "All of it"}
				</button>
			)}
			{told.value.map((item) => (
				<ToldCard key={item.id} told={item} />
			))}
		</section>
	);
}

/** Whether the room is a phone's. */
function useNarrow(): boolean {
	const narrow = useSignal(matchMedia(narrowRoom).matches);
	useEffect(() => {
		const room = matchMedia(narrowRoom);
		const look = () => {
			narrow.value = room.matches;
		};
		room.addEventListener("change", look);
		return () => room.removeEventListener("change", look);
	}, []);
	return narrow.value;
}
const narrowRoom = "(max-width: 720px)";

const levels = { info: Info, warning: TriangleAlert, error: CircleAlert };
const actionIcons: Record<string, typeof Info> = {
	undo: Undo2,
	run_again: RotateCw,
	copy_commands: Copy,
	open_terminal: SquareTerminal,
	create_and_open: FolderPlus,
};

export function NoticeCard({ notice, at, slim }: { notice: Notice; at: number; slim?: boolean }) {
	const { command, text, output } = cleanupWords(notice);
	const actions = (notice.actions ?? []).filter((action) => action.id !== "dismiss");
	const file = fileOf(notice);
	const agent = paneOf(notice);
	return (
		<article
			class="notice"
			data-level={notice.level}
			data-kind={notice.kind}
			data-slim={slim || undefined}
			aria-label={notice.title}
		>
			<Icon of={notice.kind === "cleanup_held" ? Hourglass : levelIcon(notice.level)} />
			<div class="notice-title">{notice.title}</div>
			<IconButton icon={X} class="small" label="Dismiss notice" onClick={() => void dismiss(notice.id)} />
			{command && !slim && <code class="notice-command">{command}</code>}
			{text && !slim && (
				<div class="notice-body" tabIndex={text.length > 300 ? 0 : undefined}>
					{text}
				</div>
			)}
			{output && !slim && (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
				<pre class="notice-tail" tabIndex={0} aria-label="End of its output">
					{output}
				</pre>
			)}
			{(actions.length > 0 || file || agent) && (
				<div class="notice-actions">
					{agent && (
						<button type="button" class="button" onClick={() => goToPane(notice.tab ?? "", agent)}>
							<Icon of={CornerDownRight} size={14} />
							Go there
						</button>
					)}
					{file && (!slim || actions.length === 0) && (
						<button
							type="button"
							class="button"
							onClick={() => editConfig(file.path, file.line, file.column)}
						>
							<Icon of={Pencil} size={14} />
							Open file
						</button>
					)}
					{actions.slice(0, slim ? 1 : undefined).map((action) => (
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
