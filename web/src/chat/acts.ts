// What a user does in a chat beside writing: each asks the host for one thing (spec
// session S1.6: with an operation id and the fence that was seen).
import { signal } from "@preact/signals";
import { failOf } from "../api/client";
import type { Fail } from "../api/types";
import { client, tell } from "../state/actions";
import { remembered } from "../state/remember";
import { sessions } from "../state/store";
import { newOperation } from "./composer";
import type { Item } from "./journal";

function mutation(session: string) {
	return {
		sessionId: session,
		clientOperationId: newOperation(),
		expectedFence: sessions.peek()[session]?.fence ?? 0,
	};
}

/** Questions that are being answered here, by item, and what was said against it. */
export const answering = signal<Readonly<Record<string, "sending" | Fail>>>({});

function note(item: string, value: "sending" | Fail | null): void {
	const { [item]: _, ...rest } = answering.peek();
	answering.value = value === null ? rest : { ...rest, [item]: value };
}

/** Answers a permission question by compare-and-set on what is shown (S1.7). */
export async function respond(session: string, item: Item, option: string): Promise<void> {
	if (answering.peek()[item.id] === "sending") return;
	note(item.id, "sending");
	try {
		await client.call("agentSession.respond", {
			...mutation(session),
			item: item.id,
			revision: item.revision,
			option,
		});
		note(item.id, null);
	} catch (error) {
		note(item.id, failOf(error));
	}
}

async function ask(title: string, act: () => Promise<unknown>): Promise<void> {
	try {
		await act();
	} catch (error) {
		tell(error, title);
	}
}

export async function cancelTurn(session: string): Promise<void> {
	await ask("The turn was not cancelled", () => client.call("agentSession.cancel", mutation(session)));
}

export async function stopSession(session: string): Promise<void> {
	await ask("The agent was not stopped", () => client.call("agentSession.stop", mutation(session)));
}

export async function resumeSession(session: string): Promise<void> {
	await ask("The chat does not go on", () => client.call("agentSession.resume", mutation(session)));
}

export async function pick(session: string, option: string, value: string): Promise<void> {
	await ask("It was not changed", () =>
		client.call("agentSession.setOption", { ...mutation(session), option, value }),
	);
}

/** Messages of which it is not known whether they arrived, and that the user is done with. */
export const settled = remembered<Record<string, true>>("chat-settled", {}, localStorage);

export function settle(submission: string): void {
	const kept = Object.entries(settled.peek()).slice(-199);
	settled.value = { ...Object.fromEntries(kept), [submission]: true };
}
