import { expect, test } from "vitest";
import { formatOutput, type Output, parseOutput } from "./frames";

function buffer(bytes: Uint8Array): ArrayBuffer {
	return bytes.slice().buffer as ArrayBuffer;
}

test("a frame reads back as it was written, with offsets past 32 bits", () => {
	const output: Output = {
		kind: "snapshot",
		pane: "p_00000000000000a1",
		from: 5_000_000_000,
		to: 5_000_000_003,
		cols: 120,
		rows: 40,
		data: new Uint8Array([27, 91, 72]),
	};
	expect(parseOutput(buffer(formatOutput(output)))).toEqual(output);
});

test("a hand-made frame of the contract reads as the contract says", () => {
	const bytes = [
		1,
		3,
		0x70,
		0x5f,
		0x31,
		...[0, 0, 0, 0, 0, 0, 1, 0],
		...[0, 0, 0, 0, 0, 0, 1, 2],
		0,
		80,
		0,
		24,
		0x68,
		0x69,
	];
	expect(parseOutput(buffer(new Uint8Array(bytes)))).toEqual({
		kind: "delta",
		pane: "p_1",
		from: 256,
		to: 258,
		cols: 80,
		rows: 24,
		data: new Uint8Array([0x68, 0x69]),
	});
});

test("malformed frames are refused", () => {
	const good = formatOutput({
		kind: "delta",
		pane: "p",
		from: 0,
		to: 1,
		cols: 0,
		rows: 0,
		data: new Uint8Array(1),
	});
	for (let length = 0; length < good.length - 1; length++) {
		expect(parseOutput(buffer(good.slice(0, length)))).toBeNull();
	}
	for (const kind of [0, 3, 255]) {
		const bad = good.slice();
		bad[0] = kind;
		expect(parseOutput(buffer(bad))).toBeNull();
	}
});
