// What the stories share. They run against a real davit host, started by whoever runs
// them (see README.md):
//
//	DAVIT_URL   a login link of it; its address is what counts
//	DAVIT_HOME  its home, where configs are put
//	DAVIT_BIN   the program, for fresh login links (one works once, and each file of
//	            stories is a process)
//	DAVIT_PATIENCE  optional: milliseconds to wait for anything
//	DAVIT_GH    the file that says what the scripted gh on that host's PATH answers
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { complaints, launchBrowser } from "./browser";

/** A busy machine may be given more. */
export const patience = Number(process.env.DAVIT_PATIENCE ?? 20_000);

function env(name: string): string {
	const value = process.env[name];
	if (!value) throw new Error(`${name} is not set: see web/README.md`);
	return value;
}

export const origin = new URL(env("DAVIT_URL")).origin;
const home = env("DAVIT_HOME");
export const pictures = process.env.DAVIT_PICTURES ?? new URL("../test-results/", import.meta.url).pathname;
mkdirSync(pictures, { recursive: true });

/** A login link that nobody has used. */
export function freshLink(): string {
	const out = execFileSync(env("DAVIT_BIN"), [], {
		encoding: "utf8",
		env: { ...process.env, DAVIT_HOME: home },
	});
	const found = /http:\/\/\S+#\S+/.exec(out)?.[0];
	if (!found) throw new Error(`no link in: ${out}`);
	return found;
}

let browser: Browser | undefined;
let state: Awaited<ReturnType<BrowserContext["storageState"]>> | undefined;

export async function theBrowser(): Promise<Browser> {
	browser ??= await launchBrowser();
	return browser;
}

export async function closeBrowser(): Promise<void> {
	await browser?.close();
	browser = undefined;
}

export interface Window {
	page: Page;
	context: BrowserContext;
	/** Console errors and policy violations. */
	wrong: string[];
	/** Keeps a picture, and closes. */
	end(name: string): Promise<void>;
}

/** A window that is logged in, with nothing else remembered. */
export async function openWindow(
	options: BrowserContextOptions = {},
	before?: (page: Page) => Promise<void>,
): Promise<Window> {
	const from = await theBrowser();
	if (!state) {
		const first = await from.newContext();
		const page = await first.newPage();
		await page.goto(freshLink());
		await page.locator(".rail").waitFor({ state: "attached", timeout: patience });
		await page.waitForFunction(() => localStorage.getItem("davit-key") !== null);
		state = await first.storageState();
		await first.close();
	}
	const context = await from.newContext({
		viewport: { width: 1280, height: 800 },
		colorScheme: "dark",
		permissions: ["clipboard-read", "clipboard-write"],
		storageState: state,
		...options,
	});
	context.setDefaultTimeout(patience);
	const page = await context.newPage();
	const wrong = complaints(page);
	await before?.(page);
	await page.goto(origin);
	await page.getByText("connected", { exact: true }).waitFor({ state: "attached" });
	return {
		page,
		context,
		wrong,
		end: async (name) => {
			await page.screenshot({ path: join(pictures, `${name}.png`) });
			await context.close();
		},
	};
}

/** The rows of the terminal that is shown (the first of several). */
export async function rows(page: Page): Promise<string[]> {
	const all = await page.locator(".stage .xterm-rows").first().locator(":scope > div").allTextContents();
	return all.map((row) => row.replace(/\u00a0/g, " ").trimEnd());
}

/** Waits until a row of a shown terminal is this text or matches it, and gives the row. A
    pattern should hold for the whole row: a row may be drawn in parts. */
export async function seesRow(page: Page, wanted: string | RegExp): Promise<string> {
	const end = Date.now() + patience;
	let last: string[] = [];
	while (Date.now() < end) {
		last = (await page.locator(".stage .xterm-rows > div").allTextContents()).map((row) =>
			row.replace(/\u00a0/g, " ").trimEnd(),
		);
		const found = last.find((row) => (typeof wanted === "string" ? row === wanted : wanted.test(row)));
		if (found !== undefined) return found;
		await page.waitForTimeout(50);
	}
	throw new Error(`no row ${String(wanted)} in:\n${last.filter(Boolean).join("\n")}`);
}

/** Opens a terminal tab and waits for its prompt; gives the tab's id. */
export async function newTerminal(page: Page): Promise<string> {
	const before = await page
		.locator(".row-main[data-tab]")
		.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.tab ?? ""));
	await page.keyboard.press("Alt+Shift+KeyT");
	// Its row comes with the host's event, and is shown with the answer to who asked.
	const shown = await page.waitForFunction((known) => {
		const row = document.querySelector<HTMLElement>('.row-main[data-tab][aria-current="page"]');
		const id = row?.dataset.tab ?? "";
		return id !== "" && !known.includes(id) ? id : null;
	}, before);
	const id = (await shown.jsonValue()) ?? "";
	await page.locator(".stage .terminal .xterm-rows").waitFor();
	await seesRow(page, /[$#%>]\s*$/);
	await page.locator(".stage .terminal textarea").focus();
	return id;
}

export async function type(page: Page, line: string): Promise<void> {
	await page.keyboard.type(line);
	await page.keyboard.press("Enter");
}

/** Asks the host for something, as the page would. */
export async function ask<T>(page: Page, name: string, data: object): Promise<T> {
	const key = await page.evaluate(() => localStorage.getItem("davit-key") ?? "");
	const answer = await page.request.post(`${origin}/v1/${name}`, {
		data,
		headers: { Origin: origin, "Davit-Key": key },
	});
	if (!answer.ok()) throw new Error(`${name}: ${answer.status()} ${await answer.text()}`);
	return (await answer.json()) as T;
}

/** Closes every tab of the host, running programs or not, so that stories do not meet. */
export async function closeAll(page: Page): Promise<void> {
	const open = await ask<{ tabs?: { id: string }[] | null }>(page, "tab.list", {});
	const tabs = (open.tabs ?? []).map((tab) => tab.id);
	if (tabs.length > 0) await ask(page, "tab.close", { tabs, yes: true });
	const told = await ask<{ notices?: { id: string }[] | null }>(page, "notice.list", {});
	for (const { id } of told.notices ?? []) await ask(page, "notice.dismiss", { id });
	await page.locator(".steps").waitFor();
}

/** What the scripted gh of the host answers from now on; null: nobody is signed in. */
export function ghSays(pull: object | null): void {
	const file = env("DAVIT_GH");
	if (pull) writeFileSync(file, JSON.stringify(pull));
	else rmSync(file, { force: true });
}

export function config(name: string, text: string): void {
	const dir = join(home, "config", "tab_configs");
	mkdirSync(dir, { recursive: true });
	writeFileSync(join(dir, `${name}.toml`), text);
}

/** A repository with one commit, and a remote when its address is given. */
export function repository(remote?: string): string {
	const dir = mkdtempSync(join(tmpdir(), "davit-story-"));
	const git = (...args: string[]) => execFileSync("git", ["-C", dir, ...args], { stdio: "pipe" });
	git("init", "-q", "-b", "main");
	git("config", "user.name", "Ada");
	git("config", "user.email", "ada@example.invalid");
	writeFileSync(join(dir, "README.md"), "# harbor\n");
	git("add", ".");
	git("commit", "-q", "-m", "start");
	if (remote) git("remote", "add", "origin", remote);
	return dir;
}
