package chip

import (
	"slices"
	"strings"
)

// Invalidates says whether a finished command bumps the counter of a policy (spec chips
// C2.3). aliases are those of the shell that ran it; nil is none.
func Invalidates(p Policy, command string, aliases map[string]string) bool {
	words := Program(command, aliases)
	if len(words) == 0 {
		return false
	}
	for _, by := range p.InvalidatedBy {
		if by.Command != words[0] {
			continue
		}
		return len(by.Verbs) == 0 || slices.Contains(by.Verbs, verb(words[1:]))
	}
	return false
}

// Program gives the program that a command line runs first, by its bare name, and its
// arguments up to the end of that command: assignments and wrappers are skipped, aliases
// and paths resolved.
func Program(command string, aliases map[string]string) []string {
	words := split(command)
	var expanded []string
	for {
		words = unwrap(words)
		if len(words) == 0 {
			return nil
		}
		name := words[0].text
		text, known := aliases[name]
		if !known || words[0].quoted || slices.Contains(expanded, name) {
			break
		}
		expanded = append(expanded, name)
		words = append(split(text), words[1:]...)
	}
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = w.text
	}
	plain[0] = plain[0][strings.LastIndexByte(plain[0], '/')+1:]
	return plain
}

// wrapperFlags are the programs that run another one, and those of their short flags that
// take a value of their own.
var wrapperFlags = map[string]string{"sudo": "ugpCrtTUDRh", "env": "uCS", "command": "", "time": "fo"}

func unwrap(words []word) []word {
	for len(words) > 0 {
		name := words[0].text
		if isAssignment(name) {
			words = words[1:]
			continue
		}
		base := name[strings.LastIndexByte(name, '/')+1:]
		valued, wrapper := wrapperFlags[base]
		if !wrapper {
			return words
		}
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
			flag := words[0].text
			words = words[1:]
			if flag == "--" {
				break
			}
			if base == "command" && strings.ContainsAny(flag, "vV") {
				return nil // it looks the program up and does not run it
			}
			if len(flag) == 2 && strings.Contains(valued, flag[1:]) && len(words) > 0 {
				words = words[1:]
			}
		}
	}
	return nil
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || (name[0] >= '0' && name[0] <= '9') {
		return false
	}
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// verb gives the first argument that is no option. The options of git that take a value
// apart are known; others of that kind do not come before a verb.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env":
			i++
			continue
		}
		if !strings.HasPrefix(args[i], "-") {
			return args[i]
		}
	}
	return ""
}

type word struct {
	text   string
	quoted bool // part of it was quoted, so that it is no alias
}

// split takes a command line apart as a shell would, up to the end of its first command.
// Expansions stay as they are written.
func split(line string) []word {
	var words []word
	var b strings.Builder
	var open, quoted bool
	var quote byte
	end := func() {
		if open {
			words = append(words, word{b.String(), quoted})
		}
		b.Reset()
		open, quoted = false, false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			if i++; i < len(line) && line[i] != '\n' {
				b.WriteByte(line[i])
				open, quoted = true, true
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, open, quoted = c, true, true
		case c == ' ' || c == '\t':
			end()
		case c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')':
			end()
			if len(words) > 0 {
				return words
			}
		default:
			b.WriteByte(c)
			open = true
		}
	}
	end()
	return words
}
