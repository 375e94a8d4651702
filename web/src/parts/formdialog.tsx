// A form in a dialog: its fault, its lines, and a foot that says what is missing beside the
// way out and the one button that sends. Enter sends, and Ctrl+Enter also out of a text of
// several lines.
import type { ComponentChildren, RefObject } from "preact";
import { useId } from "preact/hooks";
import type { Fail } from "../api/types";
import { closeDialog } from "../state/actions";
import { FailBox } from "./bits";
import { Modal } from "./dialog";

export interface FormDialogProps {
	title: string;
	/** What the button says. */
	submit: string;
	/** Beside the buttons: what is missing, else what sending does. */
	lead?: ComponentChildren;
	/** Nothing is missing. */
	ready: boolean;
	busy: boolean;
	fail: Fail | null;
	form?: RefObject<HTMLFormElement | null>;
	toPane?: boolean;
	/** Asked for also while it is not ready or busy: whoever sends looks. */
	onSend: () => void;
	children: ComponentChildren;
}

export function FormDialog(props: FormDialogProps) {
	const id = useId();
	const send = (event: Event) => {
		event.preventDefault();
		props.onSend();
	};
	return (
		<Modal
			title={props.title}
			toPane={props.toPane}
			foot={
				<>
					<span class="lead" id={`${id}-lead`} role="status">
						{props.lead}
					</span>
					<button type="button" class="button plain" onClick={closeDialog}>
						Cancel
					</button>
					<button
						type="submit"
						form={id}
						class="button main"
						aria-disabled={props.busy || !props.ready}
						aria-describedby={props.lead ? `${id}-lead` : undefined}
					>
						{props.submit}
					</button>
				</>
			}
		>
			<form
				id={id}
				ref={props.form}
				class="dialog-form"
				aria-busy={props.busy}
				onSubmit={send}
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
				}}
			>
				{props.fail && <FailBox fail={props.fail} />}
				{props.children}
			</form>
		</Modal>
	);
}
