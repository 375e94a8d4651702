// A pull request by shape and colour: its icon, its badge, and what opens its page.
import { GitMerge, GitPullRequest, GitPullRequestClosed, GitPullRequestDraft, type IconNode } from "lucide";
import type { PullRequest } from "../api/types";
import { type PullState, pullLines, pullName, pullState, safePage } from "../words/pull";
import { Icon } from "./icon";

export const pullIcons: Record<PullState, IconNode> = {
	open: GitPullRequest,
	draft: GitPullRequestDraft,
	merged: GitMerge,
	closed: GitPullRequestClosed,
};

export function PullMark({ pull, size = 12 }: { pull: PullRequest; size?: number }) {
	const state = pullState(pull);
	return (
		<span class="pull-mark" data-state={state}>
			<Icon of={pullIcons[state]} size={size} />
		</span>
	);
}

/** The badge of a row: `#N`, a link to the page. */
export function PullBadge({ pull, tip }: { pull: PullRequest; tip: boolean }) {
	return (
		<a
			class="badge pull-badge"
			href={safePage(pull.url)}
			target="_blank"
			rel="noopener noreferrer"
			data-state={pullState(pull)}
			data-tip={tip ? pullLines(pull).join("\n") : undefined}
			aria-label={pullName(pull)}
			draggable={false}
		>
			<PullMark pull={pull} />#{pull.number}
		</a>
	);
}
