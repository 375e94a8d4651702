package client

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"davit"
	"davit/internal/wire"

	"github.com/coder/websocket"
)

// serve answers on a Unix socket.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return New(Config{Socket: socket, Capabilities: []string{davit.CapLaunch, davit.CapRenderChat}})
}

func TestEveryCallTellsWhatTheCallerCanDo(t *testing.T) { // spec launch L1.2
	var got string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Davit-Capabilities")
		w.WriteHeader(http.StatusNoContent)
	})
	if err := c.Call(t.Context(), "agent.launch", map[string]string{"agent": "x"}, nil); err != nil {
		t.Fatal(err)
	}
	if got != "agent.launch.v2, agentSession.render.v1" {
		t.Errorf("it sent %q", got)
	}
}

// TestFollowGivesAChatsRows: the cursor goes along, other frames are passed over, a lost
// connection and an error of the host come back as what they are.
func TestFollowGivesAChatsRows(t *testing.T) { // spec session S1.4
	asked := make(chan []wire.ClientFrame, 4)
	say := make(chan []wire.ServerFrame, 4)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.CloseNow() }()
		var frames []wire.ClientFrame
		for range 2 {
			_, data, err := conn.Read(r.Context())
			var f wire.ClientFrame
			if err != nil || json.Unmarshal(data, &f) != nil {
				t.Error(string(data), err)
				return
			}
			frames = append(frames, f)
		}
		asked <- frames
		for _, f := range <-say {
			data, _ := json.Marshal(f)
			_ = conn.Write(r.Context(), websocket.MessageText, data)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	row := davit.JournalRow{Session: "a_1", Epoch: 2, Seq: 8, Item: "m", Time: time.UnixMilli(5).UTC()}
	at := davit.Cursor{Epoch: 2, Seq: 7}
	for _, last := range []struct {
		frames []wire.ServerFrame
		code   davit.Code
	}{
		{nil, davit.CodeHostDown},
		{[]wire.ServerFrame{{Type: "error", Error: davit.Errorf(davit.CodeSessionNotFound, "no")}}, davit.CodeSessionNotFound},
	} {
		j, err := c.Follow(ctx, "test", "a_1", &at, 0)
		if err != nil {
			t.Fatal(err)
		}
		frames := <-asked
		if frames[0].Type != "hello" || frames[0].Events == nil || *frames[0].Events || frames[1].Type != "follow" ||
			frames[1].Session != "a_1" || *frames[1].Cursor != at {
			t.Errorf("it asked %+v", frames)
		}
		cursor := davit.Cursor{Epoch: 2, Seq: 8}
		say <- append([]wire.ServerFrame{
			{Type: "hello"}, {Type: "journal", Session: "b_1", Rows: []davit.JournalRow{{}}},
			{Type: "journal", Session: "a_1", Rows: []davit.JournalRow{row}, Cursor: &cursor, Reset: "why"},
		}, last.frames...)
		got, err := j.Next(ctx)
		if err != nil || got.Cursor != cursor || got.Reset != "why" || !slices.EqualFunc(got.Rows, []davit.JournalRow{row}, func(a, b davit.JournalRow) bool { return a.Item == b.Item && a.Seq == b.Seq }) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := j.Next(ctx); davit.CodeOf(err) != last.code {
			t.Errorf("got %v, want %s", err, last.code)
		}
		j.Close()
	}
}
