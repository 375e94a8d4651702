package agent

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"davit"

	"github.com/pelletier/go-toml/v2"
)

//go:embed agents.toml
var embedded []byte

// Catalogue is all agents, the embedded ones and the user's. It does not change.
type Catalogue struct {
	agents []Agent
}

// file is the shape of agents.toml.
type file struct {
	Dialogs []Dialog         `toml:"dialog"`
	Agents  map[string]Agent `toml:"agents"`
}

// Load joins the embedded catalogue and the user's agents.toml (nil when there is
// none). With an error, agent_catalogue_invalid, the catalogue is still there: the
// embedded one alone, so that a slip in a file does not take the agents away.
func Load(user []byte) (*Catalogue, error) {
	base, err := load(nil)
	if err != nil {
		return nil, fmt.Errorf("embedded agents.toml: %w", err) // a fault of the build; a test reads it
	}
	if len(bytes.TrimSpace(user)) == 0 {
		return base, nil
	}
	both, err := load(user)
	if err != nil {
		return base, davit.Errorf(davit.CodeAgentCatalogue, "agents.toml: %w", err).
			WithHint("Mend the file; until then the agents that come with davit are used.")
	}
	return both, nil
}

func load(user []byte) (*Catalogue, error) {
	// The user's file is decoded by itself first, for errors with its own positions;
	// then key by key over the embedded one.
	var alone file
	if err := decode(user, &alone); err != nil {
		return nil, err
	}
	merged := map[string]any{}
	if err := toml.Unmarshal(embedded, &merged); err != nil {
		return nil, err
	}
	over := map[string]any{}
	if err := toml.Unmarshal(user, &over); err != nil {
		return nil, err
	}
	merge(merged, over)
	text, err := toml.Marshal(merged)
	if err != nil {
		return nil, err
	}
	var all file
	if err := decode(text, &all); err != nil {
		return nil, err
	}
	catalogue := &Catalogue{}
	for id, a := range all.Agents {
		a.ID, a.common = id, all.Dialogs
		if err := a.complete(); err != nil {
			return nil, fmt.Errorf("agent %s: %w", id, err)
		}
		catalogue.agents = append(catalogue.agents, a)
	}
	sort.Slice(catalogue.agents, func(i, j int) bool {
		a, b := catalogue.agents[i], catalogue.agents[j]
		if a.Practice != b.Practice {
			return b.Practice
		}
		return strings.ToLower(a.Name) < strings.ToLower(b.Name)
	})
	return catalogue, nil
}

func decode(text []byte, into *file) error {
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(into)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		row, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: unknown key %s", row, strings.Join(strict.Errors[0].Key(), "."))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		row, column := wrong.Position()
		return fmt.Errorf("line %d, column %d: %w", row, column, wrong)
	}
	return err
}

// merge puts over onto base: tables key by key, everything else whole.
func merge(base, over map[string]any) {
	for key, value := range over {
		table, isTable := value.(map[string]any)
		below, wasTable := base[key].(map[string]any)
		if isTable && wasTable {
			merge(below, table)
			continue
		}
		base[key] = value
	}
}

// complete checks an entry and fills in what may be left out.
func (a *Agent) complete() error {
	if !idPattern.MatchString(a.ID) {
		return fmt.Errorf("the id is not of lower-case letters, digits and dashes")
	}
	if a.Name == "" {
		a.Name = a.ID
	}
	if len(a.Argv) == 0 && a.ShellCommand == "" {
		a.Argv = []string{a.ID}
	}
	if len(a.Detect) == 0 && a.ShellCommand == "" && a.Argv[0] != selfWord {
		a.Detect = []string{a.Argv[0]}
	}
	if a.Prompt == "" {
		a.Prompt = ModeStdin
	}
	if a.Draft == "" {
		a.Draft = ModePaste
	}
	if a.Pasted == "" {
		a.Pasted = `(?i)\[pasted`
	}
	if !validMode(a.Prompt, ModeArgv, ModeDashes, ModeStdin) {
		return fmt.Errorf("prompt = %q is not a prompt mode", a.Prompt)
	}
	if !validMode(a.Draft, ModePaste) {
		return fmt.Errorf("draft = %q is not a draft mode", a.Draft)
	}
	if _, err := splitWords(a.Args); err != nil {
		return fmt.Errorf("args: %w", err)
	}
	if d := a.Structured.Driver; !slices.Contains([]string{"", "claude", "codex", "acp"}, d) {
		return fmt.Errorf("structured.driver = %q is not a driver", d)
	}
	if a.Structured.Driver == "acp" && len(a.Structured.Argv) == 0 {
		return fmt.Errorf("structured.driver = \"acp\" needs structured.argv")
	}
	return a.checkPatterns()
}

var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

func validMode(m Mode, plain ...Mode) bool {
	if slices.Contains(plain, m) {
		return true
	}
	if flag, ok := m.Flag(); ok {
		return strings.HasPrefix(flag, "-")
	}
	name, ok := m.Env()
	return ok && envPattern.MatchString(name)
}

var envPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (a *Agent) checkPatterns() error {
	patterns := slices.Concat(a.Ready.Screen, a.Ready.Title, a.Ready.Not)
	for _, d := range slices.Concat(a.Dialogs, a.common) {
		if len(d.All) == 0 {
			return fmt.Errorf("dialog %q matches everything", d.Name)
		}
		patterns = append(patterns, d.All...)
	}
	patterns = append(patterns, a.Pasted)
	for _, p := range a.Titles {
		patterns = append(patterns, p)
	}
	for _, p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			return err
		}
	}
	return nil
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
