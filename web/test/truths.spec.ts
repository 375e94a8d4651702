// Stories of what the page says and where the keyboard is: a startup command that failed, a
// picker typed into before its list came, dialogs, undo without anything to undo (spec tabs
// T2.1, T4.1, T6.1, launch L9.6).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { clean } from "./axe";
import {
	ask,
	closeAll,
	closeBrowser,
	config,
	newTerminal,
	openWindow,
	repository,
	rows,
	seesRow,
	type,
} from "./story";

after(closeBrowser);

test("a startup command that failed is told in its pane and its row, until it is understood", async () => {
	config(
		"breaks",
		`name = "Breaks"
[[panes]]
id = "main"
type = "terminal"
shell = "bash"
commands = ["sh -c 'echo no rule; exit 7'", "echo after"]
`,
	);
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	await ask(page, "config.open", { config: "breaks" });
	const strip = page.getByRole("alert").filter({ hasText: "failed" });
	await strip.waitFor();
	assert.match((await strip.textContent()) ?? "", /exit 7' failed\. Exit status 7\. Not run: echo after\./);
	await page.locator(".row").getByText("startup failed").first().waitFor({ state: "attached" });
	await clean(page, "a pane whose startup failed");
	await page.screenshot({ path: new URL("../test-results/startup-failed.png", import.meta.url).pathname });
	await strip.getByRole("button", { name: "Understood" }).click();
	await strip.waitFor({ state: "detached" });
	await page.keyboard.type("echo goes on\n");
	await seesRow(page, "goes on");
	assert.deepEqual(wrong, []);
	await end("startup-failed-understood");
});

test("what was typed into a picker before its list came is decided by the list", async () => {
	const repo = repository();
	let release = () => {};
	const held = new Promise<void>((done) => {
		release = done;
	});
	const { page, end } = await openWindow({}, async (window) => {
		await window.route("**/v1/workspace.list", async (route) => {
			await held;
			await route.continue();
		});
	});
	await closeAll(page);
	await ask(page, "workspace.add", { path: repo });
	await page.keyboard.press("Alt+Shift+KeyN");
	const form = page.getByRole("dialog", { name: "New worktree" });
	await form.waitFor();
	await page.keyboard.type(basename(repo)); // the first field has the keyboard
	await page.keyboard.press("Enter");
	release();
	await page.waitForFunction(
		() => document.querySelector<HTMLInputElement>('input[name="base"]')?.value === "main",
	);
	assert.equal(await form.getByRole("combobox", { name: "Repository" }).inputValue(), basename(repo));
	await page.keyboard.press("Escape");
	await end("picker-early");
});

test("dialogs begin in their field, and the undo key is never the terminal's", async () => {
	config("one", `name = "Lighthouse"\n[[panes]]\nid = "a"\ntype = "terminal"\n`);
	const { page, end } = await openWindow();
	// Nothing is kept for undo, also not what stories before this one closed.
	await ask(page, "settings.set", { key: "undo_close_seconds", value: 0 });
	for (let more = true; more; ) {
		more = await ask(page, "tab.undoClose", {}).then(
			() => true,
			() => false,
		);
	}
	await closeAll(page);
	await newTerminal(page);
	await page.keyboard.press("Alt+Shift+KeyO");
	const focused = () =>
		page.evaluate(() => {
			const here = document.activeElement;
			return here ? `${here.tagName} ${here.getAttribute("aria-label") ?? here.textContent ?? ""}` : "";
		});
	await page.getByRole("dialog").waitFor();
	await page.waitForFunction(() => document.activeElement?.closest("dialog"));
	assert.doesNotMatch(await focused(), /Close dialog/);
	await page.keyboard.press("Escape");
	await page.waitForFunction(() => document.activeElement?.closest(".terminal"));
	const before = await rows(page);
	await page.keyboard.press("Alt+Shift+KeyZ");
	await page.getByText("Nothing to undo").waitFor();
	await page.keyboard.type("echo still here\n");
	await seesRow(page, "still here");
	assert.ok(!(await rows(page)).join("\n").includes("\u001b"), before.join("\n"));
	await ask(page, "settings.set", { key: "undo_close_seconds", value: 60 });
	await end("dialog-field");
});

test("before and after a worktree goes, what git ignores in it is told", async () => {
	const repo = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await ask(page, "workspace.add", { path: repo });
	await ask(page, "worktree.open", { in: `path:${repo}`, branch: "ignores" });
	const { tabs } = await ask<{ tabs: { id: string; worktree?: { path: string } }[] }>(page, "tab.list", {});
	const tab = tabs.find((one) => one.worktree);
	assert.ok(tab?.worktree);
	writeFileSync(join(repo, ".git", "info", "exclude"), ".env\n");
	writeFileSync(join(tab.worktree.path, ".env"), "TOKEN=1\n");
	await page.keyboard.press("Control+KeyK");
	await page.keyboard.type("worktrees");
	await page.keyboard.press("Enter");
	const view = page.getByRole("dialog", { name: "Worktrees" });
	await view.getByText("1 ignored by git").waitFor();
	await page.keyboard.press("Escape");
	await view.waitFor({ state: "detached" });
	// The question before a close says it too.
	await page.locator(`.row-main[data-tab="${tab.id}"]`).click();
	await page.locator(".stage .terminal textarea").focus();
	await type(page, "sleep 300");
	await page.locator('.row .mark[data-state="running"]').waitFor();
	await page.locator(`[data-tab="${tab.id}"]`).click({ button: "right" });
	await page.getByRole("menuitem", { name: /^Close(?! others| those| group)/ }).click();
	const question = page.getByRole("dialog", { name: "Close the tab?" });
	await question.getByText(/\.env/).waitFor();
	await clean(page, "the question that says what goes");
	await page.screenshot({ path: new URL("../test-results/close-going.png", import.meta.url).pathname });
	await question.getByRole("button", { name: "Keep it" }).click();
	await question.waitFor({ state: "detached" });
	const closed = await ask<{ going: { text: string }[] }>(page, "tab.close", { tabs: [tab.id], yes: true });
	assert.match(closed.going[0]?.text ?? "", /\.env/);
	await page.getByText(/\.env/).first().waitFor();
	await page.screenshot({ path: new URL("../test-results/ignored-goes.png", import.meta.url).pathname });
	await ask(page, "tab.undoClose", {});
	await end("ignored-told");
});
