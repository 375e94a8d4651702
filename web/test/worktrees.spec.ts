// Stories of worktrees: the form, one keystroke, the list, and a removal that would lose work
// (spec tabs T5.10, spec launch L9.6).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { clean } from "./axe";
import { ask, closeAll, closeBrowser, openWindow, patience, repository } from "./story";

after(closeBrowser);

interface Listed {
	worktree?: { path: string; branch: string; removeOnClose?: boolean };
}

async function shownWorktree(page: Page, count: number) {
	await page
		.locator(".row-main")
		.nth(count - 1)
		.waitFor();
	const { tabs } = await ask<{ tabs: Listed[] }>(page, "tab.list", {});
	const found = tabs.map((tab) => tab.worktree).filter((tree) => tree !== undefined);
	assert.equal(found.length, count);
	return found[count - 1] as NonNullable<Listed["worktree"]>;
}

test("the form makes a worktree with a name of one's own, and an equal config is used again", async () => {
	const repo = repository();
	execFileSync("git", ["-C", repo, "branch", "lamp"]);
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	await ask(page, "workspace.add", { path: repo });
	const fill = async (name: string) => {
		await page.keyboard.press("Alt+Shift+KeyN");
		const form = page.getByRole("dialog", { name: "New worktree" });
		const field = form.getByRole("combobox", { name: "Repository" });
		await field.fill(basename(repo));
		await page.keyboard.press("Enter");
		await page.waitForFunction(
			() => document.querySelector<HTMLInputElement>('input[name="base"]')?.value === "main",
		);
		await form.getByText("My own").click();
		const branch = form.getByLabel("Branch", { exact: true });
		await branch.fill("fog signal");
		await form.getByText("A branch's name has no blanks.").first().waitFor();
		assert.equal(
			await form.getByRole("button", { name: "Open worktree" }).getAttribute("aria-disabled"),
			"true",
		);
		await branch.fill(name);
		return form;
	};
	const form = await fill("fog-signal");
	// The branch stays unless its box is ticked, and that is marked by words and shape.
	assert.equal(await form.locator('input[name="removeOnClose"]').isChecked(), true);
	assert.equal(await form.locator('input[name="deleteBranch"]').isChecked(), false);
	await form.getByText("destructive").waitFor();
	await clean(page, "the form of a new worktree");
	await page.screenshot({ path: new URL("../test-results/new-worktree.png", import.meta.url).pathname });
	await page.keyboard.press("Enter");
	await form.waitFor({ state: "detached" });
	const made = await shownWorktree(page, 1);
	assert.equal(made.branch, "fog-signal");
	assert.equal(made.removeOnClose, true);
	assert.ok(existsSync(join(made.path, "README.md")));
	await page.getByText(/Its config was written/).waitFor();
	await fill("fog-lamp");
	await page.keyboard.press("Enter");
	await form.waitFor({ state: "detached" });
	await page.getByText(/By the config/).waitFor();
	assert.equal((await shownWorktree(page, 2)).branch, "fog-lamp");
	assert.deepEqual(wrong, []);
	await end("worktree-form");
});

// A slow host: what is typed before a list is there is decided by the list, not by the keys' luck.
test("typing and Enter before the lists are there take what the lists have, and nothing is sent meanwhile", async () => {
	const first = repository();
	const second = repository();
	execFileSync("git", ["-C", second, "branch", "foghorn"]);
	const { page, end } = await openWindow();
	await closeAll(page);
	for (const path of [second, first]) await ask(page, "workspace.add", { path });
	// The form remembers another repository: that is what a hasty Enter must not send.
	const form = page.getByRole("dialog", { name: "New worktree" });
	await page.keyboard.press("Alt+Shift+KeyN");
	await form.getByRole("combobox", { name: "Repository" }).fill(basename(first));
	await page.keyboard.press("Enter");
	await form.locator(".field-path", { hasText: basename(first) }).waitFor();
	await form.getByRole("button", { name: "Cancel" }).click();
	await form.waitFor({ state: "detached" });
	const held = new Map<string, (() => void)[]>();
	const passed = new Set<string>();
	for (const name of ["workspace.list", "workspace.branches"]) {
		await page.route(`**/v1/${name}`, async (route) => {
			if (!passed.has(name)) await new Promise<void>((go) => held.set(name, [...(held.get(name) ?? []), go]));
			await route.continue();
		});
	}
	const release = async (name: string) => {
		const end = Date.now() + patience;
		while (!held.get(name)?.length && Date.now() < end) await page.waitForTimeout(20);
		assert.ok(held.get(name)?.length, `${name} was not asked for`);
		passed.add(name);
		for (const go of held.get(name) ?? []) go();
	};
	const asked: string[] = [];
	page.on("request", (request) => {
		if (request.url().endsWith("/v1/worktree.open")) asked.push(request.url());
	});
	await page.keyboard.press("Alt+Shift+KeyN");
	const repo = form.getByRole("combobox", { name: "Repository" });
	const base = form.getByRole("combobox", { name: "From the branch" });
	await repo.fill(basename(second));
	// By Enter, by Control Enter and by the button: none sends before the list has spoken.
	await page.keyboard.press("Enter");
	await page.keyboard.press("Enter");
	await page.keyboard.press("Control+Enter");
	await form.getByRole("button", { name: "Open worktree" }).click();
	assert.equal(await repo.inputValue(), basename(second));
	await release("workspace.list");
	await form.locator(".field-path", { hasText: basename(second) }).waitFor();
	// The branches are still out: the field takes what is typed, and keeps it.
	await base.fill("foghorn");
	await page.keyboard.press("Tab");
	await release("workspace.branches");
	await page.waitForFunction(() => {
		const field = document.querySelector<HTMLInputElement>('input[name="base"]');
		return field?.value === "foghorn" && field.getAttribute("aria-busy") === null;
	});
	assert.deepEqual(asked, []);
	await page.unrouteAll({ behavior: "ignoreErrors" });
	await form.getByRole("button", { name: "Open worktree" }).click();
	await form.waitFor({ state: "detached" });
	const made = await shownWorktree(page, 1);
	assert.ok(made.path.includes(basename(second)), made.path);
	await end("worktree-early");
});

test("a worktree of a known repository is one press away, with a drawn name", async () => {
	const repo = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await ask(page, "workspace.add", { path: repo });
	await page.getByRole("button", { name: "New tab" }).first().focus();
	const listed = page.waitForResponse(/\/v1\/config\.list$/); // many configs bring a filter into the menu
	await page.keyboard.press("Enter");
	await (await listed).finished();
	await page.getByRole("menuitem", { name: "New worktree in" }).focus();
	await page.keyboard.press("ArrowRight");
	await page.getByRole("menuitem", { name: new RegExp(basename(repo)) }).waitFor();
	await clean(page, "the repositories of the menu");
	await page.getByRole("menuitem", { name: new RegExp(basename(repo)) }).focus();
	await page.keyboard.press("Enter");
	const made = await shownWorktree(page, 1);
	assert.match(made.branch, /^[a-z]+-[a-z]+/);
	await end("worktree-press");
});

// Spec launch L9.6: refused with the list; only by that list's digest, after a second step.
test("a worktree with work in it is refused, told what would be lost, and removed when that is typed", async () => {
	const repo = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await ask(page, "workspace.add", { path: repo });
	await ask(page, "worktree.open", { in: `path:${repo}`, branch: "wreck" });
	const { path } = await shownWorktree(page, 1);
	writeFileSync(join(path, "cargo.txt"), "gold\n");
	writeFileSync(join(repo, ".git", "info", "exclude"), ".env\n");
	writeFileSync(join(path, ".env"), "TOKEN=1\n");
	await page.keyboard.press("Control+KeyK");
	await page.keyboard.type("worktrees");
	await page.keyboard.press("Enter");
	const view = page.getByRole("dialog", { name: "Worktrees" });
	const section = view.getByRole("region", { name: basename(repo) });
	const entry = section.locator(".worktree", { hasText: "wreck" });
	await entry.getByText("1 untracked file").waitFor();
	await entry.getByText(/\d (k?B|MB)/).waitFor(); // the disk is read later
	await clean(page, "the worktrees");
	await page.screenshot({ path: new URL("../test-results/worktrees.png", import.meta.url).pathname });
	await entry.getByRole("button", { name: "Remove the worktree wreck" }).click();
	const removal = view.getByRole("form", { name: "Remove the worktree wreck" });
	await removal.getByText("With it goes 1 file or folder that git ignores").waitFor();
	await removal.getByRole("button", { name: "Remove", exact: true }).click();
	await removal.getByText("cargo.txt").waitFor();
	assert.ok(existsSync(path));
	await clean(page, "what would be lost");
	const sure = removal.getByRole("button", { name: "Lose these and remove" });
	await sure.click({ force: true });
	await removal.getByLabel(/^Type/).fill("wreck");
	// The list has grown: its digest is void, and the new list is shown first.
	writeFileSync(join(path, "more.txt"), "more\n");
	await sure.click();
	await removal.getByText("more.txt").waitFor();
	assert.ok(existsSync(path));
	await removal.getByLabel(/^Type/).fill("wreck");
	await sure.click();
	await entry.waitFor({ state: "detached" });
	assert.ok(!existsSync(path));
	assert.match(execFileSync("git", ["-C", repo, "branch", "--list", "wreck"], { encoding: "utf8" }), /wreck/);
	// What stayed, and what went unasked (spec launch L9.6).
	await page.getByText(/Kept: .*wreck.*Went with it, as git ignored it: \.env\./).waitFor();
	await page.screenshot({ path: new URL("../test-results/worktree-went.png", import.meta.url).pathname });
	await page.keyboard.press("Escape");
	await end("worktree-removed");
});

test("at 360 px, in light: the form and the list are in reach, and axe is content", async () => {
	const { page, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
		colorScheme: "light",
	});
	await closeAll(page);
	await page.getByRole("button", { name: "New tab" }).first().tap();
	await page.getByRole("menuitem", { name: "New worktree…" }).tap();
	const form = page.getByRole("dialog", { name: "New worktree" });
	await form.getByRole("combobox", { name: "Repository" }).waitFor();
	await form.getByText("My own").tap();
	await clean(page, "the form");
	await page.screenshot({ path: new URL("../test-results/new-worktree-360.png", import.meta.url).pathname });
	await form.getByRole("button", { name: "Cancel" }).tap();
	await page.getByRole("button", { name: "New tab" }).first().tap();
	await page.getByRole("menuitem", { name: "Worktrees", exact: true }).tap();
	const view = page.getByRole("dialog", { name: "Worktrees" });
	await view.locator(".worktree").first().waitFor();
	await clean(page, "the list");
	await page.screenshot({ path: new URL("../test-results/worktrees-360.png", import.meta.url).pathname });
	assert.equal(
		await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
		0,
	);
	await page.keyboard.press("Escape");
	await end("worktrees-narrow");
});
