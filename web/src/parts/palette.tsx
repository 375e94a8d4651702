// The command palette: commands, tabs, tab configs, found by a few letters.
import { useSignal } from "@preact/signals";
import { AppWindow, Command as CommandIcon, FileCog, type IconNode } from "lucide";
import { useEffect, useId, useRef } from "preact/hooks";
import { type Chord, matches } from "../keys/chord";
import { available, commands, mac } from "../keys/keys";
import { closeDialog } from "../state/actions";
import { chooseConfig, loadConfigs } from "../state/configs";
import { remembered } from "../state/remember";
import { activePane, chips, configs, panes, sessions, showTab, tabs } from "../state/store";
import { shownSession } from "../terminal/pool";
import { ranked } from "../words/ranked";
import { tabRow } from "../words/tabs";
import { Keys } from "./bits";
import { Modal } from "./dialog";
import { Icon } from "./icon";

/** What was done by the palette, the newest first. */
const used = remembered<string[]>("palette", [], localStorage);

interface Item {
	id: string;
	icon: IconNode;
	title: string;
	note?: string;
	chord?: Chord;
	run: () => void;
}

function items(): Item[] {
	const all: Item[] = tabs.value.map((tab) => {
		const row = tabRow(tab, panes.value, chips.value, sessions.value);
		return {
			id: `tab-${tab.id}`,
			icon: AppWindow,
			title: row.title,
			note: row.branch || row.directory,
			run: () => showTab(tab.id),
		};
	});
	for (const command of commands) {
		if (command.id === "palette" || !available(command)) continue;
		all.push({
			id: command.id,
			icon: CommandIcon,
			title: command.title,
			chord: command.keys[0],
			run: command.run,
		});
	}
	for (const config of configs.value?.configs ?? []) {
		all.push({
			id: `config-${config.path}`,
			icon: FileCog,
			title: `Open ${config.name}`,
			note: config.description,
			run: () => void chooseConfig(config),
		});
	}
	return all;
}

export function Palette() {
	const typed = useSignal("");
	const at = useSignal(0);
	const list = useRef<HTMLDivElement>(null);
	const id = useId();
	useEffect(() => void loadConfigs(), []);

	const found = ranked(typed.value, items(), used.value);
	const chosen = found[Math.min(at.value, found.length - 1)];

	const run = (item: Item | undefined) => {
		if (!item) return;
		used.value = [item.id, ...used.value.filter((id) => id !== item.id)].slice(0, 30);
		closeDialog();
		item.run();
	};
	const go = (to: number) => {
		if (found.length === 0) return;
		at.value = (to + found.length) % found.length;
		list.current?.querySelectorAll("[role=option]")[at.value]?.scrollIntoView({ block: "nearest" });
	};
	const onKey = (event: KeyboardEvent) => {
		if (matches("mod+k", event, mac)) {
			// The key that a shell means "cut the line" by is not lost: twice is for it.
			event.preventDefault();
			closeDialog();
			shownSession(activePane.value)?.type("\x0b");
			return;
		}
		if (event.key === "ArrowDown") go(at.value + 1);
		else if (event.key === "ArrowUp") go(at.value - 1);
		else if (event.key === "Enter") run(chosen);
		else return;
		event.preventDefault();
	};

	return (
		<Modal title="Command palette" class="palette" bare>
			<input
				class="palette-input"
				role="combobox"
				aria-expanded="true"
				aria-controls={id}
				aria-activedescendant={chosen ? `${id}-${chosen.id}` : undefined}
				aria-label="Command, tab or config"
				placeholder="Command, tab or config"
				autofocus
				autocomplete="off"
				spellcheck={false}
				value={typed.value}
				onInput={(event) => {
					typed.value = event.currentTarget.value;
					at.value = 0;
				}}
				onKeyDown={onKey}
			/>
			<div class="palette-list" role="listbox" id={id} aria-label="Found" ref={list}>
				{found.map((item) => (
					// biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
					// biome-ignore lint/a11y/useFocusableInteractive: the field has the focus
					<div
						key={item.id}
						id={`${id}-${item.id}`}
						class="palette-item"
						role="option"
						aria-selected={item === chosen}
						onPointerMove={() => {
							at.value = found.indexOf(item);
						}}
						onClick={() => run(item)}
					>
						<Icon of={item.icon} />
						<span class="cut">{item.title}</span>
						{item.chord ? <Keys chord={item.chord} /> : item.note && <small class="cut">{item.note}</small>}
					</div>
				))}
			</div>
			{found.length === 0 && <p class="palette-none">Nothing fits “{typed.value}”.</p>}
			<div class="palette-foot">
				<span>↑↓ move</span>
				<span>Enter does it</span>
				<span>{mac ? "⌘K" : "Ctrl K"} again sends it to the terminal</span>
			</div>
		</Modal>
	);
}
