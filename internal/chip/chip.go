// Package chip is what davit knows of context chips without looking at anything: their
// kinds and policies as data, the decision to fetch or to skip, which command
// invalidates what, and their text. It is pure: it runs nothing, reads no clock, no disk
// and no environment. chip/runner runs them.
package chip

import "time"

// Kind names one chip.
type Kind string

// The kinds that there are (spec chips C1).
const (
	Cwd       Kind = "cwd"
	User      Kind = "user"
	Host      Kind = "host"
	SSH       Kind = "ssh"
	Subshell  Kind = "subshell"
	Venv      Kind = "venv"
	Conda     Kind = "conda"
	Node      Kind = "node"
	Date      Kind = "date"
	Time12    Kind = "time12"
	Time24    Kind = "time24"
	GitBranch Kind = "git_branch"
	GitStatus Kind = "git_status"
	GitDiff   Kind = "git_diff"
	GitHubPR  Kind = "github_pr"
	Kube      Kind = "kube"
	SVNBranch Kind = "svn_branch"
	SVNDirty  Kind = "svn_dirty"
	AgentPlan Kind = "agent_plan"
	Custom    Kind = "custom"
)

// DefaultPrompt is the default terminal prompt, in order (spec chips C4.5). Kinds
// without a policy are kept in the list and skipped on screen.
func DefaultPrompt() []Kind {
	return []Kind{Conda, Venv, SSH, Subshell, Node, Cwd, GitBranch, GitDiff, GitHubPR, Kube}
}

// Input is something that a fingerprint is made of.
type Input string

// The inputs.
const (
	InputSession     Input = "session"
	InputCwd         Input = "cwd"
	InputForge       Input = "forge_host"
	InputRepository  Input = "repository"
	InputBranch      Input = "git_branch"
	InputExecutables Input = "executables"
	InputInvalidated Input = "invalidating_commands"
	InputPath        Input = "path"
	InputKube        Input = "kubeconfig" // its files, by time and size
)

// Refresh is when a chip is fetched without being asked.
type Refresh struct {
	Pushed  bool          // by the watch of the repository
	Every   time.Duration // by timer; 0 is never
	Aligned bool          // on the marks of the clock on the wall
}

// Policy is how one kind is fetched (spec chips C2.1).
type Policy struct {
	Kind              Kind
	Title             string
	Requires          []string // executables, in the order in which they are missed
	LocalOnly         bool
	Deadline          time.Duration // in a prompt, after which the last value is stale
	Cap               time.Duration // after which the run is ended
	SuppressOnFailure bool
	SuppressOnly      []Outcome // the failures that are remembered; none: all of them
	Fingerprint       []Input   // none: never skipped
	InvalidatedBy     []Invalidator
	Refresh           Refresh
	WhileTyping       []string // drawn only beside these programs; none: always
	Icon              string   // of a chip of the user's own
}

// Invalidator is a command that bumps a chip's counter: any use of it, or only with one
// of some first arguments.
type Invalidator struct {
	Command string
	Verbs   []string // none: all
}

// policies are in the order of spec chips C1.
var policies = []Policy{
	{Kind: Cwd, Title: "Working Directory", Fingerprint: []Input{InputSession, InputCwd}},
	{Kind: User, Title: "User", Fingerprint: []Input{InputSession}},
	{Kind: Host, Title: "Host", Fingerprint: []Input{InputSession}},
	{Kind: SSH, Title: "Remote Login"},
	{Kind: Subshell, Title: "Subshell"},
	{Kind: Venv, Title: "Python Virtualenv", Fingerprint: []Input{InputSession}},
	{Kind: Conda, Title: "Conda Environment", Fingerprint: []Input{InputSession}},
	{
		Kind: Node, Title: "Node.js Version", Requires: []string{"node"}, LocalOnly: true, Deadline: time.Second, Cap: 5 * time.Second,
		Fingerprint:   []Input{InputCwd, InputPath, InputExecutables, InputInvalidated},
		InvalidatedBy: commands("node", "nvm", "fnm", "n", "volta", "asdf", "mise", "rtx", "nodenv", "nvs"),
	},
	{Kind: Date, Title: "Date", Refresh: Refresh{Every: 30 * time.Minute, Aligned: true}},
	{Kind: Time12, Title: "Time (12-hour format)", Refresh: Refresh{Every: time.Minute, Aligned: true}},
	{Kind: Time24, Title: "Time (24-hour format)", Refresh: Refresh{Every: time.Minute, Aligned: true}},
	{Kind: GitBranch, Title: "Git Branch", Deadline: 200 * time.Millisecond, Cap: 5 * time.Second, Refresh: Refresh{Pushed: true}},
	{Kind: GitStatus, Title: "Git Branch Status", Requires: []string{"git"}, Deadline: 200 * time.Millisecond, Cap: 5 * time.Second, Refresh: Refresh{Pushed: true}},
	{Kind: GitDiff, Title: "Git Diff Stats", Requires: []string{"git"}, Deadline: 200 * time.Millisecond, Cap: 5 * time.Second, Refresh: Refresh{Pushed: true}},
	{
		Kind: GitHubPR, Title: "GitHub Pull Request", Requires: []string{"gh", "git"}, LocalOnly: true, Deadline: 5 * time.Second, Cap: 5 * time.Second,
		SuppressOnFailure: true, SuppressOnly: []Outcome{Denied},
		Fingerprint: []Input{InputForge, InputRepository, InputBranch, InputExecutables, InputInvalidated},
		InvalidatedBy: []Invalidator{
			{Command: "git", Verbs: []string{"push", "fetch", "pull", "checkout", "switch", "branch", "remote", "merge", "rebase", "reset"}},
			{Command: "gh"}, {Command: "gt"},
		},
		Refresh: Refresh{Every: time.Minute},
	},
	{
		Kind: Kube, Title: "Kubernetes Context", Requires: []string{"kubectl"}, LocalOnly: true, Deadline: time.Second, Cap: 5 * time.Second,
		Fingerprint: []Input{InputPath, InputExecutables, InputKube, InputInvalidated}, InvalidatedBy: commands(kubeTools...), WhileTyping: kubeTools,
	},
	{Kind: SVNBranch, Title: "Svn Branch", Requires: []string{"svn"}, LocalOnly: true, Deadline: time.Second, Cap: 5 * time.Second},
	{Kind: SVNDirty, Title: "Svn Uncommitted File Count", Requires: []string{"svn"}, LocalOnly: true, Deadline: time.Second, Cap: 5 * time.Second},
	{Kind: AgentPlan, Title: "Agent Plan and Todo List"},
}

// kubeTools are the programs beside which the Kubernetes context is drawn.
var kubeTools = []string{"kubectl", "helm", "kubens", "kubectx", "oc", "istioctl", "kogito", "k9s", "helmfile", "flux", "fluxctl", "stern",
	"kubeseal", "skaffold", "kubent", "kubecolor", "cmctl", "sparkctl", "etcd", "fubectl"}

func commands(names ...string) []Invalidator {
	var list []Invalidator
	for _, name := range names {
		list = append(list, Invalidator{Command: name})
	}
	return list
}

// Policies gives the policies that there are, in the order of the spec.
func Policies() []Policy { return append([]Policy(nil), policies...) }

// PolicyOf finds the policy of a kind.
func PolicyOf(kind Kind) (Policy, bool) {
	for _, p := range policies {
		if p.Kind == kind {
			return p, true
		}
	}
	return Policy{}, false
}
