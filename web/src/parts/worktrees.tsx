// The worktrees of every known repository: whose they are, what is in them, and their removal
// with the host's list of what would be lost (spec launch L9.6). A chunk of its own.
import { useSignal } from "@preact/signals";
import { CircleAlert, GitBranchPlus, GitFork, House, SquareTerminal, Trash2 } from "lucide";
import { useEffect, useId, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { Fail, Tab, Workspace, WorktreeInfo } from "../api/types";
import { client, closeDialog, mention, openTerminal } from "../state/actions";
import { chips, dialog, showTab, tabs, worktreeForm } from "../state/store";
import { baseOf, homeOf, tilde } from "../words/path";
import {
	aheadWords,
	emptyWorktree,
	ignoredWords,
	losses,
	sizeWords,
	worktreeFacts,
} from "../words/worktrees";
import "../styles/worktrees.css";
import { FailBox, IconButton } from "./bits";
import { Modal } from "./dialog";
import { Icon } from "./icon";

export interface RepoTrees {
	repo: string;
	name: string;
	trees: readonly WorktreeInfo[] | null;
	/** The disk has been asked. */
	sized: boolean;
	fail: Fail | null;
}

export function WorktreesDialog() {
	const repos = useSignal<readonly RepoTrees[] | null>(null);
	const fail = useSignal<Fail | null>(null);
	const removing = useSignal<string | null>(null);
	const round = useRef(0);

	const put = (repo: string, change: Partial<RepoTrees>) => {
		repos.value = (repos.value ?? []).map((one) => (one.repo === repo ? { ...one, ...change } : one));
	};
	const list = async (mine: number, place: Workspace) => {
		try {
			const { worktrees } = await client.call("worktree.list", { in: `path:${place.path}` });
			if (round.current !== mine) return;
			const main = worktrees?.find((tree) => tree.main)?.path ?? place.path;
			// A linked worktree is listed with its repository.
			if ((repos.value ?? []).some((one) => one.repo === main)) return;
			const entry = { repo: main, name: baseOf(main), trees: worktrees ?? [], sized: false, fail: null };
			repos.value = [...(repos.value ?? []), entry];
			const sized = await client.call("worktree.list", { in: `path:${main}`, sizes: true });
			if (round.current === mine) put(main, { trees: sized.worktrees ?? [], sized: true });
		} catch (error) {
			if (round.current !== mine) return;
			if ((repos.value ?? []).some((one) => one.repo === place.path)) return;
			const entry = { repo: place.path, name: place.name, trees: null, sized: true, fail: failOf(error) };
			repos.value = [...(repos.value ?? []), entry];
		}
	};
	const load = async () => {
		const mine = ++round.current;
		fail.value = null;
		try {
			const { workspaces } = await client.call("workspace.list", {});
			if (round.current !== mine) return;
			repos.value = [];
			for (const place of (workspaces ?? []).filter((one) => one.git)) await list(mine, place);
		} catch (error) {
			fail.value = failOf(error);
			repos.value ??= [];
		}
	};
	useEffect(() => {
		void load();
		return () => {
			round.current++;
		};
	}, []);

	return (
		<WorktreesView
			repos={repos.value}
			tabs={tabs.value}
			home={homeOf(chips.value, repos.value?.[0]?.repo)}
			fail={fail.value}
			removing={removing.value}
			onRemoving={(path) => {
				removing.value = path;
			}}
			onRemoved={() => {
				removing.value = null;
				void load();
			}}
		/>
	);
}

export interface WorktreesViewProps {
	repos: readonly RepoTrees[] | null;
	tabs: readonly Tab[];
	home: string;
	fail: Fail | null;
	removing: string | null;
	onRemoving: (path: string | null) => void;
	onRemoved: () => void;
}

export function WorktreesView(props: WorktreesViewProps) {
	const { repos, fail } = props;
	return (
		<Modal title="Worktrees" class="wide worktrees-dialog">
			{fail && <FailBox fail={fail} />}
			{repos === null && (
				<p class="help" role="status">
					Looking for worktrees…
				</p>
			)}
			{repos?.length === 0 && !fail && (
				<p class="help">No repository is known yet. Open a tab in one, or add one in the new-tab menu.</p>
			)}
			{repos?.map((repo) => (
				<section key={repo.repo} class="worktrees-repo" aria-label={repo.name}>
					<div class="worktrees-head">
						<h3>{repo.name}</h3>
						<small class="clip-left">
							<bdi>{tilde(repo.repo, props.home)}</bdi>
						</small>
						<button
							type="button"
							class="button plain"
							onClick={() => {
								worktreeForm.value = { ...emptyWorktree, repo: repo.repo };
								dialog.value = { kind: "new-worktree" };
							}}
						>
							<Icon of={GitBranchPlus} size={14} /> New
							<span class="hidden-text"> worktree of {repo.name}</span>
						</button>
					</div>
					{repo.fail && <FailBox fail={repo.fail} />}
					<ul>
						{(repo.trees ?? []).map((tree) => (
							<Tree key={tree.path} tree={tree} sized={repo.sized} {...props} />
						))}
					</ul>
				</section>
			))}
		</Modal>
	);
}

function Tree({ tree, sized, ...view }: WorktreesViewProps & { tree: WorktreeInfo; sized: boolean }) {
	const owner = view.tabs.find((tab) => tab.id === tree.ownerTab);
	const facts = worktreeFacts(tree);
	const ahead = aheadWords(tree);
	const name = tree.branch || tree.head.slice(0, 10);
	const asking = view.removing === tree.path;
	return (
		<li class="worktree" data-asking={asking || undefined}>
			<Icon of={tree.main ? House : GitFork} size={14} />
			<div class="worktree-words">
				<div class="worktree-title">
					<b class="cut">{name}</b>
					{tree.main && <span class="label">main checkout</span>}
					{!tree.main && !tree.made && <span class="label">not davit's</span>}
					{owner && (
						<button
							type="button"
							class="worktree-owner cut"
							onClick={() => {
								closeDialog();
								showTab(owner.id);
							}}
						>
							<span class="hidden-text">Open in the tab </span>
							{owner.title}
						</button>
					)}
				</div>
				<div class="worktree-path clip-left" data-tip={tree.path}>
					<bdi>{tilde(tree.path, view.home)}</bdi>
				</div>
				<div class="worktree-facts">
					{facts.length === 0 && <span class="calm">clean</span>}
					{facts.map((fact) => (
						<span key={fact.text} data-tone={fact.tone || undefined}>
							{fact.tone === "warn" && <Icon of={CircleAlert} size={12} />}
							{fact.text}
						</span>
					))}
					{ahead && <span>{ahead}</span>}
				</div>
			</div>
			<span class="worktree-size">
				{sizeWords(tree.size) || (sized ? "" : <span class="help">…</span>)}
				<span class="hidden-text">{tree.size === undefined ? "" : " on disk"}</span>
			</span>
			<span class="worktree-tools">
				<IconButton
					icon={SquareTerminal}
					class="small"
					label={`Open a terminal in ${name}`}
					onClick={() => {
						closeDialog();
						void openTerminal(tree.path);
					}}
				/>
				{!tree.main && (
					<IconButton
						icon={Trash2}
						class="small"
						label={`Remove the worktree ${name}`}
						onClick={() => view.onRemoving(asking ? null : tree.path)}
					/>
				)}
			</span>
			{asking && (
				<Removal tree={tree} name={name} onKeep={() => view.onRemoving(null)} onRemoved={view.onRemoved} />
			)}
		</li>
	);
}

interface RemovalProps {
	tree: WorktreeInfo;
	name: string;
	onKeep: () => void;
	onRemoved: () => void;
}

/**
 * Two steps: a removal that loses nothing, and, when the host refuses with a list, another that
 * names the worktree and carries the digest of that very list. Never force by one press.
 */
function Removal({ tree, name, onKeep, onRemoved }: RemovalProps) {
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const branch = useSignal(false);
	const remove = async (force?: string) => {
		if (busy.value) return;
		busy.value = true;
		try {
			const removed = await client.call("worktree.remove", {
				selector: `path:${tree.path}`,
				external: !tree.made || undefined,
				deleteBranch: branch.value || undefined,
				force,
			});
			const kept = [
				...(removed.kept ?? []),
				removed.deletedBranch && `deleted: branch ${removed.deletedBranch}, last at ${removed.deletedHead}`,
			].filter(Boolean);
			const went = removed.ignoredCount > 0 ? ignoredWords(removed.ignoredCount, removed.ignored ?? []) : "";
			mention(
				`Worktree ${name} removed`,
				[kept.length > 0 && `Kept: ${kept.join("; ")}.`, went].filter(Boolean).join(" ") || undefined,
			);
			onRemoved();
		} catch (error) {
			fail.value = failOf(error);
		}
		busy.value = false;
	};
	return (
		<RemovalView
			tree={tree}
			name={name}
			fail={fail.value}
			busy={busy.value}
			branch={branch.value}
			onBranch={(on) => {
				branch.value = on;
				fail.value = null; // another list
			}}
			onKeep={onKeep}
			onRemove={(force) => void remove(force)}
		/>
	);
}

export interface RemovalViewProps {
	tree: WorktreeInfo;
	name: string;
	fail: Fail | null;
	busy: boolean;
	branch: boolean;
	onBranch: (on: boolean) => void;
	onKeep: () => void;
	onRemove: (force?: string) => void;
}

export function RemovalView({
	tree,
	name,
	fail,
	busy,
	branch,
	onBranch,
	onKeep,
	onRemove,
}: RemovalViewProps) {
	const typed = useSignal("");
	const id = useId();
	const keep = useRef<HTMLButtonElement>(null);
	const { lists, digest } = fail ? losses(fail) : { lists: [], digest: "" };
	const sure = typed.value.trim() === name;
	useEffect(() => {
		typed.value = "";
	}, [digest]);
	useEffect(() => keep.current?.focus(), []);
	return (
		<form
			class="removal"
			aria-label={`Remove the worktree ${name}`}
			onSubmit={(event) => {
				event.preventDefault();
				if (digest && sure) onRemove(digest);
				else if (!digest) onRemove();
			}}
		>
			<p>
				{tree.branch ? `The folder goes, the branch ${tree.branch} stays.` : "The folder goes."}
				{!tree.made && " davit did not make this worktree."}
				{tree.ignored > 0 &&
					` With it ${tree.ignored === 1 ? "goes 1 file or folder" : `go ${tree.ignored} files and folders`} that git ignores, such as .env: copy what you still need.`}
			</p>
			{tree.branch && (
				<label class="check">
					<input
						type="checkbox"
						checked={branch}
						onChange={(event) => onBranch(event.currentTarget.checked)}
					/>
					<span class="check-title">
						Delete the branch too <span class="label danger">destructive</span>
					</span>
				</label>
			)}
			{fail && digest === "" && <FailBox fail={fail} />}
			{digest !== "" && (
				<div class="removal-list" role="alert">
					<b>Not removed: this would be lost for good.</b>
					{lists.map((list) => (
						<div key={list.what}>
							<h4>{list.what}</h4>
							<ul>
								{list.names.map((one) => (
									<li key={one}>
										<code>{one}</code>
									</li>
								))}
							</ul>
						</div>
					))}
					<div class="field">
						<label for={id}>
							Type <code>{name}</code> to lose all of it
						</label>
						<input
							id={id}
							class="input"
							autocomplete="off"
							autocapitalize="off"
							spellcheck={false}
							value={typed.value}
							onInput={(event) => {
								typed.value = event.currentTarget.value;
							}}
						/>
					</div>
				</div>
			)}
			<div class="button-row end">
				<button type="button" ref={keep} class="button plain" onClick={onKeep}>
					Keep it
				</button>
				<button type="submit" class="button danger" aria-disabled={busy || (digest !== "" && !sure)}>
					{busy ? "Removing…" : digest ? "Lose these and remove" : "Remove"}
				</button>
			</div>
		</form>
	);
}
