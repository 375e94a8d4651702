// Changed lines, inline or side by side, with the colours of their language: the one drawer
// of diffs, for chats and for the view of changes.
import { useMemo } from "preact/hooks";
import { changed, colouredLines, languageOf } from "../chat/colours";
import { type Hunk, type Line, pairsOf } from "../chat/diff";
import { highlighter, wantHighlighter } from "../chat/highlighter";
import type { Piece } from "../chat/markdown";
import "../styles/diff.css";
import { Pieces } from "./pieces";

export interface DiffLinesProps {
	hunks: readonly Hunk[];
	path: string;
	/** What it is called, where the path alone would not tell it from another. */
	label?: string;
	/** fresh: there is no old side */
	kind: "fresh" | "wide" | "inline";
	/** Lines shown before the rest is asked for. */
	most: number;
	/** How many of the rest one press shows; all of it when it is not said. */
	step?: number;
	onMore: () => void;
}

export function DiffLines({ hunks, path, label, kind, most, step, onMore }: DiffLinesProps) {
	if (hunks.length === 0) return <p class="file-diff-more">Nothing that shows has changed.</p>;
	const count = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
	// A rest of a few lines is not worth a press.
	const cut = count > most + 12;
	const rest = Math.min(count - most, step ?? count);
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
			<section class="file-diff-body" tabIndex={0} aria-label={label ?? `Lines of ${path}`}>
				<table class={`diff-table ${kind}`}>
					{(cut ? firstOf(hunks, most) : hunks).map((hunk) => (
						<HunkRows
							key={String(hunk.lines[0]?.new ?? hunk.lines[0]?.old)}
							hunk={hunk}
							path={path}
							kind={kind}
						/>
					))}
				</table>
			</section>
			{cut && (
				<p class="file-diff-more">
					<button type="button" class="link" onClick={onMore}>
						Show {rest} more lines
					</button>
					{rest < count - most && ` of ${count - most}`}
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
		first.push(hunk.lines.length <= room ? hunk : { ...hunk, lines: hunk.lines.slice(0, room) });
		room -= hunk.lines.length;
	}
	return first;
}

type Colours = ReadonlyMap<Line, readonly Piece[]>;
const plain: Colours = new Map();

function HunkRows({ hunk, path, kind }: { hunk: Hunk; path: string; kind: DiffLinesProps["kind"] }) {
	wantHighlighter();
	const module = highlighter.value;
	const colours = useMemo(
		() => (module ? colouredLines(hunk, languageOf(path), module.highlight) : plain),
		[module, hunk, path],
	);
	const gap = [
		hunk.skipped > 0 && `${hunk.skipped} ${hunk.skipped === 1 ? "line" : "lines"} alike`,
		hunk.within,
	].filter(Boolean);
	return (
		<tbody>
			{gap.length > 0 && (
				<tr class="gap">
					<td colSpan={kind === "wide" ? 4 : 3}>{gap.join(" · ")}</td>
				</tr>
			)}
			{kind === "wide" ? sideBySide(hunk, colours) : inline(hunk, colours)}
		</tbody>
	);
}

const signs = { same: " ", add: "+", remove: "−" } as const;

function inline(hunk: Hunk, colours: Colours) {
	return hunk.lines.map((line, at) => (
		<tr
			key={`${line.old}:${line.new}:${line.old === null && line.new === null ? at : ""}`}
			data-kind={line.kind}
		>
			<td class="no">{line.old ?? ""}</td>
			<td class="no">{line.new ?? ""}</td>
			<td class="text">
				<i>{signs[line.kind]}</i>
				<LineText line={line} of={colours.get(line)} />
			</td>
		</tr>
	));
}

function sideBySide(hunk: Hunk, colours: Colours) {
	return pairsOf(hunk.lines).map(({ left, right }) => (
		<tr key={`${left?.old}:${right?.new}`}>
			<td class="no">{left?.old ?? ""}</td>
			<td class="text" data-kind={left?.kind ?? "none"}>
				{left && <LineText line={left} of={colours.get(left)} />}
			</td>
			<td class="no">{right?.new ?? ""}</td>
			<td class="text" data-kind={right?.kind ?? "none"}>
				{right && <LineText line={right} of={colours.get(right)} />}
			</td>
		</tr>
	));
}

function LineText({ line, of }: { line: Line; of: readonly Piece[] | undefined }) {
	const { text, mark } = line;
	return (
		<span>
			{of ? (
				<Pieces of={of} />
			) : !mark || mark[0] === mark[1] ? (
				text
			) : (
				<>
					{text.slice(0, mark[0])}
					<span class={changed}>{text.slice(mark[0], mark[1])}</span>
					{text.slice(mark[1])}
				</>
			)}
			{line.bare && <em class="no-end">no line end</em>}
		</span>
	);
}
