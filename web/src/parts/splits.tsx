// A tab's panes: rows and columns with dividers between them.
import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import type { Split, Tab } from "../api/types";
import { sizeSplit } from "../state/actions";
import { zoomed } from "../state/store";
import { leaves, moved, weights, whole } from "../state/tree";
import { PaneView } from "./pane";

export function Splits({ tab }: { tab: Tab }) {
	const all = leaves(tab.tree);
	const zoom = zoomed.value && all.includes(zoomed.value) ? zoomed.value : null;
	if (!tab.tree) return null;
	if (zoom) return <PaneView key={zoom} pane={zoom} several zoomed />;
	return <Node tab={tab.id} split={tab.tree} path={[]} several={all.length > 1} />;
}

interface NodeProps {
	tab: string;
	split: Split;
	path: number[];
	several: boolean;
}

function Node({ tab, split, path, several }: NodeProps) {
	const box = useRef<HTMLDivElement>(null);
	const dragged = useSignal<number[] | null>(null);
	if (split.pane) return <PaneView key={split.pane} pane={split.pane} several={several} />;
	const sizes = dragged.value ?? weights(split);
	const children = split.children ?? [];
	const vertical = split.direction === "vertical";
	return (
		<div class="split" data-direction={split.direction} ref={box}>
			{children.map((child, at) => (
				<Fragment key={leaves(child).join()}>
					{at > 0 && (
						<Divider
							vertical={vertical}
							sizes={sizes}
							at={at - 1}
							length={() => (vertical ? box.current?.clientHeight : box.current?.clientWidth) ?? 1}
							onMove={(next) => {
								dragged.value = next;
							}}
							onDone={(next) => {
								void sizeSplit(tab, path, next).finally(() => {
									dragged.value = null;
								});
							}}
						/>
					)}
					<div class="part" style={{ flex: `${sizes[at] ?? 1} 1 0px` }}>
						<Node tab={tab} split={child} path={[...path, at]} several={several} />
					</div>
				</Fragment>
			))}
		</div>
	);
}

interface DividerProps {
	vertical: boolean;
	sizes: number[];
	at: number;
	length: () => number;
	onMove: (sizes: number[]) => void;
	onDone: (sizes: number[]) => void;
}

function Divider(props: DividerProps) {
	const { vertical, sizes, at } = props;
	const drag = useRef<{ from: number; sizes: number[]; last: number[] } | null>(null);
	const sum = sizes.reduce((a, b) => a + b, 0);
	const before = sizes.slice(0, at + 1).reduce((a, b) => a + b, 0);
	const place = (event: PointerEvent) => (vertical ? event.clientY : event.clientX);

	const step = (part: number) => props.onDone(moved(sizes, at, part));
	return (
		// biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved
		<div
			class="divider"
			role="separator"
			tabIndex={0}
			aria-orientation={vertical ? "horizontal" : "vertical"}
			aria-label="Divider between panes"
			aria-valuenow={Math.round((before / sum) * 100)}
			aria-valuemin={0}
			aria-valuemax={100}
			data-dragging={drag.current !== null}
			onPointerDown={(event) => {
				event.preventDefault();
				event.currentTarget.setPointerCapture(event.pointerId);
				drag.current = { from: place(event), sizes, last: sizes };
			}}
			onPointerMove={(event) => {
				const held = drag.current;
				if (!held) return;
				held.last = moved(held.sizes, at, (place(event) - held.from) / props.length());
				props.onMove(held.last);
			}}
			onPointerUp={() => {
				const held = drag.current;
				drag.current = null;
				if (held && held.last !== held.sizes) props.onDone(held.last);
			}}
			onDblClick={() => props.onDone(sizes.map(() => Math.round(whole / sizes.length)))}
			onKeyDown={(event) => {
				if (event.altKey || event.ctrlKey || event.metaKey) return;
				if (event.key === (vertical ? "ArrowUp" : "ArrowLeft")) step(-0.04);
				else if (event.key === (vertical ? "ArrowDown" : "ArrowRight")) step(0.04);
				else return;
				event.preventDefault();
			}}
		/>
	);
}
