// Stories of chats, with the practice agent: the launch, what streams, questions, the
// composer, and what a reload, a second window and a lost connection keep.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Locator, Page, WebSocketRoute } from "playwright-core";
import { clean } from "./axe";
import { pull, revalidate } from "./pulls";
import { ask, closeAll, closeBrowser, ghSays, openWindow, pictures, repository } from "./story";

after(closeBrowser);

interface Chat {
	tab: string;
	session: string;
	dir: string;
}

/** Launches the practice agent as a chat and waits for its composer. */
async function newChat(page: Page, prompt?: string): Promise<Chat> {
	const dir = repository();
	const result = await ask<{ outcome: { tabId?: string; sessionId?: string } }>(page, "agent.launch", {
		agent: "practice",
		operationId: `${String(Date.now()).padStart(13, "0")}-${randomBytes(16).toString("hex")}`,
		target: { kind: "existing", worktree: `path:${dir}` },
		surface: "structured",
		prompt: prompt === undefined ? undefined : { text: prompt, delivery: "submit" },
	});
	const tab = result.outcome.tabId ?? "";
	await page.locator(`.row-main[data-tab="${tab}"]`).first().click();
	await composer(page).waitFor();
	return { tab, session: result.outcome.sessionId ?? "", dir };
}

const composer = (page: Page) => page.getByRole("textbox", { name: "Message to Practice agent" });
const said = (page: Page, by: "user" | "agent") => page.locator(`.said[data-by="${by}"]`);

async function say(page: Page, text: string): Promise<void> {
	await composer(page).fill(text);
	await composer(page).press("Enter");
}

/** Waits until the agent rests. */
async function rests(page: Page): Promise<void> {
	await page.getByRole("button", { name: "Cancel the turn" }).waitFor({ state: "detached" });
}

// Spec launch L2, L7: the receipt of a chat says that the prompt is in its journal.
test("a chat launched from the form has its receipt, and the reply streams in", async () => {
	const { page, wrong, end } = await openWindow();
	await closeAll(page);
	const dir = repository();
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.getByRole("combobox", { name: "Workspace" }).fill(dir);
	await form.locator('input[name="surface"][value="structured"]').check();
	await form.getByLabel("Prompt", { exact: true }).fill("count 400");
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	const receipt = page.getByRole("dialog", { name: "Receipt" });
	await receipt.getByText("The prompt is in the chat's journal.").waitFor();
	await receipt.getByText("Chat", { exact: true }).waitFor();
	await receipt.getByRole("button", { name: "Show it" }).click();
	await said(page, "user").getByText("count 400").waitFor();
	await said(page, "agent")
		.getByText(/ 400\s*$/)
		.waitFor();
	await rests(page);
	// What is drawn meanwhile, frame by frame.
	await page.evaluate(() => {
		const lengths = new Set<number>();
		(window as unknown as { lengths: Set<number> }).lengths = lengths;
		new MutationObserver(() => {
			lengths.add([...document.querySelectorAll('.said[data-by="agent"]')].at(-1)?.textContent?.length ?? 0);
		}).observe(document.body, { subtree: true, childList: true, characterData: true });
	});
	await say(page, "count 2000");
	await said(page, "agent")
		.getByText(/ 2000\s*$/)
		.waitFor();
	const drawn = await page.evaluate(() => (window as unknown as { lengths: Set<number> }).lengths.size);
	assert.ok(drawn > 4, `drawn in ${drawn} steps`);
	await rests(page);
	await page.locator(".chat-bar").getByText("practice agent").waitFor();
	assert.deepEqual(wrong, []);
	await end("chat-launched");
});

// Spec launch L7: a draft lies in the composer, unsent.
test("a prompt that is left unsent waits in the composer", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await page.keyboard.press("Alt+Shift+KeyL");
	const form = page.getByRole("dialog", { name: "Launch an agent" });
	await form.locator('input[name="agent"][value="practice"]').check();
	await form.getByRole("combobox", { name: "Workspace" }).fill(repository());
	await form.locator('input[name="surface"][value="structured"]').check();
	await form.getByLabel("Prompt", { exact: true }).fill("not yet");
	await form.getByLabel(/Leave the prompt unsent/).check();
	await form.getByRole("button", { name: "Launch", exact: true }).click();
	const receipt = page.getByRole("dialog", { name: "Receipt" });
	await receipt.getByText("The prompt lies in the composer, unsent.").waitFor();
	await receipt.getByRole("button", { name: "Show it" }).click();
	await composer(page).waitFor();
	assert.equal(await composer(page).inputValue(), "not yet");
	assert.equal(await said(page, "user").count(), 0);
	await end("chat-draft");
});

// Spec session S1.7: permission by keyboard, told once.
/** Keys answer a question only when it has been there for a moment: what was being typed does not. */
async function settled(page: Page): Promise<void> {
	const since = await page.evaluate(() => performance.now());
	await page.waitForFunction((then) => performance.now() - then > 1000, since);
}

test("a permission question is answered by a key, and the file is there", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const { dir } = await newChat(page);
	await say(page, "write NOTES.md");
	const card = page.getByRole("region", { name: "Permission: Write NOTES.md" });
	await card.waitFor();
	await page.waitForFunction(() => document.activeElement?.classList.contains("ask"));
	await card.getByText("NOTES.md", { exact: true }).waitFor();
	assert.ok(!existsSync(join(dir, "NOTES.md")), "nothing is written before the answer");
	await clean(page, "a permission question");
	await page.screenshot({ path: new URL("../test-results/chat-ask.png", import.meta.url).pathname });
	await settled(page);
	await page.keyboard.press("y");
	await card.waitFor({ state: "detached" });
	await page.locator(".chat-line").getByText("Allow once").waitFor();
	await page.locator('.tool[data-state="done"]').waitFor();
	assert.ok(existsSync(join(dir, "NOTES.md")));
	await page.getByRole("region", { name: "Change of NOTES.md" }).getByText("# Practice").waitFor();
	await rests(page);
	await page.waitForFunction(() => document.activeElement?.classList.contains("composer-text"));
	await end("chat-permission");
});

// Spec session S1.7: two clients answer; the second is told.
test("an answer that comes too late is told, and changes nothing", async () => {
	const first = await openWindow();
	await closeAll(first.page);
	const { tab, dir } = await newChat(first.page);
	const routes: WebSocketRoute[] = [];
	let refuse = false;
	const second = await openWindow({}, (p) =>
		p.routeWebSocket(/\/v1\/stream/, (route) => {
			if (refuse) return void route.close();
			routes.push(route);
			route.connectToServer();
		}),
	);
	await second.page.locator(`.row-main[data-tab="${tab}"]`).first().click();
	await say(first.page, "write NOTES.md");
	const card = (page: Page) => page.getByRole("region", { name: /^Permission/ });
	await card(first.page).waitFor();
	await card(second.page).waitFor();
	// The second window does not hear that the first one answers.
	refuse = true;
	await routes.at(-1)?.close({ code: 4000 });
	await second.page.getByText("not connected").waitFor({ state: "attached" });
	await first.page.getByRole("button", { name: /^Reject/ }).click();
	await card(first.page).waitFor({ state: "detached" });
	await second.page.getByRole("button", { name: /^Allow once/ }).click();
	await card(second.page).getByRole("alert").waitFor();
	refuse = false;
	await card(second.page).waitFor({ state: "detached" });
	await second.page.locator(".chat-line").getByText("another client had answered before you").waitFor();
	assert.ok(!existsSync(join(dir, "NOTES.md")));
	await second.end("chat-second-answer");
	await first.end("chat-first-answer");
});

// Spec session S1.8: the draft is stored and shown on every client.
test("a draft outlives a reload and shows in a second window", async () => {
	const first = await openWindow();
	await closeAll(first.page);
	const { tab } = await newChat(first.page);
	await composer(first.page).pressSequentially("half a thought");
	await first.page.reload();
	await composer(first.page).waitFor();
	assert.equal(await composer(first.page).inputValue(), "half a thought");
	const second = await openWindow();
	await second.page.locator(`.row-main[data-tab="${tab}"]`).first().click();
	const holds = (page: Page, text: string) =>
		page.waitForFunction(
			(want) => document.querySelector<HTMLTextAreaElement>(".composer-text")?.value === want,
			text,
		);
	await holds(second.page, "half a thought");
	// Words typed there come here, behind the caret's own place.
	await composer(second.page).press("End");
	await composer(second.page).pressSequentially(", and more");
	await holds(first.page, "half a thought, and more");
	await composer(first.page).press("Enter");
	await holds(second.page, "");
	await said(second.page, "user").getByText("half a thought, and more").waitFor();
	await second.end("chat-draft-second");
	await first.end("chat-draft-first");
});

// Spec session S1.4, S1.5: a subscriber goes on from its cursor; an id is sent once.
test("a connection dropped in mid-turn costs nothing and doubles nothing", async () => {
	const routes: WebSocketRoute[] = [];
	let refuse = false;
	const { page, context, end } = await openWindow({}, (p) =>
		p.routeWebSocket(/\/v1\/stream/, (route) => {
			if (refuse) return void route.close();
			routes.push(route);
			route.connectToServer();
		}),
	);
	await closeAll(page);
	await newChat(page);
	await say(page, "count 3000");
	await said(page, "agent").getByText(/1 2 3/).waitFor();
	refuse = true;
	await routes.at(-1)?.close({ code: 4000 });
	await page.getByText("not connected").waitFor({ state: "attached" });
	await context.route(/\/v1\/agentSession/, (route) => route.abort());
	await say(page, "said while away");
	await page.locator(".queue").getByText("waits for the connection").waitFor();
	refuse = false;
	await context.unroute(/\/v1\/agentSession/);
	await page.getByText("connected", { exact: true }).waitFor({ state: "attached" });
	const all = Array.from({ length: 3000 }, (_, n) => n + 1).join(" ");
	await page.waitForFunction(
		(want) => document.querySelector('.said[data-by="agent"]')?.textContent?.trim() === want,
		all,
		{ timeout: 60_000 },
	);
	await said(page, "user").getByText("said while away").waitFor();
	await said(page, "agent").getByText("I have read your prompt").waitFor();
	assert.equal(await said(page, "user").getByText("said while away").count(), 1);
	assert.equal(await said(page, "agent").count(), 2);
	await rests(page);
	await end("chat-resumed");
});

// Spec session S1.8: the queue; a turn is cancelled by the protocol.
test("messages queue while a turn runs, and Escape cancels it", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newChat(page);
	await say(page, "wait");
	await page.locator(".chat-end").getByText("Working").waitFor();
	await say(page, "then this");
	await page.locator(".queue").getByText("queued").waitFor();
	await page.locator(".chat-bar").getByText("Queue", { exact: true }).waitFor();
	assert.equal(await said(page, "user").count(), 1);
	await clean(page, "a turn that runs");
	await composer(page).press("Escape");
	await page.locator(".turn-end").getByText("Cancelled").waitFor();
	await said(page, "user").getByText("then this").waitFor();
	await said(page, "agent").getByText("I have read your prompt").waitFor();
	await page.locator(".queue").waitFor({ state: "detached" });
	const order = await page.locator(".chat-row").allTextContents();
	const cancelled = order.findIndex((row) => row.includes("Cancelled"));
	assert.ok(cancelled < order.findIndex((row) => row.includes("then this")), order.join("\n"));
	await end("chat-queue");
});

// Spec session S1.10: ends are told with their reason.
test("a plan, a refusal and a failure are told as what they are", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newChat(page, "plan");
	await page.getByRole("region", { name: "Plan: 2 of 2 done" }).waitFor();
	await rests(page);
	await say(page, "refuse");
	await page.locator(".turn-end").getByText("The agent refused").waitFor();
	await say(page, "fail");
	await page.locator(".turn-end").getByText("The turn failed").waitFor();
	await page
		.locator(".turn-end")
		.getByText(/it failed, as asked/)
		.waitFor();
	await end("chat-ends");
});

// Spec session S1.8: stopped, kept, and resumed.
test("a stopped agent can be resumed, and the chat goes on", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newChat(page, "hello there");
	await said(page, "agent").getByText("I have read your prompt").waitFor();
	await rests(page);
	await page.getByRole("button", { name: "Stop the agent; the chat is kept" }).click();
	const resume = page.getByRole("button", { name: "Resume" });
	await resume.waitFor();
	await clean(page, "a chat whose agent does not run");
	await resume.click();
	await resume.waitFor({ state: "detached" });
	await say(page, "and again");
	await said(page, "agent").getByText("2 words, 9 characters").waitFor();
	await said(page, "user").getByText("hello there").waitFor();
	await end("chat-resume");
});

for (const theme of ["dark", "light", "contrast"] as const) {
	test(`axe is content with a chat: ${theme}`, async () => {
		const { page, end } = await openWindow(
			{ colorScheme: theme === "light" ? "light" : "dark" },
			async (p) => {
				await p.addInitScript((value) => localStorage.setItem("davit.theme", JSON.stringify(value)), theme);
			},
		);
		await closeAll(page);
		await newChat(page);
		await clean(page, "an empty chat");
		await say(page, "plan\nwrite NOTES.md");
		await page.getByRole("region", { name: "Permission: Write NOTES.md" }).waitFor();
		await page.keyboard.press("Alt+Shift+KeyP");
		await page.waitForFunction(() => document.activeElement?.classList.contains("ask"));
		await page.waitForTimeout(400); // a key that was meant for the composer answers nothing
		await page.keyboard.press("1");
		await page.locator('.tool[data-state="done"]').waitFor();
		await rests(page);
		await page.getByRole("region", { name: "Tool call: Write NOTES.md" }).getByRole("button").first().click();
		await page.getByRole("region", { name: "Thought" }).getByRole("button").first().click();
		await clean(page, "a chat with all of its parts");
		await page.keyboard.press("Alt+Shift+Slash");
		await page.getByRole("dialog", { name: "Keys" }).getByText("Send, or queue while a turn runs").waitFor();
		await page.keyboard.press("Escape");
		await end(`chat-axe-${theme}`);
	});
}

test("a chat at 360 px: nothing is cut off, and it is used by touch", async () => {
	const { page, end } = await openWindow({
		viewport: { width: 360, height: 740 },
		hasTouch: true,
		isMobile: true,
	});
	await closeAll(page);
	const dir = repository();
	await ask(page, "agent.launch", {
		agent: "practice",
		operationId: `${String(Date.now()).padStart(13, "0")}-${randomBytes(16).toString("hex")}`,
		target: { kind: "existing", worktree: `path:${dir}` },
		surface: "structured",
	});
	await composer(page).waitFor();
	await composer(page).fill("write NOTES.md");
	await page.getByRole("button", { name: "Send message" }).tap();
	await page.getByRole("button", { name: /^Allow once/ }).tap();
	await page.locator('.tool[data-state="done"]').waitFor();
	await rests(page);
	assert.equal(
		await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
		0,
	);
	assert.equal(await page.locator(".key-row").count(), 0);
	await clean(page, "a narrow chat");
	await end("chat-narrow");
});

// Spec chips C4.5: what the footer shows is whole or not there; what gives way is in its menu.
test("the footer of a chat overlaps and cuts nothing, in narrow rooms and wide ones", async () => {
	ghSays(pull);
	const { page, end } = await openWindow();
	await closeAll(page);
	const { dir } = await newChat(page, "edit");
	execFileSync("git", ["-C", dir, "remote", "add", "origin", "https://github.com/ada/harbor.git"]);
	execFileSync("git", ["-C", dir, "switch", "-q", "-c", "teach-the-harbour-to-signal-in-thick-fog-and-snow"]);
	writeFileSync(join(dir, "README.md"), Array.from({ length: 38 }, (_, at) => `line ${at}`).join("\n"));
	await revalidate(page, dir);
	const bar = page.getByRole("toolbar", { name: "Agent footer" });
	await bar.locator('[data-kind="github_pr"]').waitFor({ state: "attached" });
	await bar.locator('[data-kind="git_diff"] .minus').waitFor({ state: "attached" });
	for (const [width, wanted] of [
		[1280, ["git_branch", "git_diff", "github_pr", "cwd", "input_mode"]],
		[700, ["git_branch", "git_diff", "github_pr"]],
		[360, ["git_branch", "git_diff", "github_pr"]],
		[250, []],
	] as const) {
		await page.setViewportSize({ width, height: 760 });
		await page.waitForTimeout(100); // two frames: the observer's, and the drawing after it
		const seen = await measured(bar);
		assert.deepEqual(seen.overlaps, [], `${width} px`);
		assert.deepEqual(seen.cut, [], `${width} px`);
		for (const kind of wanted) assert.ok(seen.kinds.includes(kind), `${kind} at ${width} px: ${seen.kinds}`);
		await page.screenshot({ path: join(pictures, `chat-footer-${width}.png`) });
	}
	await page.setViewportSize({ width: 360, height: 760 });
	await bar.getByRole("button", { name: "More", exact: true }).click();
	const menu = page.getByRole("menu", { name: "More of the chat" });
	for (const name of [/^Stop the agent/, /^Receipt/, /^Split to the right/, /^Split downwards/]) {
		await menu.getByRole("menuitem", { name }).waitFor();
	}
	await page.screenshot({ path: join(pictures, "chat-footer-menu.png") });
	await menu.getByRole("menuitem", { name: /^Receipt/ }).click();
	await page.getByRole("dialog", { name: "Receipt" }).waitFor();
	ghSays(null);
	await end("chat-footer");
});

test("what a chip tells leaves the answers of a question free", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	await newChat(page, "write FILE");
	const answersOf = page.locator(".ask-answers .button");
	await answersOf.first().waitFor();
	for (const width of [1280, 360]) {
		await page.setViewportSize({ width, height: 700 });
		await page.mouse.move(width / 2, 300);
		await page.locator('.chat-bar [data-kind="git_branch"]').hover();
		const tip = page.locator(".tooltip");
		await tip.waitFor();
		const over = await tip.boundingBox();
		for (const button of await answersOf.all()) {
			const box = await button.boundingBox();
			assert.ok(over && box);
			const apart =
				over.x >= box.x + box.width ||
				box.x >= over.x + over.width ||
				over.y >= box.y + box.height ||
				box.y >= over.y + over.height;
			assert.ok(apart, `at ${width} px the tooltip covers “${await button.textContent()}”`);
		}
		await page.screenshot({ path: join(pictures, `chat-tip-${width}.png`) });
	}
	await end("chat-tip");
});

test("a chat whose agent was killed looks other than one that was stopped", async () => {
	const { page, end } = await openWindow();
	await closeAll(page);
	const stopped = await newChat(page, "hello");
	await rests(page);
	await page.getByRole("button", { name: /^Stop the agent/ }).click();
	await page.locator('.chat-strip[data-tone="calm"]').getByText("is not running").waitFor();
	const killed = await newChat(page, "hello");
	await rests(page);
	const { panes } = await ask<{ panes: { tab: string; pid?: number }[] }>(page, "pane.list", {});
	const pid = panes.find((pane) => pane.tab === killed.tab)?.pid;
	assert.ok(pid);
	process.kill(pid, "SIGKILL");
	const strip = page.locator('.chat-strip[data-tone="bad"]');
	await strip.waitFor();
	assert.match((await strip.textContent()) ?? "", /SIGKILL\. \S/);
	const mark = (tab: string) => page.locator(`.row:has([data-tab="${tab}"]) .mark`).first();
	assert.equal(await mark(killed.tab).getAttribute("data-state"), "failed");
	assert.equal(await mark(stopped.tab).getAttribute("data-state"), "ended");
	await end("chat-killed");
});

/** What a bar shows: items that overlap or stand out, and those that hold more than they show. */
async function measured(bar: Locator) {
	const { edge, items } = await bar.evaluate((element) => ({
		edge: element.getBoundingClientRect().toJSON() as DOMRect,
		items: [...element.querySelectorAll<HTMLElement>(".chip, button")]
			.filter((item) => item.getClientRects().length > 0 && !item.parentElement?.closest(".chip, .menu"))
			.map((item) => ({
				kind: item.dataset.kind ?? item.getAttribute("aria-label") ?? item.className,
				left: item.getBoundingClientRect().left,
				right: item.getBoundingClientRect().right,
				cut: item.scrollWidth > item.clientWidth,
			})),
	}));
	const out = items.filter((item) => item.left < edge.left - 0.5 || item.right > edge.right + 0.5);
	const overlaps = items.flatMap((item, at) =>
		items
			.slice(at + 1)
			.filter((other) => other.left < item.right - 0.5 && item.left < other.right - 0.5)
			.map((other) => `${item.kind} and ${other.kind}`),
	);
	return {
		overlaps: [...overlaps, ...out.map((item) => `${item.kind} stands out`)],
		cut: items.filter((item) => item.cut).map((item) => item.kind),
		kinds: items.map((item) => item.kind),
	};
}
