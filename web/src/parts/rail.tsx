// The left edge: the tabs, one below the other, and what is needed to make one.
import { useSignal } from "@preact/signals";
import { Bot, Contrast, Keyboard, Monitor, Moon, PanelLeft, Search, Sun } from "lucide";
import { useRef } from "preact/hooks";
import { collapsed, dialog, hostInfo, link, type Theme, theme } from "../state/store";
import { IconButton } from "./bits";
import { Brand, StateMark } from "./icon";
import { Menu, MenuItem } from "./menu";
import { NewTab } from "./newtab";
import { TabList } from "./tablist";
import { ViewSettings } from "./viewpopup";

export function Rail() {
	return (
		<aside class="rail" aria-label="Tabs">
			<div class="rail-head">
				<span class="brand">
					<Brand /> davit
				</span>
				<span class="spacer" />
				<ViewSettings />
				<NewTab />
				<IconButton
					icon={PanelLeft}
					label="Hide the tab list"
					command="rail"
					class="rail-hide"
					onClick={() => {
						collapsed.value = true;
					}}
				/>
			</div>
			<TabList />
			<RailFoot />
		</aside>
	);
}

const themes: { value: Theme; title: string; icon: typeof Sun }[] = [
	{ value: "system", title: "As the system", icon: Monitor },
	{ value: "dark", title: "Dark", icon: Moon },
	{ value: "light", title: "Light", icon: Sun },
	{ value: "contrast", title: "High contrast", icon: Contrast },
];

function RailFoot() {
	const open = useSignal(false);
	const button = useRef<HTMLButtonElement>(null);
	const close = () => {
		open.value = false;
	};
	const place = hostInfo.value?.directory ?? "";
	return (
		<div class="rail-foot">
			<span class="rail-link" data-tip={place && `davit ${hostInfo.value?.version}\n${place}`}>
				<StateMark state={link.value.status === "open" ? "idle" : "lost"} />
				<span class="cut">{link.value.status === "open" ? "connected" : "not connected"}</span>
			</span>
			<span class="spacer" />
			<IconButton
				icon={Bot}
				label="Agents"
				command="agents"
				onClick={() => {
					dialog.value = { kind: "agents" };
				}}
			/>
			<IconButton
				icon={Search}
				label="Command palette"
				command="palette"
				onClick={() => {
					dialog.value = { kind: "palette" };
				}}
			/>
			<IconButton
				icon={Keyboard}
				label="List of keys"
				command="keys"
				onClick={() => {
					dialog.value = { kind: "keys" };
				}}
			/>
			<IconButton
				icon={themes.find((t) => t.value === theme.value)?.icon ?? Monitor}
				label="Theme"
				refTo={button}
				expanded={open.value}
				onClick={() => {
					open.value = !open.value;
				}}
			/>
			{open.value && (
				<Menu label="Theme" at={button} onClose={close}>
					{themes.map((choice) => (
						<MenuItem
							key={choice.value}
							icon={choice.icon}
							title={choice.title}
							checked={theme.value === choice.value}
							onPick={() => {
								theme.value = choice.value;
								close();
								button.current?.focus();
							}}
						/>
					))}
				</Menu>
			)}
		</div>
	);
}
