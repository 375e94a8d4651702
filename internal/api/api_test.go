package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"davit"
	"davit/internal/api"
	"davit/internal/cli"
	"davit/internal/client"
	"davit/internal/daemon"
	"davit/internal/home"
	"davit/internal/testenv"
	"davit/internal/wire"

	"github.com/coder/websocket"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// TestMain lets the test binary be davit itself, which is how the host starts its keeper.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keeper" {
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// openapi.json is what the page's client is generated from (spec interfaces A1.3).
func TestDescriptionIsUpToDate(t *testing.T) {
	doc, err := api.Description()
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, doc, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	if *update {
		if err := os.WriteFile("openapi.json", pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, pretty.Bytes()) {
		t.Error("openapi.json is stale: run `go test ./internal/api -run Description -update`, then `npm run generate` in web/")
	}
}

// running is a host of its own.
type running struct {
	info   wire.HostInfo
	client *client.Client
	key    string
	cookie *http.Cookie
}

func start(t *testing.T) *running {
	t.Helper()
	testenv.Require(t, "git")
	root, err := os.MkdirTemp("", "davit-api-")
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		switch name {
		case "DAVIT_HOME":
			return root
		case "SHELL":
			return "/bin/sh"
		}
		return os.Getenv(name)
	}
	h, err := home.Find(getenv)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan wire.HostInfo, 1)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		ended <- daemon.Run(ctx, daemon.Config{
			Home: h, Listen: "127.0.0.1:0", Directory: root, Self: self, Environ: append(os.Environ(), "DAVIT_HOME="+root), Getenv: getenv,
			Undo: time.Minute, Log: slog.New(slog.DiscardHandler), Ready: func(i wire.HostInfo) { ready <- i },
		})
	}()
	r := &running{}
	select {
	case r.info = <-ready:
	case err := <-ended:
		t.Fatalf("the host did not start: %v", err)
	case <-time.After(60 * time.Second):
		t.Fatal("the host did not start")
	}
	r.client = client.New(client.Config{Socket: r.info.Socket, Caller: wire.Caller{Dir: root}})
	t.Cleanup(func() {
		if err := r.client.Call(context.Background(), "host.shutdown", wire.ShutdownRequest{All: true}, nil); err != nil {
			t.Errorf("the host does not take its shutdown: %v", err)
			stop()
		}
		if err := <-ended; err != nil {
			t.Errorf("the host ended badly: %v", err)
		}
		stop()
		_ = os.RemoveAll(root)
	})
	return r
}

func (r *running) login(t *testing.T) {
	t.Helper()
	var link wire.LoginLink
	if err := r.client.Call(t.Context(), "host.loginLink", wire.None{}, &link); err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link.URL, "#login=")
	resp, body := r.do(t, "POST", "/v1/login", fmt.Sprintf(`{"token":%q}`, token), map[string]string{"Origin": r.info.URL})
	if resp.StatusCode != 200 || len(resp.Cookies()) != 1 {
		t.Fatalf("login: %s %s", resp.Status, body)
	}
	r.cookie = resp.Cookies()[0]
	var in wire.LoggedIn
	if err := json.Unmarshal(body, &in); err != nil || in.Key == "" {
		t.Fatalf("login gave no key: %s", body)
	}
	r.key = in.Key
	resp, body = r.do(t, "POST", "/v1/login", fmt.Sprintf(`{"token":%q}`, token), map[string]string{"Origin": r.info.URL})
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a login link worked twice: %s %s", resp.Status, body)
	}
}

func (r *running) do(t *testing.T, method, path, body string, header map[string]string) (*http.Response, []byte) {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, r.info.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	if r.cookie != nil && header["No-Cookie"] == "" {
		req.AddCookie(r.cookie)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, data
}

// Every request over TCP needs a login, from the right place (spec interfaces A2.1, A2.2).
func TestWhoMayCall(t *testing.T) {
	r := start(t)
	r.login(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(r.info.URL, "http://"))
	good := map[string]string{"Origin": r.info.URL, api.KeyHeader: r.key}
	with := func(change map[string]string) map[string]string {
		all := map[string]string{}
		for k, v := range good {
			all[k] = v
		}
		for k, v := range change {
			if v == "-" {
				delete(all, k)
			} else {
				all[k] = v
			}
		}
		return all
	}
	for name, c := range map[string]struct {
		header map[string]string
		status int
		code   davit.Code
	}{
		"cookie and key":           {good, 200, ""},
		"cookie without key":       {with(map[string]string{api.KeyHeader: "-"}), 401, davit.CodeUnauthorized},
		"wrong key":                {with(map[string]string{api.KeyHeader: "0000"}), 401, davit.CodeUnauthorized},
		"key without cookie":       {with(map[string]string{"No-Cookie": "1"}), 401, davit.CodeUnauthorized},
		"no origin (curl)":         {with(map[string]string{"Origin": "-"}), 403, davit.CodeForbidden},
		"foreign origin":           {with(map[string]string{"Origin": "http://evil.example"}), 403, davit.CodeForbidden},
		"null origin":              {with(map[string]string{"Origin": "null"}), 403, davit.CodeForbidden},
		"another port's page":      {with(map[string]string{"Origin": "http://127.0.0.1:1"}), 403, davit.CodeForbidden},
		"rebound name":             {with(map[string]string{"Host": "evil.example:" + port, "Origin": "http://evil.example:" + port}), 403, davit.CodeForbidden},
		"another site's fetch":     {with(map[string]string{"Sec-Fetch-Site": "cross-site"}), 403, davit.CodeForbidden},
		"a form's body":            {with(map[string]string{"Content-Type": "text/plain"}), 422, davit.CodeInvalid},
		"an unknown bearer":        {with(map[string]string{"Authorization": "Bearer 00", api.KeyHeader: "-"}), 401, davit.CodeUnauthorized},
		"localhost as a name":      {with(map[string]string{"Host": "localhost:" + port, "Origin": "http://localhost:" + port}), 200, ""},
		"login links over TCP too": {good, 403, davit.CodeForbidden},
	} {
		path := "/v1/tab.list"
		if strings.HasPrefix(name, "login links") {
			path = "/v1/host.loginLink"
		}
		resp, body := r.do(t, "POST", path, "{}", c.header)
		if name == "localhost as a name" && resp.StatusCode == 401 {
			continue // the cookie is of 127.0.0.1; what counts is that the name is allowed
		}
		var p wire.Problem
		_ = json.Unmarshal(body, &p)
		if resp.StatusCode != c.status || p.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s: %s", name, resp.StatusCode, p.Code, c.status, c.code, body)
		}
		if c.status >= 400 && (p.Message == "" || resp.Header.Get("Content-Type") != "application/problem+json") {
			t.Errorf("%s: not a problem document: %s %s", name, resp.Header.Get("Content-Type"), body)
		}
	}
}

// Ten failed logins close the door for a while (spec interfaces A2.2).
func TestFailedLoginsAreLimited(t *testing.T) {
	r := start(t)
	var last int
	for range 12 {
		resp, _ := r.do(t, "POST", "/v1/login", `{"token":"guess"}`, map[string]string{"Origin": r.info.URL})
		last = resp.StatusCode
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the twelfth guess was answered %d", last)
	}
}

// Unknown and wrong fields are refused by name, and a body has a bound.
func TestRequestsThatDoNotFit(t *testing.T) {
	r := start(t)
	for name, c := range map[string]struct {
		operation string
		body      any
		want      string
	}{
		"unknown field":          {"tab.close", map[string]any{"tabs": []string{"x"}, "force": true}, "force"},
		"wrong type":             {"tab.close", map[string]any{"tabs": "x"}, "tabs"},
		"missing field":          {"pane.read", map[string]any{"scrollback": 1}, "pane"},
		"unknown intent field":   {"agent.launch", map[string]any{"agent": "practice", "colour": "red", "target": map[string]any{"kind": "existing", "worktree": "active"}}, "colour"},
		"unknown payload field":  {"agent.launch", map[string]any{"agent": "practice", "target": map[string]any{"kind": "create-worktree", "create": map[string]any{"repo": "active", "depth": 1}}}, "depth"},
		"workspacePath is ours":  {"agent.launch", map[string]any{"agent": "practice", "target": map[string]any{"kind": "existing", "worktree": "active", "workspacePath": "/"}}, "workspacePath"},
		"unknown agent is named": {"agent.launch", map[string]any{"agent": "hal", "target": map[string]any{"kind": "existing", "worktree": "active"}}, "hal"},
	} {
		err := r.client.Call(t.Context(), c.operation, c.body, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || davit.AsError(err).Hint == "" {
			t.Errorf("%s: %v (hint %q), want it to name %q", name, err, davit.AsError(err).Hint, c.want)
		}
	}
	err := r.client.Call(t.Context(), "pane.write", wire.PaneWrite{Pane: "p", Text: strings.Repeat("x", 9<<20)}, nil)
	if err == nil {
		t.Error("a body of 9 MiB was taken")
	}
}

// A garbage frame ends its own connection with one clear error; the host goes on.
func TestGarbageOnTheStream(t *testing.T) {
	r := start(t)
	r.login(t)
	for name, c := range map[string]struct {
		kind  websocket.MessageType
		frame string
	}{
		"not JSON":             {websocket.MessageText, "{"},
		"binary":               {websocket.MessageBinary, "\x00\xff\x01"},
		"not hello":            {websocket.MessageText, `{"type":"input","pane":"p","data":"rm"}`},
		"hello with wrong key": {websocket.MessageText, `{"type":"hello","key":"0"}`},
		"hello without key":    {websocket.MessageText, `{"type":"hello"}`},
	} {
		conn, _, err := websocket.Dial(t.Context(), strings.Replace(r.info.URL, "http", "ws", 1)+"/v1/stream", &websocket.DialOptions{
			HTTPHeader: http.Header{"Origin": {r.info.URL}, "Cookie": {r.cookie.Name + "=" + r.cookie.Value}},
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := conn.Write(t.Context(), c.kind, []byte(c.frame)); err != nil {
			t.Fatal(err)
		}
		var f wire.ServerFrame
		_, data, err := conn.Read(t.Context())
		if err != nil || json.Unmarshal(data, &f) != nil || f.Type != "error" || f.Error == nil || f.Error.Code == "" {
			t.Errorf("%s: %v %s, want one error frame", name, err, data)
		}
		if _, _, err := conn.Read(t.Context()); err == nil {
			t.Errorf("%s: the connection goes on", name)
		}
	}
	if err := r.client.Call(t.Context(), "host.info", wire.None{}, nil); err != nil {
		t.Errorf("the host is gone: %v", err)
	}
	conn, err := net.Dial("unix", r.info.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(append(bytes.Repeat([]byte{0xff, 0, 7}, 1000), '\n', '\n')); err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(conn)
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 400")) {
		t.Errorf("garbage on the socket: %q", answer[:min(len(answer), 80)])
	}
}

// Reads answer GET with query parameters too (spec interfaces A1.1).
func TestReadsByGet(t *testing.T) {
	r := start(t)
	r.login(t)
	resp, body := r.do(t, "GET", "/v1/tab.list", "", map[string]string{api.KeyHeader: r.key})
	var list wire.TabList
	if resp.StatusCode != 200 || json.Unmarshal(body, &list) != nil || list.Tabs == nil {
		t.Errorf("GET tab.list: %s %s", resp.Status, body)
	}
	resp, body = r.do(t, "GET", "/v1/pane.read?pane=p_none", "", map[string]string{api.KeyHeader: r.key})
	if resp.StatusCode != 404 || !bytes.Contains(body, []byte(davit.CodePaneNotFound)) {
		t.Errorf("GET pane.read of no pane: %s %s", resp.Status, body)
	}
	resp, body = r.do(t, "GET", "/v1/pane.read?colour=red", "", map[string]string{api.KeyHeader: r.key})
	if resp.StatusCode != 422 {
		t.Errorf("an unknown query parameter: %s %s", resp.Status, body)
	}
	resp, _ = r.do(t, "GET", "/v1/openapi.json", "", map[string]string{api.KeyHeader: r.key})
	if resp.StatusCode != 200 {
		t.Errorf("openapi.json: %s", resp.Status)
	}
	if _, err := os.Stat(filepath.Dir(r.info.Socket)); err != nil {
		t.Error(err)
	}
}
