// The key of the login, kept per origin and so per port (spec interfaces A2.1).
const name = "davit-key";

export function loadKey(): string | null {
	try {
		return localStorage.getItem(name);
	} catch {
		return null;
	}
}

export function saveKey(key: string): void {
	localStorage.setItem(name, key);
}

export function forgetKey(): void {
	localStorage.removeItem(name);
}

/** The one-time token of a login link, from the page's fragment. */
export function tokenOf(fragment: string): string | null {
	const text = fragment.replace(/^#/, "");
	if (text === "") return null;
	const named = new URLSearchParams(text);
	const token = named.get("token") ?? named.get("login");
	if (token) return token;
	return /^[A-Za-z0-9_.~-]{16,}$/.test(text) ? text : null;
}
