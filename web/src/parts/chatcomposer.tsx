// The composer: what is being written, what waits to be taken, and the keys of both.
import { useSignal } from "@preact/signals";
import { ArrowUp, CircleAlert, Clock3, Square } from "lucide";
import type { RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Session } from "../api/types";
import type { Composer, Outgoing } from "../chat/composer";
import { caretAfter } from "../chat/draft";
import type { Item } from "../chat/journal";
import { slashOf, takesMessages } from "../chat/words";
import { sentences } from "../words/sentences";
import { Icon } from "./icon";

export interface ComposerViewProps {
	session: Session;
	composer: Composer;
	running: boolean;
	field: RefObject<HTMLTextAreaElement | null>;
	onCancel: () => void;
	onPage: (by: 1 | -1) => void;
	/** A message went off. */
	onSent: () => void;
}

export function ComposerView(props: ComposerViewProps) {
	const { session, composer, running, field } = props;
	const id = useId();
	const text = composer.text.value;
	const open = takesMessages(session);
	const slash = useSignal<string | null>(null);
	const chosen = useSignal(0);
	const commands = (session.commands ?? []).filter(
		(command) => slash.value !== null && command.name.toLowerCase().startsWith(slash.value.toLowerCase()),
	);
	const listed = commands.slice(0, 8);
	const at = Math.min(chosen.value, Math.max(0, listed.length - 1));

	useKeepCaret(field, text);
	useHeight(field, text);

	const look = () => {
		const box = field.current;
		slash.value = box ? slashOf(box.value, box.selectionStart) : null;
		chosen.value = 0;
	};
	const take = (name: string) => {
		composer.type(`/${name} `);
		slash.value = null;
		field.current?.focus();
	};
	const send = () => {
		if (!open || !composer.send()) return;
		slash.value = null;
		props.onSent();
	};

	const onKey = (event: KeyboardEvent) => {
		if (event.isComposing) return;
		if (listed.length > 0) {
			const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
			if (step !== 0) {
				event.preventDefault();
				chosen.value = (at + step + listed.length) % listed.length;
				return;
			}
			const command = listed[at];
			const whole = command?.name === slash.value && !command?.hint;
			if (command && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !whole))) {
				event.preventDefault();
				take(command.name);
				return;
			}
			if (event.key === "Escape") {
				event.preventDefault();
				slash.value = null;
				return;
			}
		}
		if (
			event.key === "Enter" &&
			!event.shiftKey &&
			!event.altKey &&
			!matchMedia("(pointer: coarse)").matches
		) {
			event.preventDefault();
			send();
		} else if (event.key === "Escape" && running) {
			event.preventDefault();
			props.onCancel();
		} else if (event.key === "PageUp" || event.key === "PageDown") {
			event.preventDefault();
			props.onPage(event.key === "PageUp" ? -1 : 1);
		}
	};

	const name = session.agentName || session.agent;
	return (
		<div class="composer" data-open={open}>
			{listed.length > 0 && (
				<div class="slashes" role="listbox" id={`${id}-list`} aria-label="Commands">
					{listed.map((command, n) => (
						<div
							key={command.name}
							id={`${id}-${n}`}
							role="option"
							tabIndex={-1}
							aria-selected={n === at}
							onPointerDown={(event) => {
								event.preventDefault();
								take(command.name);
							}}
						>
							<b>/{command.name}</b>
							{command.hint && <i>{command.hint}</i>}
							<small class="cut">{command.description}</small>
						</div>
					))}
				</div>
			)}
			<textarea
				ref={field}
				class="composer-text"
				rows={1}
				aria-label={`Message to ${name}`}
				aria-describedby={`${id}-keys`}
				aria-autocomplete={(session.commands ?? []).length > 0 ? "list" : undefined}
				aria-controls={listed.length > 0 ? `${id}-list` : undefined}
				aria-activedescendant={listed.length > 0 ? `${id}-${at}` : undefined}
				placeholder={running ? "Say more: it waits for the turn to end" : `Message ${name}`}
				value={text}
				onInput={(event) => {
					composer.type(event.currentTarget.value);
					look();
				}}
				onSelect={look}
				onBlur={() => {
					slash.value = null;
				}}
				onKeyDown={onKey}
			/>
			<span id={`${id}-keys`} class="hidden-text">
				Enter sends, Shift Enter makes a new line{running ? ", Escape cancels the turn" : ""}.
			</span>
			{running && (
				<button
					type="button"
					class="composer-button stop"
					aria-label="Cancel the turn"
					data-tip="Cancel the turn  Esc"
					onClick={props.onCancel}
				>
					<Icon of={Square} size={14} />
				</button>
			)}
			{(!running || text.trim() !== "") && (
				<button
					type="button"
					class="composer-button"
					aria-label={running ? "Queue message" : "Send message"}
					data-tip={running ? "Queue  Enter" : "Send  Enter"}
					aria-disabled={text.trim() === "" || !open || undefined}
					onClick={send}
				>
					<Icon of={running ? Clock3 : ArrowUp} />
				</button>
			)}
		</div>
	);
}

/** Another client's words come in without moving the caret from mine. */
function useKeepCaret(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
	const before = useRef(text);
	const box = field.current;
	const from = box?.selectionStart ?? 0;
	const to = box?.selectionEnd ?? 0;
	const own = box?.value === text;
	useLayoutEffect(() => {
		const now = field.current;
		if (now && !own && document.activeElement === now && before.current !== text) {
			now.setSelectionRange(caretAfter(from, before.current, text), caretAfter(to, before.current, text));
		}
		before.current = text;
	}, [text]);
}

/** As high as its text, up to the bound that the style sets. */
function useHeight(field: RefObject<HTMLTextAreaElement | null>, text: string): void {
	useEffect(() => {
		const box = field.current;
		if (!box || CSS.supports("field-sizing", "content")) return;
		box.style.height = "auto";
		box.style.height = `${box.scrollHeight}px`;
	}, [text]);
}

/** A message that the host takes as fast as it should is not shown as under way: nothing jumps. */
const patience = 400;

export interface QueueProps {
	queued: readonly Item[];
	sends: readonly Outgoing[];
	composer: Composer;
	linked: boolean;
}

/** Messages that have not begun: those that the host keeps, and those on their way to it. */
export function Queue({ queued, sends, composer, linked }: QueueProps) {
	const known = new Set(queued.map((item) => item.body.submission?.id));
	const late = useSignal<ReadonlySet<string>>(new Set());
	const ids = sends.map((out) => out.id).join();
	useEffect(() => {
		if (ids === "") return;
		const timer = setTimeout(() => {
			late.value = new Set(ids.split(","));
		}, patience);
		return () => clearTimeout(timer);
	}, [ids]);
	const way = sends.filter((out) => !known.has(out.id) && (out.fault || !linked || late.value.has(out.id)));
	if (queued.length + way.length === 0) return null;
	return (
		<ul class="queue" aria-label="Messages that wait">
			{queued.map((item) => (
				<li key={item.id}>
					<Icon of={Clock3} size={14} />
					<span class="cut">{item.body.submission?.text}</span>
					<small>queued</small>
				</li>
			))}
			{way.map((out) => (
				<li key={out.id} data-tone={out.fault ? "bad" : undefined} role={out.fault ? "alert" : undefined}>
					<Icon of={out.fault ? CircleAlert : Clock3} size={14} />
					<span class="cut">{out.text}</span>
					{out.fault ? (
						<span class="queue-fault">
							<span>Not sent. {sentences(out.fault.message, out.fault.hint)}</span>
							<button
								type="button"
								class="button"
								onClick={() => {
									composer.drop(out.id);
									composer.post(out.text);
								}}
							>
								Try again
							</button>
							<button
								type="button"
								class="button"
								onClick={() => {
									composer.drop(out.id);
									composer.takeBack(out.text);
								}}
							>
								Edit
							</button>
							<button type="button" class="button plain" onClick={() => composer.drop(out.id)}>
								Discard
							</button>
						</span>
					) : (
						<small>{linked ? "sending" : "waits for the connection"}</small>
					)}
				</li>
			))}
		</ul>
	);
}
