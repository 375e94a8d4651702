// What the stories of the editors of prompt and footers share.
import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { ask, patience } from "./story";

export interface Layout {
	prompt: string[];
	footer: { left: string[]; right: string[] };
	custom: string[];
}

export async function layoutOf(page: Page): Promise<Layout> {
	return (await ask<{ layout: Layout }>(page, "host.state", {})).layout;
}

export const set = (page: Page, layout: object) => ask(page, "chips.setLayout", layout);
export const reset = (page: Page) => set(page, { reset: ["prompt", "footer", "cliFooter"] });

export async function openEditor(page: Page): Promise<Locator> {
	await page.keyboard.press("Control+KeyK");
	await page.getByRole("combobox", { name: "Command, tab or config" }).fill("edit prompt");
	await page.keyboard.press("Enter");
	return editorOf(page, "Edit prompt");
}

export async function editorOf(page: Page, name: string): Promise<Locator> {
	const editor = page.getByRole("dialog", { name });
	await editor.locator(".bank-item").first().waitFor();
	return editor;
}

export const tokens = (within: Locator, side = "left") =>
	within
		.locator(`.tray[data-side=${side}] .token`)
		.evaluateAll((all) => all.map((one) => one.getAttribute("data-kind") ?? ""));
export const bar = (page: Page) =>
	page
		.locator(".stage .bar-chips .chip[data-kind]")
		.evaluateAll((all) => all.map((one) => one.getAttribute("data-kind") ?? ""));

/** Waits until something reads as it should, and fails with what it reads. */
export async function comes<T>(read: () => Promise<T>, wanted: T): Promise<void> {
	const end = Date.now() + patience;
	let last = await read();
	while (JSON.stringify(last) !== JSON.stringify(wanted) && Date.now() < end) {
		await new Promise((go) => setTimeout(go, 50));
		last = await read();
	}
	assert.deepEqual(last, wanted);
}

export const stored = (page: Page) => async () => (await layoutOf(page)).prompt;
