// The overview of the agents: as `davit ps` lists them, those that wait first (spec session S3).
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { askLaunch, closeDialog } from "../state/actions";
import { agents, goToPane } from "../state/agents";
import { type AgentLine, agoWords } from "../words/agentlines";
import { shortPath } from "../words/tabs";
import { Modal } from "./dialog";
import { StateMark } from "./icon";

export function AgentsDialog() {
	const at = useSignal(Date.now());
	useEffect(() => {
		const timer = setInterval(() => {
			at.value = Date.now();
		}, 1000);
		return () => clearInterval(timer);
	}, []);
	return (
		<Modal title="Agents" class="agents">
			<AgentList
				lines={agents.value}
				at={at.value}
				onGo={(line) => {
					closeDialog();
					goToPane(line.tab, line.pane);
				}}
			/>
			{agents.value.length === 0 && (
				<div class="agents-none">
					<p class="help">No agent runs in a tab.</p>
					<button type="button" class="button" onClick={() => askLaunch()}>
						Launch an agent
					</button>
				</div>
			)}
		</Modal>
	);
}

export interface AgentListProps {
	lines: readonly AgentLine[];
	at: number;
	onGo: (line: AgentLine) => void;
}

export function AgentList({ lines, at, onGo }: AgentListProps) {
	return (
		<ul class="agent-list">
			{lines.map((line, index) => (
				<li key={line.pane}>
					<button
						type="button"
						class="agent-line"
						data-unread={line.unread || undefined}
						autofocus={index === 0}
						onClick={() => onGo(line)}
						onKeyDown={step}
					>
						<StateMark state={line.state} />
						<span class="agent-name">
							<b class="cut">{line.name}</b>
							{line.practice && <span class="label">practice</span>}
							{line.chat && <span class="label">chat</span>}
						</span>
						<span class="agent-status">
							{line.words}
							<small> {agoWords(line.since, at)}</small>
							{line.unread && <span class="hidden-text">, unread</span>}
						</span>
						<span class="agent-where cut">
							{[line.title !== line.name && line.title, shortPath(line.directory, 36), line.branch]
								.filter(Boolean)
								.join(" · ")}
						</span>
						{line.about && <span class="agent-about cut">{line.about}</span>}
					</button>
				</li>
			))}
		</ul>
	);
}

/** The arrows go to the neighbours. */
function step(event: KeyboardEvent): void {
	const down = event.key === "ArrowDown";
	if ((!down && event.key !== "ArrowUp") || !(event.currentTarget instanceof HTMLElement)) return;
	const item = event.currentTarget.closest("li");
	const next = down ? item?.nextElementSibling : item?.previousElementSibling;
	next?.querySelector("button")?.focus();
	event.preventDefault();
}
