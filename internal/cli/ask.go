package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"davit"
	"davit/internal/tabconfig"
	"davit/internal/wire"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// gaveUp is a person who pressed Ctrl-C while values were asked for. It says what was left
// undone, which is everything.
type gaveUp struct{ undone string }

func (g *gaveUp) Error() string { return g.undone }

// keys reads what is typed, and stops waiting for it when the command is ended.
type keys struct {
	ctx context.Context
	in  *os.File
}

func (k keys) Read(p []byte) (int, error) {
	for {
		if err := k.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(k.in.Fd()), Events: unix.POLLIN}}, 100)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return 0, err
		}
		if n > 0 {
			return k.in.Read(p)
		}
	}
}

// asker asks for values on the terminal, with a line editor; what is typed in one go for
// several questions answers them in turn.
type asker struct{ screen *term.Terminal }

// canAsk says whether there is somebody who sees a question and can answer it.
func (a *app) canAsk() bool { return a.isTerminal() && term.IsTerminal(int(a.err.Fd())) }

// asking runs do with the terminal in raw mode, where Ctrl-C is a key like others: whoever
// presses it is told what was not done.
func (a *app) asking(ctx context.Context, undone string, do func(asker) error) error {
	state, err := term.MakeRaw(int(a.in.Fd()))
	if err != nil {
		return fmt.Errorf("ask on the terminal: %w", err)
	}
	defer func() { _ = term.Restore(int(a.in.Fd()), state) }()
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys{ctx, a.in}, a.err}, "")
	if cols, rows, err := term.GetSize(int(a.err.Fd())); err == nil && cols > 0 {
		_ = screen.SetSize(cols, rows) // only its wrapping depends on it
	}
	err = do(asker{screen})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) { // Ctrl-C, Ctrl-D on an empty line, or a signal
		fmt.Fprint(a.err, "\r\n")
		return &gaveUp{undone}
	}
	return err
}

func (q asker) say(format string, args ...any) { fmt.Fprintf(q.screen, format+"\n", args...) }

// line asks once; a secret is not shown while it is typed.
func (q asker) line(prompt string, secret bool) (string, error) {
	if secret {
		return q.screen.ReadPassword(prompt)
	}
	q.screen.SetPrompt(prompt)
	return q.screen.ReadLine()
}

// question is one parameter as it is asked for.
type question struct {
	tabconfig.Param
	last *string // what the last opening was given
}

// offered is what Enter takes: the last value, else the default. A secret has no last one.
func (q question) offered() (string, bool) {
	switch {
	case q.last != nil && q.Refuses(*q.last) == "" && strings.TrimSpace(*q.last) != "":
		return *q.last, true
	case q.HasDefault:
		return q.Default, true
	}
	return "", false
}

// prompt is the line behind which the answer is typed.
func (q question) prompt() string {
	if value, ok := q.offered(); ok && q.Type != tabconfig.Secret {
		return fmt.Sprintf("%s [%s]: ", visible(q.Name), visible(value))
	}
	return visible(q.Name) + ": "
}

// about is what is said before it: what it is for, and what can be answered.
func (q question) about() []string {
	kinds := map[tabconfig.ParamType]string{
		tabconfig.Secret: "not shown while you type", tabconfig.Boolean: "true or false", tabconfig.Repo: "the directory of a repository",
		tabconfig.Branch: "a branch", tabconfig.Choice: "a number, or the word",
	}
	text := visible(q.Description)
	if kind := kinds[q.Type]; kind != "" {
		if text != "" {
			text += " "
		}
		text += "(" + kind + ")"
	}
	var lines []string
	if text != "" {
		lines = append(lines, text)
	}
	for i, option := range q.Options {
		lines = append(lines, fmt.Sprintf("  %d  %s", i+1, visible(option)))
	}
	return lines
}

// take reads an answer: the value, or why it cannot be one.
func (q question) take(answer string) (value, problem string) {
	if offered, ok := q.offered(); answer == "" && ok {
		return offered, ""
	}
	if q.Type != tabconfig.Secret {
		answer = strings.TrimSpace(answer)
	}
	if strings.TrimSpace(answer) == "" {
		return "", "a value is needed"
	}
	switch {
	case q.Type == tabconfig.Choice && !slices.Contains(q.Options, answer):
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(q.Options) {
			answer = q.Options[n-1]
		}
	case q.Type == tabconfig.Boolean:
		switch strings.ToLower(answer) {
		case "y", "yes":
			answer = "true"
		case "n", "no":
			answer = "false"
		}
	}
	return answer, q.Refuses(answer)
}

// ask asks for what a config needs and the command line did not give (spec tabs T2.2), and
// offers defaults along with it. An answer that does not fit is asked for again, alone.
// Those that the refusal says do not fit are asked for again too.
func (a *app) ask(ctx context.Context, req wire.OpenRequest, refused *davit.Error) error {
	problems := unfitValues(refused)
	questions, name, err := a.questions(ctx, req, problems)
	if err != nil {
		return err
	}
	return a.asking(ctx, "Nothing was opened.", func(to asker) error {
		to.say("%s asks for values. Enter takes what stands in brackets; Ctrl-C opens nothing.", visible(name))
		for _, q := range questions {
			for _, line := range q.about() {
				to.say("%s", line)
			}
			if problem := problems[q.Name]; problem != "" {
				to.say("  the value that was given %s", visible(problem))
			}
			for {
				answer, err := to.line(q.prompt(), q.Type == tabconfig.Secret)
				if err != nil {
					return err
				}
				value, problem := q.take(answer)
				if problem == "" {
					req.Params[q.Name] = value
					break
				}
				if problem != "a value is needed" {
					problem = "the value " + problem
				}
				to.say("  %s", problem)
			}
		}
		return nil
	})
}

// questions are the parameters of a config that the command line gave no value for, or one
// that does not fit, in the order of the form; and the config's name.
func (a *app) questions(ctx context.Context, req wire.OpenRequest, problems map[string]string) ([]question, string, error) {
	list, err := call[wire.ConfigList](ctx, a, "config.list", wire.ConfigsRequest{Dir: a.dir})
	if err != nil {
		return nil, "", err
	}
	arg := req.Config
	if arg == "" {
		arg = list.Default
	}
	loaded, err := a.find(arg)
	if err != nil || loaded.Config == nil {
		return nil, "", err
	}
	last := map[string]*string{}
	for _, c := range list.Configs {
		if c.Path == loaded.Path {
			for _, p := range c.Params {
				last[p.Name] = p.Last
			}
		}
	}
	var questions []question
	for _, p := range loaded.Config.Params() {
		given, there := req.Params[p.Name]
		_, worth := p.Value(given, there)
		if !worth || !there || problems[p.Name] != "" {
			questions = append(questions, question{p, last[p.Name]})
		}
	}
	return questions, loaded.Config.Name, nil
}

// unfitValues are the values that a refusal says do not fit, by parameter.
func unfitValues(e *davit.Error) map[string]string {
	problems := map[string]string{}
	if e == nil {
		return problems
	}
	list, _ := e.Details["values"].([]any)
	for _, one := range list {
		fault, _ := one.(map[string]any)
		name, _ := fault["param"].(string)
		problems[name], _ = fault["problem"].(string)
	}
	return problems
}

// howToGive turns the refusal of an opening into what to type: each missing parameter, and
// what it takes.
func (a *app) howToGive(ctx context.Context, e *davit.Error, req wire.OpenRequest) *davit.Error {
	missing, _ := e.Details["missing"].([]any)
	known := map[string]tabconfig.Param{}
	if questions, _, err := a.questions(ctx, req, nil); err == nil {
		for _, q := range questions {
			known[q.Name] = q.Param
		}
	}
	var give []string
	for _, m := range missing {
		name := fmt.Sprint(m)
		value := "VALUE"
		if options := known[name].Options; len(options) > 0 {
			value = strings.Join(options, "|")
		}
		if known[name].Type == tabconfig.Boolean {
			value = "true|false"
		}
		give = append(give, "--param "+a.word(name)+"="+a.word(value))
	}
	for _, name := range slices.Sorted(maps.Keys(unfitValues(e))) {
		give = append(give, "another --param "+a.word(name)+"=VALUE")
	}
	if len(give) == 0 {
		return e
	}
	return e.WithHint("add %s", strings.Join(give, " "))
}
