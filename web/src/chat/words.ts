// What a chat says of states, ends, permissions and faults. Pure.
import type { AgentOption, Approval, Fail, JournalBody, Session, TurnState } from "../api/types";
import { endedCalmly } from "../words/panes";
import { sentences } from "../words/sentences";

export type Tone = "calm" | "good" | "careful" | "bad";

const toolWords: Record<string, string> = {
	pending: "waiting",
	running: "running",
	done: "done",
	failed: "failed",
	cancelled: "cancelled",
};

export function toolWord(state: string): string {
	return toolWords[state] ?? state;
}

export interface EndOfTurn {
	tone: Tone;
	title: string;
	text: string;
	stderr: string;
}

/** What is said where a turn ended otherwise than by its own end. */
export function endOfTurn(turn: TurnState): EndOfTurn {
	const said = turn.message ?? "";
	const stderr = turn.stderr ?? "";
	const end = (tone: Tone, title: string, text = ""): EndOfTurn => ({
		tone,
		title,
		text: said || text,
		stderr,
	});
	switch (turn.reason) {
		case "cancelled":
			return end("calm", "Cancelled");
		case "refusal":
			return end("careful", "The agent refused", "Say it in another way, or start a new chat.");
		case "max_tokens":
			return end("careful", "The answer was cut", "The model's limit was reached. “Go on” often helps.");
		case "max_turn_requests":
			return end("careful", "Stopped", "The agent reached its own limit of steps. “Go on” often helps.");
		case "exited":
			return end("bad", "The agent ended in mid-turn", "Resume the chat to go on.");
		case "lost":
			return end("bad", "The turn was lost", "Its process is gone. Resume the chat to go on.");
		case "stopped":
			return end("calm", "Stopped");
		case "error":
			return end("bad", "The turn failed", "Send it again, or look at what the agent printed.");
		default:
			return end("careful", "The turn ended", `The agent says: ${turn.reason ?? "nothing"}.`);
	}
}

/** One quiet line about the session or its process, or "" when there is nothing to say. */
export function lifecycleWords(body: JournalBody): string {
	const lifecycle = body.lifecycle;
	if (!lifecycle) return body.text ?? "";
	const more = body.text ? ` ${body.text}` : "";
	switch (lifecycle.event) {
		case "started":
			return `The agent was started.${more}`;
		case "loaded":
		case "resumed":
			return `The chat goes on here.${more}`;
		case "stopped":
			return `The agent was stopped.${more}`;
		case "exited": {
			const exit = lifecycle.exit;
			if (!exit) return `The agent ended.${more}`;
			return exit.signal
				? `The agent was ended by ${exit.signal}.${more}`
				: `The agent ended with exit status ${exit.code}.${more}`;
		}
		case "lost":
			return `The agent's process was lost.${more}`;
		case "skipped":
			return `A line of ${bytes(lifecycle.bytes ?? 0)} was too long and was skipped.${more}`;
		case "garbage":
			return `The agent printed something that is not its protocol.${more}`;
		case "flooded":
			return `The agent printed more than can be kept.${more}`;
		default:
			return more.trim() || lifecycle.event;
	}
}

/** How a line about the process is told: what was not meant to happen stands out. */
export function lifecycleTone(body: JournalBody): Tone {
	const { event = "", exit } = body.lifecycle ?? {};
	if (event === "exited") return exit && !endedCalmly(exit) ? "bad" : "calm";
	return ["lost", "garbage", "flooded", "skipped"].includes(event) ? "careful" : "calm";
}

export function bytes(n: number): string {
	if (n < 1000) return `${n} B`;
	if (n < 1e6) return `${(n / 1e3).toFixed(n < 1e4 ? 1 : 0)} kB`;
	return `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)} MB`;
}

export interface Answer {
	id: string;
	name: string;
	/** The keys that give it, the digit first. */
	keys: string[];
	grants: boolean;
}

/** The options of a permission question with the keys that answer it. */
export function answers(approval: Approval): Answer[] {
	const letters: Record<string, string> = { allow_once: "y", allow_always: "a", reject_once: "n" };
	const used = new Set<string>();
	return (approval.options ?? []).map((option, at) => {
		const keys = at < 9 ? [String(at + 1)] : [];
		const letter = letters[option.kind];
		if (letter && !used.has(letter)) {
			used.add(letter);
			keys.push(letter);
		}
		return { id: option.id, name: option.name, keys, grants: option.kind.startsWith("allow") };
	});
}

/** What became of a permission question, in a few words. */
export function outcomeOf(approval: Approval): { tone: Tone; text: string } {
	const chosen = (approval.options ?? []).find((option) => option.id === approval.choice);
	switch (approval.state) {
		case "open":
			return { tone: "careful", text: "Waits for an answer" };
		case "answered": {
			const grants = chosen?.kind.startsWith("allow") ?? false;
			return { tone: grants ? "good" : "calm", text: chosen?.name ?? approval.choice ?? "Answered" };
		}
		case "cancelled":
			return { tone: "calm", text: "Cancelled unanswered" };
		case "denied":
			return { tone: "careful", text: approval.reason ? `Denied: ${approval.reason}` : "Denied" };
		default:
			return { tone: "calm", text: approval.state };
	}
}

/** A command in words that name one: what stands between backticks, else the whole when it is one. */
export function commandIn(hint: string | undefined): string {
	if (!hint) return "";
	const quoted = /`([^`]+)`/.exec(hint)?.[1];
	if (quoted) return quoted;
	return /^[a-z][\w.-]*( [\w@/.=:-]+)*$/.test(hint) ? hint : "";
}

export interface Strip {
	tone: Tone;
	title: string;
	text: string;
	/** To run in a terminal first. */
	command: string;
	/** What Resume is called here, or "" when it makes no sense. */
	resume: string;
}

/** What keeps a chat from going on, with what mends it; null: nothing does. */
export function strip(session: Session): Strip | null {
	const fault: Fail | undefined = session.fault;
	const name = session.agentName || session.agent;
	if (fault) {
		const command = commandIn(fault.hint);
		const hint = fault.hint && fault.hint !== command ? fault.hint : "";
		const text = sentences(fault.message, hint);
		if (fault.code === "agent_not_signed_in") {
			return {
				tone: "careful",
				title: `${name} is not signed in`,
				text: command ? "" : text,
				command,
				resume: "Try again",
			};
		}
		if (fault.code === "agent_not_installed") {
			return { tone: "careful", title: `${name} is not installed`, text, command, resume: "Try again" };
		}
		const ended = session.status === "resumable" || session.status === "exited";
		return {
			tone: "bad",
			title: ended ? `${name} has failed.` : `${name} cannot go on.`,
			text,
			command: "",
			resume: session.status === "resumable" ? "Resume" : "Try again",
		};
	}
	switch (session.status) {
		case "starting":
			return { tone: "calm", title: `${name} starts…`, text: "", command: "", resume: "" };
		case "exited":
			return {
				tone: "calm",
				title: `${name} has ended.`,
				text: "",
				command: "",
				resume: session.resume ? "Resume" : "",
			};
		case "resumable":
			return {
				tone: "calm",
				title: `${name} is not running.`,
				text: "The chat is kept.",
				command: "",
				resume: "Resume",
			};
		case "error":
			return { tone: "bad", title: `${name} has a fault.`, text: "", command: "", resume: "Try again" };
		default:
			return null;
	}
}

/** Whether messages can be sent: they are queued while a turn runs. */
export function takesMessages(session: Session): boolean {
	return !["exited", "resumable", "error"].includes(session.status);
}

function tokens(n: number): string {
	if (n < 1000) return String(n);
	if (n < 100_000) return `${(n / 1000).toFixed(1).replace(/\.0$/, "")}k`;
	if (n < 1e6) return `${Math.round(n / 1000)}k`;
	return `${(n / 1e6).toFixed(1).replace(/\.0$/, "")}M`;
}

export interface UsageWords {
	text: string;
	tip: string;
	/** Of the context, 0 to 1; null when its size is not known. */
	part: number | null;
}

/** What the agent says of its context and cost, or null when it says nothing. */
export function usageWords(session: Session): UsageWords | null {
	const usage = session.usage;
	if (!usage) return null;
	const { used = 0, size = 0, cost = 0, currency = "" } = usage;
	const price = cost > 0 ? `${cost.toFixed(2)} ${currency || "USD"}` : "";
	if (used === 0 && price === "") return null;
	const part = size > 0 ? Math.min(1, used / size) : null;
	const share = part === null ? tokens(used) : `${Math.round(part * 100)} %`;
	const whole = size > 0 ? `${tokens(used)} of ${tokens(size)} tokens` : `${tokens(used)} tokens`;
	const context = used > 0 ? `Context: ${whole}` : "";
	return {
		text: [used > 0 ? share : "", price].filter(Boolean).join(" · "),
		tip: [context, price && `Cost so far: ${price}`].filter(Boolean).join("\n"),
		part,
	};
}

/** The options to pick from, the model first. */
export function pickers(options: readonly AgentOption[]): AgentOption[] {
	const order = ["model", "mode", "effort"];
	const place = (option: AgentOption) => {
		const at = order.indexOf(option.category);
		return at < 0 ? order.length : at;
	};
	return options.filter((option) => (option.choices ?? []).length > 0).sort((a, b) => place(a) - place(b));
}

/** The first line of a thought, for its folded head. */
export function headOf(text: string): string {
	const line = text.split("\n").find((l) => l.trim() !== "") ?? "";
	return line
		.replace(/[*_`#]+/g, "")
		.trim()
		.slice(0, 160);
}

/** Slash commands that what stands in the composer can become; null: it is no command. */
export function slashOf(text: string, caret: number): string | null {
	const found = /^\/([\w:.-]*)$/.exec(text.slice(0, caret));
	return found && !/\S/.test(text.slice(caret)) ? (found[1] ?? "") : null;
}

/** A duration as it goes on: 7 s, 2 min 05 s. */
export function elapsed(ms: number): string {
	const seconds = Math.max(0, Math.floor(ms / 1000));
	if (seconds < 60) return `${seconds} s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
	return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** A path as the session's directory sees it. */
export function within(path: string, directory: string): string {
	const root = directory.endsWith("/") ? directory : `${directory}/`;
	return path.startsWith(root) && path.length > root.length ? path.slice(root.length) : path;
}

/** A tool's input for reading: JSON spread out, with a sole text as it is. */
export function readable(json: string): string {
	try {
		const value: unknown = JSON.parse(json);
		if (typeof value === "string") return value;
		if (typeof value === "object" && value !== null && !Array.isArray(value)) {
			const entries = Object.entries(value);
			const only = entries[0];
			if (entries.length === 1 && only && typeof only[1] === "string") return `${only[0]}: ${only[1]}`;
		}
		return JSON.stringify(value, null, 2);
	} catch {
		return json; // a head, cut in the middle
	}
}
