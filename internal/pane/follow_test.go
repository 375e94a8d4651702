package pane

import (
	"context"
	"testing"

	"davit/internal/keeper/client"
)

// A follow that fails gives no stream at all: a nil *client.Stream inside the interface
// is one, and closing it broke the pane of a keeper that had just died.
func TestFailedFollowIsNoStream(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stream, err := FromClient(&client.Client{}).Follow(ctx, "p_1", 0)
	if err == nil {
		t.Fatal("a client without a connection follows")
	}
	if stream != nil {
		t.Errorf("a failed follow gave the stream %#v", stream)
	}
}
