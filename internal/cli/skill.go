package cli

import (
	"fmt"
	"io"
	"slices"

	"davit"
	"davit/internal/configs"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) skillCommand() *cobra.Command {
	return &cobra.Command{
		Use: "skill [NAME|list]", Short: "Print a text that tells an agent how to work with davit", Args: cobra.MaximumNArgs(1),
		Example: "  davit skill tab-configs > .claude/skills/davit-tab-configs/SKILL.md",
		RunE: func(_ *cobra.Command, args []string) error {
			skills := configs.Skills()
			if len(args) == 0 || args[0] == "list" {
				return a.print(skills, func(w io.Writer) {
					rows := newTable(w)
					for _, s := range skills {
						rows.row(s.Name, s.Description)
					}
					_ = rows.flush()
				})
			}
			i := slices.IndexFunc(skills, func(s wire.Skill) bool { return s.Name == args[0] })
			if i < 0 {
				return davit.Errorf(davit.CodeNotFound, "there is no skill %q", args[0]).WithHint("`davit skill list` shows them")
			}
			return a.print(skills[i], func(w io.Writer) { fmt.Fprint(w, skills[i].Text) })
		},
	}
}
