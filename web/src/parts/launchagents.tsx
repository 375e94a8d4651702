// The agents of the launch form: those that can be launched, and the others behind a fold with
// what would install them.
import { Copy } from "lucide";
import type { Agent } from "../api/types";
import { copy } from "../state/actions";
import { aboutAgent, absent, absentWords, installCommand, usable } from "../words/agents";
import { IconButton } from "./bits";

interface AgentChoiceProps {
	agents: readonly Agent[];
	value: string;
	fault?: string;
	onPick: (agent: Agent) => void;
}

export function AgentChoice({ agents, value, fault, onPick }: AgentChoiceProps) {
	const there = usable(agents);
	return (
		<fieldset>
			<legend>Agent</legend>
			<div class="agents">
				{there.map((agent) => (
					<label key={agent.id} data-tip={aboutAgent(agent) || undefined}>
						<input
							type="radio"
							name="agent"
							value={agent.id}
							checked={value === agent.id}
							onChange={() => onPick(agent)}
						/>
						<span class="cut">{agent.name}</span>
						{agent.practice && <span class="label">practice</span>}
						{agent.doubt && <span class="label">unsure</span>}
					</label>
				))}
			</div>
			{there.length > 0 && there.every((agent) => agent.practice) && (
				<span class="help">No other agent was found on the PATH of your login shell.</span>
			)}
			{fault && <span class="field-fault">{fault}</span>}
			<Absent agents={agents} />
		</fieldset>
	);
}

function Absent({ agents }: { agents: readonly Agent[] }) {
	const others = absent(agents);
	if (others.length === 0) return null;
	return (
		<details class="fold">
			<summary>Not installed ({others.length})</summary>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
			<ul class="absent" tabIndex={0} aria-label="Agents that are not installed">
				{others.map((agent) => {
					const command = installCommand(agent);
					return (
						<li key={agent.id}>
							<span>{agent.name}</span>
							{command ? <code>{command}</code> : <small>{absentWords(agent)}</small>}
							{command && (
								<IconButton
									icon={Copy}
									class="small"
									label={`Copy the command that installs ${agent.name}`}
									onClick={() => void copy(command, "Command copied")}
								/>
							)}
						</li>
					);
				})}
			</ul>
		</details>
	);
}
