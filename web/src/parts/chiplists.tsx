// The menus of the chips that a shell's pane has: its branches, its directory, its versions
// of node (spec chips C5.2). What is picked is typed into the shell by the host, visibly, at
// its prompt; what the user had typed comes back.
import { useSignal } from "@preact/signals";
import { ChevronRight, Copy, FileText, Folder, GitBranch, Hexagon, type IconNode, Info, Plus } from "lucide";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { BranchMenu as Branches, BranchName, DirectoryListing, Fail, NodeVersions } from "../api/types";
import { focusOn } from "../keys/keys";
import { ask, bring, client, copy, focusPane, mention, openTerminal } from "../state/actions";
import { panes } from "../state/store";
import {
	branchRows,
	directoryRows,
	goInto,
	joined,
	type MenuRow,
	mostRows,
	newBranchRow,
	nodeRow,
	type RowAct,
	wantsHidden,
	whyNoCommand,
} from "../words/chipmenus";
import { operationId } from "../words/intent";
import { sentences } from "../words/sentences";
import { Menu, MenuItem, MenuLine } from "./menu";

export interface ChipListProps {
	pane: string;
	at: RefObject<HTMLElement | null>;
	onClose: () => void;
	/** What every menu of the chip ends with. */
	end: ComponentChildren;
}

/** Does what a row says, and gives the keyboard to the pane. */
function useRows({ pane, onClose }: ChipListProps): (act: RowAct) => void {
	return (act) => {
		if (act.do === "nothing") return;
		onClose();
		switch (act.do) {
			case "tab":
				if (act.pane) focusPane(act.tab, act.pane);
				bring(act.tab);
				return focusOn("pane");
			case "open":
				return void openTerminal(act.directory);
			case "copy":
				focusOn("pane");
				return void copy(act.text, "Path copied");
			case "run":
				focusOn("pane");
				return void run(pane, act.argv);
		}
	};
}

async function run(pane: string, argv: string[]): Promise<void> {
	const id = operationId(Date.now(), crypto.getRandomValues(new Uint8Array(16)));
	await ask(`“${argv.join(" ")}” was not run`, async () => {
		const ran = await client.call("pane.run", { clientOperationId: id, pane, argv });
		if (ran.kept) mention("What you had typed comes back at the next prompt");
	});
}

interface Fetched<T> {
	value: T | null;
	fail: Fail | null;
}

/** Asks once for each key; what comes late for another one is dropped. */
function useFetched<T>(key: string, fetch: () => Promise<T>): Fetched<T> {
	const got = useSignal<Fetched<T>>({ value: null, fail: null });
	useEffect(() => {
		let over = false;
		fetch().then(
			(value) => {
				if (!over) got.value = { value, fail: null };
			},
			(error: unknown) => {
				if (!over) got.value = { value: null, fail: failOf(error) };
			},
		);
		return () => {
			over = true;
		};
	}, [key]);
	return got.value;
}

interface RowsProps {
	rows: readonly MenuRow[];
	icon: (row: MenuRow) => IconNode;
	/** Why no command can be run. */
	why: string;
	none: string;
	side?: (row: MenuRow) => { label: string; icon: IconNode; onPick: () => void } | undefined;
	onAct: (act: RowAct) => void;
}

function Rows({ rows, icon, why, none, side, onAct }: RowsProps) {
	const held = (row: MenuRow) => row.act.do === "run" && why !== "";
	return (
		<>
			{why !== "" && rows.some(held) && (
				<MenuItem
					icon={Info}
					title={why}
					note="So nothing can be typed into it now"
					disabled
					onPick={() => {}}
				/>
			)}
			{rows.slice(0, mostRows).map((row) => (
				<MenuItem
					key={row.key}
					icon={icon(row)}
					title={row.title}
					note={row.note || undefined}
					tip={row.tip}
					label={row.current ? "current" : undefined}
					disabled={row.act.do === "nothing" || held(row)}
					side={side?.(row)}
					onPick={() => onAct(row.act)}
				/>
			))}
			{rows.length > mostRows && (
				<MenuItem
					icon={Info}
					title={`${rows.length - mostRows} more`}
					note="Type to find them"
					disabled
					onPick={() => {}}
				/>
			)}
			{rows.length === 0 && <MenuItem icon={Info} title={none} disabled onPick={() => {}} />}
		</>
	);
}

function Failed({ fail }: { fail: Fail }) {
	return (
		<MenuItem icon={Info} title={fail.message} note={sentences(fail.hint)} warn disabled onPick={() => {}} />
	);
}

const looking = <MenuItem icon={Info} title="Looking…" disabled onPick={() => {}} />;

/** The branches of the pane's repository: switch, open where one is checked out, create. */
export function BranchMenu(props: ChipListProps) {
	const typed = useSignal("");
	const act = useRows(props);
	const list = useFetched<Branches>("", () => client.call("branch.list", { pane: props.pane }));
	const name = typed.value.trim();
	const checked = useChecked(props.pane, name);
	const rows = list.value ? branchRows(list.value, typed.value) : [];
	const made = list.value && newBranchRow(list.value, typed.value, checked);
	const why = whyNoCommand(panes.value[props.pane]);
	return (
		<Menu
			label="Branches"
			at={props.at}
			onClose={props.onClose}
			filter={{
				label: "Find or create a branch",
				value: typed.value,
				onInput: (text) => {
					typed.value = text;
				},
			}}
		>
			{list.fail && <Failed fail={list.fail} />}
			{!list.value && !list.fail && looking}
			{list.value && (rows.length > 0 || !made) && (
				<Rows rows={rows} icon={() => GitBranch} why={why} none="There is no branch" onAct={act} />
			)}
			{list.value?.more && name === "" && (
				<MenuItem icon={Info} title="The newest 500 are listed" disabled onPick={() => {}} />
			)}
			{made && (
				<MenuItem
					icon={Plus}
					title={made.title}
					note={why || made.note}
					disabled={made.act.do === "nothing" || why !== ""}
					onPick={() => act(made.act)}
				/>
			)}
			{name === "" && (
				<>
					<MenuLine />
					{props.end}
				</>
			)}
		</Menu>
	);
}

/** How long a name rests before the host is asked about it. */
const rest = 150;

/** What the host says of a name; undefined until it has. */
function useChecked(pane: string, name: string): BranchName | undefined {
	const said = useSignal<{ name: string; is: BranchName } | null>(null);
	useEffect(() => {
		if (name === "") return;
		let over = false;
		const timer = setTimeout(() => {
			client.call("branch.list", { pane, name }).then(
				(answer) => {
					if (!over && answer.name) said.value = { name, is: answer.name };
				},
				() => {}, // the row goes on to say that it is looked up; the next letter asks again
			);
		}, rest);
		return () => {
			over = true;
			clearTimeout(timer);
		};
	}, [name]);
	return said.value?.name === name ? said.value.is : undefined;
}

/** The pane's directory: into a directory by `cd`, further down without, paths of files. */
export function DirectoryMenu(props: ChipListProps) {
	const typed = useSignal("");
	const dir = useSignal(""); // "": the shell's own
	const act = useRows(props);
	const hidden = wantsHidden(typed.value);
	const list = useFetched<DirectoryListing>(`${dir.value}\n${hidden}`, () =>
		client.call("directory.list", { pane: props.pane, dir: dir.value || undefined, hidden }),
	);
	const home = useRef("");
	if (list.value && dir.value === "") home.current = list.value.directory;
	const go = (to: string) => {
		typed.value = "";
		dir.value = to;
	};
	const at = list.value?.directory ?? "";
	const away = dir.value !== "" && at !== home.current;
	// Of another directory than the shell's the whole path is what `cd` takes.
	const rows = (list.value ? directoryRows(list.value, typed.value) : []).map((row): MenuRow => {
		if (!away || row.act.do !== "run") return row;
		const to = row.key === ".." ? (list.value?.parent ?? "/") : joined(at, row.key);
		return { ...row, act: goInto(to) };
	});
	return (
		<Menu
			key={dir.value}
			label={away ? at : "Directory"}
			at={props.at}
			onClose={props.onClose}
			onBack={away ? () => go("") : undefined}
			filter={{
				label: "Find a directory or a file",
				value: typed.value,
				onInput: (text) => {
					typed.value = text;
				},
			}}
		>
			{away && typed.value === "" && (
				<MenuItem
					icon={Folder}
					title="Go here"
					note={<span class="cut menu-mono">{at}</span>}
					disabled={whyNoCommand(panes.value[props.pane]) !== ""}
					onPick={() => act(goInto(at))}
				/>
			)}
			{list.fail && <Failed fail={list.fail} />}
			{!list.value && !list.fail && looking}
			{list.value && (
				<Rows
					rows={rows}
					icon={(row) => (row.act.do === "run" ? Folder : row.act.do === "copy" ? Copy : FileText)}
					why={whyNoCommand(panes.value[props.pane])}
					none={typed.value === "" ? "Nothing is in it" : "Nothing fits"}
					side={(row) =>
						row.act.do === "run"
							? {
									label: `Look into ${row.key}`,
									icon: ChevronRight,
									onPick: () => go(row.key === ".." ? (list.value?.parent ?? "/") : joined(at, row.key)),
								}
							: undefined
					}
					onAct={act}
				/>
			)}
			{list.value?.more && (
				<MenuItem icon={Info} title="The first 1,000 are listed" disabled onPick={() => {}} />
			)}
			{typed.value === "" && !away && (
				<>
					<MenuLine />
					{props.end}
				</>
			)}
		</Menu>
	);
}

/** The versions of node that are installed, and what uses them. */
export function NodeMenu(props: ChipListProps) {
	const act = useRows(props);
	const list = useFetched<NodeVersions>("", () => client.call("node.versions", { pane: props.pane }));
	const rows = (list.value?.versions ?? []).map(nodeRow);
	return (
		<Menu label="Versions of Node.js" at={props.at} onClose={props.onClose}>
			{list.fail && <Failed fail={list.fail} />}
			{!list.value && !list.fail && looking}
			{list.value && (
				<Rows
					rows={rows}
					icon={() => Hexagon}
					why={whyNoCommand(panes.value[props.pane])}
					none={list.value.reason || "No version manager has one installed"}
					onAct={act}
				/>
			)}
			<MenuLine />
			{props.end}
		</Menu>
	);
}
