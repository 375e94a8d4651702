// Package api serves the host to its clients: HTTP and JSON on a Unix socket and on
// loopback, one WebSocket for events and panes, an OpenAPI description made from the Go
// types, and the page (spec interfaces A1, A2).
//
//	request ─► guard (who, from where) ─► huma operation ─► service ─► answer or problem
//	           (access.go)                (operations.go)              (problem.go)
//
// It decides nothing: each operation is one call of a service. The handler owns the
// goroutines of its WebSockets and waits for them in Close. It refuses unknown fields,
// bodies over 8 MiB, foreign hosts and origins, and any request over TCP without both a
// cookie and a key, or a bearer token.
package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"davit"
	"davit/internal/changes"
	"davit/internal/feed"
	"davit/internal/host"
	"davit/internal/launch"
	"davit/internal/run"
	"davit/internal/session"
	"davit/internal/store"
	"davit/internal/tab"
	"davit/internal/wire"
	"davit/internal/workspace"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// maxBody bounds a request's body.
const maxBody = 8 << 20

// Agents is the catalogue with what is installed here, and the agent that is launched when
// none is named.
type Agents interface {
	List(ctx context.Context) (wire.AgentList, error)
	Show(ctx context.Context, id string) (wire.AgentEntry, error)
	SetDefaultAgent(ctx context.Context, id string) error
}

// Viewers hears what the clients show (spec chips C2.4).
type Viewers interface {
	Look() Viewer
}

// Viewer is one client: Shows replaces what it showed, Done ends it.
type Viewer interface {
	Shows(Sight)
	Done()
}

// Sight is what a client shows.
type Sight struct {
	Panes []davit.PaneID // terminals and chats
	Tabs  bool           // the vertical tabs, with a row for each pane
}

// Access is what logins need of the store; only hashes are kept.
type Access interface {
	PutLogin(ctx context.Context, tokenHash string, expires time.Time) error
	TakeLogin(ctx context.Context, tokenHash string, now time.Time) (bool, error)
	PutWebSession(ctx context.Context, row store.WebSessionRow) error
	WebSession(ctx context.Context, cookieHash string) (store.WebSessionRow, bool, error)
	Token(ctx context.Context, hash string) (store.TokenRow, bool, error)
	Setting(ctx context.Context, key string) (value []byte, found bool, err error)
	SetSetting(ctx context.Context, key string, value []byte) error
}

// Config joins the API to the services.
type Config struct {
	Host       *host.Host
	Panes      *host.Panes
	Tabs       *tab.Service
	Configs    Configs
	Launches   *launch.Executor
	Sessions   *session.Service
	Agents     Agents
	Workspaces *workspace.Workspaces
	Chips      Chips
	Runs       *run.Service
	LoginEnv   func() map[string]string
	Changes    changes.Reader
	Feed       *feed.Feed
	Access     Access
	Viewers    Viewers
	Status     Status
	Page       http.Handler
	Instance   string // names the cookie, so that instances on one machine do not mix
	Info       func() wire.HostInfo
	Shutdown   func(all bool)
	Metrics    func(w io.Writer) error
	Addresses  func() []string // host:port of the TCP listener, for the Host header check
	Now        func() time.Time
	Log        *slog.Logger
}

// Server answers requests. Make it with New.
type Server struct {
	cfg     Config
	api     huma.API
	mux     *http.ServeMux
	logins  failures
	ctx     context.Context // ends the WebSockets
	cancel  context.CancelCauseFunc
	streams sync.WaitGroup
}

// New makes a server. It starts nothing.
func New(cfg Config) *Server {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &Server{cfg: cfg, mux: http.NewServeMux(), ctx: ctx, cancel: cancel}
	s.api = newAPI(s.mux)
	s.operations()
	s.mux.HandleFunc("GET /v1/stream", s.stream)
	s.mux.HandleFunc("GET /v1/events", s.events)
	s.mux.HandleFunc("GET /v1/panes/{pane}/output", s.output)
	s.mux.HandleFunc("GET /v1/", s.nothing)
	s.mux.HandleFunc("POST /v1/", s.nothing)
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	if cfg.Metrics != nil {
		s.mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_ = cfg.Metrics(w)
		})
	}
	if cfg.Page != nil {
		s.mux.Handle("GET /", cfg.Page)
	}
	return s
}

// Close ends the WebSockets and waits for them.
func (s *Server) Close() {
	s.cancel(host.ErrStopped)
	s.streams.Wait()
}

// newAPI makes the description's frame. Formats are JSON alone; errors are problems.
func newAPI(mux *http.ServeMux) huma.API {
	huma.NewError = newProblem // huma offers no other place; every server sets the same
	config := huma.DefaultConfig("davit", davit.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil
	config.Info.Description = "One operation, one name, one POST. Reads answer GET too, with the fields as query parameters."
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[davit.OptionalString](), reflect.TypeFor[*string]())
	api := humago.New(mux, config)
	return api
}

// Description gives the OpenAPI 3.1 document.
func Description() ([]byte, error) {
	s := &Server{mux: http.NewServeMux()}
	s.api = newAPI(s.mux)
	s.operations()
	return s.api.OpenAPI().MarshalJSON()
}

// Local serves the Unix socket: the caller is the same user, checked when it connected.
func (s *Server) Local() http.Handler { return s.guardLocal(s.mux) }

// Browser serves TCP: host, origin, and login are checked for each request.
func (s *Server) Browser() http.Handler { return s.guardBrowser(s.mux) }

// nothing answers what no operation answers.
func (s *Server) nothing(w http.ResponseWriter, r *http.Request) {
	s.problem(w, davit.Errorf(davit.CodeNotFound, "there is no operation %s %s", r.Method, r.URL.Path).
		WithHint("GET /v1/openapi.json lists them; one that changes something is a POST"))
}

func (s *Server) problem(w http.ResponseWriter, err error) {
	p := problemOf(err)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = writeJSON(w, p.Problem)
	if p.Status >= 500 && !errors.Is(err, host.ErrStopped) {
		s.cfg.Log.Error("a request failed", "code", p.Code, "err", err)
	}
}
