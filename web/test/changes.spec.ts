// Stories of the view of changes, and of what the chips of a prompt bar do (spec chips C5).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { clean } from "./axe";
import { fresh, inRepository, pull, revalidate } from "./pulls";
import {
	closeAll,
	closeBrowser,
	ghSays,
	newTerminal,
	openWindow,
	pictures,
	repository,
	seesRow,
	type,
} from "./story";

after(closeBrowser);

const lines = (from: number, to: number, word: string) =>
	Array.from({ length: to - from + 1 }, (_, n) => `const ${word}${from + n} = ${from + n};`).join("\n");

function gitOf(dir: string) {
	return (...args: string[]) =>
		execFileSync("git", ["-C", dir, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A repository with something of each kind: staged, not staged, both, renamed, untracked. */
function changedRepository(): string {
	const dir = repository();
	const git = gitOf(dir);
	writeFileSync(join(dir, "crane.ts"), `${lines(1, 40, "rope")}\n`);
	writeFileSync(join(dir, "hoist.ts"), `${lines(1, 30, "hook")}\n`);
	writeFileSync(join(dir, "gone.txt"), "one\ntwo\n");
	git("add", ".");
	git("commit", "-q", "-m", "harbour");
	writeFileSync(join(dir, "crane.ts"), `${lines(1, 39, "rope")}\nconst rope40 = 41;\n`);
	git("mv", "hoist.ts", "winch.ts");
	git("add", ".");
	writeFileSync(join(dir, "crane.ts"), `${lines(1, 39, "rope")}\nconst rope40 = 42;\n`);
	rmSync(join(dir, "gone.txt"));
	writeFileSync(join(dir, "lamp.ts"), `${lines(1, 60, "lamp")}\n`);
	writeFileSync(join(dir, "picture.bin"), Buffer.from([1, 0, 2]));
	return dir;
}

async function inDirectory(page: Page, dir: string): Promise<void> {
	await newTerminal(page);
	await type(page, `cd ${dir} && echo th''ere`);
	await seesRow(page, "there");
}

const diffChip = (page: Page) => page.locator('.bar .chip[data-kind="git_diff"]');

/** Until the view's total is this one, and the chip's the same: one number for one truth. */
async function total(page: Page, files: number, added: number, removed: number): Promise<void> {
	await page.locator(`.changes-total[data-total="${files} +${added} -${removed}"]`).waitFor();
	await page.waitForFunction(
		(text) => document.querySelector('.bar .chip[data-kind="git_diff"]')?.textContent === text,
		`${files}+${added}−${removed}`,
	);
}

// Spec chips C5.2, C1.2.
test("the diff chip opens what differs, and the view goes on with the work tree", async () => {
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	const dir = changedRepository();
	await inDirectory(page, dir);
	await diffChip(page).filter({ hasText: "5+61−3" }).waitFor();
	await diffChip(page).click();
	const view = page.getByRole("dialog", { name: "Changes" });
	await view.waitFor();
	await total(page, 5, 61, 3);
	const side = (name: string) => view.getByRole("region", { name, exact: true });
	const heads = (name: string) => side(name).locator(".change-fold").allTextContents();
	await side("Staged").locator(".change").nth(1).waitFor();
	assert.deepEqual(await heads("Staged"), ["Mcrane.ts, modified+1−1", "Rwinch.ts← hoist.ts, renamed"]);
	assert.deepEqual(await heads("Not staged"), ["Mcrane.ts, modified+1−1", "Dgone.txt, deleted+0−2"]);
	assert.deepEqual(await heads("Untracked"), ["Ulamp.ts, untracked+60−0", "Upicture.bin, untracked"]);

	// Lines with colours of their language, and the changed part marked.
	const loose = side("Not staged").getByRole("group", { name: "crane.ts", exact: true });
	await loose.locator(".changed", { hasText: "2" }).waitFor();
	await loose.locator(".hljs-keyword").first().waitFor();
	assert.equal(await loose.locator('tr[data-kind="remove"] .text').textContent(), "−const rope40 = 41;");
	await side("Staged").getByText("Renamed, with the same lines.").waitFor();
	await clean(page, "the view of changes");
	await page.screenshot({ path: join(pictures, "changes-wide.png") });
	await side("Untracked").locator(".change", { hasText: "picture.bin" }).scrollIntoViewIfNeeded();
	await side("Untracked").getByText("A binary file: its content is not shown.").waitFor();
	await view.locator(".changes-list").evaluate((list) => {
		list.scrollTop = 0;
	});

	// The keyboard: j and k go from file to file, Enter folds, / filters.
	const here = () =>
		page.evaluate(() => document.activeElement?.closest(".change")?.getAttribute("aria-label"));
	await page.keyboard.press("j");
	assert.equal(await here(), "crane.ts");
	await page.keyboard.press("Enter");
	await side("Staged").locator(".change").first().locator(".change-body").waitFor({ state: "detached" });
	await page.keyboard.press("j");
	assert.equal(await here(), "winch.ts");
	await page.keyboard.press("ArrowUp");
	assert.equal(await here(), "crane.ts");

	// A change made by git elsewhere: the view follows, folds and scroll stay.
	await view.locator(".changes-list").evaluate((list) => {
		list.scrollTop = 200;
	});
	const top = () => side("Not staged").evaluate((element) => Math.round(element.getBoundingClientRect().top));
	const before = await top();
	gitOf(dir)("rm", "-q", "--cached", "winch.ts");
	writeFileSync(join(dir, "winch.ts"), `${lines(1, 31, "hook")}\n`);
	await total(page, 6, 92, 33);
	await side("Staged").locator(".change", { hasText: "hoist.ts" }).waitFor();
	assert.equal(await side("Staged").locator(".change").first().locator(".change-body").count(), 0);
	// What comes in above does not push away what is read.
	assert.ok(Math.abs((await top()) - before) <= 40, `${before} → ${await top()}`);
	assert.equal(await here(), "crane.ts");

	await page.keyboard.press("/");
	await page.keyboard.type("lamp");
	await side("Not staged").waitFor({ state: "detached" });
	assert.deepEqual(await heads("Untracked"), ["Ulamp.ts, untracked+60−0"]);
	await page.keyboard.press("Escape");
	await side("Not staged").waitFor();
	await page.keyboard.press("Escape");
	await view.waitFor({ state: "detached" });
	assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-kind")), "git_diff");
	assert.deepEqual(wrong, []);
	await end("changes");
});

test("on a narrow page the changes fill it, clean and gone work trees are told", async () => {
	const { page, end } = await openWindow({ viewport: { width: 360, height: 740 }, colorScheme: "light" });
	await closeAll(page);
	const dir = changedRepository();
	await inDirectory(page, dir);
	await diffChip(page).filter({ hasText: "5+61−3" }).waitFor();
	await page.keyboard.press("Alt+Shift+KeyV");
	const view = page.getByRole("dialog", { name: "Changes" });
	await view.locator(".hljs-keyword").first().waitFor();
	const wide = await view.evaluate((dialog) => [dialog.clientWidth, dialog.scrollWidth]);
	assert.deepEqual(wide, [360, 360]);
	await clean(page, "the view of changes, narrow");
	await page.screenshot({ path: join(pictures, "changes-narrow.png") });
	const git = gitOf(dir);
	git("add", "-A");
	git("commit", "-q", "-m", "all");
	await view.getByText("Nothing differs from the last commit.").waitFor();
	rmSync(dir, { recursive: true, force: true });
	await view.getByRole("button", { name: "Look again" }).click();
	await view.getByText("any more").waitFor();
	await clean(page, "a work tree that is gone");
	await end("changes-gone");
});

// Spec chips C6: the badge of a row is a way to the same view. C5.1: each chip can be copied,
// and the whole prompt as text.
test("the tab's badge opens its changes, and a chip's menu copies it and the prompt", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const dir = changedRepository();
	await inDirectory(page, dir);
	await diffChip(page).filter({ hasText: "5+61−3" }).waitFor();
	await newTerminal(page);
	await page.locator(".row .diff-badge").first().click();
	const view = page.getByRole("dialog", { name: "Changes" });
	await view.locator('.changes-total[data-total="5 +61 -3"]').waitFor();
	await page.keyboard.press("Escape");
	await view.waitFor({ state: "detached" });
	await page.locator(".row-main").first().click();

	const copied = () => page.evaluate(() => navigator.clipboard.readText());
	await diffChip(page).click({ button: "right" });
	await page.getByRole("menuitem", { name: "Copy changes" }).click();
	await page.getByText("Changes copied").waitFor();
	assert.equal(await copied(), "5 • +61 -3");
	await page.locator('.bar .chip[data-kind="git_branch"]').focus();
	await page.keyboard.press("Shift+F10");
	await page.getByRole("menuitem", { name: "Copy branch" }).waitFor();
	await clean(page, "the menu of a chip");
	await page.keyboard.press("End"); // the editor; above it the prompt
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	await page.getByText("Prompt copied").waitFor();
	assert.equal(await copied(), `${dir} git:(main) 5 • +61 -3`);
	await end("chip-menu");
});

// Spec chips C5.2: title, state and checks in the tooltip, colour by state.
test("resting on a pull request tells of it, and its colour says its state", async () => {
	ghSays(pull);
	const { page, end } = await openWindow();
	await fresh(page);
	const dir = await inRepository(page);
	const chip = page.locator('.bar .chip[data-kind="github_pr"]');
	const states = [
		["open", {}, "--pull-open"],
		["draft", { isDraft: true }, "--pull-draft"],
		["merged", { state: "MERGED" }, "--pull-merged"],
		["closed", { state: "CLOSED" }, "--pull-closed"],
	] as const;
	for (const [word, change, token] of states) {
		ghSays({ ...pull, ...change });
		await revalidate(page, dir);
		await page.locator(`.bar .chip[data-kind="github_pr"][data-state="${word}"]`).waitFor();
		const [seen, meant] = await chip.locator(".pull-mark").evaluate((mark, name) => {
			const probe = document.createElement("i");
			probe.style.color = `var(${name})`;
			mark.append(probe);
			const pair = [getComputedStyle(mark).color, getComputedStyle(probe).color];
			probe.remove();
			return pair;
		}, token);
		assert.equal(seen, meant, word);
		if (word !== "draft") continue;
		await chip.hover();
		const tip = page.locator(".tooltip");
		await tip.waitFor();
		const told = ((await tip.textContent()) ?? "").split("\n");
		assert.deepEqual(told.slice(0, 3), [
			pull.title,
			"#12 draft · main ← signal",
			"Checks: 1 failing, 1 passing",
		]);
		await page.screenshot({ path: join(pictures, "pull-tooltip.png") });
		await page.mouse.move(640, 300);
	}
	await end("pull-states");
});
