// What is said of a pane that no longer runs, and of one that a program runs in. Pure.
import type { Exit, Fail, Pane } from "../api/types";
import { oneLine, sentences } from "./sentences";

export interface EndWords {
	tone: "calm" | "bad";
	title: string;
	text: string;
}

/** The signals, and a shell's exit status for them, by which programs are told to end. */
const told = ["SIGHUP", "SIGTERM", "HUP", "TERM"];

/** Whether a program ended as it or its user wished: by itself, or because it was told to. */
export function endedCalmly(exit: Exit): boolean {
	if (exit.signal) return told.includes(exit.signal);
	return exit.code === 0 || exit.code === 129 || exit.code === 143;
}

/** What the overlay of a pane says, or null while its program runs. */
export function endWords(pane: Pane): EndWords | null {
	switch (pane.status) {
		case "ended": {
			const exit = pane.exit;
			if (!exit) return { tone: "calm", title: "Ended", text: "Its exit status is not known." };
			if (endedCalmly(exit)) {
				return {
					tone: "calm",
					title: "Ended",
					text: exit.signal ? `By ${exit.signal}.` : `Exit status ${exit.code}.`,
				};
			}
			if (exit.signal)
				return { tone: "bad", title: `Ended by ${exit.signal}`, text: `Exit status ${exit.code}.` };
			return { tone: "bad", title: `Ended with exit status ${exit.code}`, text: pane.fault ?? "" };
		}
		case "lost":
			return {
				tone: "bad",
				title: "Lost",
				text: pane.fault || "The keeper went away, or the machine restarted. The output is kept.",
			};
		case "failed":
			return { tone: "bad", title: "Not started", text: pane.fault ?? "The program could not be started." };
		default:
			return null;
	}
}

/** What is said of a startup command that failed (spec tabs T4.1), or null. */
export function startupWords(pane: Pane): EndWords | null {
	const fault = pane.startup;
	if (!fault || pane.status !== "running") return null;
	const skipped = fault.skipped ?? [];
	const rest =
		skipped.length > 1
			? `${skipped.length} commands after it were not run: ${skipped.map(oneLine).join(" · ")}`
			: "";
	return {
		tone: "bad",
		title: `${oneLine(fault.command)} failed.`,
		text: sentences(
			fault.exit >= 0 ? `Exit status ${fault.exit}` : "The shell does not tell its exit status",
			skipped.length === 1 ? `Not run: ${oneLine(skipped[0] ?? "")}` : rest,
		),
	};
}

export function paneName(pane: Pane): string {
	return pane.title || pane.command || pane.argv?.join(" ") || pane.shell?.split("/").pop() || pane.kind;
}

/** The secrets that a refusal to start again asks for (spec tabs T2.1). */
export function missingSecrets(fail: Fail): string[] {
	const list = fail.details?.missing;
	return Array.isArray(list) ? list.map(String) : [];
}

/** The name of a pane among those of its tab: of two equal ones the second gets a number. */
export function paneLabel(pane: Pane, all: readonly Pane[]): string {
	const taken = new Set<string>();
	for (const one of all) {
		const name = paneName(one);
		let label = name;
		for (let n = 2; taken.has(label); n++) label = `${name} ${n}`;
		if (one.id === pane.id) return label;
		taken.add(label);
	}
	return paneName(pane);
}
