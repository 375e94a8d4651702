package github

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"davit/internal/chip"
	"davit/internal/git"
	"davit/internal/testenv"
)

// bench is a home with a repository and a folder for programs.
type bench struct {
	*testing.T
	dir, bin string
	env      []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	testenv.Require(t, "git", "sh")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, dir: dir, bin: filepath.Join(dir, "bin")}
	b.write("home/.gitconfig", "[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n", 0o600)
	b.env = []string{"HOME=" + filepath.Join(dir, "home"), "PATH=" + b.bin + ":" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LANG=de_DE.UTF-8"}
	return b
}

func (b *bench) write(path, text string, mode os.FileMode) {
	b.Helper()
	path = filepath.Join(b.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) gh(script string) string {
	b.Helper()
	b.write("bin/gh", "#!/bin/sh\n"+script+"\n", 0o700)
	return filepath.Join(b.bin, "gh")
}

func (b *bench) git(args ...string) {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = b.repo(), b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (b *bench) repo() string { return filepath.Join(b.dir, "repo") }

func (b *bench) initRepo() git.Repository {
	b.Helper()
	b.write("repo/a", "a\n", 0o600)
	b.git("init", "-q")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "x")
	repo, err := git.Discover(b.repo())
	if err != nil {
		b.Fatal(err)
	}
	return repo
}

func (b *bench) client(more ...string) Client {
	env := append(slices.Clone(b.env), more...)
	return Client{Git: git.Runner{Env: env}, Environ: func() []string { return env }}
}

// TestForge: spec chips C4.2, line 4: which remotes are on GitHub, decided without gh.
func TestForge(t *testing.T) {
	b := newBench(t)
	repo := b.initRepo()
	b.write("home/.config/gh/hosts.yml", "# mine\ngit.example.com:\n    user: ada\n    oauth_token: secret\n\"quoted.example.com\":\n  users:\n    ada: {}\nversion: 1\n", 0o600)
	b.gh("echo gh was run >> " + filepath.Join(b.dir, "calls"))
	b.write("bin/ssh", "#!/bin/sh\necho \"$*\" >> '"+filepath.Join(b.dir, "ssh")+"'\ncase \"$2\" in work) echo user git; echo hostname github.com;; *) echo hostname $2;; esac\n", 0o700)
	b.git("config", "url.https://github.com/.insteadOf", "hub:")
	plain, err := os.ReadFile(filepath.Join(repo.CommonDir, "config"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		remotes map[string]string
		env     []string
		decided string
		host    string
		repo    string
	}{
		{"none", nil, nil, "the repository has no remote", "", ""},
		{"scp form", map[string]string{"origin": "git@github.com:O/R.git"}, nil, "", "github.com", "o/r"},
		{"https", map[string]string{"origin": "https://github.com/o/r"}, nil, "", "github.com", "o/r"},
		{"https with a user and slash", map[string]string{"origin": "https://user:pass@github.com/o/r/"}, nil, "", "github.com", "o/r"},
		{"ssh with port", map[string]string{"origin": "ssh://git@ssh.github.com:443/o/r.git"}, nil, "", "github.com", "o/r"},
		{"insteadOf", map[string]string{"origin": "hub:o/r"}, nil, "", "github.com", "o/r"},
		{"ssh alias", map[string]string{"origin": "work:o/r.git"}, nil, "", "github.com", "o/r"},
		{"ssh alias of another", map[string]string{"origin": "other:o/r.git"}, nil, "no remote is on GitHub", "", ""},
		{"an alias that is a flag", map[string]string{"origin": "ssh://-oProxyCommand=x/o/r"}, nil, "no remote is on GitHub", "", ""},
		{"tenant", map[string]string{"origin": "git@octo.ghe.com:o/r.git"}, nil, "", "octo.ghe.com", "o/r"},
		{"not a tenant", map[string]string{"origin": "https://evilghe.com/o/r.git"}, nil, "no remote is on GitHub", "", ""},
		{"of gh's hosts file", map[string]string{"origin": "https://git.example.com/o/r.git"}, nil, "", "git.example.com", "o/r"},
		{"of GH_HOST", map[string]string{"origin": "https://forge.example.com/o/r.git"}, []string{"GH_HOST=forge.example.com"}, "", "forge.example.com", "o/r"},
		{"GitLab", map[string]string{"origin": "git@gitlab.com:o/r.git"}, nil, "no remote is on GitHub", "", ""},
		{"a path", map[string]string{"origin": "/srv/git/r.git"}, nil, "no remote is on GitHub", "", ""},
		{"a file", map[string]string{"origin": "file:///srv/git/r.git"}, nil, "no remote is on GitHub", "", ""},
		{"three levels", map[string]string{"origin": "https://github.com/a/b/c"}, nil, "no remote is on GitHub", "", ""},
		{"a fork", map[string]string{"origin": "git@github.com:me/r.git", "upstream": "git@github.com:o/r.git"}, nil, "", "github.com", "o/r github.com/me/r"},
		{"another name", map[string]string{"elsewhere": "git@gitlab.com:o/r.git", "hub": "git@github.com:o/r.git"}, nil, "", "github.com", "o/r"},
		{"GH_HOST prefers", map[string]string{"origin": "git@github.com:o/r.git", "work": "https://git.example.com/w/r.git"}, []string{"GH_HOST=git.example.com"}, "", "git.example.com", "w/r github.com/o/r"},
	} {
		config := string(plain)
		for _, name := range slices.Sorted(maps.Keys(c.remotes)) {
			config += fmt.Sprintf("[remote %q]\n\turl = %s\n\tfetch = +refs/heads/*:refs/remotes/%s/*\n", name, c.remotes[name], name)
		}
		b.write("repo/.git/config", config, 0o600)
		f, err := b.client(c.env...).Forge(t.Context(), repo)
		if err != nil || f.Decided != c.decided || f.Host != c.host || f.Repository != c.repo {
			t.Errorf("%s: %+v %v", c.name, f, err)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "calls")); err == nil {
		t.Error("gh was run")
	}
	if asked, _ := os.ReadFile(filepath.Join(b.dir, "ssh")); strings.Contains(string(asked), "github.com") || strings.Contains(string(asked), "ProxyCommand") {
		t.Errorf("ssh was asked without need: %s", asked)
	}
}

// TestBranch: spec chips C4.2, line 4.
func TestBranch(t *testing.T) {
	root := git.Repository{Root: "/r"}
	for _, c := range []struct {
		repo git.Repository
		head git.Head
		err  error
		want bool
	}{
		{root, git.Head{Branch: "main", Commit: "x"}, nil, true}, {git.Repository{Bare: true}, git.Head{Branch: "main", Commit: "x"}, nil, false},
		{root, git.Head{Commit: "x", Detached: true}, nil, false}, {root, git.Head{Branch: "main", Unborn: true}, nil, false}, {root, git.Head{}, os.ErrPermission, false},
	} {
		if got := Branch(c.repo, c.head, c.err); (got == "") != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestAccounts(t *testing.T) {
	b := newBench(t)
	b.write("config/hosts.yml", "github.com:\n    user: ada\nGit.Example.com:\n    user: ada\n", 0o600)
	at := "GH_CONFIG_DIR=" + filepath.Join(b.dir, "config")
	for _, c := range []struct {
		env  []string
		want string
	}{
		{nil, ""}, {[]string{at}, "github.com git.example.com"}, {[]string{"GH_TOKEN=x"}, "github.com"}, {[]string{at, "GITHUB_TOKEN=x"}, "github.com git.example.com"},
		{[]string{"GH_HOST=forge.example.com", "GH_ENTERPRISE_TOKEN=x"}, "forge.example.com"}, {[]string{"XDG_CONFIG_HOME=" + b.dir}, ""},
	} {
		if got := strings.Join(b.client(c.env...).Accounts(), " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}

// TestView: spec chips C1.4: its own group, no stdin, no prompt, bounded, apart.
func TestView(t *testing.T) {
	b := newBench(t)
	b.initRepo()
	gh := b.gh(`printf '%s\n' "$*" "in:$(cat)" "$PWD" "$PATH" "$GH_PROMPT_DISABLED $GIT_TERMINAL_PROMPT $NO_COLOR $GH_NO_UPDATE_NOTIFIER" "repo:$GH_REPO debug:$GH_DEBUG dir:$GIT_DIR"
echo complaint >&2
exit 3`)
	r := b.client("GH_REPO=x/y", "GH_DEBUG=api", "GIT_DIR=/nowhere", "NO_COLOR=").View(t.Context(), gh, b.repo(), "/usr/bin:/bin")
	want := "pr view --json number,url,state,isDraft,title,baseRefName,headRefName,statusCheckRollup\nin:\n" + b.repo() + "\n/usr/bin:/bin\n1 0 1 1\nrepo: debug: dir:\n"
	if !r.Ended || r.Exit != 3 || string(r.Stdout) != want || r.Stderr != "complaint\n" {
		t.Errorf("%+v\n%s\nwant\n%s", r, r.Stdout, want)
	}
}

// TestViewIsEndedWhole: spec chips C7, a killed run leaves no process.
func TestViewIsEndedWhole(t *testing.T) {
	b := newBench(t)
	b.initRepo()
	pids := filepath.Join(b.dir, "pids")
	for name, c := range map[string]struct {
		script string
		late   bool
		why    string
	}{
		"hangs":     {"echo $$ >> " + pids + "\n(trap '' TERM; echo $(exec sh -c 'echo $PPID') >> " + pids + "; sleep 600) &\necho $! >> " + pids + "\ntrap '' TERM\nsleep 600", true, "gh did not answer within 600ms"},
		"floods":    {"echo $$ >> " + pids + "\nhead -c 200000000 /dev/zero", false, "it printed more than davit reads"},
		"no script": {"", false, ""},
	} {
		gh := b.gh(c.script)
		if name == "no script" {
			b.write("bin/gh", "\x7fELF\x00\x00", 0o700)
		}
		client := b.client()
		client.Within = 600 * time.Millisecond
		if name == "floods" {
			client.Within = 10 * time.Second
		}
		began := time.Now()
		r := client.View(context.Background(), gh, b.repo(), os.Getenv("PATH"))
		if r.Ended || r.Late != c.late || (c.why != "" && r.Why != c.why) || r.Why == "" || time.Since(began) > 8*time.Second {
			t.Errorf("%s after %s: ended %v late %v %q", name, time.Since(began), r.Ended, r.Late, r.Why)
		}
		if j := chip.Classify(chip.PRFacts{Gh: true, Git: true, Host: "github.com"}, r); j.Line != 5 || j.Verdict != chip.VerdictNoChange {
			t.Errorf("%s: %+v", name, j)
		}
	}
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(data)) {
		pid, _ := strconv.Atoi(word)
		testenv.Eventually(t, 5*time.Second, func() (bool, string) {
			return syscall.Kill(pid, 0) == syscall.ESRCH || zombie(pid), fmt.Sprintf("%d lives", pid)
		})
	}
}

// zombie says that a process has ended and only its parent has not noticed.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(data), ") Z ")
}

// TestRealGhSignedOut: the gh of this machine, with no account at all (spec chips C4.2,
// line 9). It is stopped before it would speak with anybody.
func TestRealGhSignedOut(t *testing.T) {
	testenv.Require(t, "gh")
	b := newBench(t)
	b.initRepo()
	b.git("remote", "add", "origin", "https://github.com/o/r.git")
	gh, err := exec.LookPath("gh")
	if err != nil {
		t.Fatal(err)
	}
	b.write("empty/.keep", "", 0o600)
	c := b.client("GH_CONFIG_DIR="+filepath.Join(b.dir, "empty"), "https_proxy=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9")
	r := c.View(t.Context(), gh, b.repo(), os.Getenv("PATH"))
	j := chip.Classify(chip.PRFacts{Gh: true, Git: true, Host: "github.com", SignedIn: c.Accounts()}, r)
	if j.Line != 9 || j.Verdict != chip.VerdictUnauthenticated {
		t.Errorf("%+v of %+v", j, r)
	}
	c = b.client("GH_CONFIG_DIR="+filepath.Join(b.dir, "empty"), "GH_TOKEN=none", "https_proxy=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9")
	r = c.View(t.Context(), gh, b.repo(), os.Getenv("PATH"))
	if j := chip.Classify(chip.PRFacts{Gh: true, Git: true, Host: "github.com", SignedIn: c.Accounts()}, r); j.Line != 8 {
		t.Errorf("without a network: %+v of %+v", j, r)
	}
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"git@github.com:o/r.git", "ssh://-x/o/r", "https://[::1]:80/o/r", "a:b", "C:\\x", "://", "work:o/r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, repo, _, ok := parseAddress(text)
		if ok && (strings.HasPrefix(host, "-") || strings.ContainsAny(host, " /:\n\x00") || strings.Count(repo, "/") != 1) {
			t.Errorf("%q: %q %q", text, host, repo)
		}
	})
}
