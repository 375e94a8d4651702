// A dialog whose code is fetched when it is first asked for: it is not in the first paint.
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { failOf } from "../api/client";
import type { Fail } from "../api/types";
import { FailBox } from "./bits";
import { Modal } from "./dialog";

const loaded = signal<Readonly<Record<string, unknown>>>({});
const failed = signal<Fail | null>(null);

export interface LazyProps<P extends object> {
	name: string;
	title: string;
	load: () => Promise<ComponentType<P>>;
	props: P;
}

export function Lazy<P extends object>({ name, title, load, props }: LazyProps<P>) {
	useEffect(() => {
		if (loaded.peek()[name]) return;
		failed.value = null;
		load()
			.then((component) => {
				loaded.value = { ...loaded.peek(), [name]: component };
			})
			.catch((error: unknown) => {
				failed.value = failOf(error);
			});
	}, [name]);
	const Part = loaded.value[name] as ComponentType<P> | undefined;
	if (Part) return <Part {...props} />;
	return (
		<Modal title={title} class="wide">
			{failed.value ? <FailBox fail={failed.value} /> : <p class="help">Loading…</p>}
		</Modal>
	);
}
