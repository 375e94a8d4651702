// The host's state as the page holds it, and what an event does to it. Pure: a value goes
// in and a value comes out, and parts that an event does not touch stay the same objects,
// so that what shows them is not drawn again. Events carry whole values (davit.Event), so
// applying one twice is harmless.
import type {
	Chip,
	ChipLayout,
	ClosedTab,
	Event,
	Group,
	Notice,
	Pane,
	Session,
	State,
	Tab,
	TabView,
} from "../api/types";

export interface Model {
	readonly hostId: string;
	readonly seq: number;
	readonly tabs: readonly Tab[];
	readonly panes: Readonly<Record<string, Pane>>;
	readonly notices: readonly Notice[];
	readonly chips: Readonly<Record<string, readonly Chip[]>>;
	readonly closed: readonly ClosedTab[];
	readonly groups: readonly Group[];
	readonly sessions: Readonly<Record<string, Session>>;
	readonly layout: ChipLayout;
	readonly tabView: TabView;
}

export function fromState(state: State): Model {
	const chips: Record<string, readonly Chip[]> = {};
	for (const [pane, list] of Object.entries(state.chips ?? {})) chips[pane] = list ?? [];
	return {
		hostId: state.hostId,
		seq: state.seq,
		tabs: state.tabs ?? [],
		panes: state.panes ?? {},
		notices: state.notices ?? [],
		chips,
		closed: state.closed ?? [],
		groups: state.groups ?? [],
		sessions: state.sessions ?? {},
		layout: state.layout,
		tabView: state.tabView,
	};
}

export function apply(model: Model, event: Event): Model {
	if (event.seq <= model.seq) return model;
	return { ...change(model, event), seq: event.seq };
}

function change(model: Model, event: Event): Model {
	switch (event.kind) {
		case "tab":
			return event.tab ? { ...model, tabs: put(model.tabs, event.tab) } : model;
		case "tabRemoved":
			return { ...model, tabs: model.tabs.filter((tab) => tab.id !== event.tabId) };
		case "tabOrder":
			return { ...model, tabs: inOrder(model.tabs, event.order ?? []) };
		case "pane":
			return event.pane ? { ...model, panes: { ...model.panes, [event.pane.id]: event.pane } } : model;
		case "paneRemoved":
			return {
				...model,
				panes: without(model.panes, event.paneId),
				chips: without(model.chips, event.paneId),
			};
		case "notice":
			return event.notice ? { ...model, notices: put(model.notices, event.notice) } : model;
		case "noticeRemoved":
			return { ...model, notices: model.notices.filter((notice) => notice.id !== event.noticeId) };
		case "chips":
			return event.paneId
				? { ...model, chips: { ...model.chips, [event.paneId]: event.chips ?? [] } }
				: model;
		case "closed":
			return { ...model, closed: event.closed ?? [] };
		case "group":
			return event.group ? { ...model, groups: put(model.groups, event.group) } : model;
		case "groupRemoved":
			return { ...model, groups: model.groups.filter((group) => group.id !== event.groupId) };
		case "session":
			return event.session
				? { ...model, sessions: { ...model.sessions, [event.session.id]: event.session } }
				: model;
		case "layout":
			return event.layout ? { ...model, layout: event.layout } : model;
		case "tabView":
			return event.tabView ? { ...model, tabView: event.tabView } : model;
		default:
			return model; // a newer host's event
	}
}

function put<T extends { id: string }>(list: readonly T[], value: T): readonly T[] {
	const at = list.findIndex((item) => item.id === value.id);
	return at < 0 ? [...list, value] : list.with(at, value);
}

function inOrder(tabs: readonly Tab[], order: readonly string[]): readonly Tab[] {
	const place = new Map(order.map((id, at) => [id, at]));
	const of = (tab: Tab) => place.get(tab.id) ?? order.length;
	return [...tabs].sort((a, b) => of(a) - of(b));
}

function without<T>(map: Readonly<Record<string, T>>, key: string | undefined): Readonly<Record<string, T>> {
	if (key === undefined || !(key in map)) return map;
	const { [key]: _, ...rest } = map;
	return rest;
}
