package daemon

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"davit"
	"davit/internal/agent"
	"davit/internal/wire"
)

// keyDefaultAgent is the setting of the agent that is launched when none is named.
const keyDefaultAgent = "agent.default"

// DefaultAgent is the agent that is launched when none is named, "" when none is set
// (launch.Config.DefaultAgent). It may not be installed any more: the launch says so.
func (a *agents) DefaultAgent(ctx context.Context) string {
	var id string
	if value, found, err := a.daemon.store.Setting(ctx, keyDefaultAgent); err == nil && found && json.Unmarshal(value, &id) == nil {
		return id
	}
	return ""
}

// SetDefaultAgent stores it: one that can be launched here, or "" for none.
func (a *agents) SetDefaultAgent(ctx context.Context, id string) error {
	if id == "" {
		return a.daemon.store.SetSetting(ctx, keyDefaultAgent, nil)
	}
	if _, err := a.Agent(ctx, id); err != nil {
		return err
	}
	value, _ := json.Marshal(id) // a string cannot fail
	return a.daemon.store.SetSetting(ctx, keyDefaultAgent, value)
}

// List answers agent.list; versions are asked for side by side, each with a deadline, and
// once for as long as a program stays the same.
func (a *agents) List(ctx context.Context) (wire.AgentList, error) {
	catalogue, _ := a.catalogue()
	entries := catalogue.List()
	list := wire.AgentList{Agents: a.found(ctx, entries), Default: a.DefaultAgent(ctx)}
	there := func(i int) bool { return list.Agents[i].Installed && list.Agents[i].Doubt == "" }
	list.Suggest = agent.Fallback(entries, there)
	if slices.ContainsFunc(list.Agents, func(a wire.Agent) bool { return a.ID == list.Default && a.Installed && !a.Disabled }) {
		list.Suggest = list.Default
	}
	return list, nil
}

// Show answers agent.show.
func (a *agents) Show(ctx context.Context, id string) (wire.AgentEntry, error) {
	catalogue, _ := a.catalogue()
	entry, ok := catalogue.Find(id)
	if !ok {
		return wire.AgentEntry{}, unknownAgent(catalogue, id)
	}
	shown := wire.AgentEntry{Agent: a.found(ctx, []agent.Agent{entry})[0], File: a.file(), Line: entry.Line}
	for _, f := range entry.Fields() {
		source := "davit"
		if f.Own {
			source = "yours"
		}
		shown.Fields = append(shown.Fields, wire.AgentField{Key: f.Key, Value: f.Value, Source: source})
	}
	return shown, nil
}

func unknownAgent(catalogue *agent.Catalogue, id string) error {
	hint := "`davit agent list --all` shows them"
	if near := catalogue.Nearest(id); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return davit.Errorf(davit.CodeAgentUnknown, "there is no agent %q in the catalogue", id).WithHint("%s", hint)
}

// found says of each entry what this machine has of it.
func (a *agents) found(ctx context.Context, entries []agent.Agent) []wire.Agent {
	var env []string
	for name, value := range a.login() {
		env = append(env, name+"="+value)
	}
	list := make([]wire.Agent, len(entries))
	found := make([]agent.Found, len(entries))
	for i, entry := range entries {
		list[i] = wire.Agent{
			ID: entry.ID, Name: entry.Name, Practice: entry.Practice, Offered: entry.Offered || entry.Own, Disabled: entry.Disabled, Tested: entry.Tested,
			InstallHint: entry.Install, Surfaces: []string{string(davit.Terminal)}, Options: slices.Sorted(maps.Keys(entry.Options)), Resumes: len(entry.Resume) > 0,
		}
		if driver(entry) != "" {
			list[i].Surfaces = append(list[i].Surfaces, string(davit.Structured))
		}
		var err error
		if found[i], err = agent.Detect(entry, a.where()); err != nil {
			list[i].Missing = davit.AsError(err).Message
			continue
		}
		list[i].Installed, list[i].Path = true, found[i].Path
	}
	a.versions.All(ctx, entries, found, env)
	for i, entry := range entries {
		list[i].Version, list[i].Doubt = found[i].Version, entry.Doubt(found[i])
	}
	return list
}
