// Moving tabs and groups by finger: a press that stays lifts one, a drag moves it, and a
// finger that lets go where it lifted asks for the menu. Mice and pens drag by the browser's
// own means. What is dropped where is decided by who asked.
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { swallowClick } from "./chipdrag";

export interface Lifted {
	kind: "tab" | "group";
	id: string;
}

export interface TouchDrag {
	may: boolean;
	/** Says whether it can be lifted at all. */
	lift: (what: Lifted) => boolean;
	over: (on: Lifted | null, y: number, height: number) => void;
	drop: () => void;
	cancel: () => void;
	menu: (what: Lifted, event: PointerEvent) => void;
}

/** How long a finger stays to lift, before browsers take it for a long press of their own. */
const hold = 380;
/** How far it may tremble meanwhile, in pixels. */
const slack = 8;
/** Where the list scrolls under a lifted tab: this near to its ends, this far a frame. */
const edge = 44;
const pace = 7;

export function useTouchDrag(root: RefObject<HTMLElement | null>, asked: TouchDrag): void {
	const now = useRef(asked);
	now.current = asked;
	useEffect(() => {
		const box = root.current;
		return box ? listen(box, now) : undefined;
	}, []);
}

interface Press {
	pointer: number;
	what: Lifted;
	x: number;
	y: number;
	timer: number;
	lifted: boolean;
	moved: boolean;
	frame: number;
	/** What the browser would drag by itself, if the press were its own. */
	native: HTMLElement[];
}

function listen(root: HTMLElement, asked: { current: TouchDrag }): () => void {
	let press: Press | null = null;
	const forget = () => {
		if (!press) return;
		clearTimeout(press.timer);
		cancelAnimationFrame(press.frame);
		for (const one of press.native) one.draggable = true;
		press = null;
	};
	const cancel = () => {
		const lifted = press?.lifted;
		forget();
		if (lifted) asked.current.cancel();
	};
	const look = (x: number, y: number) => {
		const at = document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-item]") ?? null;
		const on = at && root.contains(at) ? itemOf(at) : null;
		const rect = at?.getBoundingClientRect();
		asked.current.over(on, rect ? y - rect.top : 0, rect?.height ?? 0);
	};
	// A list that is longer than its room goes on under a finger that waits at its end.
	const scroll = () => {
		if (!press?.moved) return;
		const list = scrollerOf(root);
		const rect = list.getBoundingClientRect();
		const by = press.y < rect.top + edge ? -pace : press.y > rect.bottom - edge ? pace : 0;
		const was = list.scrollTop;
		if (by) list.scrollTop += by;
		if (list.scrollTop !== was) look(press.x, press.y);
		press.frame = requestAnimationFrame(scroll);
	};
	const down = (event: PointerEvent) => {
		cancel();
		const at = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-item]") : null;
		const what = at && itemOf(at);
		if (event.pointerType !== "touch" || !event.isPrimary || !asked.current.may || !what) return;
		const begun: Press = {
			pointer: event.pointerId,
			what,
			x: event.clientX,
			y: event.clientY,
			lifted: false,
			moved: false,
			frame: 0,
			native: draggables(at, root),
			timer: window.setTimeout(() => {
				if (press !== begun) return;
				begun.lifted = asked.current.lift(what);
				if (begun.lifted) navigator.vibrate?.(8);
				else forget();
			}, hold),
		};
		press = begun;
		// Else its own drag begins under a finger that stays, and takes the pointer away.
		for (const one of begun.native) one.draggable = false;
	};
	const move = (event: PointerEvent) => {
		if (press?.pointer !== event.pointerId) return;
		const far = Math.hypot(event.clientX - press.x, event.clientY - press.y) > slack;
		if (!press.lifted) {
			if (far) forget(); // it scrolls
			return;
		}
		if (!press.moved && !far) return;
		press.x = event.clientX;
		press.y = event.clientY;
		look(press.x, press.y);
		if (!press.moved) {
			press.moved = true;
			scroll();
		}
	};
	const up = (event: PointerEvent) => {
		if (press?.pointer !== event.pointerId) return;
		const { lifted, moved, what } = press;
		forget();
		if (!lifted) return;
		swallowClick();
		if (moved) asked.current.drop();
		else {
			asked.current.cancel();
			asked.current.menu(what, event);
		}
	};
	// While one is lifted neither does the page scroll nor the browser's menu open.
	const keepStill = (event: TouchEvent) => {
		if (press?.lifted && event.cancelable) event.preventDefault();
	};
	const menu = (event: Event) => {
		if (!press) return;
		event.preventDefault();
		event.stopPropagation();
	};
	const noDrag = (event: Event) => {
		if (press) event.preventDefault();
	};
	root.addEventListener("pointerdown", down);
	root.addEventListener("touchmove", keepStill, { passive: false });
	root.addEventListener("contextmenu", menu, true);
	root.addEventListener("dragstart", noDrag, true);
	window.addEventListener("pointermove", move);
	window.addEventListener("pointerup", up);
	window.addEventListener("pointercancel", cancel);
	return () => {
		cancel();
		root.removeEventListener("pointerdown", down);
		root.removeEventListener("touchmove", keepStill);
		root.removeEventListener("contextmenu", menu, true);
		root.removeEventListener("dragstart", noDrag, true);
		window.removeEventListener("pointermove", move);
		window.removeEventListener("pointerup", up);
		window.removeEventListener("pointercancel", cancel);
	};
}

/** The element and those around it that the browser would drag. */
function draggables(at: HTMLElement, root: HTMLElement): HTMLElement[] {
	const found: HTMLElement[] = [];
	for (let one: HTMLElement | null = at; one && one !== root; one = one.parentElement) {
		if (one.draggable) found.push(one);
	}
	return found;
}

function itemOf(at: HTMLElement): Lifted | null {
	const { item, id } = at.dataset;
	return (item === "tab" || item === "group") && id ? { kind: item, id } : null;
}

function scrollerOf(root: HTMLElement): HTMLElement {
	for (let at: HTMLElement | null = root; at; at = at.parentElement) {
		if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
	}
	return root;
}
