// Icons: lucide's, at 16 px, and davit's own mark and state marks. Decoration: what they
// mean is always said in words beside them.
import type { IconNode } from "lucide";
import { h } from "preact";
import type { TabState } from "../words/tabs";

export function Icon({ of, size = 16 }: { of: IconNode; size?: number }) {
	return (
		<svg
			width={size}
			height={size}
			viewBox="0 0 24 24"
			fill="none"
			stroke="currentColor"
			stroke-width={1.75}
			stroke-linecap="round"
			stroke-linejoin="round"
			aria-hidden="true"
		>
			{of.map(([tag, attributes]) => h(tag, attributes))}
		</svg>
	);
}

/** The crane over the waterline. */
export function Brand({ size = 16 }: { size?: number }) {
	return (
		<svg width={size} height={size} viewBox="0 0 16 16" fill="none" aria-hidden="true">
			<g stroke="currentColor" stroke-width="1.6" stroke-linecap="round">
				<path d="M4 11.5V6.6A4.1 4.1 0 0 1 8.1 2.5h.3a3.6 3.6 0 0 1 3.6 3.6v1.2" />
				<path d="M10 7.4h4l-.8 2a1.3 1.3 0 0 1-2.4 0z" fill="currentColor" stroke-width="1" />
				<path d="M1.8 13.6c1 .8 2.1.8 3.1 0s2.1-.8 3.1 0 2.1.8 3.1 0 2.1-.8 3.1 0" />
			</g>
		</svg>
	);
}

/** A state by shape as well as by colour. */
export function StateMark({ state }: { state: TabState }) {
	return (
		<svg class="mark" data-state={state} width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
			{shape(state)}
		</svg>
	);
}

function shape(state: TabState) {
	switch (state) {
		case "running":
			return <circle cx="5" cy="5" r="4" fill="currentColor" />;
		case "working":
			return (
				<>
					<circle cx="5" cy="5" r="3.75" fill="none" stroke="currentColor" stroke-width="1.5" opacity="0.3" />
					<path
						class="turns"
						d="M5 1.25A3.75 3.75 0 0 1 8.75 5"
						fill="none"
						stroke="currentColor"
						stroke-width="1.5"
						stroke-linecap="round"
					/>
				</>
			);
		case "waiting":
			return (
				<>
					<path d="M5 0l5 5-5 5-5-5z" fill="currentColor" />
					<path d="M5 2.9v2.4M5 7v.1" class="cutout" stroke-width="1.3" stroke-linecap="round" />
				</>
			);
		case "done":
			return (
				<path
					d="M1.5 5.4l2.4 2.4 4.6-5.2"
					fill="none"
					stroke="currentColor"
					stroke-width="1.75"
					stroke-linecap="round"
					stroke-linejoin="round"
				/>
			);
		case "starting":
			return (
				<circle
					cx="5"
					cy="5"
					r="3.5"
					fill="none"
					stroke="currentColor"
					stroke-width="1.5"
					stroke-dasharray="2.6 1.8"
				/>
			);
		case "ended":
			return (
				<rect
					x="1.75"
					y="1.75"
					width="6.5"
					height="6.5"
					rx="1"
					fill="none"
					stroke="currentColor"
					stroke-width="1.5"
				/>
			);
		case "failed":
		case "fault":
			return <path d="M2 2l6 6M8 2l-6 6" stroke="currentColor" stroke-width="2" stroke-linecap="round" />;
		case "lost":
			return <path d="M5 1l4.3 8H.7z" fill="currentColor" />;
		default:
			return <circle cx="5" cy="5" r="3" fill="none" stroke="currentColor" stroke-width="1.5" />;
	}
}
