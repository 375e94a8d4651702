// The gallery's dialogs of tab configs, worktrees and closing, from fixtures.

import { CloseDialog } from "../parts/closedialog";
import { NewConfigDialog, RemoveConfigDialog, TrustView } from "../parts/configdialogs";
import { EditorView } from "../parts/editor";
import { Menu } from "../parts/menu";
import { ConfigActions, WorktreePlaces } from "../parts/newtab";
import { NewWorktreeView } from "../parts/newworktree";
import { ParamsView } from "../parts/params";
import type { Branches, Repositories } from "../parts/places";
import { RailItems } from "../parts/railitems";
import { RestartDialog } from "../parts/restart";
import { WorktreesView } from "../parts/worktrees";
import { railItems } from "../words/groups";
import { rowsOf } from "../words/tabs";
import { emptyWorktree } from "../words/worktrees";
import { agents, configFault, groupedState, reviewConfig, strangeConfig, trees } from "./fixtures";

const nothing = () => undefined;
const pick = () => nothing;

const repositories: Repositories = {
	list: ["harbor", "compass", "almanac"].map((name) => ({
		id: name,
		name,
		path: `/home/ada/code/${name}`,
		branch: "main",
		git: true,
	})),
	fail: null,
	add: () => Promise.resolve({ code: "x", message: "There is no repository at ~/code/nowhere." }),
};

const branches: Branches = {
	list: {
		repo: "/home/ada/code/harbor",
		main: "main",
		current: "main",
		branches: [
			{ name: "main" },
			{ name: "brisk-heron", worktree: "/w/brisk-heron" },
			{ name: "ada/feature-418" },
		],
	},
	fail: null,
	again: nothing,
};

const fetching: Branches = { list: null, fail: null, again: nothing };
const broken: Branches = {
	list: null,
	fail: {
		code: "x",
		message: "git for-each-ref ended with exit status 128",
		hint: "Look at the repository.",
	},
	again: nothing,
};

export const tabDialogs = [
	"params",
	"params-fetching",
	"params-broken",
	"close",
	"close-many",
	"trust",
	"new-config",
	"remove-config",
	"restart",
	"new-worktree",
	"new-worktree-agent",
	"worktrees",
	"worktrees-remove",
	"editor",
	"editor-conflict",
	"menu-config",
	"menu-worktrees",
];

export function GroupedRail() {
	const state = groupedState(new Date(Date.now() + 42_000).toISOString());
	const chips = Object.fromEntries(Object.entries(state.chips).map(([id, list]) => [id, list ?? []]));
	const rows = rowsOf(state.tabs ?? [], state.panes, chips, state.sessions, state.tabView);
	return (
		<div class="gallery-rail">
			<RailItems items={railItems(rows, state.tabs ?? [], state.groups ?? [])} whole />
		</div>
	);
}

const ending = (tab: string, title: string, kind: string, program: string) => ({ tab, title, kind, program });

export function TabsShown({ name }: { name: string }) {
	const params = {
		config: reviewConfig,
		repositories,
		branches,
		waiting: false,
		declares: true,
		valueOf: (param: { name: string; default?: string }) =>
			param.name === "branch" ? "main" : (param.default ?? ""),
		why: "token is still blank.",
		fail: null,
		busy: false,
		onChange: nothing,
		onSend: nothing,
	};
	const worktree = {
		form: { ...emptyWorktree, repo: "/home/ada/code/harbor", base: "main" },
		agents: agents.filter((agent) => agent.installed),
		repositories,
		branches,
		why: "",
		fail: null,
		busy: false,
		onChange: nothing,
		onSend: nothing,
	};
	switch (name) {
		case "params":
			return <ParamsView {...params} />;
		case "params-fetching":
			return (
				<ParamsView
					{...params}
					branches={fetching}
					valueOf={() => ""}
					why="branch and token are still blank."
				/>
			);
		case "params-broken":
			return <ParamsView {...params} branches={broken} valueOf={() => ""} />;
		case "close":
			return (
				<CloseDialog
					what={{ tabs: ["t"] }}
					fail={{
						code: "x",
						message: "",
						details: { list: [ending("t", "harbor", "program", "go test ./...")] },
					}}
				/>
			);
		case "close-many":
			return (
				<CloseDialog
					what={{ others: "t" }}
					fail={{
						code: "x",
						message: "",
						details: {
							tabs: ["t1", "t2", "t3", "t4"],
							list: [
								ending("t1", "harbor", "program", "go test ./..."),
								ending("t1", "harbor", "program", "npm run dev -- --host 127.0.0.1 --port 5173"),
								ending("t2", "Tune the fog horn", "turn", "a turn of Practice agent"),
								ending("t2", "Tune the fog horn", "draft", "an unsent message"),
							],
						},
					}}
				/>
			);
		case "trust":
			return (
				<TrustView
					config={strangeConfig}
					text={'name = "Serve"\n\n[[panes]]\nid = "main"\ntype = "terminal"\ncommands = ["make serve"]\n'}
					fail={null}
					busy={false}
					onAllow={nothing}
				/>
			);
		case "new-config":
			return <NewConfigDialog />;
		case "remove-config":
			return <RemoveConfigDialog config={reviewConfig} />;
		case "restart":
			return <RestartDialog pane="p" secrets={["token", "registry_password"]} />;
		case "new-worktree":
			return <NewWorktreeView {...worktree} />;
		case "new-worktree-agent":
			return (
				<NewWorktreeView
					{...worktree}
					form={{ ...worktree.form, named: true, name: "fog signal", agent: "claude", deleteBranch: true }}
					why="A branch's name has no blanks."
				/>
			);
		case "worktrees":
		case "worktrees-remove":
			return (
				<WorktreesView
					repos={[
						{ repo: "/home/ada/code/harbor", name: "harbor", trees, sized: true, fail: null },
						{
							repo: "/home/ada/code/compass",
							name: "compass",
							trees: trees
								.slice(0, 1)
								.map((tree) => ({ ...tree, path: "/home/ada/code/compass", ownerTab: "", size: undefined })),
							sized: false,
							fail: null,
						},
					]}
					tabs={groupedState("").tabs ?? []}
					home="/home/ada"
					fail={null}
					removing={name === "worktrees-remove" ? (trees[1]?.path ?? null) : null}
					onRemoving={nothing}
					onRemoved={nothing}
				/>
			);
		case "editor":
		case "editor-conflict":
			return (
				<EditorView
					path="/home/ada/.config/davit/tab_configs/release.toml"
					text={
						'name = "Release"\n\n[[panes]]\nid = "main"\ntype = "terminal"\ndirectory = "~/code/harbor"\ncomands = ["make release"]\n'
					}
					ready
					editable
					dirty
					faults={[configFault]}
					checking={false}
					fail={null}
					conflict={name === "editor-conflict"}
					leaving={false}
					busy={false}
					line={7}
					column={1}
					onInput={nothing}
					onSave={nothing}
					onReload={nothing}
					onOverwrite={nothing}
					onClose={nothing}
					onStay={nothing}
					onDiscard={nothing}
				/>
			);
		case "menu-config":
			return (
				<Menu label={reviewConfig.name} at={{ x: 40, y: 40 }} onClose={nothing} onBack={nothing}>
					<ConfigActions config={reviewConfig} pick={pick} />
				</Menu>
			);
		case "menu-worktrees":
			return (
				<Menu
					label="New worktree in"
					at={{ x: 40, y: 40 }}
					onClose={nothing}
					onBack={nothing}
					filter={{ label: "Find a repository", value: "", onInput: nothing }}
				>
					<WorktreePlaces repositories={repositories.list} typed="" pick={pick} />
				</Menu>
			);
		default:
			return null;
	}
}
