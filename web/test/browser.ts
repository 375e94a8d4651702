// The browser of the stories: Debian's Chromium by playwright-core.
import { type Browser, chromium, type Page } from "playwright-core";

export function launchBrowser(): Promise<Browser> {
	return chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: [
			"--no-sandbox",
			"--disable-gpu",
			"--disable-quic",
			"--no-first-run",
			"--disable-background-networking",
			"--disable-component-update",
			"--disable-sync",
		],
	});
}

/** Console errors and policy violations of a page, as they come. */
export function complaints(page: Page): string[] {
	const list: string[] = [];
	page.on("console", (message) => {
		if (message.type() === "error") list.push(message.text());
	});
	page.on("pageerror", (error) => list.push(String(error)));
	return list;
}
