// Signals that outlive a reload: what was typed (sessionStorage, this window's) and what
// was chosen (localStorage). A storage that is full or forbidden costs the memory only.
import { effect, type Signal, signal } from "@preact/signals";

export function remembered<T>(name: string, initial: T, storage: Storage): Signal<T> {
	const key = `davit.${name}`;
	const value = signal<T>(load(key, initial, storage));
	let first = true;
	effect(() => {
		const now = value.value;
		if (first) {
			first = false;
			return;
		}
		try {
			if (now === initial) storage.removeItem(key);
			else storage.setItem(key, JSON.stringify(now));
		} catch {
			// Full, or storage is off.
		}
	});
	return value;
}

function load<T>(key: string, initial: T, storage: Storage): T {
	try {
		const text = storage.getItem(key);
		if (text === null) return initial;
		const value = JSON.parse(text) as T;
		if (typeof value !== typeof initial) return initial;
		// A form that has gained fields since keeps working.
		return isRecord(initial) && isRecord(value) ? { ...initial, ...value } : value;
	} catch {
		return initial;
	}
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
