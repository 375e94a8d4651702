// The gallery: components in their states, from fixtures (spec interfaces A4). In
// development builds only. `?show=NAME` opens one dialog, `?theme=` picks the theme.
import { useSignal } from "@preact/signals";
import { FolderOpen, Plus, SquareTerminal, X } from "lucide";
import type { ComponentChildren } from "preact";
import { Empty, Opening } from "../parts/app";
import { Diff, FailBox, IconButton, Keys } from "../parts/bits";
import { ConfigsView, KeysDialog } from "../parts/dialogs";
import { Gate } from "../parts/gate";
import { Icon, StateMark } from "../parts/icon";
import { LaunchView, ReceiptDialog, TextField } from "../parts/launch";
import { NewTabView } from "../parts/newtab";
import { NoticeCard, ToldCard } from "../parts/notices";
import { PaneOver } from "../parts/pane";
import { ChipView } from "../parts/promptbar";
import { RowCard } from "../parts/rowcard";
import { Row, Stripe } from "../parts/tabrow";
import { Tooltips } from "../parts/tooltip";
import { ViewPanel } from "../parts/viewpopup";
import { type Theme, theme } from "../state/store";
import { emptyLaunch, type LaunchForm } from "../words/intent";
import { rowsOf, stateWords, type TabState } from "../words/tabs";
import {
	agents,
	chipsOf,
	closedNotice,
	configFault,
	configNotice,
	configs,
	failedCleanup,
	heldNotice,
	pane,
	pullChip,
	pullOf,
	receipt,
	sampleState,
	undelivered,
} from "./fixtures";
import { ChangesShown, changesDialogs } from "./gallerychanges";
import { kindChips, LayoutShown, layoutDialogs } from "./gallerychips";
import { GroupedRail, TabsShown, tabDialogs } from "./gallerytabs";
import "./gallery.css";

const nothing = () => undefined;
const nowhere = { pane: "", beside: [] };

function Part({ title, children }: { title: string; children: ComponentChildren }) {
	return (
		<section class="gallery-part">
			<h3>{title}</h3>
			<div>{children}</div>
		</section>
	);
}

export function Gallery() {
	const asked = new URLSearchParams(location.search);
	const wanted = asked.get("theme");
	if (wanted && theme.value !== wanted) theme.value = wanted as Theme;
	const until = new Date(Date.now() + 42_000).toISOString();
	const state = sampleState(until);
	const chips = Object.fromEntries(Object.entries(state.chips).map(([id, list]) => [id, list ?? []]));
	return (
		<main class="gallery">
			<h2>Gallery</h2>
			<Part title="Tab rows">
				{(["expanded", "compact"] as const).map((density) => (
					<ul class="gallery-rail" key={density}>
						{rowsOf(state.tabs ?? [], state.panes, chips, state.sessions, state.tabView).map((group, at) => (
							<li key={group.tab} class="row-group" data-several={group.rows.length > 0 || undefined}>
								<Stripe color={group.head.color} />
								<Row
									row={group.head}
									view={{ ...state.tabView, density }}
									layout={state.layout}
									active={at === 1}
									heading={group.rows.length > 0}
								/>
								<ul>
									{group.rows.map((row) => (
										<li key={row.pane}>
											<Row
												row={row}
												view={{ ...state.tabView, density }}
												layout={state.layout}
												active={false}
											/>
										</li>
									))}
								</ul>
							</li>
						))}
					</ul>
				))}
			</Part>
			<Part title="Groups and pins">
				<GroupedRail />
			</Part>
			<Part title="Cards of rows">
				{rowsOf(state.tabs ?? [], state.panes, chips, state.sessions, {
					...state.tabView,
					granularity: "tabs",
				}).map((group) => (
					<div class="gallery-card" key={group.tab}>
						{(state.tabs ?? [])
							.filter((tab) => tab.id === group.tab)
							.map((tab) => (
								<RowCard key={tab.id} row={group.head} tab={tab} layout={state.layout} box={null} />
							))}
					</div>
				))}
			</Part>
			<Part title="View of the tabs">
				{(["unvalidated", "suppressed"] as const).map((validation) => (
					<div class="gallery-view view-popup" key={validation}>
						<ViewPanel view={state.tabView} layout={{ ...state.layout, validation }} onChange={nothing} />
					</div>
				))}
			</Part>
			<Part title="States">
				{(Object.keys(stateWords) as TabState[]).map((word) => (
					<span key={word} class="gallery-state">
						<StateMark state={word} /> {stateWords[word]}
					</span>
				))}
			</Part>
			<Part title="Buttons">
				<button type="button" class="button main">
					Launch
				</button>
				<button type="button" class="button">
					<Icon of={SquareTerminal} size={14} /> Open terminal there
				</button>
				<button type="button" class="button plain">
					Cancel
				</button>
				<button type="button" class="button danger">
					Close
				</button>
				<button type="button" class="button main" disabled>
					Launching…
				</button>
				<IconButton icon={Plus} label="New tab" onClick={nothing} />
				<IconButton icon={X} label="Close" class="small" onClick={nothing} />
				<Keys chord="alt+shift+t" />
				<Diff added={42} removed={7} />
				<span class="label">practice</span>
			</Part>
			<Part title="Chips">
				<div class="bar">
					{[...chipsOf("main", [3, 42, 7]), ...chipsOf("ada/a-long-one", [1, 1, 0], "~/x", true)].map(
						(chip, at) => (
							<ChipView key={String(at)} chip={chip} place={nowhere} />
						),
					)}
					{kindChips.map((chip) => (
						<ChipView key={chip.kind} chip={chip} place={nowhere} />
					))}
				</div>
				<div class="bar">
					{["open", "draft", "merged", "closed"].map((word, at) => (
						<ChipView key={word} chip={pullChip(pullOf(410 + at, word))} place={nowhere} />
					))}
				</div>
			</Part>
			<Part title="Over a terminal">
				{[
					pane("1", "t", { status: "ended", exit: { code: 0, at: until } }),
					pane("2", "t", { status: "ended", exit: { code: 2, at: until } }),
					pane("3", "t", { status: "ended", exit: { code: 143, signal: "SIGTERM", at: until } }),
					pane("4", "t", { status: "lost" }),
					pane("5", "t", { status: "failed", fault: "There is no program nvim on the PATH." }),
				].map((value) => (
					<div class="gallery-over" key={value.id}>
						<PaneOver pane={value} foreign={null} onTakeSize={nothing} />
					</div>
				))}
				<div class="gallery-over">
					<PaneOver pane={pane("6", "t")} foreign={{ cols: 120, rows: 40 }} onTakeSize={nothing} />
				</div>
				<div class="gallery-over">
					<PaneOver
						pane={pane("7", "t")}
						refused={{
							code: "pane_busy",
							message: "The program does not read.",
							hint: "Send it again later.",
						}}
						foreign={null}
						onTakeSize={nothing}
					/>
				</div>
			</Part>
			<Part title="Notices">
				<div class="gallery-notices">
					<NoticeCard notice={failedCleanup} at={Date.now()} />
					<NoticeCard notice={configNotice} at={Date.now()} />
					<NoticeCard notice={heldNotice} at={Date.now()} />
					<NoticeCard notice={closedNotice(until)} at={Date.now()} />
					<ToldCard
						told={{ id: 1, level: "error", title: "The tab was not renamed", body: "There is no such tab." }}
					/>
					<ToldCard told={{ id: 2, level: "info", title: "Branch copied" }} />
				</div>
			</Part>
			<Part title="Fields and errors">
				<div class="gallery-form">
					<TextField label="Name" name="a" value="" placeholder="made up when empty" onInput={nothing} />
					<TextField label="Folder" name="b" value="" fault="Name a folder." onInput={nothing} />
					<TextField label="Branch" name="c" value="main" help="What to review" onInput={nothing} />
					<FailBox
						fail={{
							code: "x",
							message: "The branch exists already.",
							hint: "Use brisk-heron-2, which is free.",
						}}
					/>
				</div>
			</Part>
			<Part title="New-tab menu">
				<div class="menu gallery-menu">
					<div class="menu-list" role="menu" aria-label="New tab">
						<NewTabView
							agents={agents}
							configs={configs}
							fault={null}
							typed=""
							pick={() => nothing}
							onConfig={nothing}
							onWorktrees={nothing}
							onAgents={nothing}
						/>
					</div>
				</div>
			</Part>
			<Part title="Nothing open">
				<div class="gallery-stage">
					<Empty />
				</div>
			</Part>
			<Part title="A tab that did not open">
				<div class="gallery-stage">
					<Opening id="t" fault="The directory /home/ada/gone does not exist." />
				</div>
			</Part>
			<Part title="Without a login">
				<div class="gallery-stage">
					<Gate />
				</div>
			</Part>
			<Part title="Dialogs">
				{dialogs.map((name) => (
					<a key={name} class="button" href={`?show=${name}`}>
						<Icon of={FolderOpen} size={14} /> {name}
					</a>
				))}
			</Part>
			<Part title="Chats">
				{["all", "lamp", "notes", "trouble", "signin", "fresh", "long"].map((name) => (
					<a key={name} class="button" href={`?chat=${name}`}>
						<Icon of={FolderOpen} size={14} /> {name}
					</a>
				))}
			</Part>
			<Shown name={asked.get("show")} />
			<Tooltips />
		</main>
	);
}

const dialogs = [
	"launch",
	"launch-failed",
	"receipt",
	"undelivered",
	"configs",
	"keys",
	...tabDialogs,
	...layoutDialogs,
	...changesDialogs,
];

function Shown({ name }: { name: string | null }) {
	const form = useSignal<LaunchForm>({
		...emptyLaunch,
		agent: "practice",
		where: "worktree",
		workspace: "/home/ada/code/harbor",
	});
	const launch = {
		form: form.value,
		agents,
		workspaces: [],
		busy: false,
		preferred: "structured",
		onChange: (next: LaunchForm) => {
			form.value = next;
		},
		onSend: nothing,
	};
	switch (name) {
		case "launch":
			return <LaunchView {...launch} fail={null} />;
		case "launch-failed":
			return (
				<LaunchView
					{...launch}
					fail={{ code: "x", message: "The branch exists already.", hint: "Use brisk-heron-2." }}
				/>
			);
		case "receipt":
			return <ReceiptDialog result={receipt} agent="Practice agent" prompt="" />;
		case "undelivered":
			return <ReceiptDialog result={undelivered} agent="Claude Code" prompt="Teach the harbour to signal" />;
		case "configs":
			return <ConfigsView configs={configs.configs ?? []} faults={[configFault]} dirs={configs.dirs ?? []} />;
		case "keys":
			return <KeysDialog />;
		default:
			if (name && layoutDialogs.includes(name)) return <LayoutShown name={name} />;
			if (name && changesDialogs.includes(name)) return <ChangesShown name={name} />;
			return name ? <TabsShown name={name} /> : null;
	}
}
