// A chat in a pane: what was said and done, what is asked, and the composer. It is a chunk
// of its own, loaded with the first chat.
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { ArrowDown } from "lucide";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Pane, Session } from "../api/types";
import { handles } from "../chat/active";
import { cancelTurn } from "../chat/acts";
import { type Composer, composerOf } from "../chat/composer";
import { type Shown, shown } from "../chat/entries";
import { type Feed, hold, release } from "../chat/feed";
import { type Item, present } from "../chat/journal";
import { elapsed } from "../chat/words";
import { wantFocus } from "../keys/keys";
import { closePane } from "../state/actions";
import { activePane, chips, layout, link, sessions, tabs } from "../state/store";
import { AskCard } from "./chatask";
import { ComposerView, Queue } from "./chatcomposer";
import { DiffView } from "./chatdiff";
import { Footer } from "./chatfooter";
import {
	ApprovalLine,
	LifecycleView,
	LoneSubmission,
	MessageView,
	PlanView,
	ThoughtView,
	TurnView,
} from "./chatitems";
import { kept } from "./chatkept";
import { type ListHandle, LongList } from "./chatlist";
import { StripView } from "./chatstrip";
import { ToolView } from "./chattool";
import { Icon } from "./icon";
import { mayTakeFocus } from "./pane";
import "../styles/chat.css";

export interface ChatPaneProps {
	pane: Pane;
	several: boolean;
	zoomed: boolean;
}

export function ChatPane(props: ChatPaneProps) {
	const id = props.pane.session ?? "";
	const session = sessions.value[id];
	if (session) return <Followed key={id} {...props} session={session} />;
	if (props.pane.status === "starting") {
		return (
			<div class="empty" role="status">
				<p class="help">Opening…</p>
			</div>
		);
	}
	return (
		<div class="empty">
			<p class="help">This chat is no longer kept.</p>
			<button type="button" class="button" onClick={() => void closePane(props.pane.id)}>
				Close
			</button>
		</div>
	);
}

function Followed(props: ChatPaneProps & { session: Session }) {
	const { id } = props.session;
	return <Chat {...props} feed={useFeed(id)} composer={composerOf(id)} />;
}

function useFeed(session: string): Feed {
	const feed = useMemo(() => hold(session), [session]);
	useEffect(() => () => release(feed), [feed]);
	return feed;
}

export interface ChatProps extends ChatPaneProps {
	session: Session;
	feed: Feed;
	composer: Composer;
}

export function Chat({ pane, several, zoomed, session, feed, composer }: ChatProps) {
	const root = useRef<HTMLDivElement>(null);
	const field = useRef<HTMLTextAreaElement>(null);
	const card = useRef<HTMLElement>(null);
	const list = useRef<ListHandle | null>(null);
	const atEnd = useSignal(true);
	const wide = useSignal(false);
	const journal = feed.journal.value;
	const view = useComputed(() => shown(feed.journal.value)).value;
	const now = useComputed(() => present(feed.journal.value)).value;
	const running = now.running !== null || session.status === "working" || session.status === "waiting";
	const question = now.open[0];
	const tab = tabs.value.find((t) => t.id === pane.tab);
	const launches = tab?.launches ?? [];
	const name = session.agentName || session.agent;

	useEffect(() => {
		const box = root.current;
		if (!box) return;
		const observer = new ResizeObserver(([entry]) => {
			wide.value = (entry?.contentRect.width ?? 0) >= 1000;
		});
		observer.observe(box);
		return () => observer.disconnect();
	}, []);

	useKeyboard({ pane: pane.id, session: session.id, composer, field, card, list, question: question?.id });

	const last = view.entries.at(-1);
	const bare = (feed.ready.value || session.cursor.seq === 0) && view.entries.length === 0 && !running;
	const draw = (item: Item) => (
		<EntryView
			item={item}
			view={view}
			streaming={running && item === last}
			wide={wide.value}
			feed={feed}
			composer={composer}
			directory={session.directory}
		/>
	);
	return (
		<div class="chat" ref={root} data-wide={wide.value}>
			<StripView session={session} fault={feed.fault.value} />
			<div class="chat-main">
				{bare && session.status !== "starting" ? (
					<Start session={session} />
				) : (
					<LongList
						items={view.entries}
						guess={guessHeight}
						draw={draw}
						label={`Chat with ${name}`}
						onEnd={(at) => {
							atEnd.value = at;
						}}
						onStart={() => void feed.loadOlder()}
						head={<Head feed={feed} />}
						foot={<Foot running={now.running} asks={question !== undefined} working={running} />}
						handle={list}
					/>
				)}
				{!atEnd.value && (
					<button type="button" class="to-end" onClick={() => list.current?.toEnd()}>
						<Icon of={ArrowDown} size={14} /> Jump to the end
					</button>
				)}
			</div>
			<div class="chat-foot">
				<Queue
					queued={now.queued}
					sends={composer.sends.value}
					composer={composer}
					linked={link.value.status === "open"}
				/>
				{question && (
					<AskCard
						session={session.id}
						item={question}
						of={now.open.length}
						journal={journal}
						feed={feed}
						directory={session.directory}
						cardRef={card}
						onTyping={() => field.current?.focus()}
					/>
				)}
				<ComposerView
					session={session}
					composer={composer}
					running={running}
					field={field}
					onCancel={() => void cancelTurn(session.id)}
					onPage={(by) => list.current?.page(by)}
					onSent={() => list.current?.toEnd()}
				/>
			</div>
			<Footer
				pane={pane}
				session={session}
				chips={chips.value[pane.id] ?? []}
				layout={layout.value}
				plan={now.plan?.body.plan ?? null}
				running={running}
				launch={
					launches.find((r) => "sessionId" in r.outcome && r.outcome.sessionId === session.id) ?? launches[0]
				}
				several={several}
				zoomed={zoomed}
			/>
			<Spoken name={name} running={running} asks={question?.body.approval?.title ?? ""} />
		</div>
	);
}

interface EntryProps {
	item: Item;
	view: Shown;
	streaming: boolean;
	wide: boolean;
	feed: Feed;
	composer: Composer;
	directory: string;
}

/** One entry, drawn again only when something of its own has changed. */
function EntryView({ view, ...props }: EntryProps) {
	return <Entry {...props} submission={view.sent.get(props.item.id)} diffs={view.diffs.get(props.item.id)} />;
}

type OwnProps = Omit<EntryProps, "view"> & {
	submission: ReturnType<Shown["sent"]["get"]>;
	diffs: ReturnType<Shown["diffs"]["get"]>;
};

const Entry = kept(function Entry({
	item,
	submission,
	diffs,
	streaming,
	wide,
	feed,
	composer,
	directory,
}: OwnProps) {
	const { body } = item;
	switch (item.kind) {
		case "message":
			return (
				<MessageView
					item={item}
					submission={submission}
					streaming={streaming}
					composer={composer}
					feed={feed}
				/>
			);
		case "thought":
			return <ThoughtView item={item} streaming={streaming} feed={feed} />;
		case "tool":
			return body.tool ? (
				<ToolView
					item={item.id}
					tool={body.tool}
					diffs={diffs ?? []}
					feed={feed}
					directory={directory}
					wide={wide}
				/>
			) : null;
		case "diff":
			return body.diff ? <DiffView item={item.id} diff={body.diff} feed={feed} wide={wide} /> : null;
		case "plan":
			return <PlanView steps={body.plan ?? []} />;
		case "approval":
			return <ApprovalLine item={item} />;
		case "turn":
			return body.turnState ? <TurnView turn={body.turnState} /> : null;
		case "submission":
			return body.submission ? <LoneSubmission submission={body.submission} composer={composer} /> : null;
		case "question":
			return <p class="chat-line">{body.text}</p>;
		default:
			return <LifecycleView body={body} />;
	}
});

/** Heights before they are measured: near enough that the scroll bar does not jump. */
function guessHeight(item: Item): number {
	switch (item.kind) {
		case "message":
			return 28 + Math.ceil(item.text.length / 95) * 22;
		case "plan":
			return 48 + (item.body.plan ?? []).length * 24;
		case "diff":
			return 64 + Math.min(40, (item.body.diff?.added ?? 0) + (item.body.diff?.removed ?? 0)) * 20;
		default:
			return 36;
	}
}

function Head({ feed }: { feed: Feed }) {
	const older = feed.older.value;
	return (
		<div class="chat-head">
			{older === "loading" && <span role="status">Reading further back…</span>}
			{(older === "more" || older === "failed") && (
				<button
					type="button"
					class="link"
					onClick={() => {
						if (older === "failed") feed.older.value = "more";
						void feed.loadOlder();
					}}
				>
					{older === "failed" ? "It could not be read. Try again" : "Show earlier"}
				</button>
			)}
		</div>
	);
}

function Foot({ running, asks, working }: { running: Item | null; asks: boolean; working: boolean }) {
	const at = useSignal(Date.now());
	useEffect(() => {
		if (!working) return;
		at.value = Date.now();
		const timer = setInterval(() => {
			at.value = Date.now();
		}, 1000);
		return () => clearInterval(timer);
	}, [working]);
	if (!working) return <div class="chat-end" />;
	const since = running ? Date.parse(running.time) : Number.NaN;
	return (
		<div class="chat-end" data-working="true">
			<span class="dots" aria-hidden="true" data-still={asks}>
				<i />
				<i />
				<i />
			</span>
			<span>{asks ? "Waits for your answer" : "Working"}</span>
			{!Number.isNaN(since) && <time>{elapsed(at.value - since)}</time>}
		</div>
	);
}

/** An empty chat: what to do next. */
export function Start({ session }: { session: Session }) {
	return (
		<div class="chat-start">
			<h2>{session.agentName || session.agent}</h2>
			<p>
				Works in <code>{session.directory}</code>
			</p>
			<p class="keys-help">
				<kbd>
					<i>Enter</i>
				</kbd>
				sends
				<kbd>
					<i>Shift</i>
					<i>Enter</i>
				</kbd>
				new line
				{(session.commands ?? []).length > 0 && (
					<>
						<kbd>
							<i>/</i>
						</kbd>
						commands
					</>
				)}
			</p>
		</div>
	);
}

/** What a screen reader is told of a chat that goes on by itself. */
function Spoken({ name, running, asks }: { name: string; running: boolean; asks: string }) {
	const was = useRef(running);
	const words = useSignal("");
	useEffect(() => {
		if (asks) words.value = `${name} asks for permission: ${asks}`;
		else if (was.current && !running) words.value = `${name} has ended its turn.`;
		was.current = running;
	}, [running, asks]);
	return (
		<div class="hidden-text" role="status">
			{words.value}
		</div>
	);
}

interface KeyboardProps {
	pane: string;
	session: string;
	composer: Composer;
	field: { current: HTMLTextAreaElement | null };
	card: { current: HTMLElement | null };
	list: { current: ListHandle | null };
	/** The item of the open question. */
	question: string | undefined;
}

/** Who has the keyboard: the question while nothing is being written, else the composer. */
function useKeyboard({ pane, session, composer, field, card, list, question }: KeyboardProps): void {
	const asked = useRef(question);
	asked.current = question;
	const focus = () => {
		if (asked.current && composer.text.peek().trim() === "") card.current?.focus();
		else field.current?.focus();
	};
	useEffect(() => {
		handles.set(pane, {
			focus,
			cancel: () => void cancelTurn(session),
			toEnd: () => list.current?.toEnd(),
			toQuestion: () => card.current?.focus(),
		});
		return () => {
			handles.delete(pane);
		};
	}, [pane, session]);
	useSignalEffect(() => {
		const { what, n } = wantFocus.value;
		if (n > 0 && what === "pane" && activePane.peek() === pane) focus();
	});
	const touch = matchMedia("(pointer: coarse)").matches;
	useSignalEffect(() => {
		if (activePane.value === pane && !touch && mayTakeFocus()) focus();
	});
	const had = useRef<string | undefined>(undefined);
	useEffect(() => {
		const before = had.current;
		had.current = question;
		if (activePane.peek() !== pane) return;
		const here = document.activeElement;
		const mine = here === field.current || here === document.body || here === null || here === card.current;
		if (question && question !== before && mine && composer.text.peek().trim() === "") card.current?.focus();
		// The card that had the keyboard is gone.
		else if (!question && before && (here === document.body || here === null) && !touch)
			field.current?.focus();
	}, [question]);
}
