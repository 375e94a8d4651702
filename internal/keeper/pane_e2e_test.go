package keeper_test

import (
	"testing"

	"davit/internal/keeper"
)

func TestTerminalRoundTrip(t *testing.T) {
	t.Parallel()
	in := startKeeper(t, nil)
	c := in.dial()
	info := in.spawn(c, in.shell("p1", "stty -echo; echo ready; read line; echo \"got $line\"; stty size; exit 7"))
	if info.Pid == 0 || info.StartTime == 0 {
		t.Fatalf("info %+v", info)
	}
	f := in.follow(c, "p1", 0, "")
	f.waitFor(t, "ready")
	if err := c.Resize(ctx(t), in.id(), "p1", 100, 30); err != nil {
		t.Fatal(err)
	}
	in.send(c, "p1", "hello\n")
	f.waitFor(t, "got hello")
	f.waitFor(t, "30 100")
	exit := f.waitExit(t)
	if exit.Code != 7 || exit.Signal != 0 {
		t.Fatalf("exit %+v", exit)
	}
	f.waitEnd(t)
	if got := f.marks(keeper.Start); len(got) != 1 || got[0].Cols != 80 || got[0].Rows != 24 {
		t.Fatalf("start marks %+v", got)
	}
	if got := in.info(c, "p1"); got.Exit == nil || got.Exit.Code != 7 || got.Exit.Offset != got.End {
		t.Fatalf("row %+v exit %+v", got, got.Exit)
	}
}
