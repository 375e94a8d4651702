package keeper

import "strings"

// Survivors finds what still runs of panes whose keeper is gone: processes that carry the
// pane's DAVIT_PANE in their environment, or are in its control group (spec terminal P1.9,
// P5.1). It ends nothing; a caller
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
		if pane := paneOf(p.pid, want); pane != "" {
			found[pane] = append(found[pane], p.public())
		}
	}
	return found, nil
}

func paneOf(pid int, want map[string]bool) string {
	for _, pair := range environOf(pid) {
		if pane, ok := strings.CutPrefix(pair, "DAVIT_PANE="); ok && want[pane] {
			return pane
		}
	}
	if pane := paneOfGroup(pid); want[pane] {
		return pane
	}
	return ""
}
