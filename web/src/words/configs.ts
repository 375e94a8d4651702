// Tab configs as the menu and the form show them (spec tabs T1, T2). Pure.
import type { Config, Fail, Fault, Param } from "../api/types";
import { fit } from "./match";
import { baseOf, dirOf } from "./path";

/** With more configs than this the menu has a field that filters them. */
export const manyConfigs = 8;

export interface NamedConfig {
	config: Config;
	/** What tells it from others of its name: its folder, or its file. */
	apart: string;
}

/** Sorted by name without regard to case; equal names are told apart. */
export function namedConfigs(configs: readonly Config[]): NamedConfig[] {
	const key = (config: Config) => config.name.toLowerCase();
	const sorted = [...configs].sort((a, b) => key(a).localeCompare(key(b)) || a.path.localeCompare(b.path));
	return sorted.map((config) => {
		const same = sorted.filter((other) => other !== config && key(other) === key(config));
		if (same.length === 0) return { config, apart: "" };
		return {
			config,
			apart: apart(
				config.path,
				same.map((other) => other.path),
			),
		};
	});
}

/** The end of a path's folder that no other one has; of files in one folder, the file. */
function apart(path: string, others: readonly string[]): string {
	const folders = others.map(dirOf);
	const parts = dirOf(path).split("/").filter(Boolean);
	for (let n = 1; n <= parts.length; n++) {
		const end = parts.slice(-n).join("/");
		if (!folders.some((folder) => `/${folder}`.endsWith(`/${end}`))) return end;
	}
	return baseOf(path);
}

export function filtered(all: readonly NamedConfig[], typed: string): NamedConfig[] {
	if (typed.trim() === "") return [...all];
	return all
		.map((one) => ({ one, score: Math.max(fit(typed, one.config.name), fit(typed, one.apart) / 2) }))
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.map(({ one }) => one);
}

/** Where a config is from, when that is not the user's own folder. */
export function sourceWord(config: Config): string {
	if (config.source === "warp") return "Warp";
	return config.source === "repository" ? "repository" : "";
}

/** Only the user's own files are written and deleted by davit. */
export function isOwn(config: Config): boolean {
	return config.source === "own" || config.source === "";
}

/** A repository's config that must be read and allowed before it is opened (spec tabs T1.1). */
export function needsTrust(config: Config): boolean {
	return config.trust === "untrusted" || config.trust === "changed";
}

export function trustWords(config: Config): string {
	if (config.trust === "changed") return "Changed since you allowed it.";
	return config.trust === "untrusted" ? "Not allowed yet: read it first." : "";
}

/** The value of a field before anything is typed: its default; a flag is off without one. */
export function startValue(param: Param): string {
	return param.default ?? (param.type === "boolean" ? "false" : "");
}

/** The value that is sent: what was typed, or the default of a field that was left blank. */
export function sentValue(param: Param, typed: string): string {
	return typed.trim() === "" ? (param.default ?? "") : typed;
}

/**
 * What keeps the form from being sent, in words; "" when nothing does. A blank field without
 * a default does; an empty default counts (spec tabs T2.1).
 */
export function unfilled(params: readonly Param[], valueOf: (param: Param) => string): string {
	const blank = params.filter(
		(param) => param.type !== "boolean" && param.default === undefined && valueOf(param).trim() === "",
	);
	if (blank.length === 0) return "";
	const names = blank.map((param) => param.name);
	const all = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
	return names.length > 1 ? `${all} are still blank.` : `${all} is still blank.`;
}

/**
 * What a refused opening says of single fields, in words, by parameter. Empty when it says
 * more than that: then it is shown as a whole (spec tabs T2.1).
 */
export function fieldFaults(fail: Fail | null): Record<string, string> {
	const faults: Record<string, string> = {};
	const { values, missing } = fail?.details ?? {};
	if (fail?.code === "config_unknown_parameter") return faults;
	for (const name of Array.isArray(missing) ? missing : []) faults[String(name)] = "A value is needed.";
	for (const one of Array.isArray(values) ? values : []) {
		const { param, problem } = one as Record<string, unknown>;
		faults[String(param)] = `The value ${problem}.`.replace(/\?\.$/, "?");
	}
	return faults;
}

/** A refusal without what it says of one field, which was changed since; null: nothing is left. */
export function withoutField(fail: Fail | null, name: string): Fail | null {
	const faults = fieldFaults(fail);
	if (!fail || !(name in faults)) return fail;
	if (Object.keys(faults).length === 1) return null;
	const { values, missing } = fail.details ?? {};
	const list = (of: unknown): unknown[] => (Array.isArray(of) ? of : []);
	return {
		...fail,
		details: {
			values: list(values).filter((one) => (one as Record<string, unknown>).param !== name),
			missing: list(missing).filter((one) => one !== name),
		},
	};
}

/** The value of the last opening, when it is worth an offer. */
export function offered(param: Param, value: string): string | null {
	if (param.type === "secret" || param.type === "boolean") return null;
	const last = param.last;
	return last !== undefined && last !== "" && last !== value ? last : null;
}

/** Its field has several lines: it keeps them while the value is typed anew. */
export function severalLines(param: Param, value: string): boolean {
	if (param.type === "secret") return false;
	return [value, param.last, param.default].some((text) => /[\r\n]/.test(text ?? ""));
}

export function faultPlace(fault: Fault): string {
	return `${fault.line}:${fault.column}`;
}

/** Where a line and a column of a text are, counted in UTF-16 units; columns count from 1. */
export function offsetOf(text: string, line: number, column: number): number {
	let at = 0;
	for (let n = 1; n < line; n++) {
		const next = text.indexOf("\n", at);
		if (next < 0) return text.length;
		at = next + 1;
	}
	const end = text.indexOf("\n", at);
	return Math.min(at + Math.max(0, column - 1), end < 0 ? text.length : end);
}

/** How many faults there are, in words. */
export function faultCount(faults: readonly Fault[]): string {
	const errors = faults.filter((fault) => fault.severity === "error").length;
	const warnings = faults.length - errors;
	const part = (n: number, word: string) => (n === 0 ? "" : n === 1 ? `1 ${word}` : `${n} ${word}s`);
	return [part(errors, "error"), part(warnings, "warning")].filter(Boolean).join(", ") || "no faults";
}
