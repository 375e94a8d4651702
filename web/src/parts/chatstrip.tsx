// What keeps a chat from going on, said above it with what mends it; else nothing.
import { CircleX, Info, RotateCw, SquareTerminal, TriangleAlert } from "lucide";
import type { Fail, Session } from "../api/types";
import { resumeSession } from "../chat/acts";
import { strip } from "../chat/words";
import { openTerminal } from "../state/actions";
import { sentences } from "../words/sentences";
import { CopyButton } from "./chatmarkdown";
import { Icon } from "./icon";

export function StripView({ session, fault }: { session: Session; fault: Fail | null }) {
	const words = fault
		? {
				tone: "bad" as const,
				title: "The chat cannot be shown.",
				text: sentences(fault.message, fault.hint),
				command: "",
				resume: "",
			}
		: strip(session);
	if (!words) return null;
	const icon = words.tone === "bad" ? CircleX : words.tone === "careful" ? TriangleAlert : Info;
	return (
		<div class="chat-strip" data-tone={words.tone} role="status">
			<Icon of={icon} />
			<div class="words">
				<b>{words.title}</b> {words.text}
				{words.command && (
					<span class="strip-command">
						Run <code>{words.command}</code>
						<CopyButton text={words.command} what="command" />
					</span>
				)}
			</div>
			{words.command && (
				<button type="button" class="button" onClick={() => void openTerminal(session.directory)}>
					<Icon of={SquareTerminal} size={14} /> Open terminal
				</button>
			)}
			{words.resume && (
				<button type="button" class="button main" onClick={() => void resumeSession(session.id)}>
					<Icon of={RotateCw} size={14} /> {words.resume}
				</button>
			)}
		</div>
	);
}
