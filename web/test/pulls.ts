// What the stories of the vertical tabs share: the view as it is at first, and a repository
// with a pull request.
import type { Locator, Page } from "playwright-core";
import { ask, closeAll, newTerminal, repository, seesRow, type } from "./story";

export const defaults = {
	granularity: "panes",
	density: "expanded",
	title: "command",
	showPrLink: true,
	showDiffStats: true,
	detailsOnHover: true,
};

export const pull = {
	number: 12,
	url: "https://github.com/ada/harbor/pull/12",
	title: "Teach the harbour to signal",
	state: "OPEN",
	isDraft: false,
	baseRefName: "main",
	headRefName: "signal",
	statusCheckRollup: [
		{ __typename: "CheckRun", name: "build", status: "COMPLETED", conclusion: "SUCCESS" },
		{ __typename: "CheckRun", name: "test", status: "COMPLETED", conclusion: "FAILURE" },
	],
};

export const requires = "Requires the GitHub CLI to be installed and authenticated";

export async function fresh(page: Page): Promise<void> {
	await closeAll(page);
	await ask(page, "settings.set", { key: "vertical_tabs", value: defaults });
}

export async function openPopup(page: Page): Promise<Locator> {
	await page.getByRole("button", { name: "View of the tabs" }).click();
	const popup = page.getByRole("dialog", { name: "View of the tabs" });
	await popup.waitFor();
	return popup;
}

/** Opens a tab in a repository on GitHub, in the directory itself. */
export async function inRepository(page: Page): Promise<string> {
	const dir = repository("https://github.com/ada/harbor.git");
	await newTerminal(page);
	await type(page, `cd ${dir} && git switch -q -c signal && echo th''ere`);
	await seesRow(page, "there");
	return dir;
}

export async function revalidate(page: Page, dir: string): Promise<void> {
	await ask(page, "chips.revalidate", { dir });
}
