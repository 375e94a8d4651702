// The card beside a row: what the row has no room for, after a moment's rest of the pointer
// or of the keyboard's focus on it. Escape closes it; the pointer may enter it.
import { signal } from "@preact/signals";
import { FileCog, Folder, GitBranch, GitFork, type IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ChipLayout, Tab } from "../api/types";
import { checksWords, pullState, pullWay, safePage } from "../words/pull";
import { pullOf, type TabRow } from "../words/tabs";
import { Diff } from "./bits";
import { Icon, StateMark } from "./icon";
import { PullMark } from "./pull";

const delay = 300;
/** The pointer's time to get from a row to its card. */
const grace = 150;

export interface Carded {
	key: string;
	box: DOMRect;
}

export const carded = signal<Carded | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows the card of a row: soon, or at once where another card is shown already. */
export function wantCard(key: string, element: Element): void {
	clearTimeout(timer);
	if (carded.value?.key === key) return;
	const show = () => {
		if (element.isConnected) carded.value = { key, box: element.getBoundingClientRect() };
	};
	if (carded.value) show();
	else timer = setTimeout(show, delay);
}

export function keepCard(): void {
	clearTimeout(timer);
}

export function leaveCard(): void {
	clearTimeout(timer);
	if (carded.value) timer = setTimeout(dropCard, grace);
}

export function dropCard(): void {
	clearTimeout(timer);
	carded.value = null;
}

export interface RowCardProps {
	row: TabRow;
	tab: Tab;
	layout: ChipLayout | null;
	box: DOMRect | null;
}

export function RowCard({ row, tab, layout, box }: RowCardProps) {
	const ref = useRef<HTMLDivElement>(null);

	useLayoutEffect(() => {
		const card = ref.current;
		if (!card || !box) return;
		const left = Math.min(box.right + 12, innerWidth - card.offsetWidth - 8);
		card.style.left = `${Math.max(8, left)}px`;
		card.style.top = `${Math.max(8, Math.min(box.top, innerHeight - card.offsetHeight - 8))}px`;
	}, [box, row.id, row.pane]);

	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (event.key === "Escape") dropCard();
		};
		addEventListener("keydown", onKey, true);
		addEventListener("blur", dropCard);
		return () => {
			removeEventListener("keydown", onKey, true);
			removeEventListener("blur", dropCard);
		};
	}, []);

	const pull = pullOf(row, layout);
	const worktree = tab.worktree;
	return (
		<div class="row-card" ref={ref} onPointerEnter={keepCard} onPointerLeave={leaveCard} aria-hidden="true">
			<div class="card-head">
				<StateMark state={row.state} />
				<b class="cut">{row.title}</b>
				{row.practice && <span class="label">practice</span>}
			</div>
			<p class="card-state">
				{row.stateWord}
				{row.panes > 1 && ` · ${row.panes} panes`}
			</p>
			<dl class="card-facts">
				{row.directoryFull && (
					<Fact icon={Folder}>
						<Path text={row.directoryFull} />
					</Fact>
				)}
				{row.branch && (
					<Fact icon={worktree ? GitFork : GitBranch}>
						{row.branch}
						{row.detached && <small>detached</small>}
						{worktree && (
							<small>
								worktree{worktree.base && ` from ${worktree.base}`}
								{worktree.removeOnClose && ", removed on close"}
							</small>
						)}
					</Fact>
				)}
				{(row.added > 0 || row.removed > 0 || row.files > 0) && (
					<Fact>
						<Diff added={row.added} removed={row.removed} />
						<small>
							{row.files} {row.files === 1 ? "file" : "files"}
							{row.untracked > 0 && `, ${row.untracked} untracked`}
						</small>
					</Fact>
				)}
				{tab.config && <Fact icon={FileCog}>{tab.config}</Fact>}
			</dl>
			{pull && (
				<a
					class="card-pull"
					href={safePage(pull.url)}
					target="_blank"
					rel="noopener noreferrer"
					tabIndex={-1}
					data-state={pullState(pull)}
				>
					<PullMark pull={pull} size={16} />
					<span>
						<span class="card-pull-title">{pull.title}</span>
						<small>{[`#${pull.number} ${pullState(pull)}`, pullWay(pull)].filter(Boolean).join(" · ")}</small>
						{checksWords(pull) && (
							<small class="card-checks" data-checks={pull.checks}>
								{checksWords(pull)} {pull.checks && "checks"}
							</small>
						)}
					</span>
				</a>
			)}
		</div>
	);
}

function Fact({ icon, children }: { icon?: IconNode; children: ComponentChildren }) {
	return (
		<div class="card-fact">
			<dt>{icon && <Icon of={icon} size={14} />}</dt>
			<dd>{children}</dd>
		</div>
	);
}

/** A path that breaks after its slashes, not within a name where it can help it. */
function Path({ text }: { text: string }) {
	return (
		<>
			{text.split(/(?<=\/)/).map((part, at) => (
				<span key={`${at}${part}`}>
					{part}
					<wbr />
				</span>
			))}
		</>
	);
}
