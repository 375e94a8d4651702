// A modal dialog on the browser's own <dialog>: it keeps the focus in, Escape closes it,
// and focus goes back to where it was, or to the pane when another tab came up meanwhile.
import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { focusOn } from "../keys/keys";
import { closeDialog } from "../state/actions";
import { wantedTab } from "../state/store";
import { IconButton } from "./bits";

export interface DialogProps {
	title: string;
	children: ComponentChildren;
	foot?: ComponentChildren;
	class?: string;
	/** Without the visible head: the title is still its name. */
	bare?: boolean;
	onClose?: () => void;
	/** Its end gives the keyboard to the pane, not to what had it before. */
	toPane?: boolean;
}

export function Modal(props: DialogProps) {
	const ref = useRef<HTMLDialogElement>(null);
	const title = useId();
	const close = props.onClose ?? closeDialog;

	// Before the next key: what is typed right after the key that asked is for the dialog.
	useLayoutEffect(() => {
		const dialog = ref.current;
		if (!dialog) return;
		const before = document.activeElement;
		const tab = wantedTab.peek();
		dialog.showModal();
		first(dialog)?.focus();
		return () => {
			dialog.close();
			const same = !props.toPane && wantedTab.peek() === tab;
			if (same && before instanceof HTMLElement && before.isConnected && before !== document.body)
				before.focus();
			else focusOn("pane");
		};
	}, []);

	return (
		<dialog
			ref={ref}
			tabIndex={-1}
			class={props.class}
			aria-labelledby={title}
			onCancel={(event) => {
				event.preventDefault();
				close();
			}}
			onPointerDown={(event) => {
				if (event.target === ref.current) close();
			}}
		>
			{props.bare ? (
				<h2 id={title} class="hidden-text">
					{props.title}
				</h2>
			) : (
				<div class="dialog-head">
					<h2 id={title}>{props.title}</h2>
					<IconButton icon={X} label="Close dialog" onClick={close} />
				</div>
			)}
			{props.bare ? props.children : <Body>{props.children}</Body>}
			{props.foot && <div class="dialog-foot">{props.foot}</div>}
		</dialog>
	);
}

/**
 * What has the keyboard when a dialog comes up: what it says itself (autofocus), else its first
 * field, else the last of its buttons that only leaves, else the dialog. Never the cross.
 */
function first(dialog: HTMLDialogElement): HTMLElement | null {
	const find = (what: string) => dialog.querySelector<HTMLElement>(what);
	const own = find("[autofocus]");
	if (own) return own;
	// On glass a field that has the focus brings the keyboard up over the words.
	const fine = matchMedia("(pointer: fine)").matches;
	const field = ":is(input, textarea, select):enabled";
	return (fine ? find(`.dialog-body ${field}`) : null) ?? find(".dialog-foot .button.plain") ?? dialog;
}

/** Scrolls by keyboard too, when it scrolls. */
function Body({ children }: { children: ComponentChildren }) {
	const ref = useRef<HTMLDivElement>(null);
	const [scrolls, setScrolls] = useState(false);
	useEffect(() => {
		const body = ref.current;
		if (!body) return;
		const look = () => setScrolls(body.scrollHeight > body.clientHeight);
		const observer = new ResizeObserver(look);
		observer.observe(body);
		look();
		return () => observer.disconnect();
	}, []);
	return (
		<div ref={ref} class="dialog-body" tabIndex={scrolls ? 0 : undefined}>
			{children}
		</div>
	);
}
