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

/** What was seen of the view. Asking the document for it would make it lay itself out. */
interface View {
	/** At the end, and staying there. */
	stuck: boolean;
	y: number;
	room: number;
	width: number;
	/** Where the column begins in what scrolls. */
	above: number;
	/** The height of the entries when the view was last put in its place. */
	height: number;
	/** The first entry in view, and where it lay when that was seen. */
	anchor: { id: string; index: number; top: number } | null;
	start: number;
	end: number;
}

const unseen: View = {
	stuck: true,
	y: 0,
	room: 800,
	width: 0,
	above: 0,
	height: -1,
	anchor: null,
	start: 0,
	end: 0,
};

export function LongList<T extends Placed>(props: LongListProps<T>) {
	const scroller = useRef<HTMLDivElement>(null);
	const column = useRef<HTMLDivElement>(null);
	const rows = useRef<HTMLDivElement>(null);
	const foot = useRef<HTMLDivElement>(null);
	const view = useRef<View>({ ...unseen });
	const places = useMemo(() => new Places<T>(props.guess), []);
	const [, draw] = useReducer((n: number) => n + 1, 0);
	const latest = useRef(props);
	latest.current = props;

	places.put(props.items);
	const { start, end } = rangeOf(places, view.current);
	view.current.start = start;
	view.current.end = end;

	// It is told after the layout and before the paint: the place to measure in.
	const watcher = useMemo(() => {
		return new ResizeObserver((entries) => {
			const now = view.current;
			let changed = false;
			for (const entry of entries) {
				const target = entry.target as HTMLElement;
				if (target === scroller.current || target === foot.current) {
					const box = scroller.current;
					const width = box?.clientWidth ?? 0;
					if (now.width !== 0 && Math.abs(now.width - width) > 40) places.forget();
					now.width = width;
					now.room = box?.clientHeight ?? 0;
					now.above = column.current?.offsetTop ?? 0;
					now.height = -1;
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
		for (const part of [scroller.current, foot.current]) if (part) watcher.observe(part);
		return () => watcher.disconnect();
	}, []);

	useLayoutEffect(() => {
		for (const row of rows.current?.children ?? []) watcher.observe(row);
		const now = view.current;
		if (now.height === places.height) return;
		now.height = places.height;
		settle(places, now, scroller.current);
	});

	const toEnd = () => {
		view.current.stuck = true;
		view.current.height = -1;
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
			view.current.y = places.top(index) + view.current.above - 48;
			scroller.current?.scrollTo({ top: view.current.y });
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
		const y = box.scrollTop;
		const atEnd = box.scrollHeight - y - box.clientHeight < 24;
		// The end moves away when something comes; only the user moves up.
		if (atEnd) now.stuck = true;
		else if (y < now.y - 1) now.stuck = false;
		now.y = y;
		if (!now.stuck) {
			const index = places.at(Math.max(0, y - now.above));
			const item = places.items[index];
			now.anchor = item ? { id: item.id, index, top: places.top(index) } : null;
			if (y < nearStart) latest.current.onStart();
		}
		latest.current.onEnd(now.stuck);
		const next = rangeOf(places, now);
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
			<div ref={foot}>{props.foot}</div>
		</div>
	);
}

function rangeOf<T extends Placed>(places: Places<T>, view: View): { start: number; end: number } {
	const n = places.items.length;
	if (n === 0) return { start: 0, end: 0 };
	const y = view.stuck ? places.height - view.room : view.y + moved(places, view) - view.above;
	const start = places.at(Math.max(0, y - around));
	const end = Math.min(n, places.at(Math.max(0, y + view.room + around)) + 1);
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

/** Puts the view where it belongs now that heights have changed. */
function settle<T extends Placed>(places: Places<T>, view: View, box: HTMLElement | null): void {
	if (!box) return;
	if (view.stuck) {
		box.scrollTop = box.scrollHeight;
		view.y = box.scrollTop;
		return;
	}
	const by = moved(places, view);
	if (by === 0) return;
	box.scrollTop += by;
	view.y = box.scrollTop;
	if (view.anchor) view.anchor.top += by;
}
