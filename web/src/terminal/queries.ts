// xterm answers terminal queries by itself, as input. Here the host answers them, once
// (spec terminal P2.3, P3.5), so every query is swallowed before xterm sees it. The host
// leaves queries out of deltas already; this is the second lock on the same door.
import type { IFunctionIdentifier, Terminal } from "@xterm/xterm";

const csi: IFunctionIdentifier[] = [
	{ final: "c" }, // DA1
	{ prefix: ">", final: "c" }, // DA2
	{ prefix: "=", final: "c" }, // DA3
	{ final: "n" }, // DSR, CPR
	{ prefix: "?", final: "n" }, // DECDSR
	{ intermediates: "$", final: "p" }, // DECRQM, ANSI
	{ prefix: "?", intermediates: "$", final: "p" }, // DECRQM, DEC
	{ prefix: ">", final: "q" }, // XTVERSION
	{ prefix: "?", final: "u" }, // kitty keyboard
	{ prefix: "?", final: "m" }, // modifyOtherKeys
	{ final: "x" }, // DECREQTPARM
	{ final: "t" }, // window reports
	{ intermediates: "*", final: "y" }, // DECRQCRA
];

const dcs: IFunctionIdentifier[] = [
	{ intermediates: "$", final: "q" }, // DECRQSS
	{ intermediates: "+", final: "q" }, // XTGETTCAP
];

export function swallowQueries(terminal: Terminal): void {
	for (const id of csi) terminal.parser.registerCsiHandler(id, () => true);
	for (const id of dcs) terminal.parser.registerDcsHandler(id, () => true);
	for (const osc of [4, 5, 10, 11, 12, 13, 14, 17, 19, 52]) {
		terminal.parser.registerOscHandler(osc, asksOnly);
	}
}

/** A colour or clipboard sequence with a "?" asks; without one it sets. */
function asksOnly(data: string): boolean {
	return data.split(";").includes("?");
}
