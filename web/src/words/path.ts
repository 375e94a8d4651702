// Paths as people read them. Pure.
import type { Chip } from "../api/types";

/**
 * The user's home, as far as this page can know it: what a directory's chip calls "~", else
 * what a path of the usual form has.
 */
export function homeOf(chips: Readonly<Record<string, readonly Chip[]>>, path = ""): string {
	for (const list of Object.values(chips)) {
		for (const chip of list) {
			if (chip.kind !== "cwd" || !chip.text.startsWith("~")) continue;
			const rest = chip.text.slice(1);
			if (chip.value.endsWith(rest)) return chip.value.slice(0, chip.value.length - rest.length);
		}
	}
	return /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(?=\/|$)/.exec(path)?.[0] ?? "";
}

export function tilde(path: string, home: string): string {
	if (home === "" || home === "/") return path;
	if (path === home) return "~";
	return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

export function baseOf(path: string): string {
	return path.replace(/\/+$/, "").split("/").pop() || path;
}

export function dirOf(path: string): string {
	const at = path.replace(/\/+$/, "").lastIndexOf("/");
	return at > 0 ? path.slice(0, at) : "/";
}
