// Which agents a list shows, and which it takes first. Pure.
import type { Agent, AgentList } from "../api/types";

/** Those that can be launched here, in the order of the catalogue. */
export function usable(agents: readonly Agent[]): Agent[] {
	return agents.filter((agent) => agent.installed && !agent.disabled);
}

/** The others, those that are known best first. */
export function absent(agents: readonly Agent[]): Agent[] {
	return agents
		.filter((agent) => !agent.installed || agent.disabled)
		.sort((a, b) => Number(b.offered ?? false) - Number(a.offered ?? false));
}

/** The one to start with: the last one while it can be launched, else the host's. */
export function firstAgent(list: AgentList, last: string): string {
	const there = usable(list.agents ?? []);
	const known = (id: string | undefined) => there.some((agent) => agent.id === id);
	if (known(last)) return last;
	return (known(list.suggest) ? list.suggest : there[0]?.id) ?? "";
}

/** Why an agent cannot be launched, and what would mend it. */
export function absentWords(agent: Agent): string {
	if (agent.disabled) return "Switched off in your agents.toml";
	return agent.installHint || agent.missing || "";
}

/** The hint as something that can be run: not a page to read. */
export function installCommand(agent: Agent): string {
	const hint = agent.disabled ? "" : (agent.installHint ?? "");
	return hint.startsWith("see ") ? "" : hint;
}

/** What one may want to know before one trusts an entry. */
export function aboutAgent(agent: Agent): string {
	const lines = [agent.version, agent.path, agent.doubt];
	if (!agent.tested && !agent.practice) lines.push("davit's tests do not drive it.");
	return lines.filter(Boolean).join("\n");
}

export const hasChat = (agent: Agent): boolean => agent.surfaces?.includes("structured") ?? false;
