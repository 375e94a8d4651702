// Stories of the editors of prompt and footers (spec chips C3.1, C3.2, C4.3, C4.6), and of a
// chip that is drawn beside some programs only (C1).
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { clean } from "./axe";
import { fresh, inRepository, openPopup, pull, requires, revalidate } from "./pulls";
import { ask, closeBrowser, ghSays, newTerminal, openWindow, patience, seesRow } from "./story";

after(closeBrowser);

interface Layout {
	prompt: string[];
	footer: { left: string[]; right: string[] };
	custom: string[];
}

async function layoutOf(page: Page): Promise<Layout> {
	return (await ask<{ layout: Layout }>(page, "host.state", {})).layout;
}

const set = (page: Page, layout: object) => ask(page, "chips.setLayout", layout);
const reset = (page: Page) => set(page, { reset: ["prompt", "footer", "cliFooter"] });

async function openEditor(page: Page): Promise<Locator> {
	await page.keyboard.press("Control+KeyK");
	await page.getByRole("combobox", { name: "Command, tab or config" }).fill("edit prompt");
	await page.keyboard.press("Enter");
	return editorOf(page, "Edit prompt");
}

async function editorOf(page: Page, name: string): Promise<Locator> {
	const editor = page.getByRole("dialog", { name });
	await editor.locator(".bank-item").first().waitFor();
	return editor;
}

const tokens = (within: Locator, side = "left") =>
	within
		.locator(`.tray[data-side=${side}] .token`)
		.evaluateAll((all) => all.map((one) => one.getAttribute("data-kind") ?? ""));
const bar = (page: Page) =>
	page
		.locator(".stage .bar-chips .chip[data-kind]")
		.evaluateAll((all) => all.map((one) => one.getAttribute("data-kind") ?? ""));

/** Waits until something reads as it should, and fails with what it reads. */
async function comes<T>(read: () => Promise<T>, wanted: T): Promise<void> {
	const end = Date.now() + patience;
	let last = await read();
	while (JSON.stringify(last) !== JSON.stringify(wanted) && Date.now() < end) {
		await new Promise((go) => setTimeout(go, 50));
		last = await read();
	}
	assert.deepEqual(last, wanted);
}

const stored = (page: Page) => async () => (await layoutOf(page)).prompt;

test("the prompt is edited by the keyboard alone, and another window shows it", async () => {
	const { page, wrong, end } = await openWindow();
	await fresh(page);
	await set(page, { prompt: ["cwd", "git_branch", "git_diff"] });
	await inRepository(page);
	const other = await openWindow();
	const editor = await openEditor(page);
	const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-kind") ?? "");
	const says = (words: RegExp | string) =>
		editor.getByRole("status").getByText(words).waitFor({ state: "attached" });
	await comes(focused, "cwd");
	await clean(page, "the editor");

	await page.keyboard.press("Alt+ArrowRight");
	await page.keyboard.press("Alt+ArrowRight");
	await says("Directory moved, 3 of 3");
	assert.equal(await focused(), "cwd");
	for (const read of [() => tokens(editor), () => bar(other.page), stored(page)]) {
		await comes(read, ["git_branch", "git_diff", "cwd"]);
	}
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowRight");
	assert.equal(await focused(), "git_diff");
	await page.keyboard.press("Delete");
	await says("Changes removed");
	await comes(focused, "cwd");
	await comes(() => bar(other.page), ["git_branch", "cwd"]);
	await page.keyboard.press("Control+KeyZ");
	await says("Undone");
	await comes(() => bar(other.page), ["git_branch", "git_diff", "cwd"]);

	await editor.getByRole("searchbox", { name: "Find a chip" }).focus();
	await page.keyboard.type("24");
	await page.keyboard.press("Enter");
	await says("Time, 24 hours added, 4 of 4");
	await comes(() => bar(other.page), ["git_branch", "git_diff", "cwd", "time24"]);

	// A prompt keeps one chip.
	await set(page, { prompt: ["cwd"] });
	await comes(() => tokens(editor), ["cwd"]);
	await editor.locator(".token").focus();
	await page.keyboard.press("Delete");
	await says("A prompt shows at least one chip");
	assert.deepEqual((await layoutOf(page)).prompt, ["cwd"]);

	await page.keyboard.press("Escape");
	await editor.waitFor({ state: "detached" });
	await page.waitForFunction(() => document.activeElement?.closest(".terminal") !== null);
	await reset(page);
	assert.deepEqual(wrong, []);
	await other.end("layout-other");
	await end("layout-keyboard");
});

async function drag(page: Page, what: Locator, to: Locator, part = 0.2): Promise<void> {
	const from = await what.boundingBox();
	const box = await to.boundingBox();
	assert.ok(from && box);
	await page.mouse.move(from.x + 20, from.y + from.height / 2);
	await page.mouse.down();
	await page.mouse.move(from.x + 30, from.y + from.height / 2 + 4);
	await page.mouse.move(box.x + box.width * part, box.y + box.height / 2, { steps: 4 });
}

test("chips are dragged along, in from the bank and out to it; Escape lets go", async () => {
	const { page, wrong, end } = await openWindow();
	await fresh(page);
	await set(page, { prompt: ["cwd", "git_branch", "git_diff"] });
	await inRepository(page);
	// By the menu of the prompt bar.
	await page.locator(".stage .bar").click({ button: "right", position: { x: 400, y: 16 } });
	await page.getByRole("menuitem", { name: "Edit prompt…" }).click();
	const editor = await editorOf(page, "Edit prompt");
	const token = (kind: string) => editor.locator(`.token[data-kind="${kind}"]`);

	await drag(page, token("git_diff"), token("cwd"));
	await editor.locator("li[data-mark]").waitFor();
	await page.screenshot({ path: new URL("../test-results/layout-drag.png", import.meta.url).pathname });
	await page.mouse.up();
	await comes(stored(page), ["git_diff", "cwd", "git_branch"]);
	assert.equal(await page.getByRole("menu").count(), 0); // a drop is no press

	await drag(page, editor.locator('.bank-item[data-kind="time24"]'), token("cwd"));
	await page.mouse.up();
	await comes(stored(page), ["git_diff", "time24", "cwd", "git_branch"]);
	await comes(() => bar(page), ["git_diff", "time24", "cwd", "git_branch"]);

	await drag(page, token("time24"), editor.locator(".bank ul"), 0.5);
	await page.mouse.up();
	await comes(stored(page), ["git_diff", "cwd", "git_branch"]);

	await drag(page, token("git_branch"), token("git_diff"));
	await page.keyboard.press("Escape");
	await page.mouse.up();
	await editor.locator(".token-ghost").waitFor({ state: "detached" });
	assert.deepEqual(await stored(page)(), ["git_diff", "cwd", "git_branch"]);
	await reset(page);
	assert.deepEqual(wrong, []);
	await end("layout-dragged");
});

test("at 360 px chips are moved by a finger, and by the menu of a chip", async () => {
	const { page, context, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	await fresh(page);
	await set(page, { prompt: ["cwd", "git_branch", "git_diff"] });
	await inRepository(page);
	await page.getByRole("button", { name: /^Tabs/ }).tap();
	await page.getByRole("button", { name: "View of the tabs" }).tap();
	await page.getByRole("button", { name: "Edit prompt and footers…" }).tap();
	const editor = await editorOf(page, "Edit prompt");
	await clean(page, "the editor at 360 px");
	assert.equal(
		await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
		0,
	);
	const middle = async (kind: string, part: number) => {
		const box = await editor.locator(`.token[data-kind="${kind}"]`).boundingBox();
		assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
		return { x: box.x + box.width * part, y: box.y + box.height / 2 };
	};
	const touch = await context.newCDPSession(page);
	const from = await middle("git_branch", 0.4);
	const to = await middle("cwd", 0.1);
	await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [from] });
	for (const part of [0.3, 0.7, 1]) {
		const at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
		await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [at] });
	}
	await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
	await comes(stored(page), ["git_branch", "cwd", "git_diff"]);
	await page.waitForTimeout(60); // the click that a drag swallows

	await editor.locator('.token[data-kind="git_branch"]').tap();
	await page.getByRole("menuitem", { name: "Move right" }).tap();
	await comes(stored(page), ["cwd", "git_branch", "git_diff"]);
	await page.screenshot({ path: new URL("../test-results/layout-narrow.png", import.meta.url).pathname });
	await reset(page);
	await end("layout-narrow-end");
});

// Spec chips C4.3, C3.2: every surface at once, on every client, and the bank in any state.
test("without gh editor, prompt, badge and popup go along at once in two windows, and come back", async () => {
	ghSays(pull);
	const first = await openWindow();
	await fresh(first.page);
	await reset(first.page);
	const dir = await inRepository(first.page);
	await revalidate(first.page, dir);
	const second = await openWindow();
	const chip = '.bar .chip[data-kind="github_pr"]';
	for (const { page } of [first, second]) await page.locator(chip).waitFor();
	const editor = await openEditor(first.page);
	const usual = await tokens(editor);
	assert.ok(usual.includes("github_pr"));
	await editor.locator('.layout-preview .chip[data-kind="github_pr"]').getByText("#12").waitFor();
	await openPopup(second.page);

	ghSays(null);
	await revalidate(first.page, dir);
	const without = usual.filter((kind) => kind !== "github_pr");
	await comes(() => tokens(editor), without);
	const offered = editor.locator('.bank-item[data-kind="github_pr"][data-dim]');
	await offered.getByText("Run gh auth login to sign in to GitHub").waitFor();
	await second.page.locator(`.view-sign[aria-label="${requires}"]`).waitFor();
	for (const { page } of [first, second]) {
		await page.locator(chip).waitFor({ state: "detached" });
		await page.locator(".row .pull-badge").waitFor({ state: "detached" });
	}
	// The footer's default goes along, and its bank offers it too.
	await editor.getByText("Chats", { exact: true }).click();
	await offered.waitFor();
	assert.ok(!(await tokens(await editorOf(first.page, "Edit footer of chats"))).includes("github_pr"));
	assert.deepEqual((await layoutOf(first.page)).custom, []);

	// It can be added all the same; the list is then the user's own, in any state (C4.6).
	await offered.click();
	await comes(async () => (await layoutOf(first.page)).custom, ["footer"]);
	assert.ok((await layoutOf(first.page)).footer.left.includes("github_pr"));
	await first.page.getByRole("button", { name: "Undo" }).click();
	await comes(async () => (await layoutOf(first.page)).custom, []);

	ghSays(pull);
	await revalidate(first.page, dir);
	await first.page.getByRole("dialog").getByText("Prompt", { exact: true }).click();
	await comes(() => tokens(first.page.getByRole("dialog", { name: "Edit prompt" })), usual);
	await second.page.locator(".view-sign").waitFor({ state: "detached" });
	for (const { page } of [first, second]) {
		await page.locator(".row .pull-badge").waitFor();
		await page.locator(chip).waitFor();
	}
	await second.end("layout-agrees-second");
	await first.end("layout-agrees");
});

// Spec chips C4.6: kinds that nobody knows are kept; the default is stored as `default`.
test("an unknown kind survives an edit, and what equals the default is the default", async () => {
	const { page, end } = await openWindow();
	await fresh(page);
	await reset(page);
	const usual = (await layoutOf(page)).prompt;
	await set(page, { prompt: ["tide_table", "cwd", "git_branch"] });
	await inRepository(page);
	const editor = await openEditor(page);
	const unknown = editor.locator('.token[data-kind="tide_table"]');
	await unknown.and(editor.locator("[data-unknown]")).waitFor();
	await unknown
		.getByText("davit does not know this chip; it is kept, and not drawn")
		.waitFor({ state: "attached" });
	await editor.locator('.token[data-kind="cwd"]').focus();
	await page.keyboard.press("Alt+ArrowRight");
	await comes(stored(page), ["tide_table", "git_branch", "cwd"]);
	await comes(() => bar(page), ["git_branch", "cwd"]);
	assert.equal(await editor.locator('.layout-preview [data-kind="tide_table"]').count(), 0);

	await editor.getByRole("button", { name: "Restore default" }).click();
	await comes(async () => (await layoutOf(page)).custom, []);
	await comes(() => tokens(editor), usual);
	await editor.getByText("default", { exact: true }).waitFor();

	// Away from the default, and back to it by hand.
	await editor.locator(".token").first().focus();
	await page.keyboard.press("Alt+ArrowRight");
	await comes(async () => (await layoutOf(page)).custom, ["prompt"]);
	await editor.getByText("your own", { exact: true }).waitFor();
	await page.keyboard.press("Alt+ArrowLeft");
	await comes(async () => (await layoutOf(page)).custom, []);
	assert.deepEqual((await layoutOf(page)).prompt, usual);

	// Over the gap between the sides of a footer.
	await editor.getByText("Chats", { exact: true }).click();
	const footer = await editorOf(page, "Edit footer of chats");
	await footer.locator('.token[data-kind="input_mode"]').focus();
	await page.keyboard.press("Alt+ArrowRight");
	await comes(async () => (await layoutOf(page)).footer.right[0], "input_mode");
	await page.screenshot({ path: new URL("../test-results/layout-footer.png", import.meta.url).pathname });
	await reset(page);
	await end("layout-unknown");
});

// Spec chips C1: `whileTyping`.
test("the Kubernetes context is drawn only beside kubectl, as it is typed", async () => {
	const kubectl = join(dirname(process.env.DAVIT_GH ?? ""), "bin", "kubectl");
	writeFileSync(kubectl, "#!/bin/sh\necho harbor-staging\n", { mode: 0o755 });
	const { page, end } = await openWindow();
	try {
		await fresh(page);
		await set(page, { prompt: ["cwd", "kube"] });
		await newTerminal(page);
		await page.keyboard.type("alias k=kubectl; echo th''ere\n");
		await seesRow(page, "there");
		const chip = page.locator('.bar .chip[data-kind="kube"]');
		await page.keyboard.type("kubectl get");
		await chip.getByText("harbor-staging").waitFor();
		await page.screenshot({ path: new URL("../test-results/kube.png", import.meta.url).pathname });
		await page.keyboard.press("Control+KeyU");
		await chip.waitFor({ state: "detached" });
		await page.keyboard.type("kubectlx");
		await page.keyboard.press("Control+KeyU");
		await page.keyboard.type("k ");
		await chip.waitFor();
		await page.keyboard.press("Control+KeyU");
		await chip.waitFor({ state: "detached" });
	} finally {
		rmSync(kubectl, { force: true });
		await reset(page);
	}
	await end("kube-end");
});
