// What a place will look like: the pane's own values, and a sample where it has none.
import type { Bank, Chip } from "../api/types";
import { type Items, isUnknown, itemName, itemOf, type Place } from "../words/chiplayout";
import { chipText } from "../words/chipnames";
import { shows } from "../words/tabs";
import { ChipIcon } from "./chipicon";
import { ChipText } from "./promptbar";
import { PullMark } from "./pull";

export interface PreviewProps {
	place: Place;
	items: Items;
	chips: readonly Chip[];
	bank: Bank | null;
}

export function Preview({ place, items, chips, bank }: PreviewProps) {
	const about = (kind: string) => chips.find((chip) => chip.kind === kind && shows(chip));
	const drawn = (kinds: readonly string[]) => kinds.filter((kind) => bank && !isUnknown(kind, bank));
	const words = [...items.left, ...items.right].flatMap((kind) => {
		if (!bank || isUnknown(kind, bank)) return [];
		const chip = about(kind);
		return [`${itemName(kind, bank)} ${chip ? chipText(chip) : "(sample)"}`];
	});
	const samples = drawn([...items.left, ...items.right]).some((kind) => !about(kind));
	const draw = (kinds: readonly string[]) =>
		drawn(kinds).map((kind) => <Piece key={kind} kind={kind} chip={about(kind)} bank={bank} />);
	return (
		<section class="layout-preview" aria-label="Preview">
			<div class="bar" role="img" aria-label={`Preview: ${words.join(", ")}`}>
				<span class="preview-side">{draw(items.left)}</span>
				{place !== "prompt" && <span class="preview-side">{draw(items.right)}</span>}
			</div>
			<p class="help">
				{samples
					? "A preview. Dashed: a sample, because the pane has no such value now."
					: "A preview, with the values of the pane."}
			</p>
		</section>
	);
}

function Piece({ kind, chip, bank }: { kind: string; chip?: Chip; bank: Bank | null }) {
	const item = itemOf(bank, kind);
	const pull = kind === "github_pr" ? chip?.data?.pullRequest : undefined;
	return (
		<span class="chip" data-kind={kind} data-sample={!chip || undefined}>
			{pull ? <PullMark pull={pull} size={14} /> : <ChipIcon kind={kind} icon={chip?.icon ?? item?.icon} />}
			{pull ? (
				<span>#{pull.number}</span>
			) : chip ? (
				<ChipText chip={chip} />
			) : (
				<span class="cut">{item?.example || itemName(kind, bank)}</span>
			)}
		</span>
	);
}
