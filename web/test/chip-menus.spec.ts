// Stories of the menus of a shell's chips (spec chips C5.2): what is picked is typed into the
// shell, and a half-typed line survives.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { clean } from "./axe";
import { reset, set } from "./layouts";
import { fresh } from "./pulls";
import {
	ask,
	closeAll,
	closeBrowser,
	newTerminal,
	openWindow,
	pictures,
	repository,
	rows,
	seesRow,
	type,
} from "./story";

after(closeBrowser);

const chip = (page: Page, kind: string) => page.locator(`.bar .chip[data-kind="${kind}"]`);

async function inside(page: Page, dir: string): Promise<void> {
	await newTerminal(page);
	await type(page, `cd ${dir} && echo th''ere`);
	await seesRow(page, "there");
}

test("a branch is switched to, made, and opened where it is checked out; what was typed comes back", async () => {
	const dir = repository();
	const git = (...args: string[]) => execFileSync("git", ["-C", dir, ...args], { stdio: "ignore" });
	git("branch", "fog-signal");
	git("branch", "fog-lamp");
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	await fresh(page);
	await set(page, { prompt: ["cwd", "git_branch"] });
	await ask(page, "workspace.add", { path: dir });
	await ask(page, "worktree.open", { in: `path:${dir}`, branch: "reef" });
	await inside(page, dir);
	const branch = chip(page, "git_branch");
	await branch.filter({ hasText: "main" }).waitFor();

	// A line that is half typed; the menu by the keyboard, found by a few letters.
	await page.keyboard.type("echo half-typed");
	await branch.focus();
	await page.keyboard.press("Enter");
	const menu = page.getByRole("menu", { name: "Branches" });
	await menu.getByRole("menuitem", { name: /fog-lamp/ }).waitFor();
	assert.match((await menu.getByRole("menuitem").first().textContent()) ?? "", /^main.*current/);
	await clean(page, "the menu of branches");
	await page.screenshot({ path: join(pictures, "menu-branches.png") });
	await page.keyboard.type("fgsig");
	await menu.getByRole("menuitem", { name: /fog-lamp/ }).waitFor({ state: "detached" });
	await page.keyboard.press("Enter");
	await menu.waitFor({ state: "detached" });
	await seesRow(page, /git switch fog-signal$/);
	await branch.filter({ hasText: "fog-signal" }).waitFor();
	await page.waitForFunction(
		() => document.querySelector(".xterm-rows")?.textContent?.match(/half-typed/g)?.length,
	);
	await page.keyboard.type("-still");
	await page.keyboard.press("Enter");
	await seesRow(page, /^half-typed-still$/);

	// A name that is not there is made; one that git does not take is not.
	await branch.click();
	const find = page.getByRole("textbox", { name: "Find or create a branch" });
	await find.fill("a..b");
	await menu.getByText("git does not take that name").waitFor();
	await find.fill("mole/head");
	await menu
		.getByRole("menuitem", { name: /Create branch “mole\/head”/ })
		.getByText("from fog-signal")
		.waitFor();
	await page.keyboard.press("Enter");
	await branch.filter({ hasText: "mole/head" }).waitFor();

	// What another worktree has is opened there.
	await branch.click();
	await menu.getByRole("menuitem", { name: /reef/ }).getByText("open in a tab").waitFor();
	await menu.getByRole("menuitem", { name: /reef/ }).click();
	await branch.filter({ hasText: "reef" }).waitFor();
	await reset(page);
	assert.deepEqual(wrong, []);
	await end("menu-branches-end");
});

test("the directory menu goes into directories, looks further down, and says why it cannot", async () => {
	const dir = repository();
	mkdirSync(join(dir, "quay", "shed one"), { recursive: true });
	mkdirSync(join(dir, "-pier"));
	writeFileSync(join(dir, "tide table.md"), "x\n");
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	await fresh(page);
	await set(page, { prompt: ["cwd", "node"] });
	await inside(page, dir);
	const cwd = chip(page, "cwd");
	const menu = page.getByRole("menu", { name: "Directory" });
	await cwd.click();
	await menu.getByRole("menuitem", { name: "-pier/", exact: true }).click();
	await cwd.filter({ hasText: "-pier" }).waitFor();
	await cwd.click();
	await menu.getByRole("menuitem", { name: "..", exact: true }).click();
	await cwd.filter({ hasNotText: "-pier" }).waitFor();

	// Further down without going there, by the keyboard; then all the way.
	await cwd.focus();
	await page.keyboard.press("Enter");
	await menu.getByRole("menuitem", { name: "quay/", exact: true }).focus();
	await clean(page, "the menu of a directory");
	await page.screenshot({ path: join(pictures, "menu-directory.png") });
	await page.keyboard.press("ArrowRight");
	const below = page.getByRole("menu", { name: join(dir, "quay") });
	await below.getByRole("menuitem", { name: "shed one/", exact: true }).click();
	await cwd.filter({ hasText: "shed one" }).waitFor();
	assert.ok((await rows(page)).join("\n").includes("shed one"));

	// While a program runs nothing is typed into it.
	await type(page, "sleep 300");
	await page.locator('.row .mark[data-state="running"]').waitFor();
	await cwd.click();
	await menu.getByText("sleep runs in the shell").waitFor();
	assert.equal(
		await menu.getByRole("menuitem", { name: "..", exact: true }).getAttribute("aria-disabled"),
		"true",
	);
	await page.keyboard.press("Escape");
	await page.locator(".stage .terminal textarea").focus();
	await page.keyboard.press("Control+KeyC");
	await reset(page);
	assert.deepEqual(wrong, []);
	await end("menu-directory-end");
});
