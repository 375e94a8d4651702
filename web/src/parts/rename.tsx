// The name of a tab or a group, typed in its place: Enter and leaving it keep the name,
// Escape does not, and neither does an end from elsewhere, as by a close (spec tabs T5.3).
import { useEffect, useRef } from "preact/hooks";
import { focusOn } from "../keys/keys";
import { renaming } from "../state/store";

export interface RenameProps {
	id: string;
	value: string;
	label: string;
	class: string;
	/** Asks the host; `renaming` has ended by then. */
	onKeep: (name: string) => void;
}

export function Rename({ id, value, label, class: look, onKeep }: RenameProps) {
	const ref = useRef<HTMLInputElement>(null);
	const done = useRef(false);
	useEffect(() => {
		ref.current?.focus();
		ref.current?.select();
	}, []);
	const end = (keep: boolean) => {
		if (done.current || renaming.peek() !== id) return;
		done.current = true;
		const name = ref.current?.value.trim() ?? "";
		renaming.value = null;
		if (keep && name !== value) onKeep(name);
	};
	return (
		<input
			ref={ref}
			class={look}
			aria-label={label}
			defaultValue={value}
			autocomplete="off"
			spellcheck={false}
			onKeyDown={(event) => {
				if (event.key !== "Enter" && event.key !== "Escape") return;
				event.preventDefault();
				event.stopPropagation();
				end(event.key === "Enter");
				focusOn("tabs");
			}}
			onBlur={() => end(true)}
		/>
	);
}
