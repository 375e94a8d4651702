// What is said of a pane that no longer runs, and of one that a program runs in. Pure.
import type { Fail, Pane } from "../api/types";

export interface EndWords {
	tone: "calm" | "bad";
	title: string;
	text: string;
}

/** What the overlay of a pane says, or null while its program runs. */
export function endWords(pane: Pane): EndWords | null {
	switch (pane.status) {
		case "ended": {
			const exit = pane.exit;
			if (!exit) return { tone: "calm", title: "Ended", text: "Its exit status is not known." };
			if (exit.signal)
				return { tone: "bad", title: `Ended by ${exit.signal}`, text: `Exit status ${exit.code}.` };
			return exit.code === 0
				? { tone: "calm", title: "Ended", text: "Exit status 0." }
				: { tone: "bad", title: `Ended with exit status ${exit.code}`, text: pane.fault ?? "" };
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

export function paneName(pane: Pane): string {
	return pane.title || pane.command || pane.argv?.join(" ") || pane.shell?.split("/").pop() || pane.kind;
}

/** The running programs that a refusal to close names (spec tabs T5.3). */
export function running(fail: Fail): string[] {
	const list = fail.details?.list;
	if (!Array.isArray(list)) return [];
	return list.map((item) => {
		if (typeof item === "string") return item;
		if (typeof item !== "object" || item === null) return String(item);
		const { program, title } = item as { program?: unknown; title?: unknown };
		const words = [program, title && `in “${title}”`].filter(Boolean).map(String);
		return words.length > 0 ? words.join(" ") : JSON.stringify(item);
	});
}
