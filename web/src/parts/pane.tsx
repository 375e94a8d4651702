// One pane: its terminal, what is said over it, and the prompt bar below; or its chat.
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { CircleStop, CircleX, Info, RotateCw, Scaling, SquareTerminal, TriangleAlert, X } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import type { Fail, Pane } from "../api/types";
import { focusOn, wantFocus } from "../keys/keys";
import { closePane, focusPane, openTerminal, restartPane } from "../state/actions";
import { activePane, dialog, panes, refusedInput, seenStartup, tabs } from "../state/store";
import { leaves } from "../state/tree";
import { sessionOf, shownSession } from "../terminal/pool";
import type { TerminalSession } from "../terminal/session";
import type { Size } from "../terminal/size";
import { endWords, paneLabel, paneName, startupWords } from "../words/panes";
import { sentences } from "../words/sentences";
import { Icon } from "./icon";
import { PromptBar } from "./promptbar";

export interface PaneViewProps {
	pane: string;
	several: boolean;
	zoomed?: boolean;
}

export function PaneView({ pane, several, zoomed }: PaneViewProps) {
	const value = panes.value[pane];
	if (!value) return <div class="pane" />;
	const active = activePane.value === pane;
	const tree = tabs.value.find((tab) => tab.id === value.tab)?.tree;
	const beside = leaves(tree).flatMap((id) => panes.value[id] ?? []);
	return (
		<section
			class="pane"
			data-active={active}
			data-several={several}
			aria-label={`Pane: ${paneLabel(value, beside)}`}
			onPointerDown={() => focusPane(value.tab, pane)}
		>
			{value.kind === "chat" ? (
				<LazyChat pane={value} several={several} zoomed={zoomed ?? false} />
			) : (
				<>
					<Screen pane={value} />
					<PromptBar pane={value} several={several} zoomed={zoomed ?? false} />
				</>
			)}
			<span class="pane-ring" />
		</section>
	);
}

type ChatCode = typeof import("./chat");
const chatCode = signal<ChatCode | null>(null);

/** A chat, once its code is here. */
function LazyChat(props: { pane: Pane; several: boolean; zoomed: boolean }) {
	useEffect(() => {
		if (chatCode.peek()) return;
		void import("./chat").then((module) => {
			chatCode.value = module;
		});
	}, []);
	const code = chatCode.value;
	return code ? <code.ChatPane {...props} /> : <div class="pane-screen" />;
}

function Screen({ pane }: { pane: Pane }) {
	const place = useRef<HTMLDivElement>(null);
	const session = useRef<TerminalSession | null>(null);
	const ready = useSignal(false);
	const foreign = useSignal<Size | null>(null);
	const id = pane.id;

	useEffect(() => {
		let left = false;
		let observer: ResizeObserver | undefined;
		let timer: number | undefined;
		let comparing: number | undefined;
		const compare = () => {
			clearTimeout(comparing);
			comparing = window.setTimeout(() => {
				foreign.value = session.current?.foreign() ?? null;
			}, 500);
		};
		// Only a window that is in use asks for a size, and only for a change of its own
		// (spec terminal P3.4): two that answer each other's sizes would never end.
		const look = () => {
			clearTimeout(timer);
			timer = window.setTimeout(() => {
				if (document.hasFocus() && session.current?.claim() === false) look();
				else compare();
			}, 60);
		};
		void sessionOf(id).then((made) => {
			const parent = place.current;
			if (left || !parent) return;
			session.current = made;
			made.place(parent);
			made.watch();
			ready.value = true;
			observer = new ResizeObserver(look);
			observer.observe(parent);
			if (activePane.peek() === id && mayTakeFocus()) made.focus();
		});
		const parent = place.current;
		parent?.addEventListener("davit:size", compare);
		window.addEventListener("focus", look);
		return () => {
			left = true;
			clearTimeout(timer);
			clearTimeout(comparing);
			observer?.disconnect();
			parent?.removeEventListener("davit:size", compare);
			window.removeEventListener("focus", look);
			const mine = session.current;
			session.current = null;
			// A pane that has moved to another place of the page is watched there.
			if (mine && mine.element.parentElement === parent) {
				mine.element.remove();
				mine.unwatch();
			}
		};
	}, [id]);

	useEffect(
		() => session.current?.told({ cols: pane.cols, rows: pane.rows }),
		[pane.cols, pane.rows, ready.value],
	);
	useEffect(() => session.current?.label(paneName(pane)), [paneName(pane), ready.value]);
	useEffect(() => session.current?.stop(endWords(pane) !== null), [pane.status, ready.value]);

	useSignalEffect(() => {
		const { what, n } = wantFocus.value;
		if (n > 0 && what === "pane" && activePane.peek() === id) session.current?.focus();
	});
	useSignalEffect(() => {
		if (activePane.value === id && ready.value && mayTakeFocus()) session.current?.focus();
	});

	return (
		<div class="pane-screen" ref={place} data-foreign={foreign.value !== null}>
			{!ready.value && <span class="pane-wait hidden-text">Loading the terminal</span>}
			<PaneOver
				pane={pane}
				refused={refusedInput.value[id]}
				foreign={foreign.value}
				onTakeSize={() => {
					foreign.value = null;
					session.current?.claim(true);
				}}
			/>
		</div>
	);
}

/** Focus is not taken from a field, a menu or a dialog. */
export function mayTakeFocus(): boolean {
	if (dialog.peek()) return false;
	const here = document.activeElement;
	return (
		!here ||
		here === document.body ||
		here.closest(".terminal, .composer, .ask") !== null ||
		here.closest(".row-main, .step") !== null
	);
}

export interface PaneOverProps {
	pane: Pane;
	refused?: Fail;
	foreign: Size | null;
	onTakeSize: () => void;
}

/** What is said over a terminal, one thing at a time, the gravest first. */
export function PaneOver({ pane, refused, foreign, onTakeSize }: PaneOverProps) {
	const end = endWords(pane);
	if (end) {
		const icon = end.tone === "bad" ? (pane.status === "lost" ? TriangleAlert : CircleX) : CircleStop;
		return (
			<div class="pane-strip" data-tone={end.tone} role="status">
				<Icon of={icon} />
				<span class="words">
					<b>{end.title}</b> {end.text}
				</span>
				<button
					type="button"
					class="button"
					onClick={() => {
						void restartPane(pane.id).then(() => {
							if (!dialog.peek()) focusOn("pane");
						});
					}}
				>
					<Icon of={RotateCw} size={14} /> Restart
				</button>
				<button type="button" class="button plain" onClick={() => void openTerminal(pane.directory)}>
					<Icon of={SquareTerminal} size={14} /> New terminal here
				</button>
				<button type="button" class="button plain" onClick={() => void closePane(pane.id)}>
					<Icon of={X} size={14} /> Close
				</button>
			</div>
		);
	}
	if (refused) {
		return (
			<div class="pane-strip" data-tone="bad" role="alert">
				<Icon of={CircleX} />
				<span class="words">
					<b>Not typed.</b> {sentences(refused.message, refused.hint)}
				</span>
				<button
					type="button"
					class="button plain"
					onClick={() => {
						const { [pane.id]: _, ...rest } = refusedInput.value;
						refusedInput.value = rest;
						focusOn("pane");
					}}
				>
					Understood
				</button>
			</div>
		);
	}
	const startup = startupWords(pane);
	if (startup && seenStartup.value[pane.id] !== startup.title + startup.text) {
		return (
			<div class="pane-strip" data-tone="bad" role="alert">
				<Icon of={CircleX} />
				<span class="words">
					<b>{startup.title}</b> {startup.text}
				</span>
				<button
					type="button"
					class="button plain"
					onClick={() => {
						seenStartup.value = { ...seenStartup.value, [pane.id]: startup.title + startup.text };
						focusOn("pane");
					}}
				>
					Understood
				</button>
			</div>
		);
	}
	if (foreign) {
		return (
			<div class="pane-strip" data-tone="calm" role="status">
				<Icon of={Scaling} />
				<span class="words">
					{foreign.cols}×{foreign.rows}, sized by another window
				</span>
				<button type="button" class="button" onClick={onTakeSize}>
					Fit here
				</button>
			</div>
		);
	}
	return null;
}

/** A note that belongs to a pane's whole life: "restored approximately". */
export function PaneNote({ note }: { note: string }) {
	return (
		<span class="chip" data-tip={note}>
			<Icon of={Info} size={14} />
			<span class="cut">{note}</span>
		</span>
	);
}

const touchKeys: { name: string; label: string; bytes: string }[] = [
	{ name: "Esc", label: "Escape", bytes: "\x1b" },
	{ name: "Tab", label: "Tab", bytes: "\t" },
	{ name: "^C", label: "Control C", bytes: "\x03" },
	{ name: "^D", label: "Control D", bytes: "\x04" },
	{ name: "←", label: "Left", bytes: "\x1b[D" },
	{ name: "↓", label: "Down", bytes: "\x1b[B" },
	{ name: "↑", label: "Up", bytes: "\x1b[A" },
	{ name: "→", label: "Right", bytes: "\x1b[C" },
];

/** Keys that a phone's keyboard lacks. */
export function KeyRow() {
	if (activePane.value && panes.value[activePane.value]?.kind === "chat") return null;
	return (
		<div class="key-row" role="toolbar" aria-label="Terminal keys">
			{touchKeys.map((key) => (
				<button
					type="button"
					key={key.name}
					aria-label={key.label}
					onPointerDown={(event) => event.preventDefault()}
					onClick={() => shownSession(activePane.value)?.type(key.bytes)}
				>
					{key.name}
				</button>
			))}
		</div>
	);
}
