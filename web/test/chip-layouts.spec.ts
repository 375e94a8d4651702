// Stories of what the layouts of prompt and footers are, whoever edits them (spec chips C3.2,
// C4.3, C4.6), and of a chip that is drawn beside some programs only (C1).
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { bar, comes, editorOf, layoutOf, openEditor, reset, set, stored, tokens } from "./layouts";
import { fresh, inRepository, openPopup, pull, requires, revalidate } from "./pulls";
import { closeBrowser, ghSays, newTerminal, openWindow, seesRow } from "./story";

after(closeBrowser);

// Spec chips C4.3, C3.2: every surface at once, on every client, and the bank in any state.
test("without gh editor, prompt, badge and popup go along at once in two windows, and come back", async () => {
	ghSays(pull);
	const first = await openWindow();
	await fresh(first.page);
	await reset(first.page);
	const dir = await inRepository(first.page);
	await revalidate(first.page, dir);
	const second = await openWindow();
	const chip = '.stage .bar .chip[data-kind="github_pr"]';
	for (const { page } of [first, second]) await page.locator(chip).waitFor();
	await openEditor(first.page);
	const editor = first.page.locator("dialog.chip-layout"); // its name is that of what it edits
	const usual = await tokens(editor);
	assert.ok(usual.includes("github_pr"));
	await editor.locator('.layout-preview .chip[data-kind="github_pr"]').getByText("#12").waitFor();
	await openPopup(second.page);

	ghSays(null);
	await revalidate(first.page, dir);
	const without = usual.filter((kind) => kind !== "github_pr");
	await comes(() => tokens(editor), without);
	const offered = editor.locator('.bank-item[data-kind="github_pr"][data-dim]');
	await offered.getByText("Run gh auth login to sign in to GitHub").waitFor();
	await second.page.locator(`.view-sign[aria-label="${requires}"]`).waitFor();
	for (const { page } of [first, second]) {
		await page.locator(chip).waitFor({ state: "detached" });
		await page.locator(".row .pull-badge").waitFor({ state: "detached" });
	}
	// The footer's default goes along, and its bank offers it too.
	await editor.getByText("Chats", { exact: true }).click();
	await offered.waitFor();
	assert.ok(!(await tokens(await editorOf(first.page, "Edit footer of chats"))).includes("github_pr"));
	assert.deepEqual((await layoutOf(first.page)).custom, []);

	// It can be added all the same; the list is then the user's own, in any state (C4.6).
	await offered.click();
	await comes(async () => (await layoutOf(first.page)).custom, ["footer"]);
	assert.ok((await layoutOf(first.page)).footer.left.includes("github_pr"));
	await first.page.getByRole("button", { name: "Undo" }).click();
	await comes(async () => (await layoutOf(first.page)).custom, []);

	ghSays(pull);
	await revalidate(first.page, dir);
	await first.page.getByRole("dialog").getByText("Prompt", { exact: true }).click();
	await comes(() => tokens(first.page.getByRole("dialog", { name: "Edit prompt" })), usual);
	await second.page.locator(".view-sign").waitFor({ state: "detached" });
	for (const { page } of [first, second]) {
		await page.locator(".row .pull-badge").waitFor();
		await page.locator(chip).waitFor();
	}
	await second.end("layout-agrees-second");
	await first.end("layout-agrees");
});

// Spec chips C4.6: kinds that nobody knows are kept; the default is stored as `default`.
test("an unknown kind survives an edit, and what equals the default is the default", async () => {
	const { page, end } = await openWindow();
	await fresh(page);
	await reset(page);
	const usual = (await layoutOf(page)).prompt;
	await set(page, { prompt: ["tide_table", "cwd", "git_branch"] });
	await inRepository(page);
	const editor = await openEditor(page);
	const unknown = editor.locator('.token[data-kind="tide_table"]');
	await unknown.and(editor.locator("[data-unknown]")).waitFor();
	await unknown
		.getByText("davit does not know this chip; it is kept, and not drawn")
		.waitFor({ state: "attached" });
	await editor.locator('.token[data-kind="cwd"]').focus();
	await page.keyboard.press("Alt+ArrowRight");
	await comes(stored(page), ["tide_table", "git_branch", "cwd"]);
	await comes(() => bar(page), ["git_branch", "cwd"]);
	assert.equal(await editor.locator('.layout-preview [data-kind="tide_table"]').count(), 0);

	await editor.getByRole("button", { name: "Restore default" }).click();
	await comes(async () => (await layoutOf(page)).custom, []);
	await comes(() => tokens(editor), usual);
	await editor.getByText("default", { exact: true }).waitFor();

	// Away from the default, and back to it by hand.
	await editor.locator(".token").first().focus();
	await page.keyboard.press("Alt+ArrowRight");
	await comes(async () => (await layoutOf(page)).custom, ["prompt"]);
	await editor.getByText("your own", { exact: true }).waitFor();
	await page.keyboard.press("Alt+ArrowLeft");
	await comes(async () => (await layoutOf(page)).custom, []);
	assert.deepEqual((await layoutOf(page)).prompt, usual);

	// Over the gap between the sides of a footer.
	await editor.getByText("Chats", { exact: true }).click();
	const footer = await editorOf(page, "Edit footer of chats");
	await footer.locator('.token[data-kind="input_mode"]').focus();
	await page.keyboard.press("Alt+ArrowRight");
	await comes(async () => (await layoutOf(page)).footer.right[0], "input_mode");
	await page.screenshot({ path: new URL("../test-results/layout-footer.png", import.meta.url).pathname });
	await reset(page);
	await end("layout-unknown");
});

// Spec chips C1: `whileTyping`.
test("the Kubernetes context is drawn only beside kubectl, as it is typed", async () => {
	const kubectl = join(dirname(process.env.DAVIT_GH ?? ""), "bin", "kubectl");
	writeFileSync(kubectl, "#!/bin/sh\necho harbor-staging\n", { mode: 0o755 });
	const { page, end } = await openWindow();
	try {
		await fresh(page);
		await set(page, { prompt: ["cwd", "kube"] });
		await newTerminal(page);
		const chip = page.locator('.bar .chip[data-kind="kube"]');
		await page.keyboard.type("kubectl get");
		await chip.getByText("harbor-staging").waitFor();
		await page.reload(); // what is typed is known of the snapshot too
		await chip.getByText("harbor-staging").waitFor();
		await page.locator(".stage .terminal textarea").focus();
		await page.screenshot({ path: new URL("../test-results/kube.png", import.meta.url).pathname });
		await page.keyboard.press("Control+KeyU");
		await chip.waitFor({ state: "detached" });
		await page.keyboard.type("kubectlx");
		await seesRow(page, /kubectlx$/);
		await chip.waitFor({ state: "detached" });
	} finally {
		rmSync(kubectl, { force: true });
		await reset(page);
	}
	await end("kube-end");
});
