// The secrets of a pane that is started again: they are kept nowhere, so they are asked for
// (spec tabs T2.1).
import { useSignal } from "@preact/signals";
import type { Fail } from "../api/types";
import { closeDialog, restartWith } from "../state/actions";
import { FormDialog } from "./formdialog";
import { TextField } from "./launch";

export function RestartDialog({ pane, secrets }: { pane: string; secrets: readonly string[] }) {
	const values = useSignal<Record<string, string>>({});
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const blank = secrets.filter((name) => !values.value[name]);
	const send = async () => {
		if (busy.value || blank.length > 0) return;
		busy.value = true;
		fail.value = await restartWith(pane, values.value);
		busy.value = false;
		if (!fail.value) closeDialog();
	};
	return (
		<FormDialog
			title="Start it again"
			submit={busy.value ? "Starting…" : "Restart"}
			lead={blank.length > 0 && `${blank.join(", ")}: still blank.`}
			ready={blank.length === 0}
			busy={busy.value}
			fail={fail.value}
			toPane
			onSend={() => void send()}
		>
			<p class="help">Its environment held secrets. They are not kept, so they are asked for again.</p>
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
		</FormDialog>
	);
}
