package agent

import (
	"errors"
	"strings"
)

// splitWords splits arguments as a POSIX shell splits words: blanks separate, single
// and double quotes and backslashes protect. Nothing is expanded: no variable, no
// pattern, no tilde.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	open := false // a word has begun, maybe an empty quoted one
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case ' ', '\t', '\n', '\r':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case '\'', '"':
			end, err := quoted(runes, i, &word)
			if err != nil {
				return nil, err
			}
			i, open = end, true
		case '\\':
			if i+1 == len(runes) {
				return nil, errors.New("they end in a backslash")
			}
			i++
			open = true
			if runes[i] != '\n' {
				word.WriteRune(runes[i])
			}
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// quoted reads the quoted part that starts at i and gives the place of its end.
func quoted(runes []rune, i int, word *strings.Builder) (int, error) {
	quote := runes[i]
	for i++; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == quote:
			return i, nil
		case r == '\\' && quote == '"' && i+1 < len(runes) && strings.ContainsRune("\"\\$`\n", runes[i+1]):
			i++
			if runes[i] != '\n' {
				word.WriteRune(runes[i])
			}
		default:
			word.WriteRune(r)
		}
	}
	return 0, errors.New("a quote is not closed")
}
