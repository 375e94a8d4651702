// The gallery's view of changes, in its states.
import { useSignal } from "@preact/signals";
import type { Change, Changes } from "../api/types";
import { ChangesView } from "../parts/changes";
import { foldsOf } from "../words/changes";

const change = (path: string, kind: string, added: number, removed: number, more: Partial<Change> = {}) => ({
	path,
	kind,
	added,
	removed,
	...more,
});

const changes: Changes = {
	root: "/home/ada/src/harbor",
	branch: "feat/signal-lamp",
	files: 7,
	added: 44,
	removed: 12,
	conflicts: [change("docs/tides.md", "both_modified", 5, 0)],
	staged: [
		change("internal/crane/crane.go", "modified", 3, 1),
		change("internal/crane/hoist.go", "renamed", 0, 0, { from: "internal/crane/lift.go" }),
	],
	unstaged: [
		change("internal/crane/crane.go", "modified", 1, 0),
		change("assets/lamp.png", "modified", 0, 0, { binary: true }),
		change("old.txt", "deleted", 0, 11),
	],
	untracked: [change("web/src/lamp.ts", "untracked", 35, 0)],
};

const patch = `@@ -10,5 +10,7 @@ type Crane struct {
 // lower lets the hook down.
 func (c *Crane) lower(metres int) error {
-	return c.move("down", metres)
+	if metres > 40 { // longer than the rope
+		return fmt.Errorf("no rope for %d m", metres)
+	}
+	return c.move("down, slowly", metres)
 }
`;

export const changesDialogs = ["changes", "changes-none", "changes-fault"];

export function ChangesShown({ name }: { name: string }) {
	const folds = useSignal(foldsOf(null, changes));
	const fault = name === "changes-fault";
	const none = {
		...changes,
		files: 0,
		added: 0,
		removed: 0,
		conflicts: [],
		staged: [],
		unstaged: [],
		untracked: [],
	};
	return (
		<ChangesView
			changes={fault ? null : name === "changes-none" ? none : changes}
			fail={
				fault
					? { code: "directory_missing", message: "There is no directory /home/ada/src/harbor any more." }
					: null
			}
			busy={false}
			round={1}
			folds={folds.value}
			home="/home/ada"
			onFold={(keys, open) => {
				folds.value = { ...folds.value, ...Object.fromEntries(keys.map((key) => [key, open])) };
			}}
			onAgain={() => undefined}
			read={() => Promise.resolve({ text: patch })}
		/>
	);
}
