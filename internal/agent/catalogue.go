package agent

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"davit"
	"davit/internal/tabconfig"
)

//go:embed agents.toml
var embedded []byte

// FileName is what the user's own file is called, in the configuration directory.
const FileName = "agents.toml"

// Catalogue is all agents, the embedded ones and the user's. It does not change.
type Catalogue struct {
	agents []Agent
	faults []tabconfig.Fault
}

// base is the embedded catalogue. It is read when it is first asked for: no command that
// has nothing to do with agents pays for it.
var base = sync.OnceValues(func() (reading, error) {
	read := readFile("embedded "+FileName, embedded, reading{})
	if len(read.faults) > 0 {
		return read, fmt.Errorf("%s", read.faults[0]) // a fault of the build; a test reads it
	}
	return read, nil
})

// Load joins the embedded catalogue and the user's agents.toml (nil when there is none).
// With an error, agent_catalogue_invalid, the catalogue is still there: what has a fault is
// as it comes with davit, or is not there, and the rest of the file is used.
func Load(user []byte) (*Catalogue, error) {
	all, err := base()
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(user)) == 0 {
		return all.catalogue(), nil
	}
	both := readFile(FileName, user, all)
	c := both.catalogue()
	if !tabconfig.HasErrors(both.faults) {
		return c, nil
	}
	first, n := firstError(both.faults)
	e := davit.Errorf(davit.CodeAgentCatalogue, "%s", first.String())
	if n > 1 {
		e = davit.Errorf(davit.CodeAgentCatalogue, "%s (and %d more)", first.String(), n-1)
	}
	hint := "`davit agent check` shows what is wrong; what is not is used"
	if first.Hint != "" {
		hint = first.Hint + "; " + hint
	}
	return c, e.WithHint("%s", hint).With("faults", both.faults)
}

func firstError(faults []tabconfig.Fault) (first tabconfig.Fault, n int) {
	for _, f := range faults {
		if f.Severity == tabconfig.Error {
			if n++; n == 1 {
				first = f
			}
		}
	}
	return first, n
}

func (r reading) catalogue() *Catalogue {
	c := &Catalogue{faults: r.faults}
	for _, a := range r.agents {
		a.common = r.dialogs
		c.agents = append(c.agents, a)
	}
	sort.Slice(c.agents, func(i, j int) bool {
		a, b := c.agents[i], c.agents[j]
		if a.Practice != b.Practice {
			return b.Practice
		}
		if x, y := strings.ToLower(a.Name), strings.ToLower(b.Name); x != y {
			return x < y
		}
		return a.ID < b.ID
	})
	return c
}

// Find gives one agent.
func (c *Catalogue) Find(id string) (Agent, bool) {
	for _, a := range c.agents {
		if a.ID == id {
			return a, true
		}
	}
	return Agent{}, false
}

// List gives all agents by name, the practice agent last.
func (c *Catalogue) List() []Agent { return slices.Clone(c.agents) }

// Faults are what is wrong with the user's file, by place.
func (c *Catalogue) Faults() []tabconfig.Fault { return slices.Clone(c.faults) }

// Nearest is the id that one may have meant, "" when none is near.
func (c *Catalogue) Nearest(id string) string {
	ids := make([]string, len(c.agents))
	for i, a := range c.agents {
		ids[i] = a.ID
	}
	return tabconfig.Nearest(id, ids)
}
