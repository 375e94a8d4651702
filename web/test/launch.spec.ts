// Stories of opening and launching: configs with questions, agents with receipts, and
// cleanups that fail.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
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
	pictures,
	repository,
	seesRow,
	type,
} from "./story";

after(closeBrowser);

test("a config with questions opens with the answers", async () => {
	config(
		"greet",
		`name = "Greet"
description = "Says who is there"

[params.who]
type = "text"
description = "Whom to greet"
default = "world"

[[panes]]
id = "main"
type = "terminal"
commands = ["printf 'hello %s\\\\n' {{who}}"]
`,
	);
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: /^Greet/ }).click();
	const dialog = page.getByRole("dialog", { name: "Greet" });
	const field = dialog.getByLabel("who");
	assert.equal(await field.inputValue(), "world");
	await field.fill("Ada's crew");
	await dialog.getByRole("button", { name: "Open" }).click();
	await seesRow(page, "hello Ada's crew");
	await end("config");
});

test("a faulty config is told with its place, and the others still open", async () => {
	config("broken", 'name = "Broken"\ncomands = []\n');
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.keyboard.press("Alt+Shift+KeyO");
	const dialog = page.getByRole("dialog", { name: "Tab configs" });
	await dialog
		.getByText(/broken\.toml:2/)
		.first()
		.waitFor();
	await end("config-fault");
	config("broken", 'name = "Mended"\n[[panes]]\nid = "a"\ntype = "terminal"\n');
});

// Spec launch L2: the receipt says what was done, in words.
test("the practice agent is launched into a new worktree, and the receipt says so", async () => {
	const repo = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await form.getByLabel("Of the repository").fill(repo);
	await form.getByLabel("Name", { exact: true }).fill("signal-lamp");
	await form.locator('input[name="surface"][value="terminal"]').check();
	await form.getByLabel("Prompt", { exact: true }).fill("Teach the harbour to signal");
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	const receipt = page.getByRole("dialog", { name: "Receipt" });
	await receipt.getByText("Works in").waitFor();
	const path = (await receipt.locator("dd code").first().textContent()) ?? "";
	assert.match(path, /signal-lamp/);
	assert.ok(existsSync(path), `${path} is there`);
	assert.match((await receipt.locator(".receipt-lead").textContent()) ?? "", /\S+ \S+/);
	await receipt.getByText(/The prompt was handed to the terminal/).waitFor();
	await page.screenshot({ path: new URL("../test-results/receipt-real.png", import.meta.url).pathname });
	await receipt.getByRole("button", { name: "Show it" }).click();
	await page.locator('.row[data-active="true"]').getByText("practice", { exact: true }).first().waitFor();
	await seesRow(page, /Teach the harbour to signal/);
	await end("launched");
});

// Spec launch L6.3: the answer is lost and the host killed behind it; asking again is the same
// operation, and its receipt tells what happened.
test("a host that is killed between the form and the receipt launched once, and says so", async () => {
	const repo = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	let calls = 0;
	const ids: string[] = [];
	await page.route("**/v1/agent.launch", async (route) => {
		ids.push(route.request().postDataJSON().operationId);
		if (calls++ > 0) return route.continue();
		await route.fetch();
		const { pid } = await ask<{ pid: number }>(page, "host.info", {});
		process.kill(pid, "SIGKILL");
		await route.abort("connectionreset");
	});
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await form.getByLabel("Of the repository").fill(repo);
	await form.getByLabel("Name", { exact: true }).fill("lifeboat");
	await form.locator('input[name="surface"][value="terminal"]').check();
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	await form.getByRole("alert").first().waitFor();
	await page.screenshot({ path: new URL("../test-results/launch-cut-off.png", import.meta.url).pathname });
	execFileSync(process.env.DAVIT_BIN ?? "", ["up", "--detach"], { stdio: "ignore" });
	await page.locator(".row-main", { hasText: "lifeboat" }).or(page.getByText("lifeboat")).first().waitFor();
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	const receipt = page.getByRole("dialog", { name: "Receipt" });
	await receipt.getByText("Works in").waitFor();
	await page.screenshot({ path: new URL("../test-results/launch-replayed.png", import.meta.url).pathname });
	assert.equal(new Set(ids).size, 1, "one operation");
	assert.equal(calls, 2);
	const { tabs } = await ask<{ tabs: { worktree?: { branch: string } }[] }>(page, "tab.list", {});
	assert.deepEqual(
		tabs.map((tab) => tab.worktree?.branch),
		["lifeboat"],
	);
	const trees = execFileSync("git", ["-C", repo, "worktree", "list"], { encoding: "utf8" });
	assert.equal(trees.trim().split("\n").length, 2, trees);
	await end("launch-once");
});

// Spec launch L8: what can be launched, never a list of entries that cannot; L1: the rest of
// the fields behind a fold.
test("the form shows the agents that are here, the others behind a fold, and takes more options", async () => {
	const repo = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').waitFor();
	assert.ok((await form.locator('input[name="agent"]').count()) < 10, "no list of agents that are not here");
	const fold = form.locator("summary", { hasText: /^Not installed \(\d\d\)$/ });
	await fold.focus();
	await page.keyboard.press("Enter");
	await form
		.getByRole("list", { name: "Agents that are not installed" })
		.getByText("aider-install")
		.waitFor();
	await form.getByRole("button", { name: "Copy the command that installs Aider" }).scrollIntoViewIfNeeded();
	await page.screenshot({ path: new URL("../test-results/launch-absent.png", import.meta.url).pathname });
	await fold.click();
	await form.locator("summary", { hasText: "More options" }).click();
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await form.getByLabel("Of the repository").fill(repo);
	await form.locator('input[name="surface"][value="terminal"]').check();
	await form.getByLabel("Model").fill("tiny");
	await form.getByLabel("Effort").fill("low");
	await form.getByLabel("Branch", { exact: true }).fill("harbour/fog");
	await form.locator('input[name="argsKind"][value="none"]').check();
	await form.getByLabel("Continue its session").fill("s-1");
	await page.screenshot({ path: new URL("../test-results/launch-fields.png", import.meta.url).pathname });
	await clean(page, "the launch form with its folds open");
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	const receipt = page.getByRole("dialog", { name: "Receipt" });
	await receipt.getByText("harbour/fog", { exact: true }).waitFor();
	await receipt.getByRole("button", { name: "Show it" }).click();
	await seesRow(page, /tiny/);
	await end("launch-more");
});

test("a refused launch is told in the form, which keeps every word", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await form.getByLabel("Of the repository").fill("/nowhere/at/all");
	await form.getByLabel("Prompt", { exact: true }).fill("keep me");
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	await form.getByRole("alert").waitFor();
	assert.equal(await form.getByLabel("Prompt", { exact: true }).inputValue(), "keep me");
	await end("launch-refused");
});

// Spec tabs T5.5.
test("a cleanup that fails leaves a notice that stays, with what can be done", async () => {
	config(
		"doomed",
		`name = "Doomed"

[[panes]]
id = "main"
type = "terminal"

[on_close]
commands = ["echo no luck; exit 4", "echo never"]
`,
	);
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: /^Doomed/ }).click();
	await page.locator(".stage .terminal .xterm-rows").waitFor();
	await page
		.locator(".row")
		.getByRole("button", { name: /^Close / })
		.click();
	const notice = page.locator('.notice[data-kind="cleanup_failed"]').first();
	await notice.waitFor({ timeout: 60_000 });
	await notice
		.getByText(/no luck/)
		.first()
		.waitFor();
	await notice.getByText(/skipped/).waitFor();
	for (const name of ["Run again", "Copy commands", "Open terminal there"]) {
		assert.equal(await notice.getByRole("button", { name }).count(), 1, name);
	}
	await notice.getByRole("button", { name: "Copy commands" }).click();
	await page.getByText("Copied").waitFor();
	assert.match(await page.evaluate(() => navigator.clipboard.readText()), /exit 4/);
	await page.reload();
	await notice.waitFor();
	await notice.getByRole("button", { name: "Open terminal there" }).click();
	await page.locator('.row[data-active="true"]').waitFor();
	await notice.getByRole("button", { name: "Dismiss notice" }).click();
	await notice.waitFor({ state: "detached" });
	await end("cleanup-failed");
});

// A new worktree is made of the repository, also when asked for from within a linked one.
test("the launch form names the repository and cuts no agent's name", async () => {
	const repo = repository();
	const linked = `${repo}-fog`;
	execFileSync("git", ["-C", repo, "worktree", "add", "-q", "-b", "fog", linked], { stdio: "pipe" });
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	await type(page, `cd ${linked} && echo th''ere`);
	await seesRow(page, "there");
	// The tab is called after where its shell is now.
	await page.locator(".row-main").getByText(basename(linked), { exact: true }).first().waitFor();
	const listed = page.waitForResponse("**/v1/workspace.list");
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	const field = form.getByLabel("Of the repository");
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await (await listed).finished();
	await field.fill(linked);
	await form.locator('input[name="where"][value="workspace"]').check();
	await form.locator('input[name="where"][value="worktree"]').check();
	await page.waitForFunction(
		([name, value]) => document.querySelector<HTMLInputElement>(`input[name="${name}"]`)?.value === value,
		["workspace", repo] as const,
	);
	await form.getByText("Default (chat)").waitFor();
	for (const width of [1280, 360]) {
		await page.setViewportSize({ width, height: 900 });
		const cut = await form
			.locator(".agents .cut, .choices label")
			.evaluateAll((all) =>
				all
					.filter((item) => item.scrollWidth > item.clientWidth || item.clientHeight > 34)
					.map((i) => i.textContent),
			);
		assert.deepEqual(cut, [], `${width} px`);
		await page.screenshot({ path: join(pictures, `launch-form-${width}.png`) });
	}
	await end("launch-repository");
});
