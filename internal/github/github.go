// Package github asks the gh program for the pull request of a branch, and finds out
// beforehand, without it, whether there is anything to ask: which remotes a repository
// has, and whether one of them is on a GitHub host (spec chips C4.2, line 4).
//
// Each program is an argv in a process group of its own, without a terminal and without
// stdin, with a deadline, bounded output, and stdout kept apart from stderr; it is ended
// whole (C1.4). The package owns no goroutine that outlives a call and keeps nothing. It
// never signs in, never writes, reads no token (of gh's hosts file only the names of
// hosts), and speaks with no network itself.
package github

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"davit/internal/chip"
	"davit/internal/chip/command"
	"davit/internal/git"
)

// Client asks with one environment. Its methods may be called from any goroutine.
type Client struct {
	Git     git.Runner
	Environ func() []string // to start from; PATH is replaced by the asking pane's
	Within  time.Duration   // for one question to gh; 5 s when 0
}

// Deadline is for one question to gh (spec chips C2.1).
const Deadline = 5 * time.Second

// sshWithin is for one look into ssh's own configuration.
const sshWithin = 2 * time.Second

// View asks gh, found at an absolute path, for the pull request of the branch that dir is
// on. search is the PATH that gh itself gets.
func (c Client) View(ctx context.Context, gh, dir, search string) chip.PRRun {
	within := c.Within
	if within == 0 {
		within = Deadline
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r := command.Run(ctx, command.Command{Path: gh, Args: []string{"pr", "view", "--json", chip.PullRequestFields}, Dir: dir, Env: c.environment(search)})
	out := chip.PRRun{Ended: r.Ended, Late: r.Late, Exit: r.Exit, Stdout: r.Stdout, Stderr: r.Stderr, Why: r.Why}
	if r.Late {
		out.Why = "gh did not answer within " + within.String()
	}
	return out
}

// dropped are variables that would make gh speak of another place, in another form, or of
// each request.
var dropped = []string{"GH_REPO", "GH_DEBUG", "DEBUG", "GH_FORCE_TTY", "CLICOLOR_FORCE", "GH_PAGER", "GH_BROWSER", "GH_EDITOR"}

// environment is what gh and ssh get.
func (c Client) environment(search string) []string {
	var env []string
	for _, entry := range git.Environment(c.environ()) {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.Contains(dropped, name) && (name != "PATH" || search == "") {
			env = append(env, entry)
		}
	}
	if search != "" {
		env = append(env, "PATH="+search)
	}
	return append(env, "GH_NO_UPDATE_NOTIFIER=1", "GH_NO_EXTENSION_UPDATE_NOTIFIER=1", "GH_PAGER=cat")
}

func (c Client) environ() []string {
	if c.Environ == nil {
		return os.Environ()
	}
	return c.Environ()
}

func (c Client) getenv(name string) string {
	for _, entry := range slices.Backward(c.environ()) {
		if n, value, ok := strings.Cut(entry, "="); ok && n == name {
			return value
		}
	}
	return ""
}

// Find looks a program up on a PATH. Relative entries do not count.
func Find(name, search string) (path string, found bool) { return command.Find(name, search) }

// Accounts gives the hosts that gh has an account or a token for.
func (c Client) Accounts() []string {
	hosts := c.hostsFile()
	add := func(host string) {
		if host = chip.HostOf(host); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if c.getenv("GH_TOKEN") != "" || c.getenv("GITHUB_TOKEN") != "" {
		add("github.com")
	}
	if c.getenv("GH_ENTERPRISE_TOKEN") != "" || c.getenv("GITHUB_ENTERPRISE_TOKEN") != "" {
		add(c.getenv("GH_HOST"))
	}
	return hosts
}

// Known says that a host is one that gh can be asked about.
func (c Client) Known(host string) bool {
	host = chip.HostOf(host)
	return chip.IsGitHub(host) || host != "" && (host == chip.HostOf(c.getenv("GH_HOST")) || slices.Contains(c.hostsFile(), host))
}

// maxHostsFile bounds gh's own file.
const maxHostsFile = 1 << 20

var hostLine = regexp.MustCompile(`^["']?([A-Za-z0-9][A-Za-z0-9.:-]*)["']?[ \t]*:`)

// hostsFile reads the names of hosts from gh's own file: the keys at its left edge.
func (c Client) hostsFile() []string {
	dir := c.getenv("GH_CONFIG_DIR")
	if dir == "" && c.getenv("XDG_CONFIG_HOME") != "" {
		dir = filepath.Join(c.getenv("XDG_CONFIG_HOME"), "gh")
	}
	if dir == "" {
		dir = filepath.Join(c.getenv("HOME"), ".config", "gh")
	}
	path := filepath.Join(dir, "hosts.yml")
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHostsFile {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var hosts []string
	for line := range strings.Lines(string(data)) {
		if m := hostLine.FindStringSubmatch(line); m != nil && m[1] != "version" {
			hosts = append(hosts, chip.HostOf(m[1]))
		}
	}
	return hosts
}
