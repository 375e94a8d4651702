// Stories of terminals over connections that break, and of what lies above the window.
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { closeAll, closeBrowser, newTerminal, openWindow, patience, rows, seesRow, type } from "./story";

after(closeBrowser);

/** How long the connection is dropped again and again: 15 s, or DAVIT_DROPS seconds. */
const dropsFor = Number(process.env.DAVIT_DROPS ?? 15) * 1000;
const dropEvery = 100;

/** All that the shown terminal keeps, whatever of it is in the window. */
async function kept(page: Page): Promise<string[]> {
	const all = await page
		.locator(".stage .terminal[data-pane]")
		.evaluate((element) => (element as unknown as { text(): string[] }).text());
	while (all.at(-1) === "") all.pop();
	return all;
}

/** The numbers of the numbered lines that the terminal keeps, in its order. */
function numbers(all: string[]): number[] {
	return all.flatMap((row) => /^line (\d+) /.exec(row)?.[1] ?? []).map(Number);
}

function contiguous(found: number[], last: number): void {
	assert.equal(found.at(-1), last);
	const first = found[0] ?? 0;
	const wrong = found.findIndex((n, i) => n !== first + i);
	assert.equal(wrong, -1, `after ${found[wrong - 1]} comes ${found[wrong]}`);
}

/** An HTTP proxy whose tunnels (the WebSocket) are cut while told so: mid-frame, as they come. */
class Proxy {
	cuts = 0;
	cutting = false;
	private readonly server: Server;
	private readonly open = new Set<Duplex>();

	constructor() {
		this.server = createServer((from, to) => {
			const onward = request(from.url ?? "", { method: from.method, headers: from.headers }, (answer) => {
				to.writeHead(answer.statusCode ?? 502, answer.headers);
				answer.pipe(to);
			});
			onward.on("error", () => to.destroy());
			from.pipe(onward);
		});
		this.server.on("connect", (ask: IncomingMessage, socket: Duplex, head: Buffer) =>
			this.tunnel(ask, socket, head),
		);
	}

	private tunnel(ask: IncomingMessage, socket: Duplex, head: Buffer): void {
		const { hostname, port } = new URL(`http://${ask.url}`);
		const host = connect(Number(port), hostname, () => {
			socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
			host.write(head);
			socket.pipe(host).pipe(socket);
		});
		const end = () => {
			host.destroy();
			socket.destroy();
			this.open.delete(socket);
		};
		this.open.add(socket);
		for (const side of [host, socket]) side.on("error", end).on("close", end);
		if (this.cutting) setTimeout(() => this.cut(socket), dropEvery);
	}

	private cut(socket: Duplex): void {
		if (!this.open.has(socket)) return;
		this.cuts++;
		socket.destroy();
	}

	cutAll(): void {
		for (const socket of this.open) this.cut(socket);
	}

	async listen(): Promise<string> {
		await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
		return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
	}

	close(): void {
		for (const socket of this.open) socket.destroy();
		this.server.close();
		this.server.closeAllConnections();
	}
}

// Spec terminal P3.1: nothing is shown twice or lost.
test("lines print while the connection is dropped again and again: each is shown once", async () => {
	const proxy = new Proxy();
	after(() => proxy.close());
	const server = await proxy.listen();
	const { page, end } = await openWindow({ proxy: { server, bypass: "<-loopback>" } });
	await closeAll(page);
	await newTerminal(page);
	proxy.cutting = true;
	proxy.cutAll();
	const ten =
		'for i in 1 2 3 4 5 6 7 8 9 10; do echo "line $((++n)) the quick brown fox jumps over it"; done';
	await type(
		page,
		`clear; n=0; SECONDS=0; while ((SECONDS < ${dropsFor / 1000})); do ${ten}; sleep 0.02; done; echo "printed=$n"`,
	);
	await page.waitForTimeout(dropsFor);
	assert.ok(proxy.cuts > dropsFor / 2000, `only ${proxy.cuts} connections were cut`);
	proxy.cutting = false;
	const last = Number(/=(\d+)/.exec(await seesRow(page, /^printed=\d+$/))?.[1]);
	const found = numbers(await kept(page));
	assert.ok(found.length >= Math.min(last, 900), `${found.length} lines are kept of ${last}`);
	contiguous(found, last);
	console.log(`${proxy.cuts} connections cut, ${last} lines printed, ${found.length} kept`);
	await end("dropped");
});

/** Scrolls to the first line that is kept, as by hand. */
async function toTop(page: Page, lines: number): Promise<void> {
	await page.locator(".stage .terminal textarea").focus();
	for (let pages = 0; pages * 35 < lines; pages++) await page.keyboard.press("Shift+PageUp");
}

// Spec terminal P3.3: a window gets the screen and 1,000 lines, and earlier ones when asked.
test("a new window shows the newest lines, and earlier ones when asked", async () => {
	const first = await openWindow();
	await closeAll(first.page);
	const tab = await newTerminal(first.page);
	await type(first.page, 'clear; for n in {1..2500}; do echo "line $n of many"; done; echo "printed=$n"');
	await seesRow(first.page, "printed=2500");
	const { page, end } = await openWindow();
	await page.locator(`[data-tab="${tab}"]`).click();
	await seesRow(page, "printed=2500");
	const few = numbers(await kept(page));
	assert.ok(few.length >= 950 && few.length <= 1100, `${few.length} lines came at first`);
	contiguous(few, 2500);
	const earlier = page.getByRole("button", { name: "Earlier lines" });
	assert.equal(await earlier.isVisible(), false);
	await toTop(page, few.length);
	await earlier.waitFor();
	const top = (await rows(page))[0];
	await earlier.click();
	let all: number[] = [];
	for (const limit = Date.now() + patience; all[0] !== 1 && Date.now() < limit; ) {
		await page.waitForTimeout(50);
		all = numbers(await kept(page));
	}
	assert.equal(all[0], 1);
	contiguous(all, 2500);
	assert.equal((await rows(page))[0], top, "the line that was looked at is still the first");
	await toTop(page, all.length);
	await seesRow(page, "line 1 of many");
	assert.equal(await earlier.isVisible(), false);
	// What is typed comes out below, as ever.
	await type(page, "echo af''ter");
	await seesRow(page, "after");
	await end("earlier-lines");
	await first.end("earlier-lines-first");
});
