package shell

import "strings"

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// TypedLine gives the bytes that make an idle shell run one command: as a bracketed
// paste when the shell has that mode on, so that a TAB inside quotes is not eaten by
// completion, and a CR (spec terminal P4). Without the mode a newline inside the
// command is typed as it is and ends a line.
//
// Control bytes other than TAB and newline cannot be typed as themselves; they are
// made visible, so that a command can neither end the paste nor reach the line editor.
func TypedLine(kind Kind, command string, bracketedPaste bool) []byte {
	text := visible(strings.TrimRight(command, "\r\n"))
	if bracketedPaste {
		return []byte(pasteStart + text + pasteEnd + "\r")
	}
	return []byte(strings.ReplaceAll(text, "\n", "\r") + "\r")
}

// JoinedLine gives the bytes that make a shell without integration run all commands,
// each only when the one before it succeeded: one line joined with && (spec tabs
// T4.1). A command that does not fit on one line as it is goes through eval.
func JoinedLine(kind Kind, commands []string) []byte {
	parts := make([]string, 0, len(commands))
	for _, command := range commands {
		command = visible(strings.TrimSpace(command))
		if command == "" {
			continue
		}
		if strings.ContainsAny(command, "\n#&|;\t") || strings.Contains(command, "<<") || strings.HasSuffix(command, `\`) {
			command = "eval " + quote(kind, command)
		}
		parts = append(parts, command)
	}
	if len(parts) == 0 {
		return nil
	}
	return []byte(strings.ReplaceAll(strings.Join(parts, " && "), "\n", "\r") + "\r")
}

func visible(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return '\u2400' + r // ␀ … ␟, the pictures of control bytes
		case r == 0x7f:
			return '\u2421'
		case r >= 0x80 && r < 0xa0:
			return '\ufffd'
		}
		return r
	}, text)
}

// quote makes one word of the text, for eval. Of a TAB inside, typed without a
// bracketed paste, the line editor would make a completion.
func quote(kind Kind, text string) string {
	if kind == Fish {
		return strings.ReplaceAll(fishQuote(text), "\t", `'\t'`)
	}
	quoted := "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	if kind == Posix {
		return quoted // a plain shell has no $'…' for certain; nor does it complete
	}
	return strings.ReplaceAll(quoted, "\t", `'$'\t''`)
}

func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
