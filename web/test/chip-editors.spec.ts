// Stories of editing prompt and footers by keys, by mouse and by finger (spec chips C3.1, C4.6).
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { clean } from "./axe";
import { bar, comes, editorOf, layoutOf, openEditor, reset, set, stored, tokens } from "./layouts";
import { fresh, inRepository } from "./pulls";
import { closeBrowser, openWindow } from "./story";

after(closeBrowser);

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
	// The browser takes a tap right behind a fast stroke as the end of a fling, and swallows it.
	const menu = page.getByRole("menuitem", { name: "Move right" });
	await comes(async () => {
		if (!(await menu.isVisible())) await editor.locator('.token[data-kind="git_branch"]').tap();
		return menu.isVisible();
	}, true);
	await menu.tap();
	await comes(stored(page), ["cwd", "git_branch", "git_diff"]);
	await page.screenshot({ path: new URL("../test-results/layout-narrow.png", import.meta.url).pathname });
	await reset(page);
	await end("layout-narrow-end");
});
