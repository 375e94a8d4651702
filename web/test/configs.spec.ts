// Stories of tab configs: the form and its pickers, faults and the editor, a repository's
// own configs, the default (spec tabs T1, T2, T6.4).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { clean } from "./axe";
import {
	ask,
	closeAll,
	closeBrowser,
	config,
	newTerminal,
	openWindow,
	repository,
	seesRow,
	type,
} from "./story";

after(closeBrowser);

const home = process.env.DAVIT_HOME ?? "";
const fileOf = (name: string) => join(home, "config", "tab_configs", `${name}.toml`);

async function openMenu(page: Page): Promise<void> {
	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: "Terminal" }).waitFor();
}

// Spec tabs T2.1: pickers; another repository has other branches; a blank is typed, not picked.
test("the form picks a repository and a branch of it, and says what is still blank", async () => {
	const first = repository();
	const second = repository();
	execFileSync("git", ["-C", first, "branch", "lamp"]);
	execFileSync("git", ["-C", second, "branch", "foghorn"]);
	config(
		"choose",
		`name = "Choose"
[params.repo]
type = "repo"
[params.branch]
type = "branch"
[params.loud]
type = "boolean"
default = true
[params.speed]
type = "choice"
options = ["slow", "fast"]
default = "slow"
[params.words]
description = "What to say"
[[panes]]
id = "main"
type = "terminal"
directory = "{{repo}}"
commands = ["echo {{branch}} {{loud}} {{speed}} {{words}}"]
`,
	);
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	for (const path of [first, second]) await ask(page, "workspace.add", { path });
	await openMenu(page);
	await page.getByRole("menuitem", { name: "Choose", exact: true }).click();
	const form = page.getByRole("dialog", { name: "Choose" });
	// In the host's order: repo, branch, boolean, choice, text.
	await form.getByText(/are still blank|is still blank/).waitFor();
	const names = await form.locator("[name]").evaluateAll((all) => all.map((one) => one.getAttribute("name")));
	assert.deepEqual(names, ["repo", "branch", "loud", "speed", "words"]);
	await form.getByLabel("words").fill("two words");
	assert.equal(await form.getByLabel("words").inputValue(), "two words");

	const repo = form.getByRole("combobox", { name: "repo" });
	const branch = form.getByRole("combobox", { name: "branch" });
	const pick = async (path: string) => {
		await repo.click();
		await repo.fill(basename(path));
		await page.keyboard.press("Enter");
		await page.waitForFunction(
			() => document.querySelector<HTMLInputElement>('input[name="branch"]')?.value === "main",
		);
	};
	await pick(first);
	await branch.click();
	const options = form.getByRole("listbox", { name: "branch" }).getByRole("option");
	await options.filter({ hasText: "lamp" }).waitFor();
	await clean(page, "the form with an open list");
	await page.screenshot({ path: new URL("../test-results/params-list.png", import.meta.url).pathname });
	await page.keyboard.press("Escape"); // the list, not the form
	await options.first().waitFor({ state: "hidden" });
	await branch.fill("lamp");
	await page.keyboard.press("Enter");
	assert.equal(await branch.inputValue(), "lamp");
	await pick(second);
	await branch.click();
	await options.filter({ hasText: "foghorn" }).waitFor();
	assert.equal(await options.filter({ hasText: "lamp" }).count(), 0);
	await page.keyboard.press("Escape");
	await form.getByLabel("loud").uncheck();
	await form.getByLabel("speed").selectOption("fast");
	await form.getByLabel("words").focus();
	await page.keyboard.press("Enter");
	await seesRow(page, "main false fast two words");

	// The last values are offered, not forced.
	await openMenu(page);
	await page.getByRole("menuitem", { name: "Choose", exact: true }).click();
	assert.equal(await form.getByLabel("words").inputValue(), "");
	await form.getByRole("button", { name: "last time: two words" }).click();
	assert.equal(await form.getByLabel("words").inputValue(), "two words");
	await page.keyboard.press("Escape");
	await form.waitFor({ state: "detached" });

	// A value of several lines, as from the command line, stays what it is.
	const params = { repo: first, branch: "main", loud: "false", speed: "fast", words: "red\n green" };
	await ask(page, "config.open", { config: "choose", params });
	const listed = page.waitForResponse("**/v1/config.list");
	await openMenu(page);
	await listed;
	await page.getByRole("menuitem", { name: "Choose", exact: true }).click();
	await form.getByRole("button", { name: "last time: red ⏎ green" }).click();
	const lines = form.getByLabel("words");
	assert.equal(await lines.inputValue(), "red\n green");
	await clean(page, "the form with a value of several lines");
	await page.screenshot({ path: new URL("../test-results/params-lines.png", import.meta.url).pathname });
	await pick(first);
	await lines.focus();
	await lines.press("End");
	await page.keyboard.type("!");
	assert.equal(await lines.inputValue(), "red\n green!");
	// The branches are there: before that Ctrl+Enter sends nothing.
	await form.locator('button[type="submit"][aria-disabled="false"]').waitFor();
	const sent = page.waitForRequest("**/v1/config.open");
	await page.keyboard.press("Control+Enter");
	assert.equal((await sent).postDataJSON().params.words, "red\n green!");
	await form.waitFor({ state: "detached" });
	assert.deepEqual(wrong, []);
	await end("params");
});

test("a repository that is not there is refused in the form, with the host's reason", async () => {
	config(
		"adds",
		'name = "Adds"\n[params.repo]\ntype = "repo"\n[[panes]]\nid = "a"\ntype = "terminal"\ndirectory = "{{repo}}"\n',
	);
	const dir = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await openMenu(page);
	await page.getByRole("menuitem", { name: "Adds", exact: true }).click();
	const form = page.getByRole("dialog", { name: "Adds" });
	await form.getByRole("combobox", { name: "repo" }).click();
	await form.getByRole("option", { name: "+ Add repository…" }).click();
	const path = form.getByLabel("Path of the repository");
	await path.fill("/nowhere/at/all");
	await page.keyboard.press("Enter");
	await form.getByRole("alert").waitFor();
	await path.fill(dir);
	await page.keyboard.press("Enter");
	await path.waitFor({ state: "detached" });
	assert.equal(await form.getByRole("combobox", { name: "repo" }).inputValue(), basename(dir));
	await form.getByRole("button", { name: "Open tab" }).click();
	await form.waitFor({ state: "detached" });
	await end("params-add");
});

// Spec tabs T2.1: what does not fit is told at its field, all of it at once.
test("values that do not fit are told at their fields, and the first of them is in focus", async () => {
	config(
		"fits",
		'name = "Fits"\n[params.repo]\ntype = "repo"\n[params.branch]\ntype = "branch"\ndefault = "mian"\n[params.words]\n[[panes]]\nid = "a"\ntype = "terminal"\ndirectory = "{{repo}}"\ncommands = ["echo {{branch}} {{words}}"]\n',
	);
	const dir = repository();
	const { page, end } = await openWindow();
	await closeAll(page);
	await openMenu(page);
	await page.getByRole("menuitem", { name: "Fits", exact: true }).click();
	const form = page.getByRole("dialog", { name: "Fits" });
	const repo = form.getByRole("combobox", { name: "repo" });
	const branch = form.getByRole("combobox", { name: "branch" });
	await form.getByLabel("words").fill("x");
	await repo.fill(dir);
	await repo.press("Enter");
	await branch.fill("mian");
	await branch.press("Enter");
	await form.locator('button[type="submit"][aria-disabled="false"]').click();
	await form.getByText(`The value names no branch of ${dir}: "mian", did you mean "main"?`).waitFor();
	assert.equal(await branch.getAttribute("aria-invalid"), "true");
	assert.equal(await repo.getAttribute("aria-invalid"), "false");
	await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "branch");
	await clean(page, "the form with a fault at its field");
	await page.screenshot({ path: new URL("../test-results/params-at-fields.png", import.meta.url).pathname });
	await branch.fill("main");
	await branch.press("Enter");
	assert.equal(await branch.getAttribute("aria-invalid"), "false");
	await form.getByRole("button", { name: "Open tab" }).click();
	await form.waitFor({ state: "detached" });
	await end("params-faults");
});

// Spec tabs T1.3: a persistent notice with "Open file"; the file is mended in place.
test("a fault is opened at its line, mended in the editor, and its notice goes away", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	config("mast", 'name = "Mast"\n[[panes]]\nid = "a"\ntype = "terminal"\ncomands = []\n');
	const notice = page.locator('.notice[data-kind="config_error"]', { hasText: "mast.toml" });
	await notice.getByRole("button", { name: "Open file" }).click();
	const editor = page.getByRole("dialog", { name: "mast.toml" });
	const area = editor.getByRole("textbox", { name: "Text of mast.toml" });
	await editor.getByRole("button", { name: /5:1/ }).waitFor();
	await page.waitForFunction(
		() => (document.activeElement as HTMLTextAreaElement | null)?.selectionStart === 51,
	);
	await clean(page, "the editor");
	await area.press("Delete");
	await area.pressSequentially("c");
	await editor.getByText("1 error").waitFor();
	await editor.getByRole("button", { name: /5:1/ }).click();
	await area.fill((await area.inputValue()).replace("comands", "commands"));
	await editor.getByText("no faults").waitFor();
	// Meanwhile somebody else writes the file: nothing is overwritten unasked.
	const other = `${readFileSync(fileOf("mast"), "utf8")}# theirs\n`;
	writeFileSync(fileOf("mast"), other);
	await page.keyboard.press("Control+KeyS");
	await editor.getByText("changed on disk").waitFor();
	assert.equal(readFileSync(fileOf("mast"), "utf8"), other);
	await editor.getByRole("button", { name: "Keep mine, overwrite" }).click();
	await editor.getByRole("button", { name: "Saved" }).waitFor();
	assert.match(readFileSync(fileOf("mast"), "utf8"), /^commands = \[\]$/m);
	await notice.waitFor({ state: "detached" });
	// What is not saved is asked about, and outlives a reload.
	await area.pressSequentially("# mine");
	await page.keyboard.press("Escape");
	await editor.getByText("not saved").waitFor();
	await editor.getByRole("button", { name: "Drop them" }).click();
	await editor.waitFor({ state: "detached" });
	await end("editor");
});

// Spec tabs T1.1: a repository's config runs nothing before its text was seen and allowed.
test("a repository's config shows its text, is allowed, and asks again when it changed", async () => {
	const dir = repository();
	const folder = join(dir, ".davit", "tab_configs");
	mkdirSync(folder, { recursive: true });
	const file = join(folder, "serve.toml");
	const text = (word: string) =>
		`name = "Serve ${basename(dir)}"\n[[panes]]\nid = "a"\ntype = "terminal"\ncommands = ["echo ${word}"]\n`;
	writeFileSync(file, text("first-light"));
	const { page, end } = await openWindow();
	await closeAll(page);
	await newTerminal(page);
	await type(page, `cd ${dir} && echo th''ere`);
	await seesRow(page, "there");
	await page.locator(".row-main").getByText(basename(dir), { exact: true }).first().waitFor();
	const item = page.getByRole("menuitem", { name: new RegExp(`^Serve ${basename(dir)}`) });
	await openMenu(page);
	await item.click();
	const question = page.getByRole("dialog", { name: /^Allow/ });
	await question.getByText('commands = ["echo first-light"]').waitFor();
	await clean(page, "the question of trust");
	await question.getByRole("button", { name: "Allow this file" }).click();
	await seesRow(page, "first-light");
	writeFileSync(file, text("second-light"));
	await openMenu(page);
	await item.filter({ hasText: "Changed since you allowed it" }).click();
	await question.getByText('commands = ["echo second-light"]').waitFor();
	await question.getByRole("button", { name: "Cancel" }).click();
	await question.waitFor({ state: "detached" });
	await end("trust");
});

// Spec tabs T6.4: new, default, remove; a tab is saved as a config.
test("a config is made, is the default of the new-tab key, and is removed after a question", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await openMenu(page);
	await page.getByRole("menuitem", { name: "New tab config…" }).click();
	await page.getByRole("dialog", { name: "New tab config" }).getByLabel("Name").fill("Skiff");
	await page.keyboard.press("Enter");
	const editor = page.getByRole("dialog", { name: "skiff.toml" });
	await editor
		.getByRole("textbox", { name: /Text of/ })
		.fill('name = "Skiff"\ntitle = "skiff"\n[[panes]]\nid = "a"\ntype = "terminal"\n');
	await editor.getByText("no faults").waitFor();
	await editor.getByRole("button", { name: "Save" }).click();
	await editor.getByRole("button", { name: "Saved" }).waitFor();
	await editor.getByRole("button", { name: "Close", exact: true }).click();
	await openMenu(page);
	const item = page.getByRole("menuitem", { name: "Skiff", exact: true });
	await item.waitFor();
	await clean(page, "the new-tab menu");
	await item.focus();
	await page.keyboard.press("ArrowRight");
	await page.getByRole("menuitem", { name: /Make it the default/ }).click();
	await page.getByText("New tabs open “Skiff”").waitFor();
	await page.keyboard.press("Alt+Shift+KeyT");
	await page.locator(".row-main").getByText("skiff", { exact: true }).waitFor();
	// The tab as it is, as another config.
	await page.locator(".row-main").first().click({ button: "right" });
	await page.getByRole("menuitem", { name: "Save as tab config…" }).click();
	const saving = page.getByRole("dialog", { name: "Save as tab config" });
	await saving.getByLabel("Name").fill("Skiff kept");
	await page.keyboard.press("Enter");
	const kept = page.getByRole("dialog", { name: /skiff.kept.toml/ });
	await kept.getByText("no faults").waitFor();
	assert.doesNotMatch(await kept.getByRole("textbox").inputValue(), /^commands/m);
	await kept.getByRole("button", { name: "Close", exact: true }).click();
	for (const name of ["Skiff kept", "Skiff"]) {
		await openMenu(page);
		await page.getByRole("menuitem", { name: `Actions of ${name}`, exact: true }).click();
		await page.getByRole("menuitem", { name: "Remove…" }).click();
		const question = page.getByRole("dialog", { name: `Remove “${name}”?` });
		await question.getByRole("button", { name: "Delete the file" }).click();
		await page.getByText(`“${name}” removed`).waitFor();
	}
	await ask(page, "config.setDefault", { path: "" });
	await end("config-default");
});
