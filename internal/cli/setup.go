package cli

import (
	"context"
	"fmt"
	"io"

	"davit"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) worktreeSetupCommand() *cobra.Command {
	var req wire.SetupRequest
	var allow bool
	var digest string
	cmd := &cobra.Command{
		Use: "setup", Short: "Show the setup script of new worktrees, and allow its text", Args: cobra.NoArgs,
		Long: "A repository may have a setup script, as `setup` in its .davit/workspace.toml. It runs in the terminal of each new\nworktree, before the agent, once you have allowed the text of that file; another text is asked about again.\n" +
			"What counts is the file as the branch has it that the worktree starts from." + selectorHelp,
		Example: "  davit worktree setup\n  davit worktree setup --base develop --allow",
		RunE: func(cmd *cobra.Command, _ []string) error {
			req.Dir = a.dir
			found, err := started[wire.Setup](cmd.Context(), a, "worktree.setup", req)
			if err != nil {
				return err
			}
			if allow && found.Trust != "trusted" {
				if digest == "" {
					digest = found.Digest
				}
				if !a.json && found.Text != "" {
					a.showSetup(found)
				}
				if err := a.allowSetup(cmd.Context(), req, digest); err != nil {
					return err
				}
				found.Trust = "trusted"
			}
			return a.print(found, func(w io.Writer) { printSetup(w, found) })
		},
	}
	cmd.Flags().StringVar(&req.In, "in", "", "repository (default: of the current directory)")
	cmd.Flags().StringVar(&req.Base, "base", "", "what a new worktree would start from")
	cmd.Flags().StringVar(&req.Branch, "branch", "", "branch of the new worktree; one that is there already has a script of its own")
	cmd.Flags().BoolVar(&allow, "allow", false, "let that text run in new worktrees of the repository")
	cmd.Flags().StringVar(&digest, "digest", "", "with --allow: the sha256 of the text that you have read; another text is refused")
	return cmd
}

func printSetup(w io.Writer, s wire.Setup) {
	for _, f := range s.Faults {
		fmt.Fprintln(w, f.Text)
	}
	switch {
	case s.Script == "":
		fmt.Fprintf(w, "no setup script: %s of a new worktree has none\n", s.Path)
	case s.Trust == "trusted":
		fmt.Fprintf(w, "%s (allowed)\n%s\n", s.Path, printable(s.Script))
	case s.Trust == "changed":
		fmt.Fprintf(w, "%s (not allowed: you allowed another text)\n%s\n", s.Path, printable(s.Script))
	default:
		fmt.Fprintf(w, "%s (not allowed yet)\n%s\n", s.Path, printable(s.Script))
	}
}

// askSetup shows a setup script that the user has not allowed yet and asks whether its text
// may run. Where nobody can be asked nothing is: the host skips it, and says so.
func (a *app) askSetup(ctx context.Context, req wire.SetupRequest) error {
	if !a.isTerminal() || a.json {
		return nil
	}
	found, err := started[wire.Setup](ctx, a, "worktree.setup", req)
	if err != nil || found.Script == "" || found.Trust == "trusted" {
		return nil // what is wrong with the repository or the base, the launch itself says
	}
	a.showSetup(found)
	if !a.confirm("Run this setup script in new worktrees, as long as this text stays as it is?") {
		return nil
	}
	return a.allowSetup(ctx, req, found.Digest)
}

func (a *app) showSetup(s wire.Setup) {
	if s.Trust == "changed" {
		a.note("the setup script is not the one that you allowed")
	}
	fmt.Fprintf(a.err, "--- %s\n%s\n---\n", s.Path, printable(s.Text))
}

func (a *app) allowSetup(ctx context.Context, req wire.SetupRequest, digest string) error {
	_, err := call[wire.ConfigTrusted](ctx, a, "worktree.allowSetup", wire.SetupAllow{In: req.In, Dir: req.Dir, Base: req.Base, Branch: req.Branch, Digest: digest})
	if davit.CodeOf(err) == davit.CodeConfigChanged {
		return davit.AsError(err).WithHint("look at it again: davit worktree setup")
	}
	return err
}
