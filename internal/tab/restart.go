package tab

import (
	"context"

	"davit"
	"davit/internal/wire"
)

// RestartPane starts the program of an ended pane again.
func (s *Service) RestartPane(ctx context.Context, req wire.PaneRestart) error {
	return davit.Errorf(davit.CodeNotServedYet, "a pane cannot be restarted yet")
}
