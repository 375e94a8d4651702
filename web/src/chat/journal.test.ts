import { describe, expect, test } from "vitest";
import type { JournalBody, JournalRow } from "../api/types";
import { emptyJournal, fold, prepend, present } from "./journal";

let seq = 0;

function row(item: string, kind: string, body: JournalBody, at = ++seq, revision = 1): JournalRow {
	return {
		session: "practice_1",
		epoch: 1,
		seq: at,
		fence: 1,
		time: `2026-11-30T09:00:${String(at % 60).padStart(2, "0")}Z`,
		kind,
		item,
		revision,
		body,
	};
}

const said = (item: string, at: number, text: string, seq: number) =>
	row(item, "message", { role: at === 0 ? "agent" : undefined, at, text }, seq);

function textOf(rows: JournalRow[], item: string): string | undefined {
	return fold(emptyJournal, rows).items.find((i) => i.id === item)?.text;
}

// Spec session S1.4: rows carry current state, applying one twice is harmless.
describe("fold", () => {
	test("a message's text is replaced from `at` on, in UTF-16 units", () => {
		const rows = [said("m", 0, "Ahoy ⚓", 1), said("m", 6, " and 🚢", 2), said("m", 5, "there", 3)];
		expect(textOf(rows.slice(0, 2), "m")).toBe("Ahoy ⚓ and 🚢");
		expect(textOf(rows, "m")).toBe("Ahoy there");
		expect(fold(emptyJournal, rows).items[0]?.body.role).toBe("agent");
	});

	test("applying rows twice, in pieces or overlapping gives the same", () => {
		const rows = [
			said("m", 0, "one ", 1),
			row("t", "tool", { tool: { id: "c", title: "Read", kind: "read", state: "running" } }, 2),
			said("m", 4, "two ", 3),
			row("t", "tool", { tool: { id: "c", title: "Read", kind: "read", state: "done" } }, 4, 2),
			said("m", 8, "three", 5),
		];
		const once = fold(emptyJournal, rows);
		for (let cut = 0; cut <= rows.length; cut++) {
			for (let back = 0; back <= cut; back++) {
				const pieces = fold(fold(emptyJournal, rows.slice(0, cut)), rows.slice(cut - back));
				expect(pieces).toEqual(once);
			}
		}
		expect(once.items.map((item) => item.id)).toEqual(["m", "t"]);
		expect(once.items[1]?.body.tool?.state).toBe("done");
		expect(once.items[1]?.revision).toBe(2);
		expect(once.cursor).toEqual({ epoch: 1, seq: 5 });
		expect(once.start).toEqual({ epoch: 1, seq: 1 });
	});

	test("what no row touches stays the same object", () => {
		const before = fold(emptyJournal, [said("a", 0, "x", 1), said("b", 0, "y", 2)]);
		const after = fold(before, [said("b", 1, "z", 3)]);
		expect(after.items[0]).toBe(before.items[0]);
		expect(after.place).toBe(before.place);
		expect(before.items[1]?.text).toBe("y");
	});

	test("a later epoch is newer than any row of an earlier one", () => {
		const old = row("t", "turn", { turnState: { state: "running" } }, 900);
		const next = { ...row("t", "turn", { turnState: { state: "ended", reason: "lost" } }, 1), epoch: 2 };
		const journal = fold(emptyJournal, [old, next, old]);
		expect(journal.items[0]?.body.turnState?.reason).toBe("lost");
		expect(journal.cursor).toEqual({ epoch: 2, seq: 1 });
	});

	test("a text whose beginning is not loaded says from where it is known", () => {
		const journal = fold(emptyJournal, [said("m", 4, "two ", 3), said("m", 8, "three", 5)]);
		expect(journal.items[0]).toMatchObject({ from: 4, text: "two three" });
	});

	test("a hole in the middle is not papered over", () => {
		const journal = fold(emptyJournal, [said("m", 0, "one", 1), said("m", 40, "later", 9)]);
		expect(journal.items[0]).toMatchObject({ from: 40, text: "later" });
	});
});

describe("prepend", () => {
	test("older rows join what is shown as if all had been folded in order", () => {
		const rows = [
			said("u", 0, "hello", 1),
			said("m", 0, "one ", 2),
			row("t", "tool", { tool: { id: "c", title: "Read", kind: "read", state: "pending" } }, 3),
			said("m", 4, "two ", 4),
			row("t", "tool", { tool: { id: "c", title: "Read", kind: "read", state: "done" } }, 5, 2),
			said("m", 8, "three", 6),
			said("n", 0, "end", 7),
		];
		const whole = fold(emptyJournal, rows);
		for (let cut = 0; cut <= rows.length; cut++) {
			const tail = fold(emptyJournal, rows.slice(cut));
			const joined = prepend(tail, rows.slice(0, cut));
			expect(joined.items.map((i) => [i.id, i.text, i.from, i.revision, i.time])).toEqual(
				whole.items.map((i) => [i.id, i.text, i.from, i.revision, i.time]),
			);
			expect(joined.cursor).toEqual(whole.cursor);
			expect(joined.start).toEqual(whole.start);
			// Rows that overlap with what is there change nothing.
			expect(prepend(joined, rows)).toBe(joined);
		}
	});
});

test("the present: the running turn, the queue, the open questions, the plan", () => {
	const submission = (id: string, state: string, at: number) =>
		row(`s-${id}`, "submission", { submission: { id, state, text: id, item: `m-${id}` } }, at);
	const rows = [
		row("p", "plan", { plan: [{ text: "Look", state: "done" }] }, 1),
		row("t1", "turn", { turnState: { state: "ended", reason: "end_turn" } }, 2),
		row("t2", "turn", { turnState: { state: "running" } }, 3),
		row("a", "approval", { approval: { title: "Write", options: [], state: "open" } }, 4),
		submission("one", "queued", 5),
		submission("two", "queued", 6),
		submission("three", "accepted", 7),
	];
	const now = present(fold(emptyJournal, rows));
	expect(now.running?.id).toBe("t2");
	expect(now.queued.map((i) => i.id)).toEqual(["s-one", "s-two"]);
	expect(now.open.map((i) => i.id)).toEqual(["a"]);
	expect(now.plan?.id).toBe("p");
});
