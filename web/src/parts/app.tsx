// The page: tabs at the left, the shown tab beside them, and what lies over both.
import { useSignal } from "@preact/signals";
import {
	Bot,
	CircleAlert,
	FileCog,
	type IconNode,
	Keyboard,
	Menu as MenuIcon,
	PanelLeft,
	SquareTerminal,
	Undo2,
	WifiOff,
} from "lucide";
import { useEffect } from "preact/hooks";
import { chordOf, commands, focusOn } from "../keys/keys";
import { closeTabs, undoClose } from "../state/actions";
import {
	activeTab,
	chips,
	closed,
	collapsed,
	drawer,
	link,
	login,
	model,
	panes,
	sessions,
	tabs,
} from "../state/store";
import { connection } from "../state/stream";
import { closedWords } from "../words/closing";
import { tabRow } from "../words/tabs";
import { secondsUntil } from "../words/when";
import { IconButton, Keys } from "./bits";
import { Dialogs } from "./dialogs";
import { Gate } from "./gate";
import { Icon, StateMark } from "./icon";
import { NewTab } from "./newtab";
import { Notices } from "./notices";
import { KeyRow } from "./pane";
import { Rail } from "./rail";
import { Splits } from "./splits";
import { Tooltips } from "./tooltip";

export function App() {
	if (login.value === "out") {
		return (
			<>
				<Gate />
				<Notices />
				<Tooltips />
			</>
		);
	}
	return (
		<>
			<Layout />
			<Notices />
			<Dialogs />
			<Tooltips />
		</>
	);
}

function Layout() {
	const classes = ["app", collapsed.value && "collapsed", drawer.value && "drawer"].filter(Boolean).join(" ");
	return (
		<div class={classes}>
			<TopBar />
			<Rail />
			{drawer.value && (
				<button
					type="button"
					class="rail-shade"
					aria-label="Hide the tab list"
					onClick={() => {
						drawer.value = false;
					}}
				/>
			)}
			<main class="stage">
				<h1 class="hidden-text">{title()}</h1>
				<Stage />
			</main>
		</div>
	);
}

function title(): string {
	const tab = activeTab.value;
	return tab ? tabRow(tab, panes.value, chips.value, sessions.value).title : "davit";
}

/** On a narrow page: the way to the tab list, and the title of the tab. */
function TopBar() {
	const tab = activeTab.value;
	const row = tab && tabRow(tab, panes.value, chips.value, sessions.value);
	return (
		<header class="topbar">
			<IconButton
				icon={MenuIcon}
				label={`Tabs (${tabs.value.length})`}
				onClick={() => {
					drawer.value = true;
				}}
			/>
			<span class="topbar-title">
				{row && <StateMark state={row.state} />}
				<span class="cut">{row?.title ?? "davit"}</span>
				{row?.practice && <span class="label">practice</span>}
			</span>
			<NewTab />
		</header>
	);
}

function Stage() {
	const tab = activeTab.value;
	return (
		<>
			{collapsed.value && (
				<IconButton
					icon={PanelLeft}
					label="Show the tab list"
					command="rail"
					class="rail-reveal"
					onClick={() => {
						collapsed.value = false;
					}}
				/>
			)}
			<LinkPill />
			{tab ? (
				<div class="tab">
					{tab.tree ? <Splits key={tab.id} tab={tab} /> : <Opening id={tab.id} fault={tab.fault} />}
					<KeyRow />
				</div>
			) : model.value ? (
				<Empty />
			) : null}
		</>
	);
}

/** A tab without panes: it opens, or could not (spec tabs T4.3). */
export function Opening({ id, fault }: { id: string; fault?: string }) {
	if (!fault) {
		return (
			<div class="empty" role="status">
				<p class="help">Opening…</p>
			</div>
		);
	}
	return (
		<div class="empty">
			<div class="fail" role="alert">
				<Icon of={CircleAlert} />
				<div class="words">{fault}</div>
			</div>
			<button type="button" class="button" onClick={() => void closeTabs([id])}>
				Close tab
			</button>
		</div>
	);
}

const steps: { command: string; icon: IconNode; words: string }[] = [
	{ command: "terminal", icon: SquareTerminal, words: "Open a terminal" },
	{ command: "launch", icon: Bot, words: "Launch an agent, into its own worktree if you like" },
	{ command: "configs", icon: FileCog, words: "Open a tab from a config file" },
	{ command: "keys", icon: Keyboard, words: "See every key" },
];

/** No tabs: the next steps, with their keys. */
export function Empty() {
	return (
		<div class="empty">
			<div class="empty-head">
				<h2>Nothing is open</h2>
				<p>What runs in a tab goes on when this page is closed.</p>
			</div>
			<ul class="steps">
				{closed.value[0] && (
					<li key="undo">
						<button type="button" class="step" onClick={() => void undoClose()}>
							<Icon of={Undo2} />
							<span class="cut">
								Undo close <small>{closedWords(closed.value)}</small>
							</span>
							<Keys chord={chordOf("undo")} />
						</button>
					</li>
				)}
				{steps.map((step) => (
					<li key={step.command}>
						<button
							type="button"
							class="step"
							onClick={() => commands.find((command) => command.id === step.command)?.run()}
						>
							<Icon of={step.icon} />
							<span>{step.words}</span>
							<Keys chord={chordOf(step.command)} />
						</button>
					</li>
				))}
			</ul>
		</div>
	);
}

/** How the page is connected, said only when it is not. Short breaks are not told. */
function LinkPill() {
	const at = useSignal(Date.now());
	const late = useSignal(false);
	const { status, retryAt } = link.value;
	const broken = status !== "open";
	useEffect(() => {
		late.value = false;
		if (!broken) return;
		const show = setTimeout(() => {
			late.value = true;
		}, 700);
		const tick = setInterval(() => {
			at.value = Date.now();
		}, 500);
		return () => {
			clearTimeout(show);
			clearInterval(tick);
		};
	}, [broken]);
	if (!broken || !late.value) return null;
	const wait = secondsUntil(retryAt, at.value);
	return (
		<div class="link-pill" role="status">
			<Icon of={WifiOff} size={14} />
			<span>{model.value ? "No connection to davit. What runs goes on." : "davit does not answer yet."}</span>
			<button
				type="button"
				class="button"
				onClick={() => {
					connection.connect();
					focusOn("pane"); // this button goes away
				}}
			>
				Try now{wait > 1 && <span aria-hidden="true"> · {wait} s</span>}
			</button>
		</div>
	);
}
