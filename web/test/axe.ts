// axe-core on a page of the stories.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Runs axe and fails with what it found. WCAG 2.2 AA, and axe's own best practices. */
export async function clean(page: Page, what: string): Promise<void> {
	// Evaluated by the debugger, which the page's policy does not bind.
	await page.evaluate(axe);
	// Colours in motion are not the ones meant.
	await page.evaluate(() =>
		Promise.all(
			document
				.getAnimations()
				.filter((a) => a.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
				.map((a) => a.finished.catch(() => undefined)),
		),
	);
	const result = await page.evaluate(async () => {
		const run = (window as unknown as { axe: { run(options: object): Promise<AxeResults> } }).axe.run;
		return run({ resultTypes: ["violations"] });
	});
	const found = result.violations.map(
		(v) =>
			`${v.id} (${v.impact}): ${v.nodes.map((n) => `${n.target.join(" ")} ${n.failureSummary}`).join("; ")}`,
	);
	assert.deepEqual(found, [], what);
}
