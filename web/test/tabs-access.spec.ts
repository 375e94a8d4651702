// Stories of access to the vertical tabs: axe on badges, card and popup in each theme, and a
// narrow page.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { clean } from "./axe";
import { defaults, fresh, inRepository, openPopup, pull, requires, revalidate } from "./pulls";
import { ask, closeBrowser, ghSays, openWindow, type } from "./story";

after(closeBrowser);

for (const theme of ["dark", "light", "contrast"] as const) {
	test(`axe is content with badges, card and popup: ${theme}`, async () => {
		ghSays(pull);
		const { page, end } = await openWindow(
			{ colorScheme: theme === "light" ? "light" : "dark" },
			async (p) => {
				await p.addInitScript((value) => localStorage.setItem("davit.theme", JSON.stringify(value)), theme);
			},
		);
		await fresh(page);
		const dir = await inRepository(page);
		await type(page, "echo more >> README.md && git add README.md");
		await revalidate(page, dir);
		await page.locator(".row .pull-badge").waitFor();
		await page.locator(".row .diff").waitFor();
		await clean(page, "badges");
		await page.locator(".row-main").hover();
		await page.locator(".row-card").waitFor();
		await clean(page, "the card");
		await page.mouse.move(640, 400);
		await openPopup(page);
		await clean(page, "the popup");
		ghSays(null);
		await revalidate(page, dir);
		await page.locator(".view-sign").focus();
		await page.getByText(requires, { exact: true }).waitFor();
		await clean(page, "the popup that warns");
		await end(`tabs-${theme}`);
	});
}

test("at 360 px the tab list and its popup are in reach", async () => {
	ghSays(pull);
	const { page, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	await fresh(page);
	const dir = await inRepository(page);
	await revalidate(page, dir);
	await page.locator('.bar .chip[data-kind="github_pr"]').waitFor();
	await page.getByRole("button", { name: /^Tabs/ }).tap();
	await page.locator(".app.drawer .row .pull-badge").waitFor();
	await page.getByRole("button", { name: "View of the tabs" }).tap();
	const popup = page.getByRole("dialog", { name: "View of the tabs" });
	const box = await popup.boundingBox();
	assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
	await popup.getByRole("radio", { name: "Compact" }).tap();
	await page.locator('.row[data-density="compact"]').waitFor();
	assert.equal(
		await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
		0,
	);
	await ask(page, "settings.set", { key: "vertical_tabs", value: defaults });
	await end("tabs-narrow");
});
