package daemon

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// metrics counts what an operator may ask for (GET /metrics). Its lock is a leaf.
type metrics struct {
	mu     sync.Mutex // guards counts
	counts map[string]map[string]uint64
}

// help says what each counter counts; one that does not stand here is not served.
var help = map[string]string{
	"davit_pr_chip_validation_total": "Moves of the state that says whether the pull-request chip works here.",
	"davit_gh_calls_total":           "Calls of gh for pull requests, by how they ended.",
}

// add counts one; labels are names and values in turn.
func (m *metrics) add(name string, labels ...string) {
	var parts []string
	for i := 0; i+1 < len(labels); i += 2 {
		parts = append(parts, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[string]map[string]uint64{}
	}
	if m.counts[name] == nil {
		m.counts[name] = map[string]uint64{}
	}
	m.counts[name][strings.Join(parts, ",")]++
}

// write gives the counters in the text form of Prometheus.
func (m *metrics) write(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(help)) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", name, help[name], name)
		for _, labels := range slices.Sorted(maps.Keys(m.counts[name])) {
			fmt.Fprintf(&b, "%s{%s} %d\n", name, labels, m.counts[name][labels])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
