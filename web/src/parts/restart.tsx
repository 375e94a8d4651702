// The secrets of a pane that is started again: they are kept nowhere, so they are asked for
// (spec tabs T2.1).
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { Fail } from "../api/types";
import { closeDialog, restartWith } from "../state/actions";
import { FailBox } from "./bits";
import { Modal } from "./dialog";
import { TextField } from "./launch";

export function RestartDialog({ pane, secrets }: { pane: string; secrets: readonly string[] }) {
	const values = useSignal<Record<string, string>>({});
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const id = useId();
	const blank = secrets.filter((name) => !values.value[name]);
	const send = async () => {
		if (busy.value || blank.length > 0) return;
		busy.value = true;
		fail.value = await restartWith(pane, values.value);
		busy.value = false;
		if (!fail.value) closeDialog();
	};
	return (
		<Modal
			title="Start it again"
			toPane
			foot={
				<>
					<span class="lead" role="status">
						{blank.length > 0 ? `${blank.join(", ")}: still blank.` : ""}
					</span>
					<button type="button" class="button plain" onClick={closeDialog}>
						Cancel
					</button>
					<button type="submit" form={id} class="button main" aria-disabled={blank.length > 0 || busy.value}>
						{busy.value ? "Starting…" : "Restart"}
					</button>
				</>
			}
		>
			<form
				id={id}
				class="dialog-form"
				onSubmit={(event) => {
					event.preventDefault();
					void send();
				}}
			>
				<p class="help">Its environment held secrets. They are not kept, so they are asked for again.</p>
				{fail.value && <FailBox fail={fail.value} />}
				{secrets.map((name, at) => (
					<TextField
						key={name}
						label={name}
						name={name}
						type="password"
						focus={at === 0}
						value={values.value[name] ?? ""}
						onInput={(value) => {
							values.value = { ...values.value, [name]: value };
						}}
					/>
				))}
			</form>
		</Modal>
	);
}
