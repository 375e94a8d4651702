package cli

import (
	"fmt"
	"io"

	"davit/internal/doctor"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for what ends terminals from outside, and for what is missing", Args: cobra.NoArgs,
		Long: "Looks at this machine without changing it: what ends programs from outside (logout, services, memory and\ndescriptor limits) and what davit needs. Exit 1 when something is not well.",
		RunE: func(*cobra.Command, []string) error {
			h, err := a.home()
			if err != nil {
				return err
			}
			findings := doctor.Look(doctor.This(a.getenv, h.State))
			for _, f := range findings {
				if !f.OK {
					a.exit = 1
				}
			}
			return a.print(findings, func(w io.Writer) {
				for _, f := range findings {
					word := "ok"
					if !f.OK {
						word = "look"
					}
					fmt.Fprintf(w, "%-5s %-12s %s\n", word, f.Name, f.Text)
					if f.Hint != "" {
						fmt.Fprintf(w, "      %-12s %s\n", "", f.Hint)
					}
				}
			})
		},
	}
}
