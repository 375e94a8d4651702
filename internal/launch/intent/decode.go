package intent

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"davit"
	"davit/internal/route"
)

// strippedKeys of a create payload belong to the launch; they are dropped, not refused
// (L1.1).
var strippedKeys = []string{
	"startupAgent", "startupCommand", "startupPrompt", "startupDraft",
	"startupLaunchConfig", "startupEnv", "startupCommandDelivery", "launchSource",
}

// hostKeys of a target are set by the host and refused from a caller (L1).
var hostKeys = []string{"workspacePath", "connectionId"}

// Checked is an intent that follows the rules, in its normal form, with the payload of
// its target decoded: one of the two, or none with existing.
type Checked struct {
	Intent   davit.Intent
	Worktree *davit.CreateWorktree
	Folder   *davit.CreateFolder
}

func refused(format string, args ...any) *davit.Error {
	return davit.Errorf(davit.CodeLaunchFieldRefused, format, args...).WithHint("leave the field out")
}

// NotServed refuses a field by name that the spec has and this version does not serve.
func NotServed(field, what string) *davit.Error {
	return davit.Errorf(davit.CodeNotServedYet, "%s: %s is not served by this version", field, what).
		WithHint("leave %s out", field).With("field", field)
}

// invalid turns a fault of a field into the domain's error.
func invalid(err error) error {
	var fault *fieldError
	if !errors.As(err, &fault) {
		return err
	}
	return davit.Errorf(davit.CodeInvalid, "the launch intent: %s", fault.Error()).
		WithHint("correct the field %s", fault.Field).With("field", fault.Field)
}

// Decode reads an intent as strictly as L1 asks: exact names, no unknown field, no
// null but that of agentArgs, and nothing that this version does not serve. What it
// gives back is normal: stripped keys are gone and a blank prompt is none.
func Decode(raw json.RawMessage) (davit.Intent, error) {
	if !utf8.Valid(raw) {
		return davit.Intent{}, davit.Errorf(davit.CodeInvalid, "the launch intent is not UTF-8")
	}
	o, err := parseObject("", raw)
	if err != nil {
		return davit.Intent{}, invalid(err)
	}
	if name, found := o.unknown("agent", "operationId", "host", "target", "prompt", "sessionOptions", "reuseTerminal",
		"agentArgs", "cwd", "resume", "launchSource", "paneKey", "sessionId", "accountEnv", "nativeChatDefault", "surface",
		"placement", "presentation"); found {
		return davit.Intent{}, refused("the launch intent has an unknown field: %s", name).With("field", name)
	}
	var in davit.Intent
	err = first(
		decodeAgent(o, &in.Agent),
		read(o, "operationId", &in.OperationID),
		read(o, "host", &in.Host),
		decodeTarget(o, &in.Target),
		decodePrompt(o, &in),
		read(o, "sessionOptions", &in.SessionOptions),
		decodeReuse(o, &in),
		decodeArgs(o, &in.AgentArgs),
		read(o, "cwd", &in.Cwd),
		read(o, "resume", &in.Resume),
		read(o, "launchSource", &in.LaunchSource),
		read(o, "paneKey", &in.PaneKey),
		read(o, "sessionId", &in.SessionID),
		read(o, "accountEnv", &in.AccountEnv),
		read(o, "nativeChatDefault", &in.NativeChatDefault),
		read(o, "surface", &in.Surface),
		read(o, "presentation", &in.Presentation),
	)
	if err != nil {
		return davit.Intent{}, invalid(err)
	}
	in.Placement = decodePlacement(o)
	r, err := Check(in)
	return r.Intent, err
}

// decodeAgent: without the field the host's default agent is meant; a blank one is a slip.
func decodeAgent(o object, into *string) error {
	if err := read(o, "agent", into); err != nil {
		return err
	}
	if _, named := o.fields["agent"]; named && strings.TrimSpace(*into) == "" {
		return &fieldError{"agent", "is empty"}
	}
	return nil
}

func decodeTarget(o object, into *davit.Target) error {
	target, ok, err := o.sub("target")
	if err != nil {
		return err
	}
	if !ok {
		return &fieldError{"target", "is missing"}
	}
	for _, key := range hostKeys {
		if _, found := target.fields[key]; found {
			return refused("the launch intent: target.%s is set by the host", key).With("field", "target."+key)
		}
	}
	if name, found := target.unknown("kind", "worktree", "create"); found {
		return refused("the launch intent has an unknown field: %s", name).With("field", name)
	}
	if err := first(need(target, "kind", &into.Kind), read(target, "worktree", &into.Worktree)); err != nil {
		return err
	}
	if raw, found := target.fields["create"]; found {
		if isNull(raw) {
			return &fieldError{"target.create", "is null; leave it out instead"}
		}
		into.Create = raw
	}
	return nil
}

func decodePrompt(o object, in *davit.Intent) error {
	prompt, ok, err := o.sub("prompt")
	if err != nil || !ok {
		return err
	}
	if name, found := prompt.unknown("text", "delivery"); found {
		return refused("the launch intent has an unknown field: %s", name).With("field", name)
	}
	in.Prompt = new(davit.Prompt)
	return first(need(prompt, "text", &in.Prompt.Text), need(prompt, "delivery", &in.Prompt.Delivery))
}

func decodeReuse(o object, in *davit.Intent) error {
	reuse, ok, err := o.sub("reuseTerminal")
	if err != nil || !ok {
		return err
	}
	if name, found := reuse.unknown("handle"); found {
		return refused("the launch intent has an unknown field: %s", name).With("field", name)
	}
	in.ReuseTerminal = new(davit.ReuseTerminal)
	return need(reuse, "handle", &in.ReuseTerminal.Handle)
}

// decodeArgs keeps the three states of agentArgs: null is one of them (L1).
func decodeArgs(o object, into *davit.OptionalString) error {
	raw, ok := o.fields["agentArgs"]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &fieldError{"agentArgs", "is neither a string nor null"}
	}
	return nil
}

// decodePlacement drops what has the wrong type: a wish never fails a launch (L1).
func decodePlacement(o object) *davit.Placement {
	inner, ok, err := o.sub("placement")
	if err != nil || !ok {
		return nil
	}
	var p davit.Placement
	if read(inner, "groupId", &p.GroupID) != nil {
		p.GroupID = ""
	}
	if read(inner, "afterTabId", &p.AfterTabID) != nil {
		p.AfterTabID = ""
	}
	if p == (davit.Placement{}) {
		return nil
	}
	return &p
}

// Check does the rules that need neither the host nor the disk. It is run for intents
// that were made in the host as well as for decoded ones.
func Check(in davit.Intent) (Checked, error) {
	r := Checked{Intent: in}
	if err := r.checkTarget(); err != nil {
		return r, invalid(err)
	}
	if err := r.checkPrompt(); err != nil {
		return r, invalid(err)
	}
	if in.ReuseTerminal != nil {
		if in.Target.Kind != davit.TargetExisting {
			return r, davit.Errorf(davit.CodeLaunchReuseExisting, "reuseTerminal: a terminal can be reused in an existing workspace only, not with %s", in.Target.Kind).
				WithHint("use the target existing, or leave reuseTerminal out")
		}
		if strings.TrimSpace(in.ReuseTerminal.Handle) == "" {
			return r, invalid(&fieldError{"reuseTerminal.handle", "is empty"})
		}
	}
	return r, invalid(first(
		oneOf("surface", string(in.Surface), "", string(davit.Structured), string(davit.Terminal)),
		oneOf("presentation", in.Presentation, "", "focused", "background"),
		checkIDs(in),
		checkResume(in),
		checkEnv(in.AccountEnv),
		checkCwd(in),
	))
}

func oneOf(field, value string, allowed ...string) error {
	if contains(allowed, value) {
		return nil
	}
	return &fieldError{field, fmt.Sprintf("%q is none of %s", value, strings.Join(allowed[1:], ", "))}
}

func (r *Checked) checkTarget() error {
	target := &r.Intent.Target
	switch target.Kind {
	case davit.TargetExisting:
		if strings.TrimSpace(target.Worktree) == "" {
			return &fieldError{"target.worktree", "is missing"}
		}
		if target.Create != nil {
			return refused("the launch intent: target.create does not go with existing").With("field", "target.create")
		}
		return nil
	case davit.TargetWorktree, davit.TargetFolder:
	default:
		return &fieldError{"target.kind", fmt.Sprintf("%q is none of existing, create-worktree, create-folder-workspace", target.Kind)}
	}
	if target.Worktree != "" {
		return refused("the launch intent: target.worktree does not go with %s", target.Kind).With("field", "target.worktree")
	}
	if target.Create == nil {
		return &fieldError{"target.create", "is missing"}
	}
	payload, err := parseObject("target.create.", target.Create)
	if err != nil {
		return err
	}
	for _, key := range strippedKeys {
		delete(payload.fields, key)
	}
	if target.Kind == davit.TargetFolder {
		r.Folder = new(davit.CreateFolder)
		err = decodeFolder(payload, r.Folder)
		target.Create = Encode(r.Folder)
	} else {
		r.Worktree = new(davit.CreateWorktree)
		err = decodeWorktree(payload, r.Worktree)
		target.Create = Encode(r.Worktree)
	}
	return err
}

// Encode writes a value of the vocabulary, which always encodes.
func Encode(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic("intent: encode " + err.Error())
	}
	return raw
}

func decodeWorktree(o object, into *davit.CreateWorktree) error {
	if name, found := o.unknown("repo", "name", "nameWasGenerated", "branch", "baseBranch", "setupDecision", "setupPolicy", "removeOnClose"); found {
		return refused("the launch intent has an unknown field: %s", name).With("field", name)
	}
	err := first(
		need(o, "repo", &into.Repo),
		read(o, "name", &into.Name),
		read(o, "nameWasGenerated", &into.NameWasGenerated),
		read(o, "branch", &into.Branch),
		read(o, "baseBranch", &into.BaseBranch),
		read(o, "setupDecision", &into.SetupDecision),
		read(o, "setupPolicy", &into.SetupPolicy),
		read(o, "removeOnClose", &into.RemoveOnClose),
		oneOf("target.create.setupPolicy", into.SetupPolicy, "", "wait-for-setup", "start-immediately"),
		oneOf("target.create.setupDecision", into.SetupDecision, "", "run", "skip", "inherit"),
	)
	if err == nil && strings.TrimSpace(into.Repo) == "" {
		return &fieldError{"target.create.repo", "is empty"}
	}
	return err
}

func decodeFolder(o object, into *davit.CreateFolder) error {
	if name, found := o.unknown("path", "name"); found {
		return refused("the launch intent has an unknown field: %s", name).With("field", name)
	}
	err := first(need(o, "path", &into.Path), read(o, "name", &into.Name))
	if err == nil && strings.TrimSpace(into.Path) == "" {
		return &fieldError{"target.create.path", "is empty"}
	}
	return err
}

func (r *Checked) checkPrompt() error {
	prompt := r.Intent.Prompt
	if prompt == nil {
		return nil
	}
	if err := oneOf("prompt.delivery", prompt.Delivery, "", route.Submit, route.Draft); err != nil {
		return err
	}
	if prompt.Delivery == "" {
		return &fieldError{"prompt.delivery", "is missing"}
	}
	if strings.TrimSpace(prompt.Text) == "" {
		r.Intent.Prompt = nil // L1: blank text = no prompt
		return nil
	}
	return nil
}

var (
	paneKeyForm   = regexp.MustCompile(`^(t_[0-9a-f]{16}):(p_[0-9a-f]{16})$`)
	sessionIDForm = regexp.MustCompile(`^[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}$`)
)

// SplitPaneKey gives the two halves of a pane key that is well formed.
func SplitPaneKey(key davit.PaneKey) (davit.TabID, davit.PaneID, bool) {
	parts := paneKeyForm.FindStringSubmatch(string(key))
	if parts == nil {
		return "", "", false
	}
	return davit.TabID(parts[1]), davit.PaneID(parts[2]), true
}

// checkIDs: a pane's id becomes a folder's name, so its form is held to exactly.
func checkIDs(in davit.Intent) error {
	if in.PaneKey != "" && !paneKeyForm.MatchString(string(in.PaneKey)) {
		return &fieldError{"paneKey", `is not of the form "t_<16 hex digits>:p_<16 hex digits>"`}
	}
	if in.SessionID == "" {
		return nil
	}
	if in.Agent == "" {
		return &fieldError{"agent", "is missing: sessionId begins with it"}
	}
	uuid, named := strings.CutPrefix(in.SessionID, in.Agent+"_")
	if !named || !sessionIDForm.MatchString(uuid) {
		return &fieldError{"sessionId", fmt.Sprintf("is not of the form %q", in.Agent+"_<uuid with _ for ->")}
	}
	return nil
}

// checkResume: the id becomes words of a command line, where a dash would begin a flag.
func checkResume(in davit.Intent) error {
	switch id := in.Resume; {
	case id == "":
		return nil
	case in.ReuseTerminal != nil:
		return &fieldError{"resume", "does not go with reuseTerminal: that agent runs already"}
	case strings.TrimSpace(id) == "" || strings.HasPrefix(id, "-") || len(id) > maxResume || strings.ContainsFunc(id, unicode.IsControl):
		return &fieldError{"resume", "is not an id of a session: it is blank, begins with a dash, has a control character or is too long"}
	}
	return nil
}

// maxResume is more than an id or the path of a session's file has.
const maxResume = 4096

func checkEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return &fieldError{"accountEnv", "has a name that is empty or has an =, or a NUL byte"}
		}
	}
	return nil
}

// checkCwd: for a worktree that is still to be made only a path inside of it makes sense (L1).
func checkCwd(in davit.Intent) error {
	if strings.ContainsRune(in.Cwd, 0) {
		return &fieldError{"cwd", "has a NUL byte"}
	}
	if cwd := strings.TrimSpace(in.Cwd); cwd != "" && in.Target.Kind == davit.TargetWorktree && !filepath.IsLocal(cwd) {
		return &fieldError{"cwd", "is not inside the worktree that is to be made; give it relative to its root"}
	}
	return nil
}
