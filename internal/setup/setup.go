// Package setup is what `davit setup-run DIR [PROGRAM ARGV…]` does: in the terminal that it is
// started in it runs the setup script of a new worktree, once, and then becomes the program
// that the terminal is for (spec launch L5.3, L9.5).
//
//	host ─ Write ─► plan.json, script ─ spawn ─► setup-run ─► started ─► sh ─► passed ─► exec PROGRAM
//	host ◄─ Read ─────────────────── report.jsonl ◄─────────────────────┴────► failed ─► exit
//
// The process is the pane's own, a child of the keeper: the host may die at any moment, and
// the next one reads what became of the script. It owns the folder of its plan and the one
// shell that it starts. It never runs a script twice: a plan whose report is there already
// is refused. It asks nothing and decides nothing: whether the text may run was decided
// before the plan was written (spec interfaces A2.3).
package setup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"davit"
)

// Names of the files in a setup's folder.
const (
	planFile   = "plan.json"
	scriptFile = "script"
	reportFile = "report.jsonl"
)

// Plan is what setup-run is given.
type Plan struct {
	Pane   davit.PaneID `json:"pane"`
	Dir    string       `json:"dir"`              // where the script runs: the worktree's root
	Script string       `json:"script"`           // for /bin/sh -e
	Hidden []string     `json:"hidden,omitempty"` // names of variables that are for the program alone
	Anyway bool         `json:"anyway,omitempty"` // the program starts however the script ends
	For    string       `json:"for,omitempty"`    // what waits for the script, in words
}

// State is how far a setup has come.
type State string

// The states. One that stays started while its process is gone was cut off.
const (
	None    State = ""
	Planned State = "planned"
	Started State = "started"
	Passed  State = "passed"
	Failed  State = "failed"
)

// Report is what became of a script; a line of the report file is one too.
type Report struct {
	State  State  `json:"state"`
	Exit   *int   `json:"exit,omitempty"`
	Signal string `json:"signal,omitempty"`
	Error  string `json:"error,omitempty"` // in words, of one that failed
	Dir    string `json:"-"`               // the worktree's root
}

// Dir is the folder of one setup below the state directory.
func Dir(state string, pane davit.PaneID) string {
	return filepath.Join(state, "setups", string(pane))
}

// Write puts the plan into its folder, durably, before the process that runs it is asked
// for. Writing the same plan again is harmless.
func Write(state string, p Plan) (dir string, err error) {
	dir = Dir(state, p.Pane)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the setup's folder: %w", err)
	}
	data, err := json.Marshal(p)
	if err == nil {
		err = put(filepath.Join(dir, scriptFile), []byte(p.Script))
	}
	if err == nil {
		err = put(filepath.Join(dir, planFile), data)
	}
	if err != nil {
		return "", fmt.Errorf("write the setup's plan: %w", err)
	}
	return dir, nil
}

// put writes a file whole or not at all.
func put(path string, data []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Read tells what became of the setup of a pane. A line cut short by a crash is left out.
func Read(state string, pane davit.PaneID) (Report, error) {
	dir := Dir(state, pane)
	plan, err := readPlan(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, nil
	}
	if err != nil {
		return Report{}, err
	}
	report := Report{State: Planned}
	f, err := os.Open(filepath.Join(dir, reportFile))
	if err == nil {
		defer f.Close()
		scan := bufio.NewScanner(f)
		for scan.Scan() {
			var line Report
			if json.Unmarshal(scan.Bytes(), &line) == nil {
				report = line
			}
		}
		err = scan.Err()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Report{}, fmt.Errorf("read the report of a setup: %w", err)
	}
	report.Dir = plan.Dir
	return report, nil
}

func readPlan(dir string) (Plan, error) {
	var plan Plan
	data, err := os.ReadFile(filepath.Join(dir, planFile))
	if err == nil {
		err = json.Unmarshal(data, &plan)
	}
	if err != nil {
		return plan, fmt.Errorf("read the plan of a setup: %w", err)
	}
	return plan, nil
}

// Forget removes the files of a setup, by name, and its folder when that is empty.
func Forget(state string, pane davit.PaneID) error {
	dir := Dir(state, pane)
	var faults []error
	for _, path := range []string{filepath.Join(dir, planFile), filepath.Join(dir, scriptFile), filepath.Join(dir, reportFile), dir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
