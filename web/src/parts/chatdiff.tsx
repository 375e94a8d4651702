// One file's change in a chat: by lines, inline, or side by side where there is room.
import { ChevronDown, ChevronRight, FileDiff as FileDiffIcon } from "lucide";
import { useMemo } from "preact/hooks";
import type { FileDiff } from "../api/types";
import { diffLines, hunksOf } from "../chat/diff";
import type { Feed } from "../chat/feed";
import { shortPath } from "../words/tabs";
import { Diff } from "./bits";
import { DiffLines } from "./difflines";
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
	// Lines are many: they are worked out once.
	const hunks = useMemo(
		() => (folded ? [] : hunksOf(diffLines(before.text, after.text))),
		[folded, before.text, after.text],
	);
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
				<DiffLines
					hunks={hunks}
					path={diff.path}
					kind={!diff.old ? "fresh" : wide ? "wide" : "inline"}
					most={feed.toggled.value.has(`${item}:all`) ? Number.POSITIVE_INFINITY : firstLines}
					onMore={() => feed.toggle(`${item}:all`)}
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

/** Lines shown before the rest is asked for. */
const firstLines = 48;
