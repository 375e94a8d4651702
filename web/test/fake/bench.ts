// `npm run bench [rows]`: script time per frame of a long chat in the gallery of a
// development build (DAVIT_DIST), while it is scrolled and while an answer streams in.

import { launchBrowser } from "../browser";
import { FakeHost } from "./host";

const rows = Number(process.argv[2] ?? 20_000);
const host = new FakeHost(true);
const port = await host.listen(0);
const browser = await launchBrowser();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const opened = Date.now();
await page.goto(`http://127.0.0.1:${port}/dev/gallery?chat=long&rows=${rows}`);
await page.waitForSelector(".chat-row");
process.stdout.write(`${rows} rows, shown after ${Date.now() - opened} ms (rows made in the page)\n`);
const cdp = await page.context().newCDPSession(page);
// Time on the processor: the machine may have other things to do.
await cdp.send("Performance.enable", { timeDomain: "threadTicks" });

async function script(): Promise<number> {
	const { metrics } = await cdp.send("Performance.getMetrics");
	return (metrics.find((m) => m.name === "ScriptDuration")?.value ?? 0) * 1000;
}

const frame = () =>
	page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function measure(name: string, steps: number, step: (n: number) => Promise<unknown>): Promise<void> {
	const times: number[] = [];
	for (let n = 0; n < steps; n++) {
		await frame();
		const before = await script();
		await step(n);
		await frame();
		times.push((await script()) - before);
	}
	times.sort((a, b) => a - b);
	const at = (part: number) => (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(2);
	process.stdout.write(
		`${name}: script per frame, median ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms\n`,
	);
}

const drawn = () => page.locator(".chat-row").count();
await measure("nothing", 20, async () => undefined);
await measure("scroll up, 300 px a frame", 200, () =>
	page.evaluate(() => document.querySelector(".chat-scroll")?.scrollBy(0, -300)),
);
await measure("jumps", 40, (n) =>
	page.evaluate(
		(part) => {
			const box = document.querySelector(".chat-scroll");
			box?.scrollTo(0, box.scrollHeight * part);
		},
		((n * 7919) % 100) / 100,
	),
);
process.stdout.write(`rows in the document: ${await drawn()}\n`);
await page.evaluate(() => {
	const box = document.querySelector(".chat-scroll");
	box?.scrollTo(0, box.scrollHeight);
});
await measure("an answer streams, 40 units a frame", 200, (n) =>
	page.evaluate((at) => {
		type Long = {
			feed: { rows(rows: unknown[], cursor: unknown, reset: string): void };
			writer: { rows: { seq: number }[]; add(kind: string, item: string, body: object): void };
		};
		const long = (window as unknown as { feeds: { long: Long } }).feeds.long;
		long.writer.add("message", "streamed", {
			role: "agent",
			at,
			text: "The tide comes in, **the lamps** are lit",
		});
		const row = long.writer.rows.at(-1);
		long.feed.rows([row], { epoch: 1, seq: row?.seq }, "");
	}, n * 40),
);
await browser.close();
host.close();
