package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/customs"
	"davit/internal/chip/prefs"
	"davit/internal/chip/runner"
	"davit/internal/configs"
	"davit/internal/git"
	"davit/internal/github"
	"davit/internal/store"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

func (a *app) chipsCommand() *cobra.Command {
	var dir string
	var why bool
	cmd := &cobra.Command{
		Use: "chips", Short: "Print the context chips of a directory", Args: cobra.NoArgs,
		Long: "Prints the chips of a directory. The host is asked when one runs, else the command looks by itself; the PATH is\nthat of the caller either way.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			where, err := a.chipsPlace(dir)
			if err != nil {
				return err
			}
			chips, err := call[wire.Chips](cmd.Context(), a, "chips.get", where)
			if davit.CodeOf(err) == davit.CodeHostDown {
				chips, err = a.chipsAlone(cmd.Context(), where)
			}
			if err != nil {
				return err
			}
			for _, fault := range chips.Faults {
				a.note("%s", fault)
			}
			return a.print(chips, func(w io.Writer) { writeChips(w, chips, why) })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "directory (default: the current one)")
	cmd.Flags().BoolVar(&why, "why", false, "a line for each chip, with its status and reason")
	cmd.AddCommand(a.chipsLayoutCommand(), a.chipsRevalidateCommand())
	return cmd
}

func writeChips(w io.Writer, chips wire.Chips, why bool) {
	var shown []string
	for _, c := range chips.Chips {
		if why {
			fmt.Fprintf(w, "%-16s %-9s %s\n", c.Kind, c.Status, strings.TrimSpace(c.Text+" "+c.Reason))
		} else if c.Text != "" && slices.Contains(chips.Shown, c.Kind) && (c.Data == nil || len(c.Data.WhileTyping) == 0) {
			shown = append(shown, c.Text)
		}
	}
	if !why {
		fmt.Fprintln(w, strings.Join(shown, " "))
	}
}

func (a *app) chipsRevalidateCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "revalidate", Short: "Ask gh anew whether the pull-request chip works here", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			where, err := a.chipsPlace(dir)
			if err != nil {
				return err
			}
			said, err := call[wire.ChipRevalidated](cmd.Context(), a, "chips.revalidate", where)
			if davit.CodeOf(err) == davit.CodeHostDown {
				err = a.alone(cmd.Context(), a.withPrefs, func(ctx context.Context, r *runner.Runner, p *prefs.Prefs, _ func() error) error {
					j := r.Revalidate(ctx, runner.Question{Dir: where.Dir, Path: where.Path}, p.Layout())
					_, err := p.Judge(ctx, j.Verdict, j.Reason)
					said = wire.ChipRevalidated{Layout: p.Layout(), Outcome: string(j.Verdict), Reason: j.Reason}
					return err
				})
			}
			if err != nil {
				return err
			}
			return a.print(said, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %s\nthe pull-request chip is %s\n", said.Outcome, said.Reason, said.Layout.Validation)
			})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "directory of a repository (default: the current one)")
	return cmd
}

// chipsAlone looks at a directory without a host, by the same code and store (spec chips
// C3.3).
func (a *app) chipsAlone(ctx context.Context, in wire.ChipsRequest) (wire.Chips, error) {
	var out wire.Chips
	looked := false
	look := func(ctx context.Context, r *runner.Runner, p *prefs.Prefs, settle func() error) error {
		looked = true
		machine, _ := os.Hostname()
		machine, _, _ = strings.Cut(machine, ".")
		session := chip.NewSession(in.Session, a.userName(), machine)
		own, faults := a.ownChips()
		r.Own(own)
		list := r.List(ctx, runner.ListRequest{Dir: in.Dir, Path: in.Path, Session: session, Layout: p.Layout(), Verdict: p.Verdict()})
		if err := settle(); err != nil {
			return err
		}
		out = wire.Chips{Chips: list, Validation: string(p.Layout().Validation), Shown: p.Layout().Prompt, Faults: faults}
		return nil
	}
	err := a.alone(ctx, a.withPrefs, look)
	if err != nil && !looked && ctx.Err() == nil {
		a.note("warning: %s; what is stored about chips is not used", davit.AsError(err).Message)
		err = a.alone(ctx, withoutStore, look)
	}
	return out, err
}

// ownChips reads the user's own chips of this home.
func (a *app) ownChips() (list []chip.CustomChip, faults []string) {
	h, err := a.home()
	if err != nil {
		return nil, nil
	}
	file := filepath.Join(h.Config, "config.toml")
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	list, found := customs.Load(file, src)
	for _, f := range configs.WireFaults(found, src) {
		faults = append(faults, f.Text)
	}
	return list, faults
}

// shellSession is what this process's environment tells of the session that it is in.
func (a *app) shellSession() map[string]string {
	told := map[string]string{}
	for _, name := range []string{chip.PropertyVenv, chip.PropertyConda, chip.PropertyKube} {
		if value := a.getenv(name); value != "" {
			told[name] = value
		}
	}
	if a.getenv("SSH_CONNECTION") != "" {
		machine, _ := os.Hostname()
		told[chip.PropertySSH] = a.userName() + "@" + machine
	}
	return told
}

// userName is whose terminal this is.
func (a *app) userName() string {
	if name := a.getenv("USER"); name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// nothing is a store that keeps what it is told as long as it lives.
type nothing map[string]json.RawMessage

func (n nothing) Setting(_ context.Context, key string) (json.RawMessage, bool, error) {
	value, found := n[key]
	return value, found, nil
}

func (n nothing) SetSetting(_ context.Context, key string, value json.RawMessage) error {
	n[key] = value
	return nil
}

func withoutStore(ctx context.Context, work func(p *prefs.Prefs) error) error {
	p, err := prefs.Load(ctx, prefs.Config{Store: nothing{}})
	if err != nil {
		return err
	}
	return work(p)
}

// alone runs work with a runner and the stored preferences of this home. settle takes the
// verdicts so far to the store.
func (a *app) alone(ctx context.Context, open func(context.Context, func(*prefs.Prefs) error) error, work func(ctx context.Context, r *runner.Runner, p *prefs.Prefs, settle func() error) error) error {
	return open(ctx, func(p *prefs.Prefs) error {
		verdicts := make(chan chip.Judgement, 64) // more than one question can have; full: dropped
		g := git.Runner{Path: "git", Env: a.environ}
		r := runner.New(runner.Config{
			Git: g, Home: a.getenv("HOME"), Now: time.Now, GitHub: github.Client{Git: g, Environ: func() []string { return a.environ }},
			Login: func() (string, bool) { return a.getenv("PATH"), true },
			Judge: func(j chip.Judgement) {
				select {
				case verdicts <- j:
				default:
				}
			},
		})
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		defer func() { cancel(); <-ended }()
		return work(ctx, r, p, func() error {
			for {
				select {
				case j := <-verdicts:
					if _, err := p.Judge(ctx, j.Verdict, j.Reason); err != nil {
						return err
					}
				default:
					return nil
				}
			}
		})
	})
}

// withPrefs opens the store of a home without a host.
func (a *app) withPrefs(ctx context.Context, work func(p *prefs.Prefs) error) error {
	h, err := a.home()
	if err != nil {
		return err
	}
	if err := h.Make(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := store.Open(ctx, store.Config{Path: h.Store(), Log: log})
	if err != nil {
		return err
	}
	defer s.Close()
	p, err := prefs.Load(ctx, prefs.Config{Store: s, Log: log})
	if err != nil {
		return err
	}
	return work(p)
}

// chipsPlace is the directory that is asked about, which has to be there, and this PATH.
func (a *app) chipsPlace(dir string) (wire.ChipsRequest, error) {
	where := wire.ChipsRequest{Dir: a.dir, Path: a.getenv("PATH"), Session: a.shellSession()}
	if dir == "" {
		return where, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.dir, dir)
	}
	where.Dir = filepath.Clean(dir)
	if info, err := os.Stat(where.Dir); err != nil || !info.IsDir() {
		return where, davit.Errorf(davit.CodeDirectoryMissing, "%s is not a directory", where.Dir).WithHint("name a directory that is there")
	}
	return where, nil
}
