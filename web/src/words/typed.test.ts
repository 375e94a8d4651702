import { expect, test } from "vitest";
import type { Chip, ChipLayout, Pane } from "../api/types";
import { barChips } from "./chips";
import { programOf } from "./typed";

test("the program that a line begins with", () => {
	const lines: Record<string, string> = {
		"kubectl get po": "kubectl",
		"  /usr/local/bin/helm list": "helm",
		"sudo -u ada -E kubectl get po": "kubectl",
		"KUBECONFIG=/x A+=1 env -i X=1 kubectl": "kubectl",
		"time -p kubectl": "kubectl",
		"sudo -- kubectl": "kubectl",
		sudo: "",
		"": "",
		"   ": "",
		"A=1": "",
		'"kubectl"': "",
		"echo kubectl": "echo",
		constructor: "constructor",
	};
	for (const [line, program] of Object.entries(lines)) expect(programOf(line), line).toBe(program);
});

// Spec chips C1, whileTyping: kube is drawn beside its programs only.
test("a chip of some programs is drawn beside them", () => {
	const chips = [
		{ kind: "cwd", text: "~", value: "~", status: "ready" },
		{
			kind: "kube",
			text: "staging",
			value: "staging",
			status: "ready",
			data: { whileTyping: ["kubectl", "k"] },
		},
	] as unknown as Chip[];
	const layout = { prompt: ["cwd", "kube"] } as unknown as ChipLayout;
	const kinds = (pane: Partial<Pane>, typed?: string) =>
		barChips({ kind: "shell", running: false, ...pane } as Pane, chips, layout, typed).left.map(
			(c) => c.kind,
		);
	expect(kinds({})).toEqual(["cwd"]);
	expect(kinds({}, "kubectl")).toEqual(["cwd", "kube"]);
	expect(kinds({}, "k")).toEqual(["cwd", "kube"]);
	expect(kinds({}, "kubectlx")).toEqual(["cwd"]);
	expect(kinds({ running: true, command: "sudo kubectl logs -f x" })).toEqual(["cwd", "kube"]);
	expect(kinds({ running: true, command: "ls" }, "kubectl")).toEqual(["cwd"]);
});
