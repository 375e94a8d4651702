package template

import (
	"path"
	"strings"
)

// Shell is a family of shells that read quotes alike.
type Shell string

// The families. Sh is what any POSIX shell must understand.
const (
	Sh         Shell = "sh"
	Bash       Shell = "bash"
	Zsh        Shell = "zsh"
	Fish       Shell = "fish"
	PowerShell Shell = "powershell"
)

// ShellOf tells the family of a shell from its path or command name; false
// when its quoting is not known here.
func ShellOf(program string) (Shell, bool) {
	name := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".exe"), "-")
	switch name {
	case "sh", "dash", "ash", "ksh", "mksh", "busybox":
		return Sh, true
	case "bash", "rbash":
		return Bash, true
	case "zsh":
		return Zsh, true
	case "fish":
		return Fish, true
	case "pwsh", "pwsh-preview", "powershell":
		return PowerShell, true
	}
	return "", false
}

// Bare says whether a value needs no quotes in any shell (spec tabs T3.2).
func Bare(value string) bool {
	if value == "" || value[0] == '-' {
		return false
	}
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("_./:-", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// Quote is the value as one word of the shell's language, in quotes.
func Quote(shell Shell, value string) string {
	return "'" + escapeSingle(shell, value) + "'"
}

// Word is the value as one argument of a command that people copy: in quotes unless no
// shell needs them.
func Word(shell Shell, value string) string {
	if Bare(value) {
		return value
	}
	return Quote(shell, value)
}

// escapeSingle is the value as it stands between single quotes.
func escapeSingle(shell Shell, value string) string {
	switch shell {
	case Fish:
		return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)
	case PowerShell:
		// PowerShell takes typographic quotes for quotes.
		return strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(value)
	default:
		return strings.ReplaceAll(value, "'", `'\''`)
	}
}

// escapeDoublePowerShell is the value as it stands between double quotes.
// Quoted strings that touch are two arguments there, so a word is never
// closed and reopened as in the other shells.
func escapeDoublePowerShell(value string) string {
	return strings.NewReplacer("`", "``", "$", "`$", `"`, "`\"", "“", "`“", "”", "`”", "„", "`„").Replace(value)
}

// reserved words are quoted where they would otherwise be syntax.
func reserved(value string) bool {
	switch value {
	case "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in",
		"select", "function", "time", "coproc", "repeat", "foreach", "end", "nocorrect", "noglob", "declare",
		"export", "typeset", "local", "readonly", "float", "integer",
		"and", "or", "not", "begin", "switch", "builtin", "command", "exec", "return", "break", "continue":
		return true
	}
	return false
}
