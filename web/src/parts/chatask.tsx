// A permission question: what it is about and what can be said, by button or key (spec
// session S1.7). It lies above the composer, so that it is in view wherever one reads.
import { ShieldQuestion } from "lucide";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { answering, respond } from "../chat/acts";
import type { Feed } from "../chat/feed";
import type { Item, Journal } from "../chat/journal";
import { answers, readable, within } from "../chat/words";
import { sentences } from "../words/sentences";
import { shortPath } from "../words/tabs";
import { Diff } from "./bits";
import { kindIcon } from "./chattool";
import { Icon } from "./icon";

/** A key that was meant for the composer does not answer a question that just came. */
const settleTime = 350;

export interface AskCardProps {
	session: string;
	item: Item;
	/** Of how many questions this is the first. */
	of: number;
	journal: Journal;
	feed: Feed;
	directory: string;
	cardRef?: RefObject<HTMLElement | null>;
	/** Typing goes on in the composer. */
	onTyping: () => void;
}

export function AskCard(props: AskCardProps) {
	const { session, item, directory } = props;
	const own = useRef<HTMLElement>(null);
	const card = props.cardRef ?? own;
	const since = useRef(performance.now());
	useEffect(() => {
		since.current = performance.now();
	}, [item.id]);
	const approval = item.body.approval;
	if (!approval) return null;
	const list = answers(approval);
	const said = answering.value[item.id];
	const sending = said === "sending";
	const tool = itemOf(props.journal, approval.tool);
	const call = tool?.body.tool;
	const touched = (call?.diffs ?? []).flatMap((id) => itemOf(props.journal, id)?.body.diff ?? []);
	const places = (call?.locations ?? []).filter((p) => !touched.some((diff) => diff.path === p.path));

	const onKey = (event: KeyboardEvent) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
		const key = event.key.toLowerCase();
		const answer = list.find((a) => a.keys.includes(key));
		if (answer) {
			event.preventDefault();
			if (!event.repeat && performance.now() - since.current > settleTime)
				void respond(session, item, answer.id);
		} else if (event.key.length === 1 && event.key !== " " && event.target === card.current) props.onTyping();
	};

	return (
		<section
			class="ask"
			ref={card}
			aria-label={`Permission: ${approval.title}`}
			tabIndex={-1}
			onKeyDown={onKey}
			data-busy={sending}
		>
			<header>
				<Icon of={ShieldQuestion} />
				<span class="ask-title">{approval.title}</span>
				{props.of > 1 && <span class="label">1 of {props.of}</span>}
			</header>
			<div class="ask-about">
				{call && call.title !== approval.title && (
					<p>
						<Icon of={kindIcon(call.kind)} size={14} />
						<span>{call.title}</span>
					</p>
				)}
				{touched.map((diff) => (
					<p key={diff.path}>
						<Icon of={kindIcon("edit")} size={14} />
						<code data-tip={diff.path}>{shortPath(within(diff.path, directory), 60)}</code>
						<Diff added={diff.added} removed={diff.removed} />
					</p>
				))}
				{places.map((place) => (
					<p key={place.path}>
						<Icon of={kindIcon("read")} size={14} />
						<code data-tip={place.path}>{shortPath(within(place.path, directory), 60)}</code>
					</p>
				))}
				{touched.length === 0 && call?.input && <pre>{readable(call.input.head)}</pre>}
			</div>
			{said && said !== "sending" && (
				<p class="ask-fault" role="alert">
					{sentences(said.message, said.hint)}
				</p>
			)}
			<div class="ask-answers">
				{list.map((answer, at) => (
					<button
						type="button"
						key={answer.id}
						class={`button ${at === 0 && answer.grants ? "main" : ""}`}
						aria-disabled={sending || undefined}
						aria-keyshortcuts={answer.keys.join(" ")}
						onClick={() => void respond(session, item, answer.id)}
					>
						{answer.name}
						<kbd>
							{answer.keys.map((key) => (
								<i key={key}>{key.toUpperCase()}</i>
							))}
						</kbd>
					</button>
				))}
				{list.length === 0 && (
					<button type="button" class="button" onClick={() => void respond(session, item, "")}>
						Cancel
					</button>
				)}
			</div>
		</section>
	);
}

function itemOf(journal: Journal, id: string | undefined): Item | undefined {
	const at = id ? journal.place.get(id) : undefined;
	return at === undefined ? undefined : journal.items[at];
}
