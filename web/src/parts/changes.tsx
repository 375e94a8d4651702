// The view of changes: what differs in a pane's work tree, file by file, beside the stage
// (spec chips C5.2). A chunk of its own. It is read anew when the diff chip's value changes;
// folds, scroll and focus stay.
import { useSignal } from "@preact/signals";
import { ChevronDown, ChevronRight, CircleCheck, Copy, GitBranch, RotateCw, X } from "lucide";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { failOf } from "../api/client";
import type { Change, Changes, Fail, Diff as Patch } from "../api/types";
import { hunksOfPatch } from "../chat/patch";
import { client, closeDialog, copy } from "../state/actions";
import { chips } from "../state/store";
import {
	fileKey,
	foldsOf,
	kindLetter,
	kindWords,
	moreWords,
	pathParts,
	type Side,
	type SideFiles,
	sidesOf,
	sideTitles,
	stampOf,
	totalWords,
	undrawn,
} from "../words/changes";
import { homeOf, tilde } from "../words/path";
import "../styles/changes.css";
import { Diff, FailBox, IconButton } from "./bits";
import { Modal } from "./dialog";
import { DiffLines } from "./difflines";
import { Icon } from "./icon";

/** After these the old list would be an untruth. */
const goneCodes = new Set(["directory_missing", "workspace_not_found", "pane_not_found"]);

export function ChangesDialog({ pane }: { pane: string }) {
	const changes = useSignal<Changes | null>(null);
	const fail = useSignal<Fail | null>(null);
	const busy = useSignal(false);
	const round = useSignal(0);
	const folds = useSignal<Record<string, boolean> | null>(null);
	const state = useRef({ gone: false, again: false });

	const load = async () => {
		if (busy.peek()) {
			state.current.again = true;
			return;
		}
		busy.value = true;
		do {
			state.current.again = false;
			try {
				const answer = await client.call("worktree.changes", { pane });
				folds.value = foldsOf(folds.peek(), answer);
				changes.value = answer;
				fail.value = null;
				round.value++;
			} catch (error) {
				fail.value = failOf(error);
				if (goneCodes.has(fail.value.code)) changes.value = null;
			}
		} while (state.current.again && !state.current.gone);
		busy.value = false;
	};
	const stamp = stampOf(chips.value[pane] ?? []);
	useEffect(() => void load(), [stamp]);
	useEffect(
		() => () => {
			state.current.gone = true;
		},
		[],
	);

	return (
		<ChangesView
			changes={changes.value}
			fail={fail.value}
			busy={busy.value}
			round={round.value}
			folds={folds.value ?? {}}
			home={homeOf(chips.value, changes.value?.root)}
			onFold={(keys, open) => {
				const next = { ...folds.value };
				for (const key of keys) next[key] = open;
				folds.value = next;
			}}
			onAgain={() => void load()}
			read={(file, side) =>
				client.call("worktree.diff", { dir: changes.peek()?.root, path: file.path, from: file.from, side })
			}
		/>
	);
}

export interface ChangesViewProps {
	changes: Changes | null;
	fail: Fail | null;
	busy: boolean;
	/** Counts the readings: a diff of an earlier one is read anew. */
	round: number;
	folds: Readonly<Record<string, boolean>>;
	home: string;
	onFold: (keys: readonly string[], open: boolean) => void;
	onAgain: () => void;
	read: (file: Change, side: Side) => Promise<Patch>;
}

export function ChangesView(props: ChangesViewProps) {
	const { changes, fail, folds } = props;
	const typed = useSignal("");
	const list = useRef<HTMLElement>(null);
	const field = useRef<HTMLInputElement>(null);
	const sides = changes ? sidesOf(changes, typed.value) : [];
	const keys = sides.flatMap(({ side, files }) => files.map((one) => fileKey(side, one.path)));
	const anyOpen = keys.some((key) => folds[key]);
	const clean = changes !== null && sidesOf(changes).length === 0;

	// A file that had the focus may be gone: the keys go on working.
	useLayoutEffect(() => {
		if (document.activeElement === document.body) list.current?.focus();
	}, [changes]);

	const onKey = (event: KeyboardEvent) => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const here = event.target as HTMLElement;
		const typing = here === field.current;
		if (typing && event.key === "Escape" && typed.value !== "") {
			event.preventDefault();
			event.stopPropagation();
			typed.value = "";
			return;
		}
		if (event.key === "/" && !typing) {
			event.preventDefault();
			field.current?.focus();
			return;
		}
		const files = [...(list.current?.querySelectorAll<HTMLElement>(".change-fold") ?? [])];
		const at = files.indexOf(here.closest(".change")?.querySelector<HTMLElement>(".change-fold") ?? here);
		// Where lines have the focus the arrows scroll them.
		const arrows = typing || here === list.current || at >= 0;
		const inLines = here.closest(".file-diff-body") !== null;
		const down = event.key === "j" ? !typing : event.key === "ArrowDown" && arrows && !inLines;
		const up = event.key === "k" ? !typing : event.key === "ArrowUp" && arrows && !inLines;
		if (!down && !up) return;
		event.preventDefault();
		const next = files[down ? at + 1 : at - 1];
		if (next) {
			next.focus();
			next.scrollIntoView({ block: "nearest" });
		} else if (up && at === 0) field.current?.focus();
	};

	return (
		<Modal title="Changes" class="changes-dialog" bare>
			{/* biome-ignore lint/a11y/noStaticElementInteractions: keys between its files */}
			<div class="changes" onKeyDown={onKey}>
				<Head {...props} />
				<div class="changes-tools">
					<input
						ref={field}
						class="input"
						type="text"
						aria-label="Filter files"
						placeholder="Filter files"
						autocomplete="off"
						spellcheck={false}
						value={typed.value}
						onInput={(event) => {
							typed.value = event.currentTarget.value;
						}}
					/>
					<button
						type="button"
						class="button plain"
						disabled={keys.length === 0}
						onClick={() => props.onFold(keys, !anyOpen)}
					>
						{anyOpen ? "Fold all" : "Unfold all"}
					</button>
				</div>
				{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
				<section ref={list} class="changes-list" aria-label="Files" tabIndex={0} autofocus>
					{fail && (
						<div class="changes-fail">
							<FailBox fail={fail} />
							<button type="button" class="button" onClick={props.onAgain}>
								{props.busy ? "Looking…" : "Try again"}
							</button>
						</div>
					)}
					{!changes && !fail && (
						<p class="changes-none" role="status">
							Looking for changes…
						</p>
					)}
					{clean && !fail && (
						<p class="changes-none" role="status">
							<Icon of={CircleCheck} />
							{changes.unborn ? "No commit yet, and no file." : "Nothing differs from the last commit."}
						</p>
					)}
					{changes && !clean && sides.length === 0 && (
						<p class="changes-none" role="status">
							No file fits “{typed.value.trim()}”.
						</p>
					)}
					{sides.map((one) => (
						<SideList key={one.side} of={one} root={list} {...props} />
					))}
					{changes && moreWords(changes) && <p class="help changes-more">{moreWords(changes)}</p>}
				</section>
			</div>
		</Modal>
	);
}

function Head({ changes, home, busy, onAgain }: ChangesViewProps) {
	return (
		<header class="changes-head">
			<div class="changes-title">
				<b aria-hidden="true">Changes</b>
				{changes && changes.files > 0 && (
					<span class="changes-total" data-total={`${changes.files} +${changes.added} -${changes.removed}`}>
						<span class="hidden-text">{totalWords(changes)}</span>
						<span aria-hidden="true">
							{changes.files} {changes.files === 1 ? "file" : "files"}
						</span>
						<span aria-hidden="true">
							<Diff added={changes.added} removed={changes.removed} />
						</span>
					</span>
				)}
			</div>
			{changes && (
				<small class="changes-place">
					<Icon of={GitBranch} size={12} />
					<span class="cut">{changes.branch || "detached HEAD"}</span>
					<span class="clip-left" data-tip={changes.root}>
						<bdi>{tilde(changes.root, home)}</bdi>
					</span>
				</small>
			)}
			<span class="changes-buttons">
				<IconButton
					icon={RotateCw}
					label={busy ? "Looking…" : "Look again"}
					class={busy ? "turning" : ""}
					onClick={onAgain}
				/>
				<IconButton icon={X} label="Close changes" onClick={closeDialog} />
			</span>
		</header>
	);
}

/** Files of a side that are listed before the rest is asked for. */
const firstFiles = 300;

interface SideListProps extends ChangesViewProps {
	of: SideFiles;
	root: { current: HTMLElement | null };
}

function SideList({ of: { side, files, added, removed }, ...props }: SideListProps) {
	const all = useSignal(false);
	const shown = all.value ? files : files.slice(0, firstFiles);
	return (
		<section class="changes-side" aria-label={sideTitles[side]}>
			<h3>
				{sideTitles[side]} <small>{files.length.toLocaleString("en")}</small>
				{added + removed > 0 && <Diff added={added} removed={removed} />}
			</h3>
			{shown.map((file) => (
				<ChangedFile key={fileKey(side, file.path)} file={file} side={side} {...props} />
			))}
			{shown.length < files.length && (
				<p class="file-diff-more">
					<button
						type="button"
						class="link"
						onClick={() => {
							all.value = true;
						}}
					>
						List {(files.length - shown.length).toLocaleString("en")} more files
					</button>
				</p>
			)}
		</section>
	);
}

interface FileProps extends ChangesViewProps {
	file: Change;
	side: Side;
	root: { current: HTMLElement | null };
}

function ChangedFile({ file, side, root, folds, round, onFold, read }: FileProps) {
	const key = fileKey(side, file.path);
	const open = folds[key] ?? false;
	const [folder, name] = pathParts(file.path);
	return (
		// biome-ignore lint/a11y/useSemanticElements: a file and its lines, not fields
		<div role="group" class="change" aria-label={file.path}>
			<div class="change-head">
				<button
					type="button"
					class="change-fold"
					aria-expanded={open}
					data-tip={file.from ? `${file.from} → ${file.path}` : file.path}
					onClick={() => onFold([key], !open)}
				>
					<Icon of={open ? ChevronDown : ChevronRight} size={14} />
					<span class="change-kind" data-kind={kindLetter(file)} aria-hidden="true">
						{kindLetter(file)}
					</span>
					<span class="change-path">
						<span class="clip-left">
							<bdi>{folder}</bdi>
						</span>
						<b>{name}</b>
						{file.from && <small class="cut">← {file.from}</small>}
					</span>
					<span class="hidden-text">, {kindWords(file)}</span>
					{kindLetter(file) === "!" && (
						<span class="label" aria-hidden="true">
							{kindWords(file)}
						</span>
					)}
					{file.binary && <span class="label">binary</span>}
					{file.submodule && <span class="label">submodule</span>}
					{file.added + file.removed > 0 && <Diff added={file.added} removed={file.removed} />}
				</button>
				<IconButton
					icon={Copy}
					class="small"
					label="Copy path"
					onClick={() => void copy(file.path, "Path copied")}
				/>
			</div>
			{open && <Lines file={file} side={side} round={round} root={root} read={read} />}
		</div>
	);
}

/** Lines shown at first, and by each press after that. */
const firstLines = 120;
const moreLines = 600;

interface LinesProps {
	file: Change;
	side: Side;
	round: number;
	root: { current: HTMLElement | null };
	read: ChangesViewProps["read"];
}

/** A file's lines: fetched when they come near the view, and anew after each reading. */
function Lines({ file, side, round, root, read }: LinesProps) {
	const box = useRef<HTMLDivElement>(null);
	const near = useSignal(false);
	const patch = useSignal<Patch | null>(null);
	const fail = useSignal<Fail | null>(null);
	const most = useSignal(firstLines);
	const of = useRef({ round: -1, asked: 0 });
	const reason = undrawn(file);

	useEffect(() => {
		const element = box.current;
		if (!element) return;
		const observer = new IntersectionObserver(
			([entry]) => {
				near.value = entry?.isIntersecting ?? false;
			},
			{ root: root.current, rootMargin: "400px" },
		);
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	useEffect(() => {
		if (!near.value || reason !== "" || of.current.round === round) return;
		of.current.round = round;
		const mine = ++of.current.asked;
		read(file, side)
			.then((answer) => {
				if (of.current.asked !== mine) return;
				// What is the same is not drawn again.
				if (patch.peek()?.text !== answer.text) patch.value = answer;
				fail.value = null;
			})
			.catch((error: unknown) => {
				if (of.current.asked === mine) fail.value = failOf(error);
			});
	}, [near.value, round, reason]);

	const now = patch.value;
	const hunks = useMemo(() => (now ? hunksOfPatch(now.text) : []), [now]);
	return (
		<div ref={box} class="change-body" style={now || reason ? undefined : { minHeight: `${roomOf(file)}px` }}>
			{reason ? (
				<p class="file-diff-more">{reason}</p>
			) : fail.value ? (
				<FailBox fail={fail.value} />
			) : !now ? (
				near.value && <p class="file-diff-more">Reading…</p>
			) : now.binary ? (
				<p class="file-diff-more">A binary file: its content is not shown.</p>
			) : hunks.length === 0 ? (
				<p class="file-diff-more">{file.from ? "Renamed, with the same lines." : "No line differs."}</p>
			) : (
				<>
					<DiffLines
						hunks={hunks}
						path={file.path}
						label={`Lines of ${file.path}, ${sideTitles[side].toLowerCase()}`}
						kind={file.kind === "added" || file.kind === "untracked" ? "fresh" : "inline"}
						most={most.value}
						step={moreLines}
						onMore={() => {
							most.value += moreLines;
						}}
					/>
					{now.more && <p class="file-diff-more">Only the first megabyte of the diff is here.</p>}
				</>
			)}
		</div>
	);
}

/** About the height that its lines will have, so that little moves when they come. */
function roomOf(file: Change): number {
	return Math.min(firstLines, file.added + file.removed + 6) * 19;
}
