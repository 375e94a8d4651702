package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"davit"
	"davit/internal/launch"
	"davit/internal/tab"
	"davit/internal/wire"

	"github.com/danielgtaylor/huma/v2"
)

type input[T any] struct {
	Body T
}

type output[T any] struct {
	Body T
}

// op registers one operation: POST /v1/<name>, and GET for one that only reads.
func op[I, O any](s *Server, name, summary string, reads bool, run func(ctx context.Context, in I) (O, error)) {
	noBody := reflect.TypeFor[I]() == reflect.TypeFor[wire.None]()
	operation := huma.Operation{
		OperationID: name, Method: http.MethodPost, Path: "/v1/" + name, Summary: summary,
		Tags: []string{strings.SplitN(name, ".", 2)[0]}, Middlewares: huma.Middlewares{s.noteCaller},
		MaxBodyBytes: maxBody,
	}
	if noBody {
		huma.Register(s.api, operation, func(ctx context.Context, _ *struct{}) (*output[O], error) {
			var none I
			return answer(run(ctx, none))
		})
	} else {
		huma.Register(s.api, operation, func(ctx context.Context, in *input[I]) (*output[O], error) {
			return answer(run(ctx, in.Body))
		})
	}
	if !reads {
		return
	}
	s.mux.HandleFunc("GET /v1/"+name, func(w http.ResponseWriter, r *http.Request) {
		var in I
		if err := decodeQuery(r.URL.Query(), &in); err != nil {
			s.problem(w, err)
			return
		}
		out, err := run(s.callerContext(r.Context(), r.Header.Get(wire.CallerHeader), r.Header.Get(wire.CapabilitiesHeader)), in)
		if err != nil {
			s.problem(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = writeJSON(w, out)
	})
}

func answer[O any](out O, err error) (*output[O], error) {
	if err != nil {
		return nil, problemOf(err)
	}
	return &output[O]{Body: out}, nil
}

type callerKey struct{}

type capabilitiesKey struct{}

func (s *Server) noteCaller(ctx huma.Context, next func(huma.Context)) {
	next(huma.WithContext(ctx, s.callerContext(ctx.Context(), ctx.Header(wire.CallerHeader), ctx.Header(wire.CapabilitiesHeader))))
}

// callerContext notes what the caller says that it can do. It believes the caller header
// over the socket, and remembers its session variables for new panes.
func (s *Server) callerContext(ctx context.Context, header, capabilities string) context.Context {
	ctx = context.WithValue(ctx, capabilitiesKey{}, capabilities)
	if header == "" || !caller(ctx).Local {
		return ctx
	}
	c := wire.ParseCaller(header)
	s.cfg.Tabs.SetCaller(c.Env)
	return context.WithValue(ctx, callerKey{}, c)
}

func callerDir(ctx context.Context, given string) string {
	if given != "" {
		return given
	}
	c, _ := ctx.Value(callerKey{}).(wire.Caller)
	return c.Dir
}

func (s *Server) operations() {
	s.hostOperations()
	s.launchOperations()
	s.configOperations()
	s.tabOperations()
	s.groupOperations()
	s.paneOperations()
	s.workspaceOperations()
	s.changeOperations()
	s.menuOperations()
	s.chipOperations()
	s.noticeOperations()
	s.sessionOperations()
	s.statusOperations()
	for _, frame := range []reflect.Type{reflect.TypeFor[wire.ClientFrame](), reflect.TypeFor[wire.ServerFrame]()} {
		s.api.OpenAPI().Components.Schemas.Schema(frame, true, "") // the stream's frames are no operation, and clients need them
	}
	s.mux.HandleFunc("GET /v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		doc, err := s.api.OpenAPI().MarshalJSON()
		if err != nil {
			s.problem(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json")
		_, _ = w.Write(doc)
	})
}

func (s *Server) hostOperations() {
	huma.Register(s.api, huma.Operation{
		OperationID: "login", Method: http.MethodPost, Path: "/v1/login", Tags: []string{"host"}, MaxBodyBytes: 4 << 10,
		Summary: "Trade the token of a login link for a cookie and a key",
	}, s.login)
	op(s, "host.info", "What this host is", true, func(context.Context, wire.None) (wire.HostInfo, error) {
		return s.cfg.Info(), nil
	})
	op(s, "host.state", "Everything that is shown, as of one sequence number", true, func(context.Context, wire.None) (davit.State, error) {
		return s.cfg.Host.State(), nil
	})
	op(s, "host.shutdown", "Stop the host; with all, end the programs and the keeper too", false, func(ctx context.Context, in wire.ShutdownRequest) (wire.None, error) {
		s.cfg.Shutdown(in.All)
		return wire.None{}, nil
	})
	op(s, "host.loginLink", "A fresh one-time login link (over the socket only)", false, func(ctx context.Context, _ wire.None) (wire.LoginLink, error) {
		if !caller(ctx).Local {
			return wire.LoginLink{}, davit.Errorf(davit.CodeForbidden, "login links are given over the socket only")
		}
		return s.LoginLink(ctx, s.cfg.Info().URL)
	})
	op(s, "settings.get", "A setting's value, null when it is not set", true, func(ctx context.Context, in wire.Setting) (wire.Setting, error) {
		for _, part := range s.settings() {
			if value, known := part.Setting(in.Key); known {
				return wire.Setting{Key: in.Key, Value: value}, nil
			}
		}
		value, found, err := s.cfg.Access.Setting(ctx, in.Key)
		if !found {
			value = []byte("null")
		}
		return wire.Setting{Key: in.Key, Value: value}, err
	})
	op(s, "settings.set", "Set a setting", false, func(ctx context.Context, in wire.Setting) (wire.Setting, error) {
		for _, part := range s.settings() {
			if known, err := part.SetSetting(ctx, in.Key, in.Value); known || err != nil {
				return in, err
			}
		}
		if in.Key == "agent.default" {
			return in, s.setDefaultAgent(ctx, in.Value)
		}
		if err := checkSetting(in); err != nil {
			return in, err
		}
		return in, s.cfg.Access.SetSetting(ctx, in.Key, in.Value)
	})
}

// settingsPart is a part that keeps settings of its own; known says whether a key is one.
type settingsPart interface {
	Setting(key string) (value json.RawMessage, known bool)
	SetSetting(ctx context.Context, key string, value json.RawMessage) (known bool, err error)
}

func (s *Server) settings() []settingsPart {
	return []settingsPart{s.cfg.Chips, s.cfg.Tabs, s.cfg.Status}
}

// setDefaultAgent takes the id of an agent that can be launched here; null takes it back.
func (s *Server) setDefaultAgent(ctx context.Context, value json.RawMessage) error {
	var id *string
	if json.Unmarshal(value, &id) != nil || id != nil && *id == "" {
		return davit.Errorf(davit.CodeInvalid, "agent.default is the id of an agent, or null for none").WithHint("`davit agent list` shows them")
	}
	if id == nil {
		id = new(string)
	}
	return s.cfg.Agents.SetDefaultAgent(ctx, *id)
}

// checkSetting refuses settings that nobody reads, so that a slip is told.
func checkSetting(in wire.Setting) error {
	switch in.Key {
	case "agent.default_surface":
		var surface davit.Surface
		if json.Unmarshal(in.Value, &surface) != nil || (surface != davit.Structured && surface != davit.Terminal) {
			return davit.Errorf(davit.CodeInvalid, "agent.default_surface is %q or %q", davit.Structured, davit.Terminal)
		}
		return nil
	}
	return davit.Errorf(davit.CodeInvalid, "there is no setting %q", in.Key).WithHint("settings so far: agent.default, agent.default_surface, agent.notify, github_pr_chip, undo_close_seconds, vertical_tabs")
}

// launchCaller is who asks. One that says nothing of what it can do is taken as able to do
// all of this version (spec launch L1.2).
func (s *Server) launchCaller(ctx context.Context) launch.Caller {
	c := launch.Caller{Key: caller(ctx).Key, Dir: callerDir(ctx, "")}
	if capabilities, _ := ctx.Value(capabilitiesKey{}).(string); capabilities != "" {
		c.Capabilities = []string{}
		for _, word := range strings.Split(capabilities, ",") {
			c.Capabilities = append(c.Capabilities, strings.TrimSpace(word))
		}
	}
	return c
}

// launchInput takes the body raw: the intent is decoded more strictly than a schema can
// say (spec launch L1).
type launchInput struct {
	Capabilities string `header:"Davit-Capabilities" doc:"words: what the caller can do; a caller that sends none can do all of this version"`
	RawBody      []byte `contentType:"application/json"`
}

func (s *Server) launchOperations() {
	op(s, "agent.list", "The catalogue, with what is installed here", true, func(ctx context.Context, _ wire.None) (wire.AgentList, error) {
		return s.cfg.Agents.List(ctx)
	})
	op(s, "agent.show", "One agent of the catalogue, and what is known of it", true, func(ctx context.Context, in wire.AgentName) (wire.AgentEntry, error) {
		return s.cfg.Agents.Show(ctx, in.Agent)
	})
	s.launchOp("agent.launch", "Start an agent", func(ctx context.Context, c launch.Caller, in davit.Intent) (davit.Result, error) {
		return s.cfg.Launches.Launch(ctx, c, in)
	})
	s.launchOp("agent.launchReplay", "The stored answer of the same intent; never runs anything", func(ctx context.Context, c launch.Caller, in davit.Intent) (davit.Result, error) {
		return s.cfg.Launches.Replay(ctx, c, in)
	})
	op(s, "agent.replayStored", "The stored answer of an operation, by its id", true, func(ctx context.Context, in wire.ReplayRequest) (davit.Result, error) {
		return s.cfg.Launches.ReplayStored(ctx, s.launchCaller(ctx), in.OperationID)
	})
}

func (s *Server) launchOp(name, summary string, run func(context.Context, launch.Caller, davit.Intent) (davit.Result, error)) {
	registry := s.api.OpenAPI().Components.Schemas
	schema := registry.Schema(reflect.TypeFor[davit.Intent](), true, "Intent")
	huma.Register(s.api, huma.Operation{
		OperationID: name, Method: http.MethodPost, Path: "/v1/" + name, Summary: summary, Tags: []string{"agent"},
		Middlewares: huma.Middlewares{s.noteCaller}, MaxBodyBytes: maxBody,
		SkipValidateBody: true, // launch.DecodeIntent is stricter, and names what it refuses
		RequestBody:      &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}},
	}, func(ctx context.Context, in *launchInput) (*output[davit.Result], error) {
		intent, err := launch.DecodeIntent(in.RawBody)
		if err != nil {
			return nil, problemOf(err)
		}
		return answer(run(ctx, s.launchCaller(ctx), intent))
	})
	// Taken raw, the body would be described as bytes.
	s.api.OpenAPI().Paths["/v1/"+name].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

func (s *Server) tabOperations() {
	op(s, "tab.open", "Open a tab with a shell, or with a command run directly", false, func(ctx context.Context, in wire.TabOpen) (wire.Opened, error) {
		in.Directory = callerDir(ctx, in.Directory)
		return s.cfg.Tabs.OpenPlain(ctx, in)
	})
	op(s, "tab.list", "The open tabs, in order", true, func(context.Context, wire.None) (wire.TabList, error) {
		return tab.Summaries(s.cfg.Host.State()), nil
	})
	op(s, "tab.close", "Close tabs; refused with a list when programs run, unless yes", false, func(ctx context.Context, in wire.TabClose) (wire.TabClosed, error) {
		return s.cfg.Tabs.Close(ctx, in, tab.ReasonUser)
	})
	op(s, "tab.undoClose", "Bring back what was closed: the last act, or the one named", false, func(ctx context.Context, in wire.TabRef) (wire.TabBack, error) {
		return s.cfg.Tabs.Undo(ctx, in)
	})
	for name, summary := range map[string]string{"tab.rename": "Give a tab a title", "tab.recolor": "Give a tab a colour", "tab.move": "Move a tab behind another, or into a group", "tab.pin": "Pin a tab, or let it go"} {
		op(s, name, summary, false, func(ctx context.Context, in wire.TabEdit) (wire.TabEdited, error) {
			return s.cfg.Tabs.Edit(ctx, in)
		})
	}
	op(s, "tab.focus", "Say which pane of a tab is the active one", false, func(ctx context.Context, in wire.TabFocus) (wire.None, error) {
		err := s.cfg.Tabs.Focus(ctx, in)
		if err == nil {
			s.cfg.Status.Seen(ctx, in.Pane)
		}
		return wire.None{}, err
	})
}

func (s *Server) groupOperations() {
	op(s, "group.make", "Put tabs into a new group", false, func(ctx context.Context, in wire.GroupMake) (wire.GroupMade, error) {
		return s.cfg.Tabs.MakeGroup(ctx, in)
	})
	op(s, "group.edit", "Name, colour, fold, pin or move a group", false, func(ctx context.Context, in wire.GroupEdit) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.EditGroup(ctx, in)
	})
	op(s, "group.dissolve", "End a group; its tabs stay", false, func(ctx context.Context, in wire.GroupRef) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.DissolveGroup(ctx, in.Group)
	})
}

func (s *Server) workspaceOperations() {
	op(s, "workspace.list", "The repositories that davit has seen", true, func(ctx context.Context, in wire.InRequest) (wire.WorkspaceList, error) {
		return s.cfg.Configs.Workspaces(ctx, callerDir(ctx, in.Dir))
	})
	op(s, "worktree.list", "The worktrees of a repository", true, func(ctx context.Context, in wire.WorktreeListRequest) (wire.WorktreeList, error) {
		return s.worktrees(ctx, in)
	})
	op(s, "worktree.open", "Open a tab on a fresh worktree; its config is written, or an equal one used", false, func(ctx context.Context, in wire.WorktreeOpen) (wire.WorktreeOpened, error) {
		in.Dir = callerDir(ctx, in.Dir)
		return s.cfg.Configs.OpenWorktree(ctx, in)
	})
	op(s, "workspace.branches", "The local branches of a repository, for pickers", true, func(ctx context.Context, in wire.InRequest) (wire.BranchList, error) {
		in.Dir = callerDir(ctx, in.Dir)
		return s.cfg.Configs.Branches(ctx, in)
	})
	op(s, "workspace.add", "Know a repository: it is listed from now on", false, func(ctx context.Context, in wire.WorkspaceAdd) (wire.Workspace, error) {
		return s.cfg.Configs.AddWorkspace(ctx, in.Path)
	})
	op(s, "workspace.forget", "Do not list a repository any more; nothing on disk changes", false, func(ctx context.Context, in wire.WorkspaceAdd) (wire.None, error) {
		return wire.None{}, s.cfg.Configs.ForgetWorkspace(ctx, in.Path)
	})
	op(s, "worktree.create", "Make a worktree", false, func(ctx context.Context, in davit.CreateWorktree) (davit.Worktree, error) {
		return s.createWorktree(ctx, in)
	})
	op(s, "worktree.remove", "Remove a worktree; refused with a list when work would be lost", false, func(ctx context.Context, in wire.WorktreeRemove) (wire.WorktreeRemoved, error) {
		return s.removeWorktree(ctx, in)
	})
}

func (s *Server) noticeOperations() {
	op(s, "notice.list", "What the user has not dismissed yet", true, func(context.Context, wire.None) (wire.NoticeList, error) {
		notices := s.cfg.Host.State().Notices
		if notices == nil {
			notices = []davit.Notice{}
		}
		return wire.NoticeList{Notices: notices}, nil
	})
	op(s, "notice.dismiss", "Take a notice away", false, func(ctx context.Context, in wire.NoticeRef) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.Dismiss(ctx, in.ID)
	})
	op(s, "notice.act", "Do what one of a notice's buttons says", false, func(ctx context.Context, in wire.NoticeAct) (wire.None, error) {
		return wire.None{}, s.cfg.Tabs.Act(ctx, in)
	})
}
