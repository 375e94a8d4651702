// A long list of entries of any height: only those near the view are in the document. It
// stays at the end while entries come, unless the user has scrolled up; then what is in
// view stays where it is, whatever grows or comes above it.
import type { ComponentChildren, RefObject, VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { type Placed, Places } from "../chat/places";

/** Pixels above and below the view that are drawn too. */
const around = 700;
const nearStart = 1200;

export interface ListHandle {
	toEnd(): void;
	show(id: string): void;
	page(by: 1 | -1): void;
	element: HTMLElement | null;
}

export interface LongListProps<T extends Placed> {
	items: readonly T[];
	guess: (item: T) => number;
	draw: (item: T) => VNode;
	label: string;
	/** Whether the view is at the end. */
	onEnd: (at: boolean) => void;
	/** The user is near the first entry. */
	onStart: () => void;
	head?: ComponentChildren;
	foot?: ComponentChildren;
	handle: RefObject<ListHandle | null>;
}

interface View {
	stuck: boolean;
	last: number;
	/** The first entry in view, and where it lay when that was seen. */
	anchor: { id: string; index: number; top: number } | null;
	start: number;
	end: number;
	width: number;
}

export function LongList<T extends Placed>(props: LongListProps<T>) {
	const scroller = useRef<HTMLDivElement>(null);
	const column = useRef<HTMLDivElement>(null);
	const rows = useRef<HTMLDivElement>(null);
	const view = useRef<View>({ stuck: true, last: 0, anchor: null, start: 0, end: 0, width: 0 });
	const places = useMemo(() => new Places<T>(props.guess), []);
	const [, draw] = useReducer((n: number) => n + 1, 0);
	const latest = useRef(props);
	latest.current = props;

	places.put(props.items);
	const { start, end } = rangeOf(places, view.current, scroller.current, column.current);
	view.current.start = start;
	view.current.end = end;

	const watcher = useMemo(() => {
		return new ResizeObserver((entries) => {
			let changed = false;
			for (const entry of entries) {
				const target = entry.target as HTMLElement;
				if (target === scroller.current) {
					const width = Math.round(entry.contentRect.width);
					if (view.current.width !== 0 && Math.abs(view.current.width - width) > 40) places.forget();
					view.current.width = width;
					changed = true;
				} else if (target.isConnected) {
					const height = entry.borderBoxSize[0]?.blockSize ?? target.offsetHeight;
					if (places.measured(Number(target.dataset.index), target.dataset.id ?? "", height)) changed = true;
				} else watcher.unobserve(target);
			}
			if (changed) draw(0);
		});
	}, []);

	useEffect(() => {
		if (scroller.current) watcher.observe(scroller.current);
		return () => watcher.disconnect();
	}, []);

	useLayoutEffect(() => {
		for (const row of rows.current?.children ?? []) watcher.observe(row);
		settle(places, view.current, scroller.current);
	});

	const toEnd = () => {
		view.current.stuck = true;
		latest.current.onEnd(true);
		draw(0);
	};
	props.handle.current = {
		element: scroller.current,
		toEnd,
		show: (id) => {
			const index = places.find(id, 0);
			if (index < 0) return;
			view.current.stuck = false;
			view.current.anchor = { id, index, top: places.top(index) };
			scroller.current?.scrollTo({ top: places.top(index) + (column.current?.offsetTop ?? 0) - 48 });
			draw(0);
		},
		page: (by) => {
			const box = scroller.current;
			box?.scrollBy({ top: by * box.clientHeight * 0.85 });
		},
	};

	const onScroll = () => {
		const box = scroller.current;
		const now = view.current;
		if (!box) return;
		const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
		// The end moves away when something comes; only the user moves up.
		if (atEnd) now.stuck = true;
		else if (box.scrollTop < now.last - 1) now.stuck = false;
		now.last = box.scrollTop;
		if (!now.stuck) {
			const y = box.scrollTop - (column.current?.offsetTop ?? 0);
			const index = places.at(Math.max(0, y));
			const item = places.items[index];
			now.anchor = item ? { id: item.id, index, top: places.top(index) } : null;
			if (box.scrollTop < nearStart) latest.current.onStart();
		}
		latest.current.onEnd(now.stuck);
		const next = rangeOf(places, now, box, column.current);
		if (next.start !== now.start || next.end !== now.end) draw(0);
	};

	return (
		<div
			class="chat-scroll"
			ref={scroller}
			onScroll={onScroll}
			role="log"
			aria-live="off"
			aria-label={props.label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
			tabIndex={0}
		>
			{props.head}
			<div class="chat-column" ref={column} style={{ height: `${places.height}px` }}>
				<div class="chat-rows" ref={rows} style={{ top: `${places.top(start)}px` }}>
					{props.items.slice(start, end).map((item, n) => (
						<div class="chat-row" key={item.id} data-index={start + n} data-id={item.id}>
							{props.draw(item)}
						</div>
					))}
				</div>
			</div>
			{props.foot}
		</div>
	);
}

function rangeOf<T extends Placed>(
	places: Places<T>,
	view: View,
	box: HTMLElement | null,
	column: HTMLElement | null,
): { start: number; end: number } {
	const n = places.items.length;
	if (n === 0) return { start: 0, end: 0 };
	const room = box?.clientHeight || 800;
	const y =
		view.stuck || !box
			? places.height - room
			: box.scrollTop + moved(places, view) - (column?.offsetTop ?? 0);
	const start = places.at(Math.max(0, y - around));
	const end = Math.min(n, places.at(Math.max(0, y + room + around)) + 1);
	return { start, end };
}

/** How far the anchor has moved since it was seen: something above it came or grew. */
function moved<T extends Placed>(places: Places<T>, view: View): number {
	const anchor = view.anchor;
	const index = anchor ? places.find(anchor.id, anchor.index) : -1;
	if (!anchor || index < 0) return 0;
	anchor.index = index;
	return places.top(index) - anchor.top;
}

function settle<T extends Placed>(places: Places<T>, view: View, box: HTMLElement | null): void {
	if (!box) return;
	if (view.stuck) {
		const end = box.scrollHeight - box.clientHeight;
		if (Math.abs(box.scrollTop - end) > 0.5) box.scrollTop = end;
	} else {
		const by = moved(places, view);
		if (by !== 0) box.scrollTop += by;
		if (view.anchor) view.anchor.top += by;
	}
	view.last = box.scrollTop;
}
