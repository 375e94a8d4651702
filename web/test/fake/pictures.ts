// `npm run pictures`: pictures of the page on the fake host, into test-results/.
import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { complaints, launchBrowser } from "../browser";
import { FakeHost } from "./host";

const out = new URL("../../test-results/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const only = process.argv[2];
const host = new FakeHost();
const port = await host.listen(0);
const origin = `http://127.0.0.1:${port}`;
const browser = await launchBrowser();

type Theme = "dark" | "light" | "contrast";

async function picture(
	name: string,
	act: (page: Page) => Promise<void>,
	theme: Theme = "dark",
	size = { width: 1280, height: 800 },
	login = true,
): Promise<void> {
	if (only && !name.includes(only)) return;
	const context = await browser.newContext({
		viewport: size,
		colorScheme: theme === "light" ? "light" : "dark",
		hasTouch: size.width < 500,
		isMobile: size.width < 500,
	});
	const page = await context.newPage();
	const wrong = complaints(page);
	if (theme === "contrast") await page.addInitScript(() => localStorage.setItem("davit.theme", '"contrast"'));
	await page.goto(login ? `${origin}/#token=sample-token-sample` : origin);
	if (login) await page.waitForSelector(".xterm-rows");
	await page.waitForTimeout(500);
	await act(page);
	await page.waitForTimeout(300);
	await page.screenshot({ path: `${out}${name}.png` });
	for (const line of wrong) process.stderr.write(`${name}: ${line}\n`);
	await context.close();
}

const nothing = async () => undefined;
const phone = { width: 360, height: 740 };
await picture("main-dark", nothing);
await picture("main-light", nothing, "light");
await picture("main-contrast", nothing, "contrast");
await picture("newtab", async (page) => page.getByRole("button", { name: "New tab" }).first().click());
await picture("launch", async (page) => {
	await page.keyboard.press("Alt+Shift+KeyL");
	await page.getByLabel("Prompt", { exact: true }).fill("Teach the harbour to signal");
});
await picture(
	"launch-light",
	async (page) => {
		await page.keyboard.press("Alt+Shift+KeyL");
		await page.getByLabel("Prompt", { exact: true }).fill("fail please");
		await page.getByRole("button", { name: "Launch", exact: true }).click();
	},
	"light",
);
await picture("receipt", async (page) => {
	await page.keyboard.press("Alt+Shift+KeyL");
	await page.getByLabel("Prompt", { exact: true }).fill("Teach the harbour to signal");
	await page.getByRole("button", { name: "Launch", exact: true }).click();
	await page.getByRole("dialog", { name: "Receipt" }).waitFor();
});
await picture("params", async (page) => {
	await page.getByRole("button", { name: "New tab" }).first().click();
	await page.getByRole("menuitem", { name: /Review/ }).click();
});
await picture("palette", async (page) => {
	await page.keyboard.press("Control+k");
	await page.keyboard.type("spl");
});
await picture("keys", async (page) => page.keyboard.press("Alt+Shift+Slash"));
await picture("configs", async (page) => page.keyboard.press("Alt+Shift+KeyO"));
await picture("close", async (page) => page.getByRole("button", { name: "Close harbor" }).click());
await picture("ended", async (page) => page.locator('[data-tab="t_000000000000000d"]').click());
await picture("agent", async (page) => page.locator('[data-tab="t_000000000000000b"]').click());
await picture("phone", nothing, "dark", phone);
await picture(
	"phone-tabs",
	async (page) => page.getByRole("button", { name: /^Tabs/ }).click(),
	"light",
	phone,
);
await picture(
	"phone-launch",
	async (page) => {
		await page.getByRole("button", { name: "New tab" }).first().click();
		await page.getByRole("menuitem", { name: /New worktree/ }).click();
	},
	"dark",
	phone,
);
await picture("gate", nothing, "dark", undefined, false);
host.state.tabs = [];
host.state.notices = [];
if (!only || "empty".includes(only)) {
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
	await page.goto(`${origin}/#token=sample-token-sample`);
	await page.waitForSelector(".steps");
	await page.waitForTimeout(300);
	await page.screenshot({ path: `${out}empty.png` });
}
await browser.close();
host.close();
