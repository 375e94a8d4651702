package shell

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// The scripts' places below Dir.
const (
	bashScript = "bash/davit.bash"
	zshDir     = "zsh"
	zshEnv     = "zsh/.zshenv"
	zshScript  = "zsh/davit.zsh"
	fishScript = "fish/davit.fish"
)

// Prepare gives what starts the shell, interactive, and whether it will mark its
// prompts and commands. Without integration it is the plain shell. It is pure.
func Prepare(in PrepareInput) (Spawn, bool) {
	kind := in.Kind
	if kind == "" {
		kind = KindOf(in.Shell)
	}
	plain := Spawn{Argv: []string{in.Shell}}
	if in.Login {
		plain.Argv = append(plain.Argv, "-l")
	}
	if in.Dir == "" {
		return plain, false
	}
	switch kind {
	case Bash:
		// --init-file takes the place of ~/.bashrc, and the script reads that. bash
		// ignores it for a login shell, so the script reads the login files itself.
		spawn := Spawn{Argv: []string{in.Shell, "--init-file", filepath.Join(in.Dir, bashScript), "-i"}}
		if in.Login {
			spawn.Env = []string{"DAVIT_BASH_LOGIN=1"}
		}
		return spawn, true
	case Zsh:
		spawn := plain
		spawn.Env = []string{"ZDOTDIR=" + filepath.Join(in.Dir, zshDir)}
		if own, set := lookup(in.Env, "ZDOTDIR"); set {
			spawn.Env = append(spawn.Env, "DAVIT_USER_ZDOTDIR="+own)
		}
		return spawn, true
	case Fish:
		spawn := plain
		spawn.Argv = append(spawn.Argv, "--init-command", "source "+fishQuote(filepath.Join(in.Dir, fishScript)))
		return spawn, true
	}
	return plain, false
}

func lookup(env []string, name string) (string, bool) {
	value, set := "", false
	for _, pair := range env {
		if rest, ok := strings.CutPrefix(pair, name+"="); ok {
			value, set = rest, true
		}
	}
	return value, set
}

// WriteScripts puts the integration scripts below dir (made if missing), each whole or
// not at all; a script that is there with the same content is left alone.
func WriteScripts(dir string) error {
	for _, name := range []string{bashScript, zshEnv, zshScript, fishScript} {
		// The embedded tree has no dot files, so that go:embed takes all of it.
		source := "scripts/" + strings.Replace(name, ".zshenv", "zshenv", 1)
		content, err := scripts.ReadFile(source)
		if err != nil {
			return err
		}
		if err := writeWhole(filepath.Join(dir, name), content); err != nil {
			return fmt.Errorf("write shell integration: %w", err)
		}
	}
	return nil
}

func writeWhole(file string, content []byte) error {
	if old, err := os.ReadFile(file); err == nil && string(old) == string(content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".davit-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
