// Stories of the vertical tabs: their view, its popup, and the pull request as badge and chip.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { defaults, fresh, inRepository, openPopup, pull, requires, revalidate } from "./pulls";
import { ask, closeBrowser, ghSays, newTerminal, openWindow, repository, type } from "./story";

after(closeBrowser);

// Spec chips C6: the popup by the keyboard alone; the focus goes back to the gear.
test("the view of the tabs is set by the keyboard alone, and Escape gives the focus back", async () => {
	const { page, wrong, end } = await openWindow();
	await fresh(page);
	await newTerminal(page);
	const gear = page.getByRole("button", { name: "View of the tabs" });
	await gear.focus();
	await page.keyboard.press("Enter");
	const popup = page.getByRole("dialog", { name: "View of the tabs" });
	await popup.waitFor();
	const focused = () =>
		page.evaluate(() => {
			const here = document.activeElement;
			return here instanceof HTMLInputElement ? here.value || here.type : (here?.ariaLabel ?? "");
		});
	await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
	assert.equal(await focused(), "panes");
	await page.keyboard.press("Tab");
	assert.equal(await focused(), "expanded");
	await page.keyboard.press("ArrowRight");
	await page.locator('.row[data-density="compact"]').waitFor();
	assert.equal(await focused(), "compact");
	await page.keyboard.press("ArrowLeft");
	await page.locator('.row[data-density="expanded"]').waitFor();
	await page.keyboard.press("Tab");
	assert.equal(await focused(), "command");
	await page.keyboard.press("Tab");
	await page.keyboard.press("Space");
	await popup.getByRole("checkbox", { name: "PR link", checked: false }).waitFor({ state: "attached" });
	await page.keyboard.press("Space");
	await popup.getByRole("checkbox", { name: "PR link", checked: true }).waitFor({ state: "attached" });
	await page.keyboard.press("Escape");
	await popup.waitFor({ state: "hidden" });
	assert.equal(await focused(), "View of the tabs");
	assert.deepEqual(wrong, []);
	await end("view-keyboard");
});

// Spec chips C6: granularity, density and title; one host, one view in every window.
test("the view of the tabs is the same in two windows", async () => {
	const first = await openWindow();
	await fresh(first.page);
	await newTerminal(first.page);
	await first.page.keyboard.press("Alt+Shift+KeyD");
	await first.page.locator(".divider").waitFor();
	const second = await openWindow();
	for (const { page } of [first, second]) {
		await page.locator(".row[data-density=heading]").waitFor();
		await page.locator(".row-main[data-row]").nth(1).waitFor();
	}
	const popup = await openPopup(first.page);
	await popup.getByRole("radio", { name: "Tabs" }).check();
	for (const { page } of [first, second]) {
		await page.locator(".row[data-density=heading]").waitFor({ state: "detached" });
		assert.equal(await page.locator(".row-main").count(), 1);
	}
	await popup.getByRole("radio", { name: "Compact" }).check();
	await popup.getByRole("radio", { name: "Directory" }).check();
	const other = await openPopup(second.page);
	await other.getByRole("radio", { name: "Compact", checked: true }).waitFor({ state: "attached" });
	await other.getByRole("radio", { name: "Directory", checked: true }).waitFor({ state: "attached" });
	const height = await second.page.locator(".row").evaluate((row) => row.getBoundingClientRect().height);
	assert.equal(height, 28);
	await other.getByRole("radio", { name: "Expanded" }).check();
	await first.page.locator('.row[data-density="expanded"]').waitFor();
	await ask(first.page, "settings.set", { key: "vertical_tabs", value: defaults });
	await second.end("view-second");
	await first.end("view-first");
});

// Spec chips C6.1, C6.2, C6.3, C4.3: at once, on every client; the setting stays.
test("without gh the pull request goes in two windows at once, the popup warns, and it comes back", async () => {
	ghSays(pull);
	const first = await openWindow();
	await fresh(first.page);
	const dir = await inRepository(first.page);
	const second = await openWindow();
	const windows = [first, second];
	await revalidate(first.page, dir);
	for (const { page } of windows) {
		const badge = page.locator(".row .pull-badge");
		await badge.waitFor();
		assert.equal(await badge.textContent(), "#12");
		assert.equal(await badge.getAttribute("data-state"), "open");
		const chip = page.locator('.bar .chip[data-kind="github_pr"]');
		await chip.waitFor();
		assert.equal(await chip.textContent(), "#12");
		assert.equal(await chip.getAttribute("href"), pull.url);
		assert.match((await chip.getAttribute("rel")) ?? "", /noopener/);
		const tip = (await chip.getAttribute("data-tip")) ?? "";
		for (const word of [pull.title, "open", "main ← signal", "1 failing, 1 passing"]) {
			assert.ok(tip.includes(word), tip);
		}
	}
	const popup = await openPopup(first.page);
	assert.equal(await popup.locator(".view-sign").count(), 0);

	ghSays(null);
	await revalidate(first.page, dir);
	for (const { page } of windows) {
		await page.locator(".row .pull-badge").waitFor({ state: "detached" });
		await page.locator('.bar .chip[data-kind="github_pr"]').waitFor({ state: "detached" });
	}
	await warned(first.page);
	await popup.getByRole("radio", { name: "Compact" }).check();
	await popup.locator(".view-sign").waitFor({ state: "detached" });
	await popup.getByRole("radio", { name: "Expanded" }).check();
	await popup.locator(".view-sign").waitFor();
	await first.page.screenshot({
		path: new URL("../test-results/pull-warning.png", import.meta.url).pathname,
	});

	ghSays(pull);
	await revalidate(first.page, dir);
	for (const { page } of windows) {
		await page.locator(".row .pull-badge").waitFor();
		await page.locator('.bar .chip[data-kind="github_pr"]').waitFor();
	}
	await popup.locator(".view-sign").waitFor({ state: "detached" });
	await second.end("pull-second");
	await first.end("pull-first");
});

/** The warning beside "PR link", measured (spec chips C6.3). */
async function warned(page: Page): Promise<void> {
	const row = page.locator(".view-row", { hasText: "PR link" });
	const sign = row.locator(".view-sign");
	await sign.waitFor();
	const box = async (selector: string) => {
		const found = await row.locator(selector).boundingBox();
		assert.ok(found, selector);
		return found;
	};
	const [check, name, icon] = [
		await box(".view-check"),
		await box(".view-name"),
		await box(".view-sign svg"),
	];
	assert.equal(name.x - (check.x + check.width), 8);
	assert.equal(icon.x - (name.x + name.width), 4);
	assert.deepEqual([icon.width, icon.height], [12, 12]);
	assert.ok(Math.abs(icon.y + 6 - (name.y + name.height / 2)) <= 1, "the sign is beside the words");
	const colours = await sign.evaluate((element) => {
		const probe = document.createElement("i");
		probe.style.color = "var(--warn)";
		element.append(probe);
		const pair = [
			getComputedStyle(element.firstElementChild as Element).color,
			getComputedStyle(probe).color,
		];
		probe.remove();
		return pair;
	});
	assert.equal(colours[0], colours[1]);

	// The tooltip: by the icon alone, above it.
	const tip = page.getByText(requires, { exact: true });
	await row.locator(".view-name").hover();
	await page.waitForFunction(
		() =>
			getComputedStyle(document.querySelector(".view-row") as Element).backgroundColor !== "rgba(0, 0, 0, 0)",
	);
	assert.equal(await tip.isVisible(), false);
	await sign.hover();
	await tip.waitFor();
	const above = await tip.boundingBox();
	assert.ok(above && above.y + above.height <= icon.y && above.x >= 0, JSON.stringify({ above, icon }));
	assert.notEqual(
		await row.evaluate((element) => getComputedStyle(element).backgroundColor),
		"rgba(0, 0, 0, 0)",
	);
	await page.mouse.move(640, 700);
	await tip.waitFor({ state: "hidden" });
	await sign.focus();
	await tip.waitFor();

	// The rest of the row is the check's: also where there are no words.
	const whole = await row.boundingBox();
	assert.ok(whole);
	const link = row.getByRole("checkbox");
	assert.equal(await link.isChecked(), true);
	await page.mouse.click(whole.x + whole.width - 12, whole.y + whole.height / 2);
	await sign.waitFor({ state: "detached" });
	assert.equal(await link.isChecked(), false);
	await page.mouse.click(whole.x + whole.width - 12, whole.y + whole.height / 2);
	await sign.waitFor();
	assert.equal(await link.isChecked(), true);
}

// Spec chips C5.2: a click opens the page; the menu and Alt-click copy.
test("the pull request's chip opens its page, and copies its link", async () => {
	ghSays(pull);
	const { page, context, end } = await openWindow();
	await context.route("https://github.com/**", (route) => route.fulfill({ body: "a pull request" }));
	await fresh(page);
	const dir = await inRepository(page);
	await revalidate(page, dir);
	const chip = page.locator('.bar .chip[data-kind="github_pr"]');
	const opened = context.waitForEvent("page");
	await chip.click();
	const other = await opened;
	await other.waitForURL(pull.url);
	assert.equal(await other.evaluate(() => window.opener), null);
	await other.close();
	await page.bringToFront();
	const copied = () => page.evaluate(() => navigator.clipboard.readText());
	await chip.click({ modifiers: ["Alt"] });
	await page.getByText("Link copied").waitFor();
	assert.equal(await copied(), pull.url);
	await chip.focus();
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menuitem", { name: "Copy “PR #12”" }).waitFor();
	await page.keyboard.press("End"); // the prompt; above it the number
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	await page.getByText("Number copied").waitFor();
	assert.equal(await copied(), "PR #12");
	await end("pull-chip");
});

// Spec chips C6: details on hover, and nothing of them when they are switched off.
test("resting on a row shows its details, Escape and the setting hide them", async () => {
	ghSays(pull);
	const { page, end } = await openWindow();
	await fresh(page);
	const dir = await inRepository(page);
	await revalidate(page, dir);
	await page.locator(".row .pull-badge").waitFor();
	const card = page.locator(".row-card");
	await page.locator(".row-main").hover();
	await card.waitFor();
	for (const words of [
		dir,
		"signal",
		pull.title,
		"#12 open · main ← signal",
		"1 failing, 1 passing checks",
	]) {
		assert.ok(((await card.textContent()) ?? "").includes(words), `${words} in ${await card.textContent()}`);
	}
	// The pointer can go to the card and stay there.
	await card.hover();
	await card.getByText(pull.title).hover();
	await page.keyboard.press("Escape");
	await card.waitFor({ state: "detached" });
	await page.mouse.move(640, 400);
	await page.keyboard.press("Alt+Shift+KeyB");
	await card.waitFor(); // by the keyboard's focus
	await ask(page, "settings.set", { key: "vertical_tabs", value: { detailsOnHover: false } });
	await card.waitFor({ state: "detached" });
	await ask(page, "settings.set", { key: "vertical_tabs", value: defaults });
	await end("row-card");
});

test("nothing in the tab list moves when branch, diff and pull request arrive", async () => {
	ghSays(pull);
	const { page, end } = await openWindow();
	await fresh(page);
	await newTerminal(page);
	await newTerminal(page);
	const places = () =>
		page
			.locator(".row")
			.evaluateAll((rows) => rows.map((row) => JSON.stringify(row.getBoundingClientRect())));
	const before = await places();
	const dir = repository("https://github.com/ada/harbor.git");
	await type(page, `cd ${dir} && git switch -q -c signal && echo more >> README.md`);
	await page.locator(".row .branch-line", { hasText: "signal" }).waitFor();
	await page.locator(".row .diff").waitFor();
	await revalidate(page, dir);
	await page.locator(".row .pull-badge").waitFor();
	assert.deepEqual(await places(), before);
	await end("row-still");
});

test("tabs are found by title, directory and branch, and typing does not reach the terminal", async () => {
	const { page, end } = await openWindow();
	await fresh(page);
	const plain = await newTerminal(page);
	await inRepository(page);
	const tab = await page.locator('.row-main[aria-current="page"]').getAttribute("data-tab");
	await page.locator(".row .branch-line", { hasText: "signal" }).waitFor();
	await page.locator(`[data-tab="${plain}"]`).click();
	await page.keyboard.press("Alt+Shift+KeyF");
	await page.keyboard.type("signal");
	assert.equal(await page.getByLabel("Search tabs", { exact: true }).inputValue(), "signal");
	await page.locator(".row-main").nth(1).waitFor({ state: "detached" });
	await page.keyboard.press("Enter");
	await page.locator(`[data-tab="${tab}"][aria-current="page"]`).waitFor();
	await page.getByLabel("Search tabs", { exact: true }).waitFor({ state: "detached" });
	await page.waitForFunction(() => document.activeElement?.closest(".terminal") !== null);
	await page.keyboard.press("Alt+Shift+KeyF");
	await page.keyboard.type("no such tab");
	await page.getByText("No tab matches “no such tab”.").waitFor();
	await page.keyboard.press("Escape");
	await page.keyboard.press("Escape");
	await page.locator(".row-main").nth(1).waitFor();
	await end("search-tabs");
});
