package keeper

import "strings"

// Survivors finds what still runs of panes whose keeper is gone: processes that carry the
// pane's DAVIT_PANE in their environment (spec terminal P1.9). It ends nothing; a caller
// that does uses SignalProcess, which checks the start time. Where the system does not
// tell another process's environment (macOS) nothing is found.
func Survivors(panes []string) (map[string][]Process, error) {
	want := map[string]bool{}
	for _, pane := range panes {
		want[pane] = true
	}
	table, err := processes()
	if err != nil {
		return nil, err
	}
	found := map[string][]Process{}
	for _, p := range table {
		if p.zombie {
			continue
		}
		for _, pair := range environOf(p.pid) {
			if pane, ok := strings.CutPrefix(pair, "DAVIT_PANE="); ok && want[pane] {
				found[pane] = append(found[pane], p.public())
				break
			}
		}
	}
	return found, nil
}
