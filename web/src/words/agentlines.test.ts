import { expect, test } from "vitest";
import type { Notice, Pane, Session, Tab } from "../api/types";
import { agentLines, agoWords, desktopWords, nextWaiting, paneOf, unreadCount } from "./agentlines";

const tab = (id: string, pane: string) =>
	({ id, title: id, tree: { pane }, focused: pane }) as unknown as Tab;
const since = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const terminal = (id: string, status: string, minute: number, more = {}) =>
	({
		id,
		tab: `t-${id}`,
		kind: "agent",
		status: "running",
		directory: "/w",
		agent: "scout",
		agentState: { agent: "scout", status, since: since(minute), source: "hook", ...more },
	}) as unknown as Pane;

function lines(...all: Pane[]) {
	return agentLines({
		tabs: all.map((pane) => tab(pane.tab, pane.id)),
		panes: Object.fromEntries(all.map((pane) => [pane.id, pane])),
		chips: {},
		sessions: {},
	});
}

// Spec session S3: those that wait for a person come first, the longest before.
test("who waits stands first, then who is done; a shell is no agent", () => {
	const shell = { id: "s", tab: "t-s", kind: "shell", status: "running", directory: "/w" } as unknown as Pane;
	const got = lines(
		terminal("a", "working", 1),
		terminal("b", "waiting", 9, { unread: true, tool: "Bash", input: "make" }),
		terminal("c", "done", 2, { unread: true }),
		terminal("d", "waiting", 3, { unread: true }),
		shell,
	);
	expect(got.map((line) => line.pane)).toEqual(["d", "b", "c", "a"]);
	expect(got[1]).toMatchObject({ about: "Bash make", chat: false, unread: true });
	expect(unreadCount(got)).toBe(3);
});

test("next waiting goes round through those that need somebody, and rests when none does", () => {
	const got = lines(
		terminal("a", "working", 1),
		terminal("b", "waiting", 2, { unread: true }),
		terminal("c", "done", 3, { unread: true }),
		terminal("d", "idle", 4),
	);
	expect(nextWaiting(got, null)?.pane).toBe("b");
	expect(nextWaiting(got, "b")?.pane).toBe("c");
	expect(nextWaiting(got, "c")?.pane).toBe("b");
	expect(nextWaiting(lines(terminal("a", "working", 1)), null)).toBeNull();
	expect(nextWaiting(lines(terminal("b", "waiting", 1)), "b")).toBeNull();
});

test("a chat's line is its session's", () => {
	const pane = {
		id: "p",
		tab: "t",
		kind: "chat",
		status: "running",
		directory: "/w",
		session: "s",
	} as unknown as Pane;
	const session = {
		id: "s",
		agent: "scout",
		agentName: "Scout",
		status: "waiting",
		since: since(1),
	} as unknown as Session;
	const [line] = agentLines({
		tabs: [tab("t", "p")],
		panes: { p: pane },
		chips: {},
		sessions: { s: session },
	});
	expect(line).toMatchObject({ name: "Scout", chat: true, status: "waiting", unread: true });
	// Somebody has looked since it waits: on any client.
	const seen = { ...pane, seen: since(1) } as Pane;
	const [read] = agentLines({
		tabs: [tab("t", "p")],
		panes: { p: seen },
		chips: {},
		sessions: { s: session },
	});
	expect(read?.unread).toBe(false);
});

test("the desktop hears of what was asked for, and never what an agent says", () => {
	const notice = (kind: string) =>
		({
			id: "n",
			kind,
			title: "Scout waits",
			body: "rm -rf secret",
			created: since(1),
			details: { pane: "p", since: since(2) },
		}) as unknown as Notice;
	expect(desktopWords(notice("agent_waiting"), "off")).toBeNull();
	expect(desktopWords(notice("agent_done"), "waiting")).toBeNull();
	expect(desktopWords(notice("cleanup_failed"), "all")).toBeNull();
	expect(desktopWords(notice("agent_done"), "all")).toEqual({ title: "Scout waits", since: since(2) });
	expect(paneOf(notice("agent_waiting"))).toBe("p");
	expect(paneOf(notice("cleanup_failed"))).toBe("");
});

test.each([
	[5, "5 s"],
	[65, "1 min"],
	[3_700, "1 h"],
	[200_000, "2 d"],
	[-9, "0 s"],
])("%d seconds are %s", (seconds, words) => {
	expect(agoWords(0, seconds * 1000)).toBe(words);
});
