// Stories of closing: what is asked first, undo, and cleanups that fail (spec tabs T5, T6.1).
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { clean } from "./axe";
import { ask, closeAll, closeBrowser, config, newTerminal, openWindow, seesRow, type } from "./story";

after(closeBrowser);

// Spec tabs T5.3: the list of ids is fixed before anything is asked.
test("closing all others asks once, closes exactly what it listed, and one Undo brings all back", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const busy = await newTerminal(page);
	await type(page, "sleep 300");
	await page.locator('.row .mark[data-state="running"]').waitFor();
	const quiet = await newTerminal(page);
	const kept = await newTerminal(page);
	await page.locator(`[data-tab="${kept}"]`).click({ button: "right" });
	await page.getByRole("menuitem", { name: "Close others" }).click();
	const dialog = page.getByRole("dialog", { name: "Close 2 tabs?" });
	await dialog.waitFor();
	await dialog.getByText(/sleep/).waitFor();
	await clean(page, "the question before a close");
	// Opened since: it was not listed, and stays.
	const { tabId: late } = await ask<{ tabId: string }>(page, "tab.open", { title: "late" });
	await page.locator(`[data-tab="${late}"]`).waitFor({ state: "attached" });
	await dialog.getByRole("button", { name: "Close 2 tabs" }).click();
	for (const id of [busy, quiet]) await page.locator(`[data-tab="${id}"]`).waitFor({ state: "detached" });
	assert.equal(await page.locator(`[data-tab="${late}"], [data-tab="${kept}"]`).count(), 2);
	// One act, one notice, with the time that is left.
	const notice = page.locator('.notice[data-kind="tab_closed"]');
	await notice.getByRole("button", { name: /^Undo/ }).waitFor();
	assert.equal(await notice.count(), 1);
	assert.match((await notice.locator("time").textContent()) ?? "", /^\d+ s$/);
	await notice.getByRole("button", { name: /^Undo/ }).click();
	for (const id of [busy, quiet]) await page.locator(`[data-tab="${id}"]`).waitFor();
	await notice.waitFor({ state: "detached" });
	await end("close-others");
});

test("a closed group comes back as it was, by the key, also when nothing else is open", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const a = await newTerminal(page);
	const b = await newTerminal(page);
	await ask(page, "group.make", { tabs: [a, b], name: "Harbour", color: "cyan" });
	const header = page.getByRole("button", { name: /^Harbour/ });
	await header.focus();
	await page.keyboard.press("Delete");
	await page.getByRole("heading", { name: "Nothing is open" }).waitFor();
	await header.waitFor({ state: "detached" });
	await page.getByRole("button", { name: /Undo close/ }).waitFor();
	await clean(page, "nothing open, with something to bring back");
	await page.keyboard.press("Alt+Shift+KeyZ");
	await header.waitFor();
	await page.locator('.tab-group[data-color="cyan"] .row-main').nth(1).waitFor();
	await end("close-group");
});

test("a closed pane comes back beside the other", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	await page.keyboard.press("Alt+Shift+KeyD");
	await page.locator(".divider").waitFor();
	await page.locator(".pane").nth(1).locator("textarea").focus();
	await page.keyboard.press("Alt+Shift+KeyX");
	await page.locator(".divider").waitFor({ state: "detached" });
	await page.keyboard.press("Alt+Shift+KeyZ");
	await page.locator(".divider").waitFor();
	await end("close-pane-undo");
});

// Spec tabs T5.3: a close cancels a rename.
test("a close cancels a rename", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const tab = await newTerminal(page);
	await page.keyboard.press("Alt+Shift+KeyR");
	await page.locator(".row-rename").fill("never");
	await page.keyboard.press("Alt+Shift+KeyW");
	await page.locator(`[data-tab="${tab}"]`).waitFor({ state: "detached" });
	await page.keyboard.press("Alt+Shift+KeyZ");
	await page.locator(`[data-tab="${tab}"]`).waitFor();
	assert.doesNotMatch((await page.locator(`[data-tab="${tab}"]`).textContent()) ?? "", /never/);
	await end("close-rename");
});

// Spec tabs T5.5: never pushed out by others; run again once the cause is gone.
test("a cleanup that failed is run again from its notice, which others do not push out", async () => {
	const dir = mkdtempSync(join(tmpdir(), "davit-story-"));
	config(
		"mendable",
		`name = "Mendable"
[[panes]]
id = "main"
type = "terminal"
[on_close]
directory = "${dir}"
commands = ["test -e ok || { echo not yet; exit 3; }", "touch done"]
`,
	);
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: "Mendable", exact: true }).click();
	await page.locator(".stage .terminal .xterm-rows").waitFor();
	await page.keyboard.press("Alt+Shift+KeyW");
	const failed = page.locator('.notice[data-kind="cleanup_failed"]');
	await failed.getByText("not yet", { exact: true }).waitFor();
	await failed.getByText(/1 command was skipped/).waitFor();
	assert.match((await failed.locator(".notice-command").textContent()) ?? "", /exit 3/);
	for (let n = 0; n < 5; n++) {
		const { tabId } = await ask<{ tabId: string }>(page, "tab.open", {});
		await ask(page, "tab.close", { tabs: [tabId], yes: true });
	}
	await page.locator('.notice[data-kind="tab_closed"]').nth(1).waitFor(); // three are drawn, the gravest among them
	assert.equal(await failed.count(), 1);
	await clean(page, "notices");
	writeFileSync(join(dir, "ok"), "");
	await failed.getByRole("button", { name: "Run again" }).click();
	await failed.waitFor({ state: "detached" });
	await end("cleanup-again");
});

// Spec tabs T2.1: a pane that held secrets asks for them again.
test("an ended program is started again in its place, and asked its secrets", async () => {
	config(
		"secretive",
		`name = "Secretive"
[params.token]
type = "secret"
[[panes]]
id = "main"
type = "terminal"
env = {TOKEN = "{{token}}"}
commands = ["echo it is $TOKEN"]
`,
	);
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	await type(page, "exit 3");
	await page.locator(".pane-strip").getByText("Ended with exit status 3").waitFor();
	await page.getByRole("button", { name: "Restart" }).click();
	await page.locator(".pane-strip").waitFor({ state: "detached" });
	await seesRow(page, /[$#%>]\s*$/);
	await closeAll(page);

	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: "Secretive", exact: true }).click();
	const form = page.getByRole("dialog", { name: "Secretive" });
	await form.getByText("token is still blank.").waitFor();
	await form.getByLabel("token").fill("brass");
	await page.keyboard.press("Enter");
	await seesRow(page, "it is brass");
	await page.locator(".stage .terminal textarea").focus();
	await type(page, "exit 4");
	await page.locator(".pane-strip").getByText("Ended with exit status 4").waitFor();
	await page.getByRole("button", { name: "Restart" }).click();
	const again = page.getByRole("dialog", { name: "Start it again" });
	const field = again.getByLabel("token");
	await field.waitFor();
	assert.equal(await field.getAttribute("type"), "password");
	assert.equal(await field.inputValue(), "");
	await clean(page, "the question for secrets");
	await field.fill("copper");
	await page.keyboard.press("Enter");
	await again.waitFor({ state: "detached" });
	await page.locator(".pane-strip").waitFor({ state: "detached" });
	await page.locator(".stage .terminal textarea").focus();
	await type(page, "echo now $TOKEN");
	await seesRow(page, "now copper");
	await end("restart");
});
