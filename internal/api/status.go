package api

import (
	"context"
	"encoding/json"

	"davit"
	"davit/internal/wire"
)

// Status is who knows what each agent does (spec session S3).
type Status interface {
	List(ctx context.Context) []davit.AgentRow
	Report(ctx context.Context, in wire.AgentReport) (changed bool, err error)
	// Look says that a client shows a pane, until done is called.
	Look(pane davit.PaneID) (done func())
	// Seen says that a person looked at a tab's pane just now.
	Seen(ctx context.Context, pane davit.PaneID)
	Setting(key string) (value json.RawMessage, known bool)
	SetSetting(ctx context.Context, key string, value json.RawMessage) (known bool, err error)
}

func (s *Server) statusOperations() {
	op(s, "agent.status", "What each agent does, those that wait first", true, func(ctx context.Context, _ wire.None) (wire.AgentStatuses, error) {
		return wire.AgentStatuses{Agents: s.cfg.Status.List(ctx)}, nil
	})
	op(s, "agent.report", "What an agent's hook tells (over the socket only)", false, func(ctx context.Context, in wire.AgentReport) (wire.AgentReported, error) {
		if !caller(ctx).Local {
			return wire.AgentReported{}, davit.Errorf(davit.CodeForbidden, "hooks report over the socket only")
		}
		changed, err := s.cfg.Status.Report(ctx, in)
		return wire.AgentReported{Changed: changed}, err
	})
}
