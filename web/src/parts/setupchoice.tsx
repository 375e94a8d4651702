// The setup script of a new worktree, in the forms that make one: shown and allowed before it
// runs, or left out (spec launch L9.5, interfaces A2.3).
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { failOf } from "../api/client";
import type { Fail, Setup } from "../api/types";
import { client } from "../state/actions";
import { setupWords } from "../words/worktrees";
import { FailBox } from "./bits";

export interface SetupPlace {
	/** Path of a repository; "" while none is chosen. */
	repo: string;
	base?: string;
	branch?: string;
}

export interface SetupChoiceProps extends SetupPlace {
	skip: boolean;
	onSkip: (skip: boolean) => void;
}

export function SetupChoice({ repo, base, branch, skip, onSkip }: SetupChoiceProps) {
	const setup = useSignal<Setup | null>(null);
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const place = { in: `path:${repo}`, base: base || undefined, branch: branch || undefined };
	const latest = useSignal(0);
	const read = () => {
		const turn = ++latest.value;
		if (repo === "") {
			setup.value = null;
			return;
		}
		client
			.call("worktree.setup", place)
			.then((answer) => {
				if (turn === latest.value) setup.value = answer;
			})
			.catch(() => {
				if (turn === latest.value) setup.value = null; // the launch says what is wrong with it
			});
	};
	useEffect(() => {
		const timer = setTimeout(read, 150); // while a name is typed
		return () => clearTimeout(timer);
	}, [repo, base, branch]);
	const allow = async () => {
		const digest = setup.value?.digest;
		if (!digest || busy.value) return;
		busy.value = true;
		try {
			await client.call("worktree.allowSetup", { ...place, digest });
			fail.value = null;
			if (setup.value) setup.value = { ...setup.value, trust: "trusted" };
		} catch (error) {
			fail.value = failOf(error);
			read(); // it may be another text by now
		}
		busy.value = false;
	};
	if (!setup.value?.script) return null;
	return (
		<SetupView
			setup={setup.value}
			skip={skip}
			fail={fail.value}
			busy={busy.value}
			onSkip={onSkip}
			onAllow={() => void allow()}
		/>
	);
}

export interface SetupViewProps {
	setup: Setup;
	skip: boolean;
	fail: Fail | null;
	busy: boolean;
	onSkip: (skip: boolean) => void;
	onAllow: () => void;
}

export function SetupView({ setup, skip, fail, busy, onSkip, onAllow }: SetupViewProps) {
	const trusted = setup.trust === "trusted";
	return (
		<fieldset class="setup-choice">
			<legend>Setup script</legend>
			{fail && <FailBox fail={fail} />}
			{trusted ? (
				<label class="check">
					<input
						type="checkbox"
						name="setup"
						checked={!skip}
						onChange={(event) => onSkip(!event.currentTarget.checked)}
					/>
					<span>
						Run it first, in the worktree
						<small>{setupWords(setup)}</small>
					</span>
				</label>
			) : (
				<p class="help">{setupWords(setup)}</p>
			)}
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls is scrolled by keys too */}
			<pre class="file-text" tabIndex={0} aria-label="Text of the setup script">
				{setup.text?.trimEnd()}
			</pre>
			{!trusted && (
				<button type="button" class="button" disabled={busy} onClick={onAllow}>
					Allow this script
				</button>
			)}
		</fieldset>
	);
}
