package client

import (
	"context"
	"errors"

	"davit"
	"davit/internal/keeper"
)

// Inputs gives several small inputs, each as Input does, without waiting for one before the
// next is sent: they take one way to the keeper and back, not one each. The keeper takes
// them in order. The errors of those that it did not take are joined.
func (c *Client) Inputs(ctx context.Context, inputs []keeper.Input) error {
	var calls []chan answer
	var fault error
	for _, in := range inputs {
		if len(in.Data) > keeper.MaxPart {
			fault = errors.Join(fault, davit.Errorf(davit.CodeInvalid, "an input of %d bytes among several", len(in.Data)))
			continue
		}
		call, err := c.send(ctx, "input", keeper.InputBody{ID: in.ID, Pane: in.Pane, ReplyTo: in.ReplyTo, EOF: in.EOF}, in.Data)
		if err != nil {
			fault = errors.Join(fault, err)
			break // nor would those after it be sent
		}
		calls = append(calls, call)
	}
	for _, call := range calls {
		fault = errors.Join(fault, c.await(ctx, call, nil))
	}
	return fault
}
