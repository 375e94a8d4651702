// The colours of tabs and groups, to be picked in a menu.
import { Ban, Check } from "lucide";
import { Icon } from "./icon";

/** Those that a tab config may name and that differ on both grounds. */
const colors = ["red", "yellow", "green", "cyan", "blue", "magenta"] as const;

export interface SwatchesProps {
	value: string;
	onPick: (color: string) => void;
}

export function Swatches({ value, onPick }: SwatchesProps) {
	return (
		// biome-ignore lint/a11y/useSemanticElements: a group of a menu
		<div role="group" aria-label="Colour" class="menu-swatches">
			{colors.map((color) => (
				<button
					type="button"
					key={color}
					role="menuitemradio"
					aria-checked={value === color}
					aria-label={`Colour: ${color}`}
					data-tip={color}
					tabIndex={-1}
					class="swatch"
					style={{ background: `var(--tab-${color})` }}
					onClick={() => onPick(color)}
				>
					{value === color && <Icon of={Check} size={14} />}
				</button>
			))}
			<button
				type="button"
				role="menuitemradio"
				aria-checked={value === ""}
				aria-label="Colour: none"
				data-tip="none"
				tabIndex={-1}
				class="swatch none"
				onClick={() => onPick("")}
			>
				<Icon of={Ban} size={14} />
			</button>
		</div>
	);
}
