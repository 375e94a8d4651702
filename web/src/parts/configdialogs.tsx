// The small dialogs of tab configs: read and allow a repository's, name a new one, remove one.
import { useSignal } from "@preact/signals";
import { ShieldAlert } from "lucide";
import { useEffect } from "preact/hooks";
import { failOf } from "../api/client";
import type { Config, ConfigFile, Fail, Tab } from "../api/types";
import { client, closeDialog } from "../state/actions";
import { newConfig, removeConfig, trustAndOpen } from "../state/configs";
import { trustWords } from "../words/configs";
import { FailBox } from "./bits";
import { Modal } from "./dialog";
import { FormDialog } from "./formdialog";
import { Icon } from "./icon";
import { TextField } from "./launch";

/** A repository's config is shown before it may run anything (spec tabs T1.1). */
export function TrustDialog({ config }: { config: Config }) {
	const file = useSignal<ConfigFile | null>(null);
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const read = () => {
		file.value = null;
		client
			.call("config.read", { path: config.path })
			.then((answer) => {
				file.value = answer;
			})
			.catch((error: unknown) => {
				fail.value = failOf(error);
			});
	};
	useEffect(read, [config.path]);
	const allow = async () => {
		const digest = file.value?.digest;
		if (!digest || busy.value) return;
		busy.value = true;
		fail.value = await trustAndOpen(config, digest);
		busy.value = false;
		if (fail.value) read(); // it may be another text by now
	};
	return (
		<TrustView
			config={config}
			text={file.value?.text ?? null}
			fail={fail.value}
			busy={busy.value}
			onAllow={() => void allow()}
		/>
	);
}

export interface TrustViewProps {
	config: Config;
	text: string | null;
	fail: Fail | null;
	busy: boolean;
	onAllow: () => void;
}

export function TrustView({ config, text, fail, busy, onAllow }: TrustViewProps) {
	return (
		<Modal
			title={`Allow “${config.name}”?`}
			class="wide"
			foot={
				<>
					<span class="lead">It is asked again when the text changes.</span>
					<button type="button" class="button plain" autofocus onClick={closeDialog}>
						Cancel
					</button>
					<button type="button" class="button main" disabled={text === null || busy} onClick={onAllow}>
						Allow this file
					</button>
				</>
			}
		>
			<p class="trust-lead">
				<Icon of={ShieldAlert} />
				<span>
					This file comes with a repository. {trustWords(config)} It can run any command when it opens and
					when its tab closes.
				</span>
			</p>
			{fail && <FailBox fail={fail} />}
			<div class="field">
				<span class="label-text path-text">{config.path}</span>
				{text === null ? (
					<p class="help" role="status">
						{fail ? "The text could not be read." : "Reading…"}
					</p>
				) : (
					// biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
					<pre class="file-text" tabIndex={0} aria-label="Text of the file">
						{text}
					</pre>
				)}
			</div>
		</Modal>
	);
}

/** The name of a new config: an empty one, or of a tab as it is (spec tabs T6.4). */
export function NewConfigDialog({ tab }: { tab?: Tab }) {
	const name = useSignal(tab?.title ?? "");
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const send = async () => {
		if (busy.value || name.value.trim() === "") return;
		busy.value = true;
		fail.value = await newConfig(name.value.trim(), tab);
		busy.value = false;
	};
	return (
		<FormDialog
			title={tab ? "Save as tab config" : "New tab config"}
			submit={tab ? "Save" : "Make it"}
			ready={name.value.trim() !== ""}
			busy={busy.value}
			fail={fail.value}
			onSend={() => void send()}
		>
			<TextField
				label="Name"
				name="name"
				value={name.value}
				focus
				help={
					tab
						? "Keeps its panes, sizes, title, colour and directories; no commands, no cleanup."
						: "A commented file to start from opens in the editor."
				}
				onInput={(text) => {
					name.value = text;
				}}
			/>
		</FormDialog>
	);
}

export function RemoveConfigDialog({ config }: { config: Config }) {
	return (
		<Modal
			title={`Remove “${config.name}”?`}
			foot={
				<>
					<span class="lead">Open tabs stay as they are, their cleanup too.</span>
					<button type="button" class="button plain" autofocus onClick={closeDialog}>
						Keep it
					</button>
					<button type="button" class="button danger" onClick={() => void removeConfig(config)}>
						Delete the file
					</button>
				</>
			}
		>
			<p>
				This deletes <code class="path-text">{config.path}</code>. There is no undo.
			</p>
		</Modal>
	);
}
