package daemon

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"davit"
	"davit/internal/agent"
	"davit/internal/launch"
	"davit/internal/session"
)

// agents is the catalogue with what this machine has of it. The user's agents.toml is read
// for each question, so that a save is seen at once.
type agents struct {
	daemon *daemon
	login  func() map[string]string

	versions agent.Versions
}

// catalogue gives the embedded agents joined with the user's; a fault in the user's file
// leaves the embedded ones.
func (a *agents) catalogue() (*agent.Catalogue, error) {
	user, err := os.ReadFile(a.file())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.daemon.log.Warn("agents.toml cannot be read", "err", err)
	}
	catalogue, err := agent.Load(user)
	if err != nil {
		a.daemon.log.Warn("agents.toml has faults", "err", err)
	}
	return catalogue, err
}

// file is the user's own agents.toml.
func (a *agents) file() string { return filepath.Join(a.daemon.cfg.Home.Config, agent.FileName) }

func (a *agents) where() agent.Where {
	return agent.Where{Path: a.login()["PATH"], SelfExe: a.daemon.cfg.Self}
}

// Agent finds an agent that can be started here (launch.Agents).
func (a *agents) Agent(_ context.Context, id string) (launch.Agent, error) {
	catalogue, _ := a.catalogue()
	entry, ok := catalogue.Find(id)
	if !ok {
		return launch.Agent{}, unknownAgent(catalogue, id)
	}
	if entry.Disabled {
		return launch.Agent{}, davit.Errorf(davit.CodeAgentDisabled, "%s is switched off in agents.toml", entry.Name).WithHint("take `disabled` away there")
	}
	found, err := agent.Detect(entry, a.where())
	if err != nil {
		return launch.Agent{}, err
	}
	return launch.Agent{ID: entry.ID, Name: entry.Name, Practice: entry.Practice, Driver: driver(entry), Exe: found.Path}, nil
}

// driver is an agent's chat driver when this build has it, "" else: a chat that is asked
// for then answers by spec launch L3.2 row 3.
func driver(entry agent.Agent) string {
	if entry.Structured.Driver == "acp" {
		return entry.Structured.Driver
	}
	return ""
}

// Chat tells how an agent is driven as a chat (session.Agents).
func (a *agents) Chat(_ context.Context, id string) (session.Command, error) {
	catalogue, _ := a.catalogue()
	entry, ok := catalogue.Find(id)
	if !ok {
		return session.Command{}, unknownAgent(catalogue, id)
	}
	if entry.Structured.Driver != "acp" {
		return session.Command{}, davit.Errorf(davit.CodeSessionUnsupported, "there is no chat driver for %s", entry.Name).WithHint("launch it in a terminal")
	}
	found, err := agent.Detect(entry, a.where())
	if err != nil {
		return session.Command{}, err
	}
	c := entry.StructuredCommand(a.daemon.cfg.Self)
	path := found.Path
	if len(entry.Argv) == 0 || c.Argv[0] != entry.Argv[0] {
		if path, err = agent.DetectChat(entry, a.where()); err != nil {
			return session.Command{}, err
		}
	}
	if entry.Practice && a.login()["DAVIT_PRACTICE_SESSIONS"] == "" {
		// A real agent keeps its chats where it likes; this one's are ours to place.
		c.Env = append(c.Env, "DAVIT_PRACTICE_SESSIONS="+filepath.Join(a.daemon.cfg.Home.State, "practice"))
	}
	return session.Command{
		Agent: entry.ID, Name: entry.Name, Practice: entry.Practice, Driver: entry.Structured.Driver,
		Path: path, Argv: c.Argv, Env: c.Env, SignIn: entry.Structured.SignIn, Install: entry.Install,
	}, nil
}

// Command builds the command of a terminal launch (launch.Agents).
func (a *agents) Command(_ context.Context, which launch.Agent, in launch.CommandInput) (launch.Command, error) {
	catalogue, _ := a.catalogue()
	entry, ok := catalogue.Find(which.ID)
	if !ok {
		return launch.Command{}, davit.Errorf(davit.CodeAgentUnknown, "there is no agent %q in the catalogue", which.ID)
	}
	c, err := entry.Command(agent.CommandInput{Prompt: in.Prompt, Draft: in.Draft, Args: in.Args, Options: in.Options, Resume: in.Resume, SelfExe: a.daemon.cfg.Self, Exe: which.Exe})
	return launch.Command{Argv: c.Argv, Env: c.Env, PromptRides: c.PromptRides, Warning: c.Warning}, err
}
