// Acts on the order of the tabs: groups, pins, colours, moves (spec tabs T6.5). The order
// itself is the host's: nothing moves here before it says so.
import { type Move, moveWords } from "../words/groups";
import { ask, bring, client, mention } from "./actions";
import { groups, renaming, said } from "./store";

export async function doMove(move: Move, title: string): Promise<void> {
	if (move.kind === "make") return makeGroup(move.tabs);
	await ask("It was not moved", async () => {
		if (move.kind === "group") {
			const { group, after, pinned } = move;
			await client.call("group.edit", { group, after, pinned });
		} else {
			const { tab, after, group, pinned } = move;
			noted((await client.call("tab.move", { tab, after, group, pinned })).notes);
		}
		said.value = moveWords(move, title, groups.value);
	});
}

/** What an act did besides: a tab that joins a group takes its pin. */
function noted(notes: readonly string[] | null | undefined): void {
	for (const note of notes ?? []) mention(note);
}

/** Puts tabs into a new group, whose name is asked for at once, in its place. */
export async function makeGroup(tabs: string[]): Promise<void> {
	await ask("The group was not made", async () => {
		const made = await client.call("group.make", { tabs });
		said.value = "Grouped";
		noted(made.notes);
		renaming.value = made.group;
	});
}

export async function joinGroup(tab: string, group: string): Promise<void> {
	await ask("The tab was not moved", async () => {
		noted((await client.call("tab.move", { tab, group })).notes);
		said.value = group === "" ? "Out of the group" : "In the group";
	});
}

export async function pinTab(tab: string, pinned: boolean): Promise<void> {
	await ask(pinned ? "The tab was not pinned" : "The tab is still pinned", async () => {
		await client.call("tab.pin", { tab, pinned });
		said.value = pinned ? "Pinned" : "No longer pinned";
	});
}

export async function recolorTab(tab: string, color: string): Promise<void> {
	await ask("The colour was not set", () => client.call("tab.recolor", { tab, color }));
}

export interface GroupChange {
	name?: string;
	color?: string;
	collapsed?: boolean;
	pinned?: boolean;
}

export async function editGroup(group: string, change: GroupChange): Promise<void> {
	await ask("The group was not changed", () => client.call("group.edit", { group, ...change }));
}

export async function dissolveGroup(group: string): Promise<void> {
	await ask("The group is still there", async () => {
		await client.call("group.dissolve", { group });
		said.value = "Group dissolved, its tabs stay";
	});
}

/** Moves a pane beside another one, or into a tab of its own, and shows where it is. */
export async function movePane(pane: string, to: { tab: string; beside: string } | null): Promise<void> {
	await ask("The pane was not moved", async () => {
		const moved = await client.call("pane.move", to ? { pane, beside: to.beside, side: "right" } : { pane });
		const tab = to?.tab ?? moved.tabId;
		if (tab) bring(tab);
		said.value = to ? "Pane moved" : "Pane moved into a tab of its own";
	});
}
