package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"davit"
	"davit/internal/chip"
	"davit/internal/chip/prefs"
	"davit/internal/configs"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"github.com/spf13/cobra"
)

// layoutKeys gives the keys of a layout in TOML, in order (spec chips C4.6).
func layoutKeys() []string { return []string{"prompt", "footer", "cli_footer"} }

// placeOf finds a place by its key, or by the name that the API has for it.
func placeOf(name string) (chip.Place, bool) {
	switch name {
	case "prompt":
		return chip.PlacePrompt, true
	case "footer":
		return chip.PlaceFooter, true
	case "cli_footer", string(chip.PlaceCLIFooter):
		return chip.PlaceCLIFooter, true
	}
	return "", false
}

func (a *app) chipsLayoutCommand() *cobra.Command {
	export := &cobra.Command{
		Use: "export", Short: "Print the layouts as TOML", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.layout(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(l, func(w io.Writer) { _, _ = w.Write(encodeLayout(l)) })
		},
	}
	load := &cobra.Command{
		Use: "import FILE", Short: "Take the layouts from a TOML file; - is stdin", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := a.readLayout(args[0])
			if err != nil {
				return err
			}
			return a.setLayout(cmd.Context(), set)
		},
	}
	reset := &cobra.Command{
		Use: "reset [prompt|footer|cli_footer]...", Short: "Go back to the default layouts", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{string(chip.PlacePrompt), string(chip.PlaceFooter), string(chip.PlaceCLIFooter)}
			}
			places := make([]string, len(args))
			for i, name := range args {
				place, known := placeOf(name)
				if !known {
					return davit.Errorf(davit.CodeLayoutInvalid, "%q has no layout", name).WithHint("reset prompt, footer or cli_footer")
				}
				places[i] = string(place)
			}
			return a.setLayout(cmd.Context(), wire.ChipLayoutSet{Reset: places})
		},
	}
	return noun("layout", "Which chips are shown where", export, load, a.chipsLayoutSetCommand(), reset)
}

func (a *app) chipsLayoutSetCommand() *cobra.Command {
	var left, right []string
	cmd := &cobra.Command{
		Use: "set prompt KIND... | set footer|cli_footer --left A,B --right C", Short: "Choose what a prompt or a footer shows", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			items := davit.FooterItems{Left: append([]string{}, left...), Right: append([]string{}, right...)}
			var set wire.ChipLayoutSet
			switch place, _ := placeOf(args[0]); {
			case place == chip.PlacePrompt && len(right) > 0:
				return usagef("a prompt is one list: name its kinds, or give them with --left; `davit prompt init --right` puts kinds at the right of a shell's prompt")
			case place == chip.PlacePrompt:
				kinds := append(append([]string{}, left...), args[1:]...)
				set.Prompt = &kinds
			case place == chip.PlaceFooter && len(args) == 1:
				set.Footer = &items
			case place == chip.PlaceCLIFooter && len(args) == 1:
				set.CLIFooter = &items
			default:
				return usagef("davit chips layout set takes `prompt` with kinds, or `footer` or `cli_footer` with --left and --right")
			}
			return a.setLayout(cmd.Context(), set)
		},
	}
	cmd.Flags().StringSliceVar(&left, "left", nil, "items at the left of a footer, or a prompt's kinds")
	cmd.Flags().StringSliceVar(&right, "right", nil, "items at the right of a footer")
	return cmd
}

func (a *app) layout(ctx context.Context) (davit.ChipLayout, error) {
	state, err := call[davit.State](ctx, a, "host.state", wire.None{})
	layout := state.Layout
	if davit.CodeOf(err) == davit.CodeHostDown {
		err = a.withPrefs(ctx, func(p *prefs.Prefs) error { layout = p.Layout(); return nil })
	}
	return layout, err
}

// setLayout changes layouts, by the host when one runs.
func (a *app) setLayout(ctx context.Context, set wire.ChipLayoutSet) error {
	layout, err := call[davit.ChipLayout](ctx, a, "chips.setLayout", set)
	if davit.CodeOf(err) == davit.CodeHostDown {
		err = a.withPrefs(ctx, func(p *prefs.Prefs) error {
			err := p.SetLayout(ctx, chip.Edit(set))
			layout = p.Layout()
			return err
		})
	}
	if err != nil {
		return err
	}
	return a.print(layout, func(w io.Writer) { _, _ = w.Write(encodeLayout(layout)) })
}

const maxLayout = 1 << 20

// A layout in TOML: each part is "default", or the user's own.
//
//	prompt = ["cwd", "git_branch"]
//	footer = { left = ["cwd"], right = ["model"] }
//	cli_footer = "default"
func encodeLayout(l davit.ChipLayout) []byte {
	var b bytes.Buffer
	b.WriteString("# Which chips davit shows where: `davit chips layout import` takes this file.\n")
	for _, key := range layoutKeys() {
		place, _ := placeOf(key)
		items, text := chip.Items(l, place), `"default"`
		switch {
		case !slices.Contains(l.Custom, string(place)):
		case place == chip.PlacePrompt:
			text = quoted(items.Left)
		default:
			text = fmt.Sprintf("{ left = %s, right = %s }", quoted(items.Left), quoted(items.Right))
		}
		fmt.Fprintf(&b, "%s = %s\n", key, text)
	}
	return b.Bytes()
}

// quoted writes a list as TOML, which writes plain strings as JSON does.
func quoted(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		word, _ := json.Marshal(name) // a string cannot fail
		words[i] = string(word)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// readLayout reads a file, or stdin for "-", whole: with one error in it nothing of it is
// used. Each fault is told with its line and column.
func (a *app) readLayout(file string) (wire.ChipLayoutSet, error) {
	var data []byte
	var err error
	name := file
	if file == "-" {
		name = "stdin"
		data, err = io.ReadAll(io.LimitReader(a.in, maxLayout))
	} else {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return wire.ChipLayoutSet{}, davit.Errorf(davit.CodeLayoutInvalid, "the layout cannot be read: %w", err)
	}
	set, faults := decodeLayout(name, data)
	if len(faults) == 0 {
		return set, nil
	}
	told := configs.WireFaults(faults, data)
	text := faults[0].String()
	if len(faults) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(faults)-1)
	}
	failed := davit.Errorf(davit.CodeLayoutInvalid, "%s", text).WithHint("correct the file; nothing of it was taken")
	failed.Details = map[string]any{"faults": told}
	if !a.json {
		for _, f := range told {
			fmt.Fprint(a.err, f.Text)
		}
	}
	return set, failed
}

// decodeLayout reads what encodeLayout writes. Parts that are not there stay as they are.
func decodeLayout(name string, data []byte) (wire.ChipLayoutSet, []tabconfig.Fault) {
	var set wire.ChipLayoutSet
	d := tabconfig.OpenDocument(name, data)
	root, kinds := d.Root(), tabconfig.OpenDocument(name, data)
	given := map[chip.Place]string{}
	for _, key := range append(layoutKeys(), string(chip.PlaceCLIFooter)) {
		if !root.Has(key) {
			continue
		}
		probe := kinds.Root() // what it finds wrong is told to nobody
		probe.Text(key)
		place, _ := placeOf(key)
		part, ok := readPart(root, key, place, !probe.Bad())
		if !ok {
			continue
		}
		if other, twice := given[place]; twice {
			root.Fault(key, tabconfig.Error, tabconfig.CodeValue, "keep one of the two", "%s is %s by another name", key, other)
			continue
		}
		given[place] = key
		if part == nil {
			set.Reset = append(set.Reset, string(place))
			continue
		}
		edit := chip.Edit{}
		switch place {
		case chip.PlacePrompt:
			set.Prompt, edit.Prompt = &part.Left, &part.Left
		case chip.PlaceFooter:
			set.Footer, edit.Footer = part, part
		case chip.PlaceCLIFooter:
			set.CLIFooter, edit.CLIFooter = part, part
		}
		// What no layout can hold is told at its line, by the rules that will store it.
		if _, err := (chip.Saved{}).Apply(edit, true, davit.PRUnvalidated); err != nil {
			e := davit.AsError(err)
			root.Fault(key, tabconfig.Error, tabconfig.CodeValue, e.Hint, "%s", e.Message)
		}
	}
	root.Close(tabconfig.Error)
	slices.Sort(set.Reset)
	return set, d.Faults()
}

// readPart reads one part: nil is the default; ok is false when it cannot be read.
func readPart(root *tabconfig.Table, key string, place chip.Place, isText bool) (part *davit.FooterItems, ok bool) {
	if isText {
		if text := root.Text(key); text != "default" {
			root.Fault(key, tabconfig.Error, tabconfig.CodeValue, `write "default", or a list`, "%s is not %q", key, text)
			return nil, false
		}
		return nil, true
	}
	if place == chip.PlacePrompt {
		return &davit.FooterItems{Left: append([]string{}, root.Texts(key)...)}, !root.Bad()
	}
	table := root.Table(key)
	if table == nil {
		return nil, false
	}
	items := davit.FooterItems{Left: append([]string{}, table.Texts("left")...), Right: append([]string{}, table.Texts("right")...)}
	table.Close(tabconfig.Error)
	return &items, !table.Bad()
}
