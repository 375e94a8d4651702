// Dragging chips between the trays of an editor and its bank, by mouse, pen and finger: a
// pointer that has gone a little way drags, Escape lets go, and a drop over the bank takes
// the chip out. What is dropped where is decided by who asked.
import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Side, Spot } from "../words/chiplayout";

export interface Dragged {
	kind: string;
	icon?: string;
}

export interface ChipDrag {
	dragged: Signal<Dragged | null>;
	over: Signal<Spot | "bank" | null>;
	ghost: RefObject<HTMLSpanElement | null>;
	down: (event: PointerEvent, what: Dragged, from: "tray" | "bank") => void;
}

/** How far a pointer goes before it drags, in pixels. */
const slack = 5;

export function useChipDrag(
	root: RefObject<HTMLElement | null>,
	drop: (kind: string, spot: Spot | "bank") => void,
): ChipDrag {
	const dragged = useSignal<Dragged | null>(null);
	const over = useSignal<Spot | "bank" | null>(null);
	const ghost = useRef<HTMLSpanElement>(null);
	const at = useRef({ x: 0, y: 0 });
	const stop = useRef<(() => void) | null>(null);
	const dropped = useRef(drop);
	dropped.current = drop;

	const follow = () => {
		if (!ghost.current) return;
		ghost.current.style.left = `${at.current.x + 10}px`;
		ghost.current.style.top = `${at.current.y + 6}px`;
	};
	useLayoutEffect(follow);
	useEffect(() => () => stop.current?.(), []);

	const down = (event: PointerEvent, what: Dragged, from: "tray" | "bank") => {
		// A finger on the bank scrolls it; a tap adds.
		if (event.button !== 0 || (from === "bank" && event.pointerType === "touch")) return;
		stop.current?.();
		const pointer = event.pointerId;
		const start = { x: event.clientX, y: event.clientY };
		const move = (moved: PointerEvent) => {
			if (moved.pointerId !== pointer) return;
			at.current = { x: moved.clientX, y: moved.clientY };
			if (!dragged.value) {
				if (Math.hypot(moved.clientX - start.x, moved.clientY - start.y) < slack) return;
				dragged.value = what;
			}
			moved.preventDefault();
			follow();
			const spot = spotAt(root.current, at.current, from);
			if (JSON.stringify(spot) !== JSON.stringify(over.value)) over.value = spot;
		};
		const end = (ended: PointerEvent) => {
			if (ended.pointerId !== pointer) return;
			const spot = over.value;
			const did = dragged.value !== null;
			leave();
			if (!did) return;
			swallowClick();
			if (spot && ended.type === "pointerup") dropped.current(what.kind, spot);
		};
		const key = (pressed: KeyboardEvent) => {
			if (pressed.key !== "Escape" || !dragged.value) return;
			pressed.preventDefault();
			pressed.stopPropagation();
			leave();
			swallowClick();
		};
		const leave = () => {
			window.removeEventListener("pointermove", move);
			window.removeEventListener("pointerup", end);
			window.removeEventListener("pointercancel", end);
			window.removeEventListener("keydown", key, true);
			stop.current = null;
			dragged.value = null;
			over.value = null;
		};
		window.addEventListener("pointermove", move);
		window.addEventListener("pointerup", end);
		window.addEventListener("pointercancel", end);
		window.addEventListener("keydown", key, true);
		stop.current = leave;
	};
	return { dragged, over, ghost, down };
}

/** The click that follows the end of a drag is no click; the next press is one. */
export function swallowClick(): void {
	const swallow = (event: MouseEvent) => {
		event.stopPropagation();
		event.preventDefault();
	};
	const leave = () => {
		window.removeEventListener("click", swallow, true);
		window.removeEventListener("pointerdown", leave, true);
		window.removeEventListener("touchstart", leave, true);
	};
	window.addEventListener("click", swallow, { capture: true, once: true });
	window.addEventListener("pointerdown", leave, true);
	window.addEventListener("touchstart", leave, true);
	setTimeout(leave, 50);
}

/** How far outside of a tray a chip still belongs to it. */
const near = 10;

function spotAt(
	root: HTMLElement | null,
	{ x, y }: { x: number; y: number },
	from: "tray" | "bank",
): Spot | "bank" | null {
	for (const tray of root?.querySelectorAll<HTMLElement>(".tray") ?? []) {
		const box = tray.getBoundingClientRect();
		if (x < box.left - near || x > box.right + near || y < box.top - near || y > box.bottom + near) continue;
		const tokens = [...tray.querySelectorAll<HTMLElement>(".token")];
		const behind = tokens.findIndex((token) => {
			const it = token.getBoundingClientRect();
			return y < it.top - 2 || (y <= it.bottom + 2 && x < it.left + it.width / 2);
		});
		return { side: tray.dataset.side as Side, at: behind < 0 ? tokens.length : behind };
	}
	if (from === "bank") return null;
	const box = root?.querySelector(".bank")?.getBoundingClientRect();
	return box && x >= box.left && x <= box.right && y >= box.top && y <= box.bottom ? "bank" : null;
}
