package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The keys that the integration binds and no keyboard has. Take puts the user's line aside
// and a command of davit's in its place; Accept runs it in bash, where Take cannot; Give
// puts the user's line back.
const (
	keyTake   = "\x1b[5791~"
	keyAccept = "\x1b[5792~"
	KeyGive   = "\x1b[5793~"
)

// What a shell tells of them, as properties.
const (
	PropertyKeys = "RUN_KEY" // which shell has bound the keys
	PropertyRun  = "RUN"     // "<id> <answer>": what became of a request
	PropertyKept = "KEPT"    // "1" while a line of the user's waits to be given back
)

// The answers of PropertyRun.
const (
	AnswerTaken        = "taken"
	AnswerKeptAndTaken = "kept_and_taken" // and the user's line waits to be given back
	AnswerContinuation = "continuation"   // the shell waits for the rest of a command
	AnswerKept         = "kept"           // the line of an earlier time still waits
	AnswerLate         = "late"           // it was withdrawn
	AnswerNothing      = "nothing"        // there was no request
)

// TakeKeys are the keys that make a shell take what Offer has put down, in one write.
func TakeKeys(kind Kind) []byte {
	if kind == Bash {
		return []byte(keyTake + keyAccept)
	}
	return []byte(keyTake)
}

// An Offer is one command that a pane's shell may take. Whoever makes the file Claim first
// decides: the shell that it runs, or davit that it never will.
type Offer struct {
	dir, pane, id string
}

// NewOffer names the offer of one request. Its id and the pane's have letters, digits, "_"
// and "-" alone.
func NewOffer(scripts, pane, id string) Offer {
	return Offer{dir: filepath.Join(scripts, "run"), pane: pane, id: id}
}

func (o Offer) file() string  { return filepath.Join(o.dir, o.pane) }
func (o Offer) claim() string { return filepath.Join(o.dir, o.pane+"."+o.id) }

// Put lays the command's line down.
func (o Offer) Put(line string) error {
	if strings.ContainsAny(o.pane+o.id, "/.\n") || strings.ContainsAny(line, "\n\x00") {
		return errors.New("a command for a shell is one line, for a pane's id")
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return fmt.Errorf("offer a command: %w", err)
	}
	o.sweep()
	if err := writePrivate(o.file(), []byte(o.id+"\n"+line+"\n")); err != nil {
		return fmt.Errorf("offer a command: %w", err)
	}
	return nil
}

// Withdraw makes sure that the shell does not take the offer any more; false when it has.
func (o Offer) Withdraw() (withdrawn bool, err error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return false, fmt.Errorf("withdraw a command: %w", err)
	}
	file, err := os.OpenFile(o.claim(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		text, err := os.ReadFile(o.claim())
		return string(text) == withdrawnText, err // by a former host
	}
	if err != nil {
		return false, fmt.Errorf("withdraw a command: %w", err)
	}
	_, err = file.WriteString(withdrawnText)
	return true, errors.Join(err, file.Close())
}

const withdrawnText = "withdrawn\n"

// Forget takes the command's text away. The claim stays: a key may be under way.
func (o Offer) Forget() { _ = os.Remove(o.file()) }

// claimLife is how long a claim is kept: as long as the ledger knows its id.
const claimLife = 25 * time.Hour

// sweep removes claims that nobody can ask for any more.
func (o Offer) sweep() {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > claimLife {
			_ = os.Remove(filepath.Join(o.dir, e.Name()))
		}
	}
}

func writePrivate(file string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".davit-*") // 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
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
