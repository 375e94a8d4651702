package acp

import (
	"encoding/json"

	"davit"

	"github.com/coder/acp-go-sdk"
)

// Every function here gives one line, its newline included.

type frameOut struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

func line(f frameOut) []byte {
	f.Version = "2.0"
	text, err := json.Marshal(f)
	if err != nil {
		panic("acp: a frame of ours cannot be marshalled: " + err.Error()) // our own types: cannot happen
	}
	return append(text, '\n')
}

func request(id uint64, method string, params any) []byte {
	number, _ := json.Marshal(id)
	return line(frameOut{ID: number, Method: method, Params: params})
}

// Initialize opens the protocol. davit declares no capability of its own: it serves neither
// files nor terminals to an agent.
func Initialize(id uint64, version string) []byte {
	title := "davit"
	return request(id, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "davit", Title: &title, Version: version},
	})
}

// NewSession opens a session of the agent's in a directory.
func NewSession(id uint64, cwd string) []byte {
	return request(id, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: cwd, McpServers: []acp.McpServer{}})
}

// LoadSession goes on with a session by the agent's own id (spec session S1.9).
func LoadSession(id uint64, resume, cwd string) []byte {
	return request(id, acp.AgentMethodSessionLoad, acp.LoadSessionRequest{SessionId: acp.SessionId(resume), Cwd: cwd, McpServers: []acp.McpServer{}})
}

// Prompt sends a user's message.
func Prompt(id uint64, resume, text string) []byte {
	return request(id, acp.AgentMethodSessionPrompt, acp.PromptRequest{SessionId: acp.SessionId(resume), Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
}

// Cancel ends the running turn. It is a notification: the prompt's own answer follows.
func Cancel(resume string) []byte {
	return line(frameOut{Method: acp.AgentMethodSessionCancel, Params: acp.CancelNotification{SessionId: acp.SessionId(resume)}})
}

// SetOption picks a value of an option, by the method that its Via names. Errors:
// invalid_request for a value that is not among the choices.
func SetOption(id uint64, resume string, o davit.AgentOption, value string) ([]byte, error) {
	offered := false
	for _, c := range o.Choices {
		offered = offered || c.ID == value
	}
	if !offered {
		return nil, davit.Errorf(davit.CodeInvalid, "%q is no choice of %s", short(value, 100), o.Name).
			WithHint("`davit session show` lists what the agent offers").With("option", o.ID).With("choices", o.Choices)
	}
	switch o.Via {
	case viaMode:
		return request(id, acp.AgentMethodSessionSetMode, acp.SetSessionModeRequest{SessionId: acp.SessionId(resume), ModeId: acp.SessionModeId(value)}), nil
	case viaModel:
		return request(id, acp.AgentMethodSessionSetModel, acp.UnstableSetSessionModelRequest{SessionId: acp.SessionId(resume), ModelId: acp.UnstableModelId(value)}), nil
	}
	return request(id, acp.AgentMethodSessionSetConfigOption, acp.SetSessionConfigOptionValueId{
		SessionId: acp.SessionId(resume), ConfigId: acp.SessionConfigId(o.ID), Value: acp.SessionConfigValueId(value),
	}), nil
}

// Allow answers a permission question with one of its options, a rejecting one included.
func Allow(rpc json.RawMessage, option string) []byte {
	return line(frameOut{ID: rpc, Result: acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(acp.PermissionOptionId(option))}})
}

// Cancelled answers a permission question that nobody decided: the agent must not go on.
func Cancelled(rpc json.RawMessage) []byte {
	return line(frameOut{ID: rpc, Result: acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}})
}

// Fail answers a request with an error.
func Fail(rpc json.RawMessage, code int, message string) []byte {
	return line(frameOut{ID: rpc, Error: &RPCError{Code: code, Message: message}})
}
