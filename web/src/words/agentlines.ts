// The agents of the open tabs, in terminals and chats: what each does, which need a person,
// and where to go next (spec session S3). Pure.
import type { Chip, Notice, Pane, Session, Tab } from "../api/types";
import { leaves } from "../state/tree";
import { agentWords, isUnread, paneState, type TabState, tabTitle, terminalWords } from "./tabs";

export interface AgentLine {
	tab: string;
	pane: string;
	name: string;
	chat: boolean;
	practice: boolean;
	status: string;
	state: TabState;
	/** The status in words, with its doubt. */
	words: string;
	unread: boolean;
	since: number;
	title: string;
	directory: string;
	branch: string;
	/** What it is about: the tool that it wants to use, its question, its last message. */
	about: string;
}

/** As `davit ps` has it: those that wait for a person come first. */
const order = ["waiting", "error", "done", "working", "starting", "idle", "unknown", "exited", "resumable"];

interface Facts {
	tabs: readonly Tab[];
	panes: Readonly<Record<string, Pane>>;
	chips: Readonly<Record<string, readonly Chip[]>>;
	sessions: Readonly<Record<string, Session>>;
	/** The name of an agent of the catalogue. */
	nameOf?: (agent: string) => string;
}

export function agentLines({ tabs, panes, chips, sessions, nameOf }: Facts): AgentLine[] {
	const lines = tabs.flatMap((tab) =>
		leaves(tab.tree).flatMap((id) => {
			const pane = panes[id];
			if (!pane) return [];
			const session = pane.session ? sessions[pane.session] : undefined;
			const told = session ?? pane.agentState;
			if (!told) return [];
			const chip = (kind: string) => chips[id]?.find((one) => one.kind === kind);
			const terminal = pane.agentState;
			return {
				tab: tab.id,
				pane: id,
				name: session?.agentName ?? nameOf?.(told.agent) ?? told.agent,
				chat: session !== undefined,
				practice: pane.practice ?? session?.practice ?? false,
				status: told.status,
				state: paneState(pane, session),
				words: session ? agentWords(session) : terminal ? terminalWords(terminal) : "",
				unread: isUnread(pane, session),
				since: Date.parse(told.since),
				title: tabTitle(tab, pane, chips),
				directory: chip("cwd")?.text || pane.directory,
				branch: chip("git_branch")?.text ?? "",
				about: session ? (session.fault?.message ?? "") : terminal ? aboutOf(terminal) : "",
			};
		}),
	);
	const place = (line: AgentLine) => order.indexOf(line.status);
	return lines.sort((a, b) => place(a) - place(b) || a.since - b.since || (a.pane < b.pane ? -1 : 1));
}

function aboutOf(state: NonNullable<Pane["agentState"]>): string {
	if (state.message) return state.message.split("\n", 1)[0] ?? "";
	return [state.tool, state.input].filter(Boolean).join(" ");
}

/** How many agents are unread: what the window's title counts. */
export function unreadCount(lines: readonly AgentLine[]): number {
	return lines.filter((line) => line.unread).length;
}

/**
 * Where “next waiting agent” goes: through those that wait, the longest first, then those that
 * are done and unread; round again after the last. Null: none needs anybody.
 */
export function nextWaiting(lines: readonly AgentLine[], here: string | null): AgentLine | null {
	const wanted = lines.filter((line) => line.status === "waiting" || line.unread);
	const at = wanted.findIndex((line) => line.pane === here);
	const next = wanted[(at + 1) % Math.max(wanted.length, 1)];
	return next && next.pane !== here ? next : null;
}

/** For how long: in the greatest unit that is full. */
export function agoWords(since: number, now: number): string {
	const seconds = Math.max(0, Math.floor((now - since) / 1000));
	if (Number.isNaN(seconds)) return "";
	if (seconds < 60) return `${seconds} s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
	if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
	return `${Math.floor(seconds / 86_400)} d`;
}

/** What this browser's desktop is told of. */
export type DesktopWish = "off" | "waiting" | "all";

/** A notice as the desktop may show it, or null. Never its body, which can hold anything. */
export function desktopWords(notice: Notice, wish: DesktopWish): { title: string; since: string } | null {
	const wanted =
		(notice.kind === "agent_waiting" && wish !== "off") || (notice.kind === "agent_done" && wish === "all");
	return wanted ? { title: notice.title, since: String(notice.details?.since ?? notice.created) } : null;
}

/** The pane that a notice of an agent is about. */
export function paneOf(notice: Notice): string {
	const pane = notice.kind.startsWith("agent_") ? notice.details?.pane : undefined;
	return typeof pane === "string" ? pane : "";
}
