// A tool call: one row that opens to its input and output, and the files it changes.
import {
	Ban,
	Brain,
	Check,
	ChevronDown,
	ChevronRight,
	CircleDashed,
	FileInput,
	FilePen,
	FileText,
	Globe,
	type IconNode,
	LoaderCircle,
	Search,
	SquareTerminal,
	Trash2,
	Wrench,
	X,
} from "lucide";
import type { Blob, ToolCall } from "../api/types";
import type { Feed } from "../chat/feed";
import type { Item } from "../chat/journal";
import { bytes, readable, toolWord, within } from "../chat/words";
import { copy } from "../state/actions";
import { shortPath } from "../words/tabs";
import { DiffView } from "./chatdiff";
import { CopyButton } from "./chatmarkdown";
import { Icon } from "./icon";

const kinds: Record<string, IconNode> = {
	read: FileText,
	edit: FilePen,
	delete: Trash2,
	move: FileInput,
	search: Search,
	execute: SquareTerminal,
	think: Brain,
	fetch: Globe,
};

export function kindIcon(kind: string): IconNode {
	return kinds[kind] ?? Wrench;
}

const marks: Record<string, IconNode> = {
	pending: CircleDashed,
	running: LoaderCircle,
	done: Check,
	failed: X,
	cancelled: Ban,
};

/** A state by shape, colour and word. */
export function ToolMark({ state }: { state: string }) {
	return (
		<span class="tool-state" data-state={state}>
			<Icon of={marks[state] ?? CircleDashed} size={14} />
			<span>{toolWord(state)}</span>
		</span>
	);
}

export interface ToolViewProps {
	item: string;
	tool: ToolCall;
	diffs: readonly Item[];
	feed: Feed;
	directory: string;
	wide: boolean;
}

export function ToolView({ item, tool, diffs, feed, directory, wide }: ToolViewProps) {
	const open = feed.toggled.value.has(item);
	const where = tool.locations?.[0];
	const path = where ? within(where.path, directory) : "";
	const more = (tool.locations ?? []).length - 1;
	const bare = !tool.input && (tool.output ?? []).length === 0 && more < 1;
	// A title that names the file already needs no second mention of it.
	const said =
		path !== "" && (tool.title.includes(path) || tool.title.includes(path.split("/").pop() ?? path));
	const failed = tool.state === "failed" ? firstLine(tool.output) : "";
	return (
		<section class="tool" data-state={tool.state} aria-label={`Tool call: ${tool.title}`}>
			<button
				type="button"
				class="tool-head"
				aria-expanded={bare ? undefined : open}
				aria-disabled={bare || undefined}
				onClick={() => {
					if (!bare) feed.toggle(item);
				}}
			>
				<Icon of={kindIcon(tool.kind)} />
				<span class="tool-title cut">{tool.title}</span>
				{path && !said && (
					<code class="tool-path cut" data-tip={where?.path}>
						{shortPath(path, 44)}
						{where?.line ? `:${where.line}` : ""}
					</code>
				)}
				{more > 0 && <span class="tool-more">+{more}</span>}
				<ToolMark state={tool.state} />
				{bare ? <span class="no-chevron" /> : <Icon of={open ? ChevronDown : ChevronRight} size={14} />}
			</button>
			{!open && failed && <p class="tool-failed">{failed}</p>}
			{open && (
				<div class="tool-body">
					{(tool.locations ?? []).length > 0 && (
						<ul class="tool-places" aria-label="Places">
							{(tool.locations ?? []).map((place) => {
								const text = `${within(place.path, directory)}${place.line ? `:${place.line}` : ""}`;
								return (
									<li key={text}>
										<button type="button" class="link" onClick={() => void copy(place.path, "Path copied")}>
											<code>{text}</code>
										</button>
									</li>
								);
							})}
						</ul>
					)}
					{tool.input && <BlobView title="Input" blob={tool.input} feed={feed} json />}
					{(tool.output ?? []).map((blob, at) => (
						<BlobView key={String(at)} title="Output" blob={blob} feed={feed} />
					))}
				</div>
			)}
			{diffs.map(
				(diff) =>
					diff.body.diff && (
						<DiffView
							key={diff.id}
							item={diff.id}
							diff={{ ...diff.body.diff, path: within(diff.body.diff.path, directory) }}
							feed={feed}
							wide={wide}
						/>
					),
			)}
		</section>
	);
}

function firstLine(output: readonly Blob[] | null | undefined): string {
	for (const blob of output ?? []) {
		const line = blob.head.split("\n").find((l) => l.trim() !== "");
		if (line) return line;
	}
	return "";
}

interface BlobViewProps {
	title: string;
	blob: Blob;
	feed: Feed;
	json?: boolean;
}

/** The head of a payload, and the whole on demand. */
export function BlobView({ title, blob, feed, json }: BlobViewProps) {
	const whole = blob.digest ? feed.payloads.value[blob.digest] : undefined;
	const text = typeof whole === "string" ? whole : blob.head;
	const isText = !blob.mime || /^text\/|json|xml|javascript/.test(blob.mime);
	if (!isText) {
		return (
			<p class="blob-note">
				{title}: {blob.name || blob.mime}, {bytes(blob.size)}. It is not shown here.
			</p>
		);
	}
	const shown = json ? readable(text) : text;
	return (
		<figure class="blob">
			<figcaption>
				<span>{blob.name && blob.name !== "rawOutput" ? blob.name : title}</span>
				<CopyButton text={text} what={title.toLowerCase()} />
			</figcaption>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
			<pre tabIndex={0} aria-label={title}>
				{shown}
			</pre>
			{blob.digest && typeof whole !== "string" && (
				<p class="blob-note">
					{whole ? `${whole.message} ` : `The first ${bytes(blob.head.length)} of ${bytes(blob.size)}. `}
					<button type="button" class="link" onClick={() => void feed.payload(blob.digest ?? "")}>
						Show all
					</button>
				</p>
			)}
		</figure>
	);
}
