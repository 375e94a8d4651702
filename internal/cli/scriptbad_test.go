package cli

import (
	"context"
	"database/sql"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"davit/internal/keeper/client"

	"github.com/coder/websocket"
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the store's driver, for a store of another version
)

// cmdGarbage sends bytes that mean nothing to each thing that listens: the host's socket,
// a WebSocket before and after its hello, and the keeper's socket. Each has to answer or
// hang up; what the story asks afterwards shows that it goes on.
func cmdGarbage(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "garbage FILE")
	data := []byte(ts.ReadFile(args[0]))
	socket := storySocket(ts)
	garble(ts, "the host's socket", socket, data)
	record, alive, err := client.Find(filepath.Join(ts.Getenv("DAVIT_HOME"), "state"))
	if err != nil || !alive {
		ts.Fatalf("no keeper runs: %v", err)
	}
	garble(ts, "the keeper's socket", record.Socket, data)
	for _, hello := range []string{"", `{"type":"hello"}`} {
		for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
			garbleStream(ts, socket, hello, kind, data)
		}
	}
}

func garble(ts *testscript.TestScript, what, socket string, data []byte) {
	conn, err := net.Dial("unix", socket)
	ts.Check(err)
	defer conn.Close()
	ts.Check(conn.SetDeadline(time.Now().Add(patience)))
	_, _ = conn.Write(data) // it may hang up in the middle
	if half, ok := conn.(*net.UnixConn); ok {
		_ = half.CloseWrite()
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
		ts.Fatalf("%s neither answered nor hung up", what)
	}
}

func garbleStream(ts *testscript.TestScript, socket, hello string, kind websocket.MessageType, data []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	conn, _, err := websocket.Dial(ctx, "ws://davit/v1/stream", &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	ts.Check(err)
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(16 << 20)
	if hello != "" {
		ts.Check(conn.Write(ctx, websocket.MessageText, []byte(hello)))
	}
	_ = conn.Write(ctx, kind, data)
	said := false
	for {
		_, frame, err := conn.Read(ctx)
		if ctx.Err() != nil {
			ts.Fatalf("a WebSocket neither answered garbage nor hung up")
		}
		said = said || strings.Contains(string(frame), `"error"`)
		if err != nil || said {
			return
		}
	}
}

// cmdNewerStore raises the version of the store, as a later davit's migration would.
func cmdNewerStore(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "newerstore")
	db, err := sql.Open("sqlite", filepath.Join(ts.Getenv("DAVIT_HOME"), "state", "davit.db"))
	ts.Check(err)
	_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
	ts.Check(err)
	ts.Check(db.Close())
}
