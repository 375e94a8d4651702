// The stack of notices: the host's, persistent ones never pushed out (spec tabs T5.5), and
// what this page has to say.

import {
	CircleAlert,
	CircleCheck,
	Copy,
	Info,
	RotateCw,
	SquareTerminal,
	TriangleAlert,
	Undo2,
	X,
} from "lucide";
import { useEffect } from "preact/hooks";
import type { Notice, NoticeAction } from "../api/types";
import { actOn, dismiss, untell } from "../state/actions";
import { notices, now, type Told, told } from "../state/store";
import { shownNotices } from "../words/notices";
import { secondsUntil } from "../words/when";
import { IconButton } from "./bits";
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
};

export function NoticeCard({ notice, at }: { notice: Notice; at: number }) {
	const tail = typeof notice.details?.output === "string" ? notice.details.output.trimEnd() : "";
	const actions = (notice.actions ?? []).filter((action) => action.id !== "dismiss");
	return (
		<article class="notice" data-level={notice.level} data-kind={notice.kind} aria-label={notice.title}>
			<Icon of={levels[notice.level as keyof typeof levels] ?? Info} />
			<div class="notice-title">{notice.title}</div>
			<IconButton icon={X} class="small" label="Dismiss notice" onClick={() => void dismiss(notice.id)} />
			{notice.body && (
				<div class="notice-body" tabIndex={notice.body.length > 300 ? 0 : undefined}>
					{notice.body}
				</div>
			)}
			{tail && !notice.body?.includes(tail) && (
				// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
				<pre class="notice-tail" tabIndex={0}>
					{tail}
				</pre>
			)}
			{actions.length > 0 && (
				<div class="notice-actions">
					{actions.map((action) => (
						<Action key={action.id} notice={notice} action={action} at={at} />
					))}
				</div>
			)}
		</article>
	);
}

function Action({ notice, action, at }: { notice: Notice; action: NoticeAction; at: number }) {
	const icon = actionIcons[action.id];
	return (
		<button type="button" class="button" onClick={() => void actOn(notice.id, action)}>
			{icon && <Icon of={icon} size={14} />}
			{action.label}
			{action.id === "undo" && notice.until && (
				<time aria-hidden="true">{secondsUntil(notice.until, at)} s</time>
			)}
		</button>
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
