package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/prefs"
	"davit/internal/prompt"
	"davit/internal/prompt/board"

	"github.com/spf13/cobra"
)

// promptText is what `davit prompt --json` prints.
type promptText struct {
	Text  string         `json:"text"`
	Chips []prompt.Value `json:"chips"`
	Dir   string         `json:"dir"`
	Host  bool           `json:"host"` // a host runs and keeps values
}

func (a *app) promptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "prompt", Short: "Print the prompt of the current directory from last values", Args: cobra.NoArgs,
		Long: "Prints the prompt's text for the current directory, from the values that the host knew last. It asks no git and waits\n" +
			"for nothing; the host looks again for the next time. `davit prompt init SHELL` gives the prompt to a shell.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := a.promptNow()
			if err != nil {
				return err
			}
			return a.print(text, func(w io.Writer) { fmt.Fprintln(w, text.Text) })
		},
	}
	cmd.AddCommand(a.promptInitCommand())
	return cmd
}

func (a *app) promptInitCommand() *cobra.Command {
	var o prompt.Options
	cmd := &cobra.Command{
		Use: "init bash|zsh|fish|pwsh", Short: "Print the code that gives davit's prompt to a shell", Args: cobra.ExactArgs(1),
		Long: "Prints the code that gives davit's prompt to a shell. Put it last into the shell's start-up file:\n" +
			"  bash, zsh:  eval \"$(davit prompt init bash)\"\n" +
			"  fish:       davit prompt init fish | source\n" +
			"  pwsh:       Invoke-Expression (& davit prompt init pwsh | Out-String)",
		ValidArgs: []string{"bash", "zsh", "fish", "pwsh"},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.boardDir()
			if err != nil {
				return err
			}
			o.Board = dir
			if o.Layout, err = a.promptLayout(cmd.Context(), dir); err != nil {
				return err
			}
			code, notes, err := prompt.Script(prompt.Shell(args[0]), o)
			if err != nil {
				return err
			}
			for _, note := range notes {
				a.note("%s", note)
			}
			return a.print(map[string]any{"shell": args[0], "code": code, "notes": append([]string{}, notes...)}, func(w io.Writer) { _, _ = io.WriteString(w, code) })
		},
	}
	cmd.Flags().StringSliceVar(&o.Right, "right", nil, "kinds that stand at the right (zsh, fish)")
	cmd.Flags().BoolVar(&o.Transient, "transient", false, "past prompts shrink to their sign (zsh, fish)")
	cmd.Flags().BoolVar(&o.Newline, "newline", false, "the sign stands on a line of its own")
	return cmd
}

// boardDir is where this home's host keeps values for prompts.
func (a *app) boardDir() (string, error) {
	h, err := a.home()
	if err != nil {
		return "", err
	}
	sockets, err := h.SocketDir()
	return board.Dir(sockets), err
}

// promptLayout is what a prompt shows: as the host says, else as it is stored. A store that
// cannot be used keeps nobody from a prompt.
func (a *app) promptLayout(ctx context.Context, dir string) ([]string, error) {
	if head, _, alive := board.Read(dir, "/"); alive {
		return head.Layout, nil
	}
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(h.Store()); err == nil {
		var layout []string
		err := a.withPrefs(ctx, func(p *prefs.Prefs) error { layout = p.Layout().Prompt; return nil })
		if err == nil {
			return layout, nil
		}
		a.note("warning: %s; the default prompt is used", davit.AsError(err).Message)
	}
	return chip.Defaults(chip.PlacePrompt, true, davit.PRUnvalidated).Left, nil
}

// promptNow puts a prompt together from what is known, and lets the host look again.
func (a *app) promptNow() (promptText, error) {
	dir, err := a.boardDir()
	if err != nil {
		return promptText{}, err
	}
	here := a.dir
	if pwd := a.getenv("PWD"); filepath.IsAbs(pwd) && sameDir(pwd, here) {
		here = filepath.Clean(pwd) // as the shell calls it
	}
	head, values, alive := board.Read(dir, here)
	layout := head.Layout
	if !alive {
		layout = chip.Defaults(chip.PlacePrompt, true, davit.PRUnvalidated).Left
	}
	machine, _ := os.Hostname()
	machine, _, _ = strings.Cut(machine, ".")
	session := chip.NewSession(a.shellSession(), a.userName(), machine)
	now := time.Now()
	own := []davit.Chip{chip.NewCwd(here, a.getenv("HOME"))}
	for _, kind := range layout {
		if c, ok := chip.Builtin(chip.Kind(kind), session, now); ok && prompt.Own(chip.Kind(kind)) {
			own = append(own, c)
		}
	}
	for _, c := range own {
		if c.Text != "" {
			values = append(values, prompt.Value{Kind: c.Kind, Text: prompt.Clean(c.Text)})
		}
	}
	if alive {
		a.askBoard(dir, here)
	}
	return promptText{Text: prompt.Text(layout, values), Chips: prompt.Ordered(layout, values), Dir: here, Host: alive}, nil
}

// askBoard leaves a note for the host, as a shell's prompt does. When it cannot be left,
// the next values are as old as these, so nothing is said.
func (a *app) askBoard(dir, here string) {
	data := prompt.Ask{Key: board.Key(here), Dir: here, Path: a.getenv("PATH")}.Encode()
	if _, whole := prompt.DecodeAsk(data); whole {
		_ = os.WriteFile(filepath.Join(dir, "ask", strconv.Itoa(os.Getpid())), data, 0o600)
	}
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
