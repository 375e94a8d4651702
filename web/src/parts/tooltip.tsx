// One tooltip for the page: any element with data-tip gets it on hover (after a moment)
// and on keyboard focus; Escape hides it. The words are said to screen readers by the
// element's own name, so this is for the eye only.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { placeTip } from "../words/place";

interface Shown {
	text: string;
	box: DOMRect;
}

const delay = 350;

export function Tooltips() {
	const [shown, show] = useState<Shown | null>(null);
	const ref = useRef<HTMLDivElement>(null);

	useEffect(() => {
		let timer: number | undefined;
		let over: Element | null = null;
		const hide = () => {
			clearTimeout(timer);
			over = null;
			show(null);
		};
		const start = (target: EventTarget | null, wait: number) => {
			const element = target instanceof Element ? target.closest("[data-tip]") : null;
			if (element === over) return;
			hide();
			over = element;
			const text = element?.getAttribute("data-tip");
			if (!element || !text) return;
			timer = window.setTimeout(() => {
				if (element.isConnected) show({ text, box: element.getBoundingClientRect() });
			}, wait);
		};
		const onOver = (event: PointerEvent) => {
			if (event.pointerType === "mouse") start(event.target, delay);
		};
		const onFocus = (event: FocusEvent) => {
			if (event.target instanceof Element && event.target.matches(":focus-visible")) start(event.target, 0);
		};
		const onBlur = (event: FocusEvent) => {
			if (event.target instanceof Element && event.target.closest("[data-tip]") === over) hide();
		};
		const onKey = (event: KeyboardEvent) => {
			if (event.key === "Escape") hide();
		};
		document.addEventListener("pointerover", onOver);
		document.addEventListener("pointerdown", hide, true);
		document.addEventListener("focusin", onFocus);
		document.addEventListener("focusout", onBlur);
		document.addEventListener("keydown", onKey, true);
		return () => {
			hide();
			document.removeEventListener("pointerover", onOver);
			document.removeEventListener("pointerdown", hide, true);
			document.removeEventListener("focusin", onFocus);
			document.removeEventListener("focusout", onBlur);
			document.removeEventListener("keydown", onKey, true);
		};
	}, []);

	useLayoutEffect(() => {
		const tip = ref.current;
		if (!tip || !shown) return;
		// In the top layer: above a dialog too.
		if (!tip.matches(":popover-open")) tip.showPopover();
		// The answers of a question stay free to be pressed.
		const free = [...document.querySelectorAll(".ask-answers .button")].map((button) =>
			button.getBoundingClientRect(),
		);
		const { left, top } = placeTip(
			shown.box,
			{ width: tip.offsetWidth, height: tip.offsetHeight },
			{ width: innerWidth, height: innerHeight },
			free,
		);
		tip.style.left = `${left}px`;
		tip.style.top = `${top}px`;
	}, [shown]);

	return shown ? (
		<div class="tooltip" ref={ref} popover="manual" aria-hidden="true">
			{shown.text}
		</div>
	) : null;
}
