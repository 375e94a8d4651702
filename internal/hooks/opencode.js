// davit: tells what OpenCode does to the davit pane that it runs in.
// `davit agent hooks remove opencode` deletes this file; changes in it are lost.
import { spawn } from "node:child_process";

const davit = "{self}";

export const DavitStatus = async () => {
	if (!process.env.DAVIT_PANE) return {};
	const parents = new Map(); // session id -> id of the session that started it
	let last = "";

	const report = (event, session, more) => {
		const child = parents.get(session);
		const said = JSON.stringify({ session_id: session, ...(child ? { agent_id: session } : {}), ...more });
		const same = event + said;
		if (same === last && event.startsWith("session.")) return;
		last = same;
		try {
			const hook = spawn(davit, ["agent", "report", "--agent", "opencode", "--event", event], { stdio: ["pipe", "ignore", "ignore"] });
			hook.on("error", () => {});
			hook.stdin.on("error", () => {});
			hook.stdin.end(said);
			hook.unref();
		} catch {}
	};

	return {
		event: async ({ event }) => {
			const about = event.properties ?? {};
			const session = about.sessionID ?? about.info?.id ?? "";
			switch (event.type) {
				case "session.created":
				case "session.updated":
					if (about.info?.parentID) parents.set(session, about.info.parentID);
					else if (event.type === "session.created") report(event.type, session, {});
					break;
				case "session.status":
					// The end is told by session.idle.
					if (about.status?.type === "busy" || about.status?.type === "retry") report(`session.${about.status.type}`, session, {});
					break;
				case "session.idle":
					report(event.type, session, {});
					break;
				case "session.error":
					report(event.type, session, { message: String(about.error?.data?.message ?? about.error?.name ?? "") });
					break;
				case "permission.asked":
				case "permission.updated":
					report(event.type, session, {
						tool_name: String(about.permission ?? about.type ?? ""),
						tool_input: { command: String(about.title ?? about.patterns?.join?.(" ") ?? "") },
						tool_use_id: String(about.id ?? ""),
					});
					break;
				case "question.asked":
					report(event.type, session, { message: String(about.questions?.[0]?.question ?? ""), tool_use_id: String(about.id ?? "") });
					break;
				case "permission.replied":
				case "question.replied":
				case "question.rejected":
					report(event.type, session, { tool_use_id: String(about.requestID ?? about.permissionID ?? "") });
					break;
			}
		},
	};
};
