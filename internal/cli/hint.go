package cli

import (
	"regexp"
	"strings"

	"davit"

	"github.com/spf13/cobra"
)

var (
	hintSentence = regexp.MustCompile(`[^.;?]*(?:[.;?]+[^\s.;?]+)*[.;?]*\s*`)
	hintCode     = regexp.MustCompile("`[^`]*`|\\bdavit [^`]*$")
	hintFlag     = regexp.MustCompile(`(?:^|[\s("'])--([a-z][a-z-]*)`)
)

// fitHint leaves out of an error's hint what the command that was typed cannot do: the same
// refusal is given to commands with different flags. Of a hint that has nothing else, the
// word of its code stands.
func fitHint(cmd *cobra.Command, e *davit.Error) *davit.Error {
	if cmd == nil || e.Hint == "" || len(foreignFlags(cmd, e.Hint)) == 0 {
		return e
	}
	fitted := *e
	fitted.Hint = ""
	for _, part := range hintSentence.FindAllString(e.Hint, -1) {
		if len(foreignFlags(cmd, part)) == 0 {
			fitted.Hint += part
		}
	}
	fitted.Hint = strings.TrimRight(fitted.Hint, " ;")
	return &fitted
}

// foreignFlags are the flags that a hint names for the command itself, and that it does
// not have. Flags of a command that the hint writes out are that command's.
func foreignFlags(cmd *cobra.Command, hint string) []string {
	var foreign []string
	for _, m := range hintFlag.FindAllStringSubmatch(hintCode.ReplaceAllString(hint, ""), -1) {
		if cmd.Flags().Lookup(m[1]) == nil && cmd.InheritedFlags().Lookup(m[1]) == nil {
			foreign = append(foreign, m[1])
		}
	}
	return foreign
}
