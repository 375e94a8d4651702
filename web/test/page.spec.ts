// Stories of the page: login, tabs, closing, what a reload and a lost connection keep.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page, WebSocketRoute } from "playwright-core";
import {
	closeAll,
	closeBrowser,
	freshLink,
	newTerminal,
	openWindow,
	origin,
	rows,
	seesRow,
	theBrowser,
	type,
} from "./story";

after(closeBrowser);

// Spec interfaces A2.1: the token is in the fragment, once, and leaves the address bar.
test("login: without a key the page says how; a link lets in once", async () => {
	const browser = await theBrowser();
	const stranger = await browser.newContext();
	const page = await stranger.newPage();
	await page.goto(origin);
	await page.getByRole("heading", { name: "Not logged in" }).waitFor();
	assert.equal(await page.locator(".rail").count(), 0);

	const link = freshLink();
	await page.goto(link);
	await page.getByText("connected", { exact: true }).waitFor({ state: "attached" });
	assert.equal(new URL(page.url()).hash, "");
	await stranger.close();

	const second = await browser.newContext();
	const again = await second.newPage();
	await again.goto(link);
	await again.getByRole("heading", { name: "Not logged in" }).waitFor();
	await again.getByRole("alert").waitFor();
	await second.close();
});

test("a new terminal shows what is typed and what comes of it, and nothing breaks the policy", async () => {
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: "Terminal" }).click();
	await page.locator(".stage .terminal .xterm-rows").waitFor();
	await seesRow(page, /[$#%>]\s*$/);
	await page.locator(".stage .terminal textarea").focus();
	await type(page, 'echo hel""lo');
	await seesRow(page, "hello");
	assert.deepEqual(wrong, []);
	await end("terminal");
});

// Spec tabs T6.1: closing tells, and Undo brings the tab back.
test("a closed tab comes back by Undo, with its terminal", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const tab = await newTerminal(page);
	await type(page, "echo st''ays");
	await seesRow(page, "stays");
	await page
		.locator(".row")
		.getByRole("button", { name: /^Close / })
		.click();
	await page.locator(`[data-tab="${tab}"]`).waitFor({ state: "detached" });
	const notice = page.locator('.notice[data-kind="tab_closed"]').last();
	await notice.getByRole("button", { name: /^Undo/ }).click();
	await page.locator(`[data-tab="${tab}"][aria-current="page"]`).waitFor();
	await seesRow(page, "stays");
	await end("undo");
});

// Spec tabs T5.3: the UI asks when a program runs, and names it.
test("closing a tab with a running program asks first", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const tab = await newTerminal(page);
	await type(page, "sleep 300");
	await page.locator('.row .mark[data-state="running"]').waitFor();
	await page.keyboard.press("Alt+Shift+KeyW");
	const dialog = page.getByRole("dialog", { name: "Close the tab?" });
	await dialog.waitFor();
	// A shell tells of a command before it has become the program.
	for (let asked = 1; asked < 20 && !/sleep/.test((await dialog.textContent()) ?? ""); asked++) {
		await page.keyboard.press("Escape");
		await dialog.waitFor({ state: "detached" });
		await page.keyboard.press("Alt+Shift+KeyW");
		await dialog.waitFor();
	}
	await dialog.getByText(/sleep/).waitFor();
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	assert.equal(await page.locator(`[data-tab="${tab}"]`).count(), 1);
	await page.keyboard.press("Alt+Shift+KeyW");
	await dialog.getByRole("button", { name: "Close", exact: true }).click();
	await page.locator(`[data-tab="${tab}"]`).waitFor({ state: "detached" });
	await end("close-asks");
});

test("a reload keeps terminals, the shown tab, and what was typed into a form", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	const tab = await newTerminal(page);
	await newTerminal(page);
	await page.locator(`[data-tab="${tab}"]`).click();
	await page.locator(".stage .terminal textarea").focus();
	await type(page, "echo ke''pt");
	await seesRow(page, "kept");
	await page.keyboard.press("Alt+Shift+KeyL");
	await page.getByLabel("Prompt", { exact: true }).fill("half a thought");
	await page.reload();
	await page.getByRole("dialog", { name: "Launch an agent" }).waitFor();
	assert.equal(await page.getByLabel("Prompt", { exact: true }).inputValue(), "half a thought");
	await page.keyboard.press("Escape");
	await page.locator(`[data-tab="${tab}"][aria-current="page"]`).waitFor();
	await seesRow(page, "kept");
	assert.equal((await rows(page)).filter((row) => row === "kept").length, 1);
	await end("reload");
});

// Spec terminal P3.1, P3.5: nothing is shown twice or lost; an id is written once.
test("a dropped connection resumes: what was typed meanwhile is typed once", async () => {
	const routes: WebSocketRoute[] = [];
	let refuse = false;
	const { page, end } = await openWindow({}, (p) =>
		p.routeWebSocket(/\/v1\/stream/, (route) => {
			if (refuse) return void route.close();
			routes.push(route);
			route.connectToServer();
		}),
	);
	await closeAll(page);
	await newTerminal(page);
	await type(page, "echo be''fore");
	await seesRow(page, "before");
	refuse = true;
	await routes.at(-1)?.close({ code: 4000 });
	await page.getByText("not connected").waitFor({ state: "attached" });
	await type(page, "echo on''ce >> /dev/tty");
	await page.getByText("No connection to davit.").waitFor();
	refuse = false;
	// The page may get there by itself before the hand does, and the button with it.
	await Promise.race([
		page.getByRole("button", { name: /Try now/ }).click(),
		page.getByText("connected", { exact: true }).waitFor({ state: "attached" }),
	]);
	await seesRow(page, "once");
	await type(page, "echo af''ter");
	await seesRow(page, "after");
	const seen = await rows(page);
	for (const word of ["before", "once", "after"]) {
		assert.equal(seen.filter((row) => row === word).length, 1, `${word} in:\n${seen.join("\n")}`);
	}
	await end("resumed");
});

// Spec terminal P3.4: one client owns the size; another is told, and can take it.
test("a second window shows the first one's size, and takes it when asked", async () => {
	const first = await openWindow();
	await closeAll(first.page);
	const tab = await newTerminal(first.page);
	const second = await openWindow({ viewport: { width: 900, height: 500 } });
	await second.page.locator(`[data-tab="${tab}"]`).click();
	await second.page.locator(".stage .terminal .xterm-rows").waitFor();
	await second.page.locator(".stage .terminal textarea").focus();
	const height = async (page: Page, mark: string) => {
		await type(page, `echo ${mark}''=$(stty size)`);
		return Number(/=(\d+)/.exec(await seesRow(page, new RegExp(`^${mark}=\\d+ \\d+$`)))?.[1]);
	};
	const small = await height(second.page, "small");
	await first.page.bringToFront();
	await first.page.locator(".stage .terminal textarea").focus();
	// Typing takes the size over: what is typed is read at the size of the window it came from.
	const large = await height(first.page, "large");
	assert.ok(large > small + 5, `${large} rows in the taller window, ${small} in the other`);
	await second.end("two-windows");
	await first.end("two-windows-first");
});

test("panes split, and the keyboard goes from one to the other", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	await page.keyboard.press("Alt+Shift+KeyD");
	await page.locator(".divider").waitFor();
	await page.locator(".pane").nth(1).locator(".xterm-rows").waitFor();
	await page.locator('.pane[data-active="true"]').nth(0).waitFor();
	await page.locator(".pane").nth(1).locator("textarea").focus();
	await page.keyboard.press("Alt+Shift+ArrowLeft");
	await page.waitForFunction(() => document.querySelectorAll(".pane")[0]?.contains(document.activeElement));
	const divider = page.getByRole("separator");
	const before = Number(await divider.getAttribute("aria-valuenow"));
	await divider.focus();
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction(
		(old) => Number(document.querySelector("[role=separator]")?.getAttribute("aria-valuenow")) > old,
		before,
	);
	await page.keyboard.press("Alt+Shift+Enter");
	await page.locator(".divider").waitFor({ state: "detached" });
	await page.keyboard.press("Alt+Shift+Enter");
	await page.locator(".divider").waitFor();
	await end("splits");
});

test("a tab is renamed in place", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const tab = await newTerminal(page);
	await page.locator(`[data-tab="${tab}"]`).dblclick();
	await page.locator(".row-rename").fill("lighthouse");
	await page.keyboard.press("Enter");
	await page.locator(`[data-tab="${tab}"]`).getByText("lighthouse").waitFor();
	await end("rename");
});

test("an ended program says so in its place", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	await type(page, "exit 3");
	await page.locator(".pane-strip").getByText("Ended with exit status 3").waitFor();
	await end("ended");
});
