// One file's change in a chat: by lines, inline, or side by side where there is room.
import { ChevronDown, ChevronRight, FileDiff as FileDiffIcon } from "lucide";
import { useMemo } from "preact/hooks";
import type { FileDiff } from "../api/types";
import { diffLines, type Hunk, hunksOf, type Line, pairsOf } from "../chat/diff";
import type { Feed } from "../chat/feed";
import { shortPath } from "../words/tabs";
import { Diff } from "./bits";
import { Icon } from "./icon";

export interface DiffViewProps {
	item: string;
	diff: FileDiff;
	feed: Feed;
	/** Whether there is room for two sides. */
	wide: boolean;
}

export function DiffView({ item, diff, feed, wide }: DiffViewProps) {
	const folded = feed.toggled.value.has(item);
	const before = textOf(diff.old, feed);
	const after = textOf(diff.new, feed);
	const cut = before.cut || after.cut;
	return (
		<section class="file-diff" aria-label={`Change of ${diff.path}`}>
			<div class="file-diff-head">
				<button
					type="button"
					class="fold"
					aria-expanded={!folded}
					data-tip={diff.path}
					onClick={() => feed.toggle(item)}
				>
					<Icon of={folded ? ChevronRight : ChevronDown} size={14} />
					<Icon of={FileDiffIcon} size={14} />
					<span class="cut">{shortPath(diff.path, 64)}</span>
					{!diff.old && <span class="label">new</span>}
					<Diff added={diff.added} removed={diff.removed} />
				</button>
			</div>
			{!folded && (
				<Lines
					before={before.text}
					after={after.text}
					path={diff.path}
					kind={!diff.old ? "fresh" : wide ? "wide" : "inline"}
					all={feed.toggled.value.has(`${item}:all`)}
					onAll={() => feed.toggle(`${item}:all`)}
				/>
			)}
			{!folded && cut && (
				<p class="file-diff-more">
					Only the beginning of the file is here.{" "}
					<button
						type="button"
						class="link"
						onClick={() => {
							for (const digest of [diff.old?.digest, diff.new.digest]) {
								if (digest) void feed.payload(digest);
							}
						}}
					>
						Show all
					</button>
				</p>
			)}
		</section>
	);
}

function textOf(blob: FileDiff["old"], feed: Feed): { text: string; cut: boolean } {
	if (!blob) return { text: "", cut: false };
	const whole = blob.digest ? feed.payloads.value[blob.digest] : undefined;
	if (typeof whole === "string") return { text: whole, cut: false };
	return { text: blob.head, cut: !!blob.digest };
}

interface LinesProps {
	before: string;
	after: string;
	path: string;
	/** fresh: there is no old side */
	kind: "fresh" | "wide" | "inline";
	all: boolean;
	onAll: () => void;
}

/** Lines shown before the rest is asked for. */
const firstLines = 48;

function Lines({ before, after, path, kind, all, onAll }: LinesProps) {
	// Lines are many: they are worked out once.
	const hunks = useMemo(() => hunksOf(diffLines(before, after)), [before, after]);
	if (hunks.length === 0) return <p class="file-diff-more">Nothing that shows has changed.</p>;
	const count = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
	const cut = !all && count > firstLines + 12;
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
			<section class="file-diff-body" tabIndex={0} aria-label={`Lines of ${path}`}>
				<table class={`diff-table ${kind}`}>
					{(cut ? firstOf(hunks, firstLines) : hunks).map((hunk) => (
						<tbody key={String(hunk.lines[0]?.new ?? hunk.lines[0]?.old)}>
							{hunk.skipped > 0 && (
								<tr class="gap">
									<td colSpan={kind === "wide" ? 4 : 3}>
										{hunk.skipped} {hunk.skipped === 1 ? "line" : "lines"} alike
									</td>
								</tr>
							)}
							{kind === "wide" ? sideBySide(hunk) : inline(hunk)}
						</tbody>
					))}
				</table>
			</section>
			{cut && (
				<p class="file-diff-more">
					<button type="button" class="link" onClick={onAll}>
						Show {count - firstLines} more lines
					</button>
				</p>
			)}
		</>
	);
}

function firstOf(hunks: readonly Hunk[], most: number): Hunk[] {
	const first: Hunk[] = [];
	let room = most;
	for (const hunk of hunks) {
		if (room <= 0) break;
		first.push({ ...hunk, lines: hunk.lines.slice(0, room) });
		room -= hunk.lines.length;
	}
	return first;
}

const signs = { same: " ", add: "+", remove: "−" } as const;

function inline(hunk: Hunk) {
	return hunk.lines.map((line) => (
		<tr key={`${line.old}:${line.new}`} data-kind={line.kind}>
			<td class="no">{line.old ?? ""}</td>
			<td class="no">{line.new ?? ""}</td>
			<td class="text">
				<i>{signs[line.kind]}</i>
				<LineText line={line} />
			</td>
		</tr>
	));
}

function sideBySide(hunk: Hunk) {
	return pairsOf(hunk.lines).map(({ left, right }) => (
		<tr key={`${left?.old}:${right?.new}`}>
			<td class="no">{left?.old ?? ""}</td>
			<td class="text" data-kind={left?.kind ?? "none"}>
				{left && <LineText line={left} />}
			</td>
			<td class="no">{right?.new ?? ""}</td>
			<td class="text" data-kind={right?.kind ?? "none"}>
				{right && <LineText line={right} />}
			</td>
		</tr>
	));
}

function LineText({ line }: { line: Line }) {
	const { text, mark } = line;
	if (!mark || mark[0] === mark[1]) return <span>{text}</span>;
	return (
		<span>
			{text.slice(0, mark[0])}
			<b>{text.slice(mark[0], mark[1])}</b>
			{text.slice(mark[1])}
		</span>
	);
}
