// Stories of what agents do (spec session S3): who waits is seen in the tab list, in the
// window's title and in the list of agents, and is read as soon as somebody looks, on every
// client.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { clean } from "./axe";
import { ask, closeAll, closeBrowser, newTerminal, openWindow, pictures, repository } from "./story";

after(closeBrowser);

interface Launched {
	tab: string;
	pane: string;
}

let socket = "";

/** The practice agent in a terminal, at work. */
async function busy(page: Page, dir: string): Promise<Launched> {
	socket = (await ask<{ socket: string }>(page, "host.info", {})).socket;
	const { outcome } = await ask<{ outcome: { tabId: string; paneKey: string } }>(page, "agent.launch", {
		operationId: `${Date.now()}-${randomBytes(16).toString("hex")}`,
		agent: "practice",
		surface: "terminal",
		prompt: { text: "wait", delivery: "submit" },
		target: { kind: "existing", worktree: `path:${dir}` },
	});
	return { tab: outcome.tabId, pane: outcome.paneKey.split(":")[1] ?? "" };
}

/** What the agent's hook does, in its pane. */
function hook(pane: string, event: string, more: object = {}): void {
	const env = { ...process.env, DAVIT_PANE: pane, DAVIT_SOCKET: socket };
	execFileSync(process.env.DAVIT_BIN ?? "", ["agent", "report", "--agent", "claude", "--event", event], {
		env,
		input: JSON.stringify({ session_id: "s1", ...more }),
	});
}

const row = (page: Page, tab: string) => page.locator(`.row:has(.row-main[data-tab="${tab}"])`);

test("who waits is unread on every client, and read on all when somebody looks", async () => {
	const dir = repository();
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	// Both windows show a shell before there is an agent that could be looked at.
	const shell = await newTerminal(page);
	const other = await openWindow();
	await other.page.locator(`.row-main[data-tab="${shell}"][aria-current="page"]`).waitFor();
	const one = await busy(page, dir);
	const two = await busy(page, dir);
	await row(page, two.tab).waitFor();
	hook(one.pane, "UserPromptSubmit");
	hook(two.pane, "UserPromptSubmit");
	hook(one.pane, "PermissionRequest", { tool_name: "Bash", tool_input: { command: "make deploy" } });
	await row(page, one.tab).locator('.mark[data-state="waiting"]').waitFor();
	await page.waitForFunction(() => document.title.startsWith("(1) "));
	hook(two.pane, "Stop", { last_assistant_message: "All tests pass." });
	await page.waitForFunction(() => document.title.startsWith("(2) "));
	await row(page, two.tab).locator('.mark[data-state="done"]').waitFor();
	await clean(page, "the tab list with unread agents");

	// Another client says the same; the list of agents has who waits first.
	await other.page.waitForFunction(() => document.title.startsWith("(2) "));
	await other.page.keyboard.press("Control+KeyK");
	await other.page.getByRole("combobox", { name: "Command, tab or config" }).fill("agents");
	await other.page.keyboard.press("Enter");
	const list = other.page.getByRole("dialog", { name: "Agents" });
	await list.getByText("waits for a permission").waitFor();
	await list.getByText("Bash make deploy").waitFor();
	assert.match((await list.locator(".agent-line").first().textContent()) ?? "", /waits for a permission/);
	await clean(other.page, "the list of agents");
	await other.page.screenshot({ path: join(pictures, "agents-list.png") });
	await other.page.keyboard.press("Escape");
	await list.waitFor({ state: "detached" });

	// By the notice; the look counts everywhere, and takes the notice away.
	await page.screenshot({ path: join(pictures, "agents-unread.png") });
	const notice = page.locator(".notice", { hasText: /waits/ }).first();
	await notice.getByRole("button", { name: "Go there" }).click();
	await page.locator(`.row-main[data-tab="${one.tab}"][aria-current="page"]`).waitFor();
	await page.waitForFunction(() => document.title.startsWith("(1) "));
	await other.page.waitForFunction(() => document.title.startsWith("(1) "));
	await notice.waitFor({ state: "detached" });
	await row(page, one.tab).locator('.mark[data-state="waiting"]').waitFor(); // it still waits

	// By the key to the next one, and then there is none.
	await page.locator(`.row-main[data-tab="${shell}"]`).click();
	await page.keyboard.press("Alt+Shift+KeyA");
	await page.locator(`.row-main[data-tab="${one.tab}"][aria-current="page"]`).waitFor(); // it waits longest
	await page.keyboard.press("Alt+Shift+KeyA");
	await page.locator(`.row-main[data-tab="${two.tab}"][aria-current="page"]`).waitFor();
	await other.page.waitForFunction(() => !document.title.startsWith("("));
	assert.deepEqual([wrong, other.wrong], [[], []]);
	await other.end("agents-other");
	await end("agents-end");
});

/** A desktop that writes down what it is told: headless browsers have none. */
const desktop = `
window.told = [];
window.Notification = class {
	static permission = "default";
	static async requestPermission() { return (this.permission = "granted"); }
	constructor(title, options = {}) {
		window.told.push(title + (options.body ? ": " + options.body : ""));
		window.lastTold = this;
	}
	close() {}
};`;

test("the desktop is told of who waits when the browser's user has said so, and of nothing that it says", async () => {
	const dir = repository();
	const { page, context, end } = await openWindow({}, async (fresh) => {
		await fresh.addInitScript({ content: desktop });
	});
	await closeAll(page);
	const told = () => page.evaluate(() => (window as unknown as { told: string[] }).told);
	await newTerminal(page);
	const agent = await busy(page, dir);
	await row(page, agent.tab).waitFor();
	hook(agent.pane, "UserPromptSubmit");
	hook(agent.pane, "PermissionRequest", { tool_name: "Bash", tool_input: { command: "cat secrets" } });
	await page.waitForFunction(() => document.title.startsWith("(1) "));
	assert.deepEqual(await told(), [], "nobody has asked for it");
	await page.getByRole("button", { name: "View of the tabs" }).click();
	const popup = page.getByRole("dialog", { name: "View of the tabs" });
	await popup.getByRole("radio", { name: "Waiting", exact: true }).check();
	await popup.getByRole("radio", { name: "Waiting", exact: true }).scrollIntoViewIfNeeded();
	await page.screenshot({ path: join(pictures, "agents-desktop.png") });
	await page.keyboard.press("Escape");
	hook(agent.pane, "UserPromptSubmit");
	await page.waitForFunction(() => !document.title.startsWith("("));
	hook(agent.pane, "PermissionRequest", { tool_name: "Bash", tool_input: { command: "cat secrets" } });
	await page.waitForFunction(() => (window as unknown as { told: string[] }).told.length === 1);
	assert.doesNotMatch((await told())[0] ?? "", /secrets|Bash/);
	await page.evaluate(() => (window as unknown as { lastTold: { onclick: () => void } }).lastTold.onclick());
	await page.locator(`.row-main[data-tab="${agent.tab}"][aria-current="page"]`).waitFor();
	await context.clearPermissions();
	await end("agents-desktop-end");
});
