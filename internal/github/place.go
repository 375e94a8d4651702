package github

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"davit/internal/chip"
	"davit/internal/chip/command"
	"davit/internal/git"
)

// Remote is one remote of a repository that leads to a forge.
type Remote struct {
	Name       string
	Host       string // as chip.HostOf has it
	Repository string // owner/name, in lower case: GitHub tells them apart no finer
}

// Forge is where the pull requests of a repository are.
type Forge struct {
	Decided    string // why there are none to ask for, "" when gh must be asked
	Host       string
	Repository string // of the remote that gh prefers, and those of the others behind it
}

// Branch says why a checkout has no branch that could have a pull request, "" when it has
// (spec chips C4.2, line 4).
func Branch(repo git.Repository, head git.Head, err error) string {
	switch {
	case err != nil:
		return "HEAD cannot be read: " + err.Error()
	case repo.Root == "":
		return "a bare repository has no branch checked out"
	case head.Detached:
		return "HEAD is detached"
	case head.Unborn:
		return "the branch has no commit yet"
	}
	return ""
}

// Forge finds a repository's forge by one call of git; ssh is asked what a name in an
// address means only where that could make the difference.
func (c Client) Forge(ctx context.Context, repo git.Repository) (Forge, error) {
	out, err := c.Git.Read(ctx, "", "--git-dir="+repo.CommonDir, "remote", "-v")
	if err != nil {
		return Forge{}, err
	}
	addresses := parseRemotes(string(out))
	if len(addresses) == 0 {
		return Forge{Decided: "the repository has no remote"}, nil
	}
	var remotes []Remote
	for _, a := range addresses {
		host, repository, ssh, ok := parseAddress(a.url)
		if !ok {
			continue
		}
		if ssh && !c.Known(host) {
			host = c.resolve(ctx, host)
		}
		if c.Known(host) {
			remotes = append(remotes, Remote{Name: a.name, Host: chip.HostOf(host), Repository: repository})
		}
	}
	if len(remotes) == 0 {
		return Forge{Decided: "no remote is on GitHub"}, nil
	}
	return forgeOf(remotes, chip.HostOf(c.getenv("GH_HOST"))), nil
}

// forgeOf takes the remote that gh prefers: of GH_HOST when one is, then by its name. Two
// checkouts are of one repository when the same remotes are behind it, so that a fork
// does not answer for another one.
func forgeOf(remotes []Remote, preferred string) Forge {
	rank := func(r Remote) int {
		at := slices.Index([]string{"upstream", "github", "origin"}, strings.ToLower(r.Name))
		if at < 0 {
			at = 3
		}
		if preferred != "" && r.Host != preferred {
			at += 10
		}
		return at
	}
	slices.SortStableFunc(remotes, func(a, b Remote) int { return rank(a) - rank(b) })
	first := remotes[0]
	var others []string
	for _, r := range remotes[1:] {
		if name := r.Host + "/" + r.Repository; r.Repository != first.Repository && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return Forge{Host: first.Host, Repository: strings.Join(append([]string{first.Repository}, others...), " ")}
}

type address struct{ name, url string }

var fetchLine = regexp.MustCompile(`^([^\t]+)\t(.*) \(fetch\)(?: \[[^\]]*\])?$`)

// parseRemotes reads `git remote -v`, which has insteadOf applied.
func parseRemotes(out string) []address {
	var list []address
	for line := range strings.Lines(out) {
		if m := fetchLine.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			list = append(list, address{m[1], m[2]})
		}
	}
	return list
}

// parseAddress takes a remote's address apart. ssh says that the host may be a name of
// ssh's configuration. Paths of this machine are no address.
func parseAddress(text string) (host, repository string, ssh, ok bool) {
	path := ""
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil {
			return "", "", false, false
		}
		switch u.Scheme {
		case "ssh", "git+ssh", "ssh+git":
			ssh = true
		case "https", "http", "git", "git+https", "git+http":
		default:
			return "", "", false, false
		}
		host, path = u.Hostname(), u.Path
	} else {
		before, after, found := strings.Cut(text, ":")
		if !found || strings.ContainsAny(before, "/\\") {
			return "", "", false, false
		}
		host, path, ssh = before[strings.LastIndexByte(before, '@')+1:], after, true
	}
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" || !hostName.MatchString(host) {
		return "", "", false, false
	}
	return host, strings.ToLower(parts[0] + "/" + parts[1]), ssh, true
}

// hostName is what may be given to ssh as a word.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// resolve asks ssh which machine a name means; the name itself when it does not say.
func (c Client) resolve(ctx context.Context, name string) string {
	path, found := Find("ssh", c.getenv("PATH"))
	if !found {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, sshWithin)
	defer cancel()
	r := command.Run(ctx, command.Command{Path: path, Args: []string{"-G", name}, Env: c.environment("")})
	if !r.Ended || r.Exit != 0 {
		return name
	}
	for line := range strings.Lines(string(r.Stdout)) {
		if host, ok := strings.CutPrefix(line, "hostname "); ok {
			return strings.TrimSpace(host)
		}
	}
	return name
}
