package template

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CommandLine gives a command and its arguments as one line of the shell's language. Words
// that need no quotes have none. What a terminal would obey instead of showing it (control
// bytes, line ends, turns of the writing direction) is written as an escape, in the shells
// that have one. The error is for the person who gave the arguments.
func CommandLine(shell Shell, argv []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", errors.New("there is no command")
	}
	words := make([]string, 0, len(argv))
	for i, arg := range argv {
		word, err := lineWord(shell, arg, i == 0)
		if err != nil {
			return "", fmt.Errorf("argument %d: %w", i, err)
		}
		words = append(words, word)
	}
	line := strings.Join(words, " ")
	if shell == PowerShell && line[0] == '\'' {
		line = "& " + line // a string alone is a value there
	}
	if len(line) > MaxCommand {
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, len(line), MaxCommand)
	}
	return line, nil
}

func lineWord(shell Shell, arg string, first bool) (string, error) {
	switch {
	case !utf8.ValidString(arg):
		return "", errors.New("it is not valid UTF-8")
	case strings.ContainsRune(arg, 0):
		return "", errors.New("it contains a NUL byte, which no command can carry")
	case strings.ContainsFunc(arg, unseen):
		return escaped(shell, arg)
	case first && Bare(arg) && !reserved(arg), !first && bareOption(shell, arg):
		return arg, nil
	}
	return Quote(shell, arg), nil
}

// bareOption is Bare for what is no command: dashes in front need no quotes there, but in
// PowerShell, which takes such words for parameters of its own.
func bareOption(shell Shell, arg string) bool {
	rest := strings.TrimLeft(arg, "-")
	return Bare(arg) || shell != PowerShell && arg != "" && (rest == "" || Bare(rest))
}

// unseen says that a line editor would not show a character, or that a terminal would obey
// it.
func unseen(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029:
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true // they turn the writing direction
	}
	return false
}

func escaped(shell Shell, arg string) (string, error) {
	var b strings.Builder
	switch shell {
	case Bash, Zsh:
		// History expansion looks into $'…' (bash), and knows no \' there.
		b.WriteString("$'")
		for _, r := range arg {
			switch {
			case r == '\\':
				b.WriteString(`\\`)
			case r == '\n':
				b.WriteString(`\n`)
			case r == '\t':
				b.WriteString(`\t`)
			case r == '\'', r == '!', unseen(r):
				for _, c := range []byte(string(r)) {
					fmt.Fprintf(&b, `\x%02x`, c)
				}
			default:
				b.WriteRune(r)
			}
		}
		b.WriteString("'")
	case Fish:
		quoted := "" // fish reads these escapes outside of quotes only
		flush := func() {
			if quoted != "" {
				b.WriteString(Quote(Fish, quoted))
				quoted = ""
			}
		}
		for _, r := range arg {
			if !unseen(r) {
				quoted += string(r)
				continue
			}
			flush()
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		flush()
	default:
		return "", fmt.Errorf("%q has a line end or another control character, which %s cannot carry on one line", arg, shell)
	}
	return b.String(), nil
}
