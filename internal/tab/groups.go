package tab

import (
	"context"

	"davit"
	"davit/internal/wire"
)

var errNotYet = davit.Errorf(davit.CodeInvalid, "not there yet")

// MakeGroup puts tabs into a new group (spec tabs T6.5).
func (s *Service) MakeGroup(ctx context.Context, req wire.GroupMake) (wire.GroupRef, error) {
	return wire.GroupRef{}, errNotYet
}

// EditGroup changes a group's name, colour, fold, pin or place.
func (s *Service) EditGroup(ctx context.Context, req wire.GroupEdit) error { return errNotYet }

// DissolveGroup ends a group; its tabs stay.
func (s *Service) DissolveGroup(ctx context.Context, id davit.GroupID) error { return errNotYet }

// RestartPane starts the program of an ended pane again.
func (s *Service) RestartPane(ctx context.Context, req wire.PaneRestart) error { return errNotYet }

// MovePane moves a pane beside another, or into a tab of its own.
func (s *Service) MovePane(ctx context.Context, req wire.PaneMove) (wire.Opened, error) {
	return wire.Opened{}, errNotYet
}
