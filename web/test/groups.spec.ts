// Stories of the rail's order: groups and pins, by hand and by the keyboard (spec tabs T6.5).
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { clean } from "./axe";
import { comes } from "./layouts";
import { ask, closeAll, closeBrowser, openWindow } from "./story";

after(closeBrowser);

interface Listed {
	id: string;
	group?: string;
	pinned?: boolean;
}

async function listed(page: Page): Promise<Listed[]> {
	return (await ask<{ tabs: Listed[] }>(page, "tab.list", {})).tabs;
}

/** Opens plain tabs with titles, and waits for their rows. */
async function openTabs(page: Page, ...titles: string[]): Promise<string[]> {
	const ids: string[] = [];
	for (const title of titles) {
		const opened = await ask<{ tabId: string }>(page, "tab.open", { title });
		await page.locator(`[data-tab="${opened.tabId}"]`).waitFor({ state: "attached" });
		ids.push(opened.tabId);
	}
	return ids;
}

const row = (page: Page, id: string) => page.locator(`.row-main[data-tab="${id}"]`);
const order = (page: Page) =>
	page
		.locator(".row-main[data-tab], .group-main")
		.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.tab ?? "group"));

/** Gives something the keyboard for good: a menu or a field that has just closed gives it back late. */
async function focus(page: Page, what: Locator): Promise<void> {
	await comes(async () => {
		await what.focus();
		for (let frame = 0; frame < 4; frame++) {
			await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
		}
		return what.evaluate((element) => document.activeElement === element);
	}, true);
}

/** Waits until the rail's rows are these; "group" stands for a header. */
async function stands(page: Page, wanted: string[]): Promise<void> {
	await page.waitForFunction(
		(want) =>
			JSON.stringify(
				[...document.querySelectorAll<HTMLElement>(".row-main[data-tab], .group-main")].map(
					(one) => one.dataset.tab ?? "group",
				),
			) === want,
		JSON.stringify(wanted),
	);
}

test("tabs are grouped, moved into and out of a group by hand, and the host keeps it", async () => {
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	const [a, b, c, d] = (await openTabs(page, "anchor", "buoy", "crane", "dock")) as [
		string,
		string,
		string,
		string,
	];
	// The middle of another tab: a group of both, whose name is asked for at once.
	await row(page, b).dragTo(row(page, a));
	const name = page.getByRole("textbox", { name: /Name of the group/ });
	await name.waitFor();
	await name.fill("Harbour");
	await page.keyboard.press("Enter");
	const header = page.getByRole("button", { name: /^Harbour/ });
	await header.waitFor();
	await stands(page, ["group", a, b, c, d]);
	// Onto the header: in, at its end.
	await row(page, d).dragTo(header);
	await stands(page, ["group", a, b, d, c]);
	// Before its first: the upper rim of a row is a place, not a group.
	const box = await row(page, a).boundingBox();
	assert.ok(box);
	await row(page, c).dragTo(row(page, a), { targetPosition: { x: 60, y: 3 } });
	await stands(page, ["group", c, a, b, d]);
	// Out of it: behind the header's upper rim.
	await row(page, d).dragTo(header, { targetPosition: { x: 60, y: 2 } });
	await stands(page, [d, "group", c, a, b]);
	const groups = (await listed(page)).map((tab) => Boolean(tab.group));
	assert.deepEqual(groups, [false, true, true, true]);
	await page.screenshot({ path: new URL("../test-results/groups-rail.png", import.meta.url).pathname });
	await clean(page, "a rail with a group");
	assert.deepEqual(wrong, []);
	await end("groups-drag");
});

test("groups, colours and pins by the keyboard alone; a fold outlives a reload", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const [a, b, c] = (await openTabs(page, "anchor", "buoy", "crane")) as [string, string, string];
	await focus(page, row(page, b));
	await page.keyboard.press("Shift+F10");
	const menu = page.getByRole("menu");
	await menu.getByRole("menuitem", { name: "Group" }).waitFor();
	await clean(page, "the menu of a tab");
	await page.keyboard.type("g");
	await page.keyboard.press("ArrowRight");
	await page.getByRole("menuitem", { name: "New group" }).focus();
	await page.keyboard.press("Enter");
	await page.getByRole("textbox", { name: /Name of the group/ }).waitFor();
	await page.keyboard.type("Harbour");
	await page.keyboard.press("Enter");
	const header = page.getByRole("button", { name: /^Harbour/ });
	await header.waitFor();
	// A tab that is moved past a group goes into it, and out at its other end.
	await focus(page, row(page, c));
	await page.keyboard.press("Alt+ArrowUp");
	await stands(page, [a, "group", b, c]);
	await page.waitForFunction((id) => document.activeElement?.getAttribute("data-tab") === id, c);
	await page.keyboard.press("Alt+ArrowUp");
	await stands(page, [a, "group", c, b]);
	await page.keyboard.press("Alt+ArrowUp");
	await stands(page, [a, c, "group", b]);
	// The group itself moves, takes a colour, and folds.
	await focus(page, header);
	await page.keyboard.press("Alt+ArrowUp");
	await stands(page, [a, "group", b, c]);
	await focus(page, header);
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menuitem", { name: "Colour" }).click();
	await clean(page, "the colours");
	await page.getByRole("menuitemradio", { name: "Colour: cyan" }).click();
	await page.locator('.tab-group[data-color="cyan"]').waitFor();
	await focus(page, header);
	await page.keyboard.press("ArrowLeft");
	await stands(page, [a, "group", c]);
	await page.reload();
	await stands(page, [a, "group", c]);
	await focus(page, header);
	await page.keyboard.press("ArrowRight");
	await stands(page, [a, "group", b, c]);
	// A pinned tab stands before all others.
	await focus(page, row(page, c));
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menuitem", { name: "Pin", exact: true }).click();
	await stands(page, [c, a, "group", b]);
	await page.getByRole("list", { name: "Pinned tabs" }).waitFor();
	assert.equal((await listed(page))[0]?.pinned, true);
	await clean(page, "a pinned tab");
	await end("groups-keys");
});

test("at 360 px a tab's menu is in reach of a thumb, and moves it out of its group", async () => {
	const { page, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	await closeAll(page);
	const [a, b] = (await openTabs(page, "anchor", "buoy")) as [string, string];
	await ask(page, "group.make", { tabs: [a, b], name: "Harbour" });
	await page.getByRole("button", { name: /^Tabs/ }).tap();
	await stands(page, ["group", a, b]);
	await page.getByRole("button", { name: "Menu of anchor" }).tap();
	await page.getByRole("menuitem", { name: "Group" }).tap();
	await page.screenshot({
		path: new URL("../test-results/groups-narrow-menu.png", import.meta.url).pathname,
	});
	const box = await page.locator(".menu").boundingBox();
	assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
	await page.getByRole("menuitem", { name: "Out of the group" }).tap();
	await page.waitForFunction(() => document.querySelectorAll(".tab-group .row-main").length === 1);
	assert.equal((await order(page)).length, 3);
	await end("groups-narrow");
});

test("at 360 px a finger lifts a tab, groups and moves it, and asks for its menu", async () => {
	const { page, context, wrong, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	await closeAll(page);
	const [a, b, c] = (await openTabs(page, "anchor", "buoy", "crane")) as [string, string, string];
	await page.getByRole("button", { name: /^Tabs/ }).tap();
	await stands(page, [a, b, c]);
	const touch = await context.newCDPSession(page);
	const finger = (type: "touchStart" | "touchMove" | "touchEnd", at?: { x: number; y: number }) =>
		touch.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [at] : [] });
	const place = async (id: string, part: number) => {
		await row(page, id).click({ trial: true }); // it stands still: the list slides in
		const box = await row(page, id).boundingBox();
		assert.ok(box);
		return { x: box.x + box.width * 0.4, y: box.y + box.height * part };
	};
	const drag = async (id: string, to: { x: number; y: number }) => {
		const from = await place(id, 0.5);
		await finger("touchStart", from);
		await page.locator(`[data-lifted][data-id="${id}"]`).waitFor();
		for (const part of [0.4, 0.8, 1]) {
			await finger("touchMove", { x: from.x, y: from.y + (to.y - from.y) * part });
		}
		await page.locator("[data-drop]").waitFor();
		await finger("touchEnd");
		await page.locator("[data-lifted]").waitFor({ state: "detached" });
	};
	// Before the first one, by the upper rim.
	await drag(c, await place(a, 0.05));
	await stands(page, [c, a, b]);
	// Onto the middle of another: a group of both.
	await drag(b, await place(a, 0.5));
	const name = page.getByRole("textbox", { name: /Name of the group/ });
	await name.fill("Harbour");
	await page.keyboard.press("Enter");
	await stands(page, [c, "group", a, b]);
	await page.screenshot({ path: new URL("../test-results/groups-touch.png", import.meta.url).pathname });
	// A finger that stays and lets go: the menu. One that slides at once moves nothing.
	await finger("touchStart", await place(c, 0.5));
	await page.locator(`[data-lifted][data-id="${c}"]`).waitFor();
	await finger("touchEnd");
	await page.getByRole("menuitem", { name: "Rename" }).waitFor();
	await page.keyboard.press("Escape");
	const from = await place(c, 0.5);
	await finger("touchStart", from);
	for (const by of [20, 60, 120]) await finger("touchMove", { x: from.x, y: from.y + by });
	assert.equal(await page.locator("[data-lifted], [data-drop]").count(), 0);
	await finger("touchEnd");
	await stands(page, [c, "group", a, b]);
	assert.deepEqual(wrong, []);
	await end("groups-touch-end");
});

// Spec tabs T6.1: a pane moves between tabs by the menu, its program goes on; and how long a
// close can be undone is said beside how the tabs are drawn.
test("a pane is moved beside another tab's and into a tab of its own; the time for undo is set", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const [north, south] = (await openTabs(page, "north", "south")) as [string, string];
	const moveTo = async (from: string, to: string) => {
		await row(page, from).click({ button: "right" });
		await page.getByRole("menuitem", { name: "Move pane to" }).click();
		await page.getByRole("menu", { name: "Move pane to" }).waitFor();
		await page.getByRole("menuitem", { name: to, exact: true }).click();
	};
	await row(page, north).click({ button: "right" });
	await page.getByRole("menuitem", { name: "Move pane to" }).click();
	await page.getByRole("menu", { name: "Move pane to" }).waitFor();
	await clean(page, "the places of a pane");
	await page.keyboard.press("Escape");
	await moveTo(north, "south");
	await page.locator(".stage .pane").nth(1).waitFor();
	assert.deepEqual(
		(await listed(page)).map((tab) => tab.id),
		[south],
	);
	await moveTo(south, "New tab");
	await page.locator(".row-main[data-tab]").nth(1).waitFor();
	await page.locator(".stage .pane").nth(1).waitFor({ state: "detached" });

	await page.getByRole("button", { name: "View of the tabs" }).click();
	const popup = page.getByRole("dialog", { name: "View of the tabs" });
	await popup.getByRole("radio", { name: "1 min" }).waitFor({ state: "attached" });
	await clean(page, "the popup with the time for undo");
	await page.screenshot({ path: new URL("../test-results/undo-time.png", import.meta.url).pathname });
	await popup.getByRole("radio", { name: "10 min" }).check();
	const seconds = async () =>
		(await ask<{ value: number }>(page, "settings.get", { key: "undo_close_seconds", value: null })).value;
	const before = Date.now();
	while ((await seconds()) !== 600 && Date.now() - before < 10_000) await page.waitForTimeout(50);
	assert.equal(await seconds(), 600);
	await ask(page, "settings.set", { key: "undo_close_seconds", value: 60 });
	await end("pane-moved");
});
