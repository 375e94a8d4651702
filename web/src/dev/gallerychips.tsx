// The chips of every kind, and the editors of prompt and footers, in the gallery.
import { useSignal } from "@preact/signals";
import type { Bank, Chip, ChipData } from "../api/types";
import { ChipLayoutView } from "../parts/chiplayout";
import { defaultItems, type Items, type Place, sameItems } from "../words/chiplayout";
import { chipsOf, pullChip, pullOf, sampleState } from "./fixtures";

function chip(kind: string, text: string, more: Partial<Chip> = {}): Chip {
	return { kind, value: text, text, status: "ready", ...more };
}
const data = (more: Partial<ChipData>): ChipData => ({
	files: 0,
	added: 0,
	removed: 0,
	untracked: 0,
	...more,
});

export const kindChips: Chip[] = [
	chip("user", "ada"),
	chip("host", "lighthouse"),
	chip("ssh", "ada@lighthouse"),
	chip("subshell", "zsh"),
	chip("venv", "harbor"),
	chip("conda", "base"),
	chip("node", "v22.4.0"),
	chip("date", "Tue Dec 01 2026"),
	chip("time12", "03:48 pm"),
	chip("time24", "15:48"),
	chip("git_status", "fog-signal • ↑1 ↓2", { data: data({ upstream: "origin/main", ahead: 1, behind: 2 }) }),
	chip("kube", "staging"),
	chip("svn_branch", "trunk"),
	chip("svn_dirty", "3", { data: data({ files: 3 }) }),
	chip("custom:weather", "+4 °C", { title: "Weather", icon: "sun" }),
	chip("custom:tide", "high", { title: "Tide", icon: "🌊" }),
];

const prompt = [
	"conda",
	"venv",
	"ssh",
	"subshell",
	"node",
	"cwd",
	"git_branch",
	"git_diff",
	"github_pr",
	"kube",
];
const everywhere = ["prompt", "footer", "cliFooter"];
const item = (kind: string, example: string, more: object = {}) => ({
	kind,
	title: kind,
	example,
	places: everywhere,
	chip: true,
	...more,
});
const bank: Bank = {
	items: [
		item("cwd", "~/src/harbor"),
		...kindChips
			.slice(0, 14)
			.filter((one) => one.kind !== "subshell")
			.map((one) =>
				item(one.kind, one.text, one.kind.startsWith("svn") ? { reason: "Requires the `svn` command" } : {}),
			),
		item("git_branch", "fog-signal"),
		item("git_diff", "3 • +10 -2"),
		item("github_pr", "PR #12", { reason: "Requires the GitHub CLI" }),
		item("agent_plan", "2 of 5", { places: ["footer"] }),
		item("input_mode", "Send", { places: ["footer"], chip: false }),
		item("context_use", "38 %", { places: ["footer"], chip: false }),
		item("model", "Model", { places: ["footer"], chip: false }),
		item("attach", "Attach", { places: ["footer", "cliFooter"], chip: false }),
		item("voice", "Dictate", {
			places: ["footer", "cliFooter"],
			chip: false,
			reason: "Dictation is not built yet",
		}),
		item("custom:weather", "", { title: "Weather", icon: "sun" }),
	],
	defaults: [
		{ place: "prompt", items: { left: prompt, right: [] } },
		{
			place: "footer",
			items: {
				left: ["ssh", "cwd", "git_branch", "git_diff", "github_pr", "input_mode"],
				right: ["agent_plan", "context_use", "model", "attach"],
			},
		},
		{ place: "cliFooter", items: { left: ["git_diff"], right: ["cwd", "git_branch"] } },
	],
};

export const layoutDialogs = ["edit-prompt", "edit-footer"];

export function LayoutShown({ name }: { name: string }) {
	const place = useSignal<Place>(name === "edit-footer" ? "footer" : "prompt");
	const own = useSignal<Partial<Record<Place, Items>>>(
		name === "edit-prompt"
			? { prompt: { left: ["node", "cwd", "git_branch", "fathoms", "github_pr"], right: [] } }
			: {},
	);
	const usual = defaultItems(bank, place.value) ?? { left: [], right: [] };
	const items = own.value[place.value] ?? usual;
	return (
		<ChipLayoutView
			place={place.value}
			items={items}
			custom={!sameItems(items, usual)}
			layout={sampleState("").layout}
			bank={bank}
			chips={[...chipsOf("fog-signal", [3, 42, 7]), pullChip(pullOf(12, "open")), ...kindChips.slice(6, 7)]}
			fail={null}
			onPlace={(next) => {
				place.value = next;
			}}
			onEdit={(next) => {
				own.value = { ...own.value, [place.value]: next };
			}}
			onReset={() => {
				own.value = {};
			}}
			onUndo={() => undefined}
		/>
	);
}
