package chip

import (
	"path"
	"slices"
	"strings"
	"time"

	"davit"
)

// Session is what is known of the shell session of a surface: what its shell told, and
// what the commands that it runs mean.
type Session struct {
	User, Host string // of the machine that the session is on
	SSH        string // user@host, or host, of a session on another machine
	Subshell   string // the shell that runs inside of the pane's own
	Venv       string // VIRTUAL_ENV
	Conda      string // CONDA_DEFAULT_ENV
	Kubeconfig string // KUBECONFIG
}

// The properties that a shell tells (docs/shell-integration.md).
const (
	PropertyPath    = "PATH"
	PropertyVenv    = "VIRTUAL_ENV"
	PropertyConda   = "CONDA_DEFAULT_ENV"
	PropertyKube    = "KUBECONFIG"
	PropertySSH     = "SSH"
	PropertyAliases = "ALIASES"
)

// maxTold bounds a word that a shell told and that is shown.
const maxTold = 200

// NewSession joins what a shell told with whom it belongs to. What is told is somebody
// else's text: it is cleaned and bounded. A session at another machine has its user and
// its host from there.
func NewSession(told map[string]string, user, host string) Session {
	word := func(key string) string { return Line(told[key], maxTold) }
	s := Session{User: user, Host: host, SSH: word(PropertySSH), Venv: word(PropertyVenv), Conda: word(PropertyConda), Kubeconfig: told[PropertyKube]}
	if at, from, found := strings.Cut(s.SSH, "@"); found && at != "" && from != "" {
		s.User, s.Host = at, from
	}
	return s
}

// Builtin gives a chip that is made of the session and the clock alone; ok is false for
// kinds that are made otherwise. A chip without text has no value here (spec chips C1).
func Builtin(kind Kind, s Session, now time.Time) (c davit.Chip, ok bool) {
	c = davit.Chip{Kind: string(kind), Status: davit.ChipReady}
	switch kind {
	case User:
		c.Text = s.User
	case Host:
		c.Text = s.Host
	case SSH:
		c.Text = s.SSH
	case Subshell:
		c.Text = s.Subshell
	case Venv:
		if s.Venv != "" {
			c.Text = path.Base(strings.TrimRight(s.Venv, "/"))
			c.Value = s.Venv
		}
	case Conda:
		c.Text = s.Conda
	case Date:
		c.Text = now.Format("Mon Jan 02 2006")
	case Time12:
		c.Text = now.Format("03:04 pm")
	case Time24:
		c.Text = now.Format("15:04")
	case AgentPlan: // drawn by those who know the chat
		return c, true
	default:
		return davit.Chip{}, false
	}
	if c.Value == "" {
		c.Value = c.Text
	}
	if c.Text == "" {
		c.Status, c.Reason = davit.ChipIdle, "it has no value here"
	}
	return c, true
}

// Tick says when a kind's value changes by the clock alone, on the clock's own marks;
// the zero time is never.
func Tick(kind Kind, now time.Time) time.Time {
	policy, _ := PolicyOf(kind)
	if !policy.Refresh.Aligned {
		return time.Time{}
	}
	_, offset := now.Zone()
	local := now.Add(time.Duration(offset) * time.Second)
	return now.Add(local.Truncate(policy.Refresh.Every).Add(policy.Refresh.Every).Sub(local))
}

// shells are those that count as a subshell when they run without a script.
func shells() []string {
	return []string{"bash", "zsh", "fish", "sh", "dash", "ksh", "mksh", "nu", "pwsh", "xonsh", "elvish", "tcsh", "nix-shell"}
}

// SubshellOf says which shell a command line starts for somebody to type into, "" when
// none: a script or -c is no session.
func SubshellOf(command string, aliases map[string]string) string {
	words := Program(command, aliases)
	if len(words) == 0 || !slices.Contains(shells(), words[0]) {
		return ""
	}
	for _, argument := range words[1:] {
		if !strings.HasPrefix(argument, "-") && words[0] != "nix-shell" {
			return ""
		}
		if !strings.HasPrefix(argument, "--") && strings.HasPrefix(argument, "-") && strings.Contains(argument, "c") || argument == "--run" || argument == "--command" {
			return ""
		}
	}
	return words[0]
}

// sshValued are the short options of ssh that take a value.
const sshValued = "BbcDEeFIiJLlmOopQRSWw"

// SSHTarget says where a command line signs in with ssh, "" when it does not: `ssh box`
// gives box, with user@ when it names one. A command behind the host is no session.
func SSHTarget(command string, aliases map[string]string) string {
	words := Program(command, aliases)
	if len(words) == 0 || words[0] != "ssh" && words[0] != "mosh" {
		return ""
	}
	user, target := "", ""
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case target != "": // a command to run there
			return ""
		case len(w) >= 2 && w[0] == '-' && w[1] != '-' && words[0] == "ssh":
			flag := w[len(w)-1:]
			switch {
			case strings.ContainsAny(w, "GNTQWVO"):
				return "" // no session to type into
			case strings.HasPrefix(w, "-l") && len(w) > 2:
				user = w[2:]
			case strings.Contains(sshValued, w[1:2]) && len(w) == 2 || len(w) > 2 && !strings.Contains(sshValued, w[1:2]) && strings.Contains(sshValued, flag):
				if i++; i < len(words) && flag == "l" {
					user = words[i]
				}
			}
		case strings.HasPrefix(w, "-"):
		default:
			target = w
		}
	}
	if rest, found := strings.CutPrefix(target, "ssh://"); found {
		target, _, _ = strings.Cut(rest, "/")
	}
	if user != "" && !strings.Contains(target, "@") && target != "" {
		target = user + "@" + target
	}
	return Line(target, maxTold)
}

// Bounds of a table of aliases.
const (
	maxAliases   = 256
	maxAliasText = 256
)

// Aliases reads the table that a shell told: a line `name=command` each. More than the
// bound, and lines of another form, are left out (spec chips C2.3).
func Aliases(told string) map[string]string {
	table := map[string]string{}
	for line := range strings.SplitSeq(told, "\n") {
		name, text, found := strings.Cut(line, "=")
		if !found || name == "" || len(name) > maxAliasText || len(text) > maxAliasText || len(table) >= maxAliases {
			continue
		}
		table[name] = text
	}
	return table
}

// Kubeconfigs lists the files that kubectl would read, as far as their names tell.
func Kubeconfigs(kubeconfig, dir, home string) []string {
	if kubeconfig == "" {
		return []string{path.Join(home, ".kube", "config")}
	}
	var files []string
	for _, file := range strings.Split(kubeconfig, ":") {
		if file != "" && !path.IsAbs(file) {
			file = path.Join(dir, file)
		}
		if file != "" && len(files) < 16 {
			files = append(files, file)
		}
	}
	return files
}
