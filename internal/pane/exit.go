package pane

import (
	"davit"
	"davit/internal/keeper"
)

// ExitOf gives the keeper's word of an exit the shape that clients see.
func ExitOf(e keeper.ExitStatus) davit.Exit { return *exitFrom(&e) }
