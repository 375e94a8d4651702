import { expect, test } from "vitest";
import { askingChat, sampleChat, troubledChat, Writer } from "../dev/chats";
import { shown } from "./entries";
import { emptyJournal, fold } from "./journal";

const of = (writer: Writer) => shown(fold(emptyJournal, writer.rows));
const kinds = (writer: Writer) => of(writer).entries.map((item) => item.kind);

test("what is drawn of a chat, in order", () => {
	expect(kinds(sampleChat("s"))).toEqual([
		"message",
		"thought",
		"plan",
		"tool",
		"tool",
		"tool",
		"approval",
		"tool",
		"message",
	]);
	expect(of(sampleChat("s")).diffs.get("c3")).toHaveLength(1);
});

test("an open question and a queued message lie elsewhere", () => {
	expect(kinds(askingChat("s"))).toEqual(["message", "thought", "message", "tool"]);
});

test("a queued message is drawn when it is taken", () => {
	const w = new Writer("s").user("later", "queued");
	expect(kinds(w)).toEqual([]);
	const item = w.rows[0]?.item ?? "";
	w.add("submission", `s-${item}`, { submission: { id: "op", state: "accepted", text: "later", item } });
	expect(kinds(w)).toEqual(["message"]);
});

// Spec session S1.8: messages wait while a turn runs.
test("a message that waited stands where its own turn began", () => {
	const w = new Writer("s").user("first").begin().say("one ");
	w.user("second", "queued");
	const item = w.rows.at(-2)?.item ?? "";
	w.say("two").end();
	w.add("submission", `s-${item}`, { submission: { id: "op", state: "pending", text: "second", item } });
	w.begin();
	w.add("submission", `s-${item}`, { submission: { id: "op", state: "accepted", text: "second", item } });
	w.say("three");
	expect(of(w).entries.map((entry) => entry.text)).toEqual(["first", "one ", "two", "second", "three"]);
});

// Spec session S1.10: a turn's end is told, with its reason, where it ended.
test("a turn's end stands where it ended", () => {
	expect(kinds(troubledChat("s"))).toEqual([
		"message",
		"message",
		"turn",
		"message",
		"turn",
		"message",
		"tool",
		"turn",
		"lifecycle",
		"lifecycle",
		"lifecycle",
		"message",
		"message",
	]);
});

// Spec session S1.5: what is not known of a message is said of it.
test("how far a message has come goes by its item", () => {
	const { sent, entries } = of(new Writer("s").user("hello", "unknown"));
	expect(sent.get(entries[0]?.id ?? "")?.state).toBe("unknown");
});
