// Stories of a repository's setup script in the launch form (spec launch L9.5, L5.3): read and
// allowed before it runs, run before the agent, asked again when its text is another.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { clean } from "./axe";
import { closeAll, closeBrowser, openWindow, pictures, repository, seesRow } from "./story";

after(closeBrowser);

function withSetup(dir: string, script: string): void {
	mkdirSync(join(dir, ".davit"), { recursive: true });
	writeFileSync(join(dir, ".davit", "workspace.toml"), `setup = '''\n${script}\n'''\n`);
	for (const args of [
		["add", "."],
		["commit", "-q", "-m", "setup"],
	]) {
		execFileSync("git", ["-C", dir, ...args], { stdio: "ignore" });
	}
}

async function formFor(page: Page, dir: string, name: string) {
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await form.getByLabel("Of the repository").fill(dir);
	await form.getByLabel("Name", { exact: true }).fill(name);
	await form.locator('input[name="surface"][value="terminal"]').check();
	return form;
}

test("a setup script is read and allowed, runs before the agent, and asks again when it changed", async () => {
	const dir = repository();
	withSetup(dir, "echo rigging the mast\ntouch rigged");
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	const form = await formFor(page, dir, "mast");
	const setup = form.getByRole("group", { name: "Setup script" });
	await setup.getByText("touch rigged").waitFor();
	await setup.scrollIntoViewIfNeeded();
	await clean(page, "the launch form with a setup script");
	await page.screenshot({ path: join(pictures, "setup-untrusted.png") });
	await setup.getByRole("button", { name: "Allow this script" }).click();
	assert.equal(await setup.getByRole("checkbox").isChecked(), true);
	await page.screenshot({ path: join(pictures, "setup-allowed.png") });
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	const receipt = page.getByRole("dialog", { name: "Receipt" });
	await receipt.getByText("Works in").waitFor();
	const path = (await receipt.locator("dd code").first().textContent()) ?? "";
	await receipt.getByRole("button", { name: "Show it" }).click();
	await seesRow(page, /Type a prompt/); // the agent is there, and its worktree was set up before
	assert.ok(existsSync(join(path, "rigged")), `${path} is set up`);

	// Another text is not the one that was allowed.
	withSetup(dir, "echo another mast\nexit 7");
	const again = await formFor(page, dir, "boom");
	const changed = again.getByRole("group", { name: "Setup script" });
	await changed.getByText("exit 7").waitFor();
	await changed.getByRole("button", { name: "Allow this script" }).click();
	await changed.getByRole("checkbox").waitFor();
	// One that fails: no agent, and its pane and the answer say why.
	await again.getByRole("button", { name: "Launch", exact: true }).click();
	await again
		.getByText(/exit status 7/)
		.first()
		.waitFor();
	await again.getByRole("alert").first().scrollIntoViewIfNeeded();
	await page.screenshot({ path: join(pictures, "setup-failed.png") });
	await page.keyboard.press("Escape");
	await again.waitFor({ state: "detached" });
	await page.locator(".row-main", { hasText: "boom" }).first().waitFor();
	// The browser's own word for the launch that failed, and nothing else.
	assert.deepEqual(
		wrong.filter((line) => !line.startsWith("Failed to load resource")),
		[],
	);
	await end("setup-end");
});
