// The editor of one tab config: its text with line numbers, checked by the host while it is
// typed, saved over the text that was read and no other. A chunk of its own.
import { useSignal } from "@preact/signals";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { failOf, Problem } from "../api/client";
import type { ConfigFile, Fail, Fault } from "../api/types";
import { client, closeDialog, mention } from "../state/actions";
import { loadConfigs } from "../state/configs";
import { editing } from "../state/store";
import { faultCount, faultPlace, offsetOf } from "../words/configs";
import { baseOf } from "../words/path";
import "../styles/editor.css";
import { FailBox } from "./bits";
import { Modal } from "./dialog";
import { Icon } from "./icon";

/** How long typing must rest before the text is checked. */
const rest = 250;

export interface EditorProps {
	path: string;
	line?: number;
	column?: number;
}

export function EditorDialog({ path, line, column }: EditorProps) {
	const file = useSignal<ConfigFile | null>(null);
	const text = useSignal("");
	const faults = useSignal<readonly Fault[]>([]);
	const checking = useSignal(false);
	const fail = useSignal<Fail | null>(null);
	const conflict = useSignal(false);
	const busy = useSignal(false);
	const leaving = useSignal(false);
	const round = useRef(0);
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	const dirty = file.value !== null && text.value !== file.value.text;

	const keep = (value: string, digest: string, saved: string) => {
		const { [path]: _, ...others } = editing.value;
		editing.value = value === saved ? others : { ...others, [path]: { text: value, digest } };
	};
	const check = (value: string) => {
		clearTimeout(timer.current);
		const mine = ++round.current;
		checking.value = true;
		timer.current = setTimeout(() => {
			client
				.call("config.check", { path, text: value })
				.then((answer) => {
					if (round.current !== mine) return;
					faults.value = answer.faults ?? [];
					checking.value = false;
				})
				.catch(() => {
					if (round.current === mine) checking.value = false; // saving says what is wrong
				});
		}, rest);
	};
	const take = (answer: ConfigFile) => {
		file.value = answer;
		text.value = answer.text;
		faults.value = answer.faults ?? [];
		conflict.value = false;
		fail.value = null;
	};
	const read = async () => {
		try {
			const answer = await client.call("config.read", { path });
			take(answer);
			const unsaved = editing.value[path];
			if (!unsaved || !answer.editable) return;
			text.value = unsaved.text;
			if (unsaved.digest !== answer.digest) conflict.value = true;
			check(unsaved.text);
		} catch (error) {
			fail.value = failOf(error);
		}
	};
	useEffect(() => {
		void read();
		return () => clearTimeout(timer.current);
	}, [path]);

	const save = async (digest = file.value?.digest) => {
		if (!file.value?.editable || busy.value || !digest) return;
		busy.value = true;
		const sent = text.value;
		try {
			const answer = await client.call("config.save", { path, text: sent, digest });
			const now = text.value;
			take({ ...answer, text: answer.text || sent });
			if (now !== sent) text.value = now; // typed meanwhile
			keep(now, answer.digest, sent);
			mention("Saved");
			void loadConfigs();
		} catch (error) {
			if (error instanceof Problem && error.code === "config_changed") conflict.value = true;
			else fail.value = failOf(error);
		}
		busy.value = false;
	};
	const overwrite = async () => {
		try {
			await save((await client.call("config.read", { path })).digest);
		} catch (error) {
			fail.value = failOf(error);
		}
	};
	const forget = () => {
		const { [path]: _, ...others } = editing.value;
		editing.value = others;
	};

	return (
		<EditorView
			path={path}
			text={text.value}
			ready={file.value !== null}
			editable={file.value?.editable ?? true}
			dirty={dirty}
			faults={faults.value}
			checking={checking.value}
			fail={fail.value}
			conflict={conflict.value}
			leaving={leaving.value}
			busy={busy.value}
			line={line}
			column={column}
			onInput={(value) => {
				text.value = value;
				if (file.value) keep(value, file.value.digest, file.value.text);
				check(value);
			}}
			onSave={() => void save()}
			onReload={() => {
				forget();
				void read();
			}}
			onOverwrite={() => void overwrite()}
			onClose={() => {
				if (dirty && !leaving.value) {
					leaving.value = true;
					return;
				}
				closeDialog();
			}}
			onStay={() => {
				leaving.value = false;
			}}
			onDiscard={() => {
				forget();
				closeDialog();
			}}
		/>
	);
}

export interface EditorViewProps {
	path: string;
	text: string;
	ready: boolean;
	editable: boolean;
	dirty: boolean;
	faults: readonly Fault[];
	checking: boolean;
	fail: Fail | null;
	/** The file on disk is not the one that was read. */
	conflict: boolean;
	/** Asked to close with changes. */
	leaving: boolean;
	busy: boolean;
	line?: number;
	column?: number;
	onInput: (text: string) => void;
	onSave: () => void;
	onReload: () => void;
	onOverwrite: () => void;
	onClose: () => void;
	onStay: () => void;
	onDiscard: () => void;
}

export function EditorView(props: EditorViewProps) {
	const { text, faults, ready, editable, dirty } = props;
	const area = useRef<HTMLTextAreaElement>(null);
	const id = useId();
	const go = (line: number, column: number) => {
		const field = area.current;
		if (!field) return;
		const at = offsetOf(text, line, column);
		field.focus();
		field.setSelectionRange(at, at);
		const height = Number.parseFloat(getComputedStyle(field).lineHeight) || 20;
		field.scrollTop = Math.max(0, (line - 4) * height);
	};
	useEffect(() => {
		if (ready) go(props.line ?? 1, props.column ?? 1);
	}, [ready, props.line, props.column]);

	return (
		<Modal
			title={baseOf(props.path)}
			class="editor-dialog"
			onClose={props.onClose}
			foot={
				<>
					<span class="lead cut" data-tip={props.path}>
						{editable ? props.path : "Read only: it is not one of davit's own files."}
					</span>
					<button type="button" class="button plain" onClick={props.onClose}>
						Close
					</button>
					{editable && (
						<button
							type="button"
							class="button main"
							aria-disabled={!dirty || props.busy}
							data-tip="Ctrl S"
							onClick={() => {
								if (dirty) props.onSave();
							}}
						>
							{props.busy ? "Saving…" : dirty ? "Save" : "Saved"}
						</button>
					)}
				</>
			}
		>
			{props.fail && <FailBox fail={props.fail} />}
			{props.conflict && (
				<Ask words="The file was changed on disk since it was read here.">
					<button type="button" class="button" onClick={props.onReload}>
						Take the file, drop mine
					</button>
					<button type="button" class="button danger" onClick={props.onOverwrite}>
						Keep mine, overwrite
					</button>
				</Ask>
			)}
			{props.leaving && (
				<Ask words="There are changes that are not saved.">
					<button type="button" class="button" autofocus onClick={props.onStay}>
						Go on
					</button>
					<button type="button" class="button danger" onClick={props.onDiscard}>
						Drop them
					</button>
				</Ask>
			)}
			<label class="hidden-text" for={id}>
				Text of {baseOf(props.path)}
			</label>
			<div class="editor">
				<Gutter text={text} faults={faults} area={area} />
				<textarea
					id={id}
					ref={area}
					class="editor-text"
					spellcheck={false}
					autocapitalize="off"
					autocomplete="off"
					wrap="off"
					readOnly={!editable || !ready}
					aria-describedby={`${id}-state`}
					value={text}
					onInput={(event) => props.onInput(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
						event.preventDefault();
						if (dirty) props.onSave();
					}}
				/>
			</div>
			<div class="editor-faults">
				<p id={`${id}-state`} role="status" class="editor-state" data-bad={faults.length > 0 || undefined}>
					<Icon of={faults.length > 0 ? CircleAlert : CircleCheck} size={14} />
					{props.checking ? "Checking…" : !ready ? "Reading…" : faultCount(faults)}
				</p>
				<ul>
					{faults.map((fault) => (
						<li key={`${fault.line}:${fault.column}:${fault.code}:${fault.message}`}>
							<button
								type="button"
								class="editor-fault"
								data-severity={fault.severity}
								onClick={() => go(fault.line, fault.column)}
							>
								<Icon of={fault.severity === "error" ? CircleAlert : TriangleAlert} size={14} />
								<code>{faultPlace(fault)}</code>
								<span>
									<span class="hidden-text">{fault.severity}: </span>
									{fault.message}
									{fault.hint && <small>{fault.hint}</small>}
								</span>
							</button>
						</li>
					))}
				</ul>
			</div>
		</Modal>
	);
}

function Ask({ words, children }: { words: string; children: ComponentChildren }) {
	return (
		<div class="editor-ask" role="alert">
			<Icon of={TriangleAlert} />
			<span class="words">{words}</span>
			<span class="button-row">{children}</span>
		</div>
	);
}

interface GutterProps {
	text: string;
	faults: readonly Fault[];
	area: RefObject<HTMLTextAreaElement | null>;
}

/** The numbers of the lines; it is drawn along with the text, which scrolls. */
function Gutter({ text, faults, area }: GutterProps) {
	const ref = useRef<HTMLDivElement>(null);
	const count = text.split("\n").length;
	const worst = new Map<number, string>();
	for (const fault of faults) {
		if (worst.get(fault.line) !== "error") worst.set(fault.line, fault.severity);
	}
	useEffect(() => {
		const field = area.current;
		if (!field) return;
		const follow = () => {
			if (ref.current) ref.current.scrollTop = field.scrollTop;
		};
		follow();
		field.addEventListener("scroll", follow, { passive: true });
		return () => field.removeEventListener("scroll", follow);
	}, []);
	return (
		<div class="editor-gutter" ref={ref} aria-hidden="true">
			{Array.from({ length: count }, (_, at) => (
				<div key={at} data-severity={worst.get(at + 1)}>
					{at + 1}
				</div>
			))}
		</div>
	);
}
