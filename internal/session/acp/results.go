package acp

import (
	"encoding/json"
	"slices"

	"davit"
)

// Initialized is what an agent says of itself.
type Initialized struct {
	CanLoad      bool // it takes session/load (spec session S1.9)
	Protocol     int
	AgentName    string
	AgentVersion string
	SignIn       []AuthMethod
}

// AuthMethod is a way to sign in that the agent offers.
type AuthMethod struct{ ID, Name, Description string }

// ReadInitialize reads the result of initialize. Errors: agent_protocol_error for what is
// none, or another version of the protocol.
func ReadInitialize(result json.RawMessage) (Initialized, error) {
	o, ok := readObject(result)
	if !ok {
		return Initialized{}, unreadable("initialize", result)
	}
	i := Initialized{Protocol: int(whole(o, "protocolVersion"))}
	if i.Protocol != 1 {
		return i, davit.Errorf(davit.CodeAgentProtocol, "the agent speaks version %d of the Agent Client Protocol, davit version 1", i.Protocol).
			WithHint("bring the agent to a version that speaks version 1")
	}
	if can, ok := readObject(o.fields["agentCapabilities"]); ok {
		i.CanLoad, _ = get[bool](can, "loadSession")
	}
	if info, ok := readObject(o.fields["agentInfo"]); ok {
		i.AgentVersion = word(info, "version", maxName)
		if i.AgentName = word(info, "title", maxName); i.AgentName == "" {
			i.AgentName = word(info, "name", maxName)
		}
	}
	methods, _ := get[[]json.RawMessage](o, "authMethods")
	for _, raw := range methods[:min(len(methods), maxOptions)] {
		if m, ok := readObject(raw); ok {
			i.SignIn = append(i.SignIn, AuthMethod{word(m, "id", maxName), word(m, "name", maxName), word(m, "description", maxName)})
		}
	}
	return i, nil
}

func unreadable(method string, result json.RawMessage) error {
	return davit.Errorf(davit.CodeAgentProtocol, "the agent answered %s with something else: %s", method, short(valid(string(result)), 200)).
		WithHint("try another version of the agent")
}

// ReadSession reads the result of session/new and session/load and takes what can be picked
// into View. Resume is the agent's own id, "" when it gives none, as session/load may; one
// that is too long to be kept is an error. Errors: agent_protocol_error.
func (c *Conversation) ReadSession(result json.RawMessage) (resume string, err error) {
	if isNull(result) {
		return "", nil
	}
	o, ok := readObject(result)
	if !ok {
		return "", unreadable("with a session", result)
	}
	c.takeOptions(o)
	resume, _ = get[string](o, "sessionId")
	if len(o.bad) > 0 && slices.Contains(o.bad, "sessionId") || len(resume) > maxPath {
		return "", unreadable("with a session", result)
	}
	return resume, nil
}

// ReadOption reads the result of a request of SetOption's: the value is the current one, and
// the agent may give all of its options anew.
func (c *Conversation) ReadOption(option davit.AgentOption, value string, result json.RawMessage) {
	if o, ok := readObject(result); ok && c.takeOptions(o) {
		return
	}
	if at := slices.IndexFunc(c.view.Options, func(o davit.AgentOption) bool { return o.ID == option.ID && o.Via == option.Via }); at >= 0 {
		c.choose(at, value)
	}
}

// ReadPrompt reads the result of session/prompt: why the turn ended, in the agent's word
// (end_turn, max_tokens, max_turn_requests, refusal, cancelled).
func ReadPrompt(result json.RawMessage) (reason string, err error) {
	if o, ok := readObject(result); ok {
		if reason = word(o, "stopReason", maxName); reason != "" {
			return reason, nil
		}
	}
	return "", unreadable("session/prompt", result)
}
