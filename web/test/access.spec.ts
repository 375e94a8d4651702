// Stories of access: axe on the page and its dialogs in each theme, a narrow page, and
// the keyboard alone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { clean } from "./axe";
import { closeAll, closeBrowser, newTerminal, openWindow, origin, seesRow, theBrowser, type } from "./story";

after(closeBrowser);

const themes = ["dark", "light", "contrast"] as const;

for (const theme of themes) {
	test(`axe is content with the page and its dialogs: ${theme}`, async () => {
		const { page, end } = await openWindow(
			{ colorScheme: theme === "light" ? "light" : "dark" },
			async (p) => {
				await p.addInitScript((value) => localStorage.setItem("davit.theme", JSON.stringify(value)), theme);
			},
		);
		await closeAll(page);
		await clean(page, "nothing open");
		await newTerminal(page);
		await type(page, "ls --color=always / && sleep 300");
		await page.locator('.row .mark[data-state="running"]').waitFor();
		await page.keyboard.press("Alt+Shift+KeyD");
		await page.locator(".divider").waitFor();
		await clean(page, "a split tab");
		for (const [keys, name] of [
			["Control+KeyK", "Command palette"],
			["Alt+Shift+Slash", "Keys"],
			["Alt+Shift+KeyL", "Launch an agent"],
			["Alt+Shift+KeyN", "New worktree"],
			["Alt+Shift+KeyO", "Tab configs"],
			["Alt+Shift+KeyW", "Close the tab?"],
		] as const) {
			await page.keyboard.press(keys);
			const dialog = page.getByRole("dialog", { name });
			await dialog.waitFor();
			await clean(page, name);
			await page.keyboard.press("Escape");
			await dialog.waitFor({ state: "detached" });
		}
		await page.getByRole("button", { name: "New tab" }).first().click();
		await page.getByRole("menu", { name: "New tab" }).waitFor();
		await clean(page, "new-tab menu");
		await end(`axe-${theme}`);
	});
}

test("axe is content with the page without a login", async () => {
	const context = await (await theBrowser()).newContext();
	const page = await context.newPage();
	await page.goto(origin);
	await page.getByRole("heading", { name: "Not logged in" }).waitFor();
	await clean(page, "gate");
	await context.close();
});

test("at 360 px nothing is cut off, and everything is in reach", async () => {
	const { page, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	await closeAll(page);
	const overflow = () =>
		page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
	assert.equal(await overflow(), 0);
	await page.getByRole("button", { name: "New tab" }).first().tap();
	await page.getByRole("menuitem", { name: "Terminal" }).tap();
	await page.locator(".stage .terminal .xterm-rows").waitFor();
	await seesRow(page, /[$#%>]\s*$/);
	await page.locator(".stage .terminal textarea").focus();
	await type(page, "echo nar''row");
	await seesRow(page, "narrow");
	await page.getByRole("button", { name: /^Tabs/ }).tap();
	await page.locator(".app.drawer .row-main").first().waitFor();
	await page.screenshot({ path: new URL("../test-results/narrow-tabs.png", import.meta.url).pathname });
	await page.locator(".row-main").first().tap();
	await page.locator(".app.drawer").waitFor({ state: "detached" });
	await page.getByRole("button", { name: "New tab" }).first().tap();
	await page.getByRole("menuitem", { name: "New worktree…" }).tap();
	const dialog = page.getByRole("dialog", { name: "New worktree" });
	const box = await dialog.boundingBox();
	assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
	await dialog.getByRole("button", { name: "Open worktree", exact: true }).scrollIntoViewIfNeeded();
	assert.equal(await overflow(), 0);
	await end("narrow");
});

// Spec interfaces A4: keyboard for everything; a terminal is no trap.
test("the keyboard alone: palette, terminal, tab list, menu and back", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.keyboard.press("Control+KeyK");
	await page.keyboard.type("new terminal");
	await page.keyboard.press("Enter");
	await seesRow(page, /[$#%>]\s*$/);
	await page.waitForFunction(() => document.activeElement?.closest(".terminal") !== null);
	await page.keyboard.type("echo ke''ys");
	await page.keyboard.press("Enter");
	await seesRow(page, "keys");
	// A dialog has the keyboard before the next key can come: nothing goes to the shell below it.
	for (const [code, label] of [
		["KeyK", "Command, tab or config"],
		["KeyO", "Find a tab config"],
	] as const) {
		const name = await page.evaluate(async (code) => {
			const how = code === "KeyK" ? { ctrlKey: true, key: "k" } : { altKey: true, shiftKey: true, key: "O" };
			const event = new KeyboardEvent("keydown", { code, bubbles: true, cancelable: true, ...how });
			document.activeElement?.dispatchEvent(event);
			for (let turn = 0; turn < 20; turn++) await Promise.resolve();
			return document.activeElement?.getAttribute("aria-label");
		}, code);
		assert.equal(name, label);
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => document.activeElement?.closest(".terminal") !== null);
	}
	await page.keyboard.press("Alt+Shift+KeyB");
	await page.waitForFunction(() => document.activeElement?.classList.contains("row-main"));
	await page.keyboard.press("Shift+Tab");
	await page.keyboard.press("Shift+Tab");
	await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "New tab");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "menuitem");
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "New tab");
	await page.keyboard.press("Alt+Shift+KeyB");
	await page.waitForFunction(() => document.activeElement?.closest(".terminal") !== null);
	await end("keyboard");
});
