// Small shared parts: keys, diff numbers, an error in place, an icon button.
import { CircleAlert, type IconNode } from "lucide";
import type { Ref } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Fail } from "../api/types";
import { type Chord, caps } from "../keys/chord";
import { chordOf, mac } from "../keys/keys";
import { keptWords } from "../words/receipt";
import { Icon } from "./icon";

export function Keys({ chord }: { chord: Chord | undefined }) {
	if (!chord) return null;
	return (
		<kbd>
			{caps(chord, mac).map((cap) => (
				<i key={cap}>{cap}</i>
			))}
		</kbd>
	);
}

export function Diff({ added, removed }: { added: number; removed: number }) {
	return (
		<span class="diff">
			<b class="plus">+{added}</b>
			<b class="minus">−{removed}</b>
		</span>
	);
}

/** An error where it happened, with what to do. */
export function FailBox({ fail }: { fail: Fail }) {
	const ref = useRef<HTMLDivElement>(null);
	const kept = keptWords(fail);
	useEffect(() => ref.current?.scrollIntoView({ block: "nearest" }), [fail]); // a long form may have scrolled it away
	return (
		<div class="fail" role="alert" ref={ref}>
			<Icon of={CircleAlert} />
			<div class="words">
				{fail.message}
				{fail.hint && <small>{fail.hint}</small>}
				{kept && !fail.hint?.includes("is kept") && <small>{kept}</small>}
			</div>
		</div>
	);
}

/** The key of a command, as a tooltip tells it. */
export function tipOf(command: string): string | undefined {
	const chord = chordOf(command);
	return chord && caps(chord, mac).join(" ");
}

export interface IconButtonProps {
	icon: IconNode;
	/** Its accessible name and its tooltip. */
	label: string;
	/** A command whose key the tooltip teaches. */
	command?: string;
	onClick: (event: MouseEvent) => void;
	class?: string;
	expanded?: boolean;
	refTo?: Ref<HTMLButtonElement>;
}

export function IconButton(props: IconButtonProps) {
	const chord = props.command ? chordOf(props.command) : undefined;
	return (
		<button
			type="button"
			ref={props.refTo}
			class={`icon-button ${props.class ?? ""}`}
			aria-label={props.label}
			aria-haspopup={props.expanded === undefined ? undefined : "menu"}
			aria-expanded={props.expanded}
			data-tip={chord ? `${props.label}  ${caps(chord, mac).join(" ")}` : props.label}
			onClick={props.onClick}
		>
			<Icon of={props.icon} />
		</button>
	);
}
