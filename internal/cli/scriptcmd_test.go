package cli

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"davit/internal/home"
	"davit/internal/keeper"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds every wait of a story: far more than anything takes on a busy machine.
const patience = 60 * time.Second

type storyCommand = func(ts *testscript.TestScript, neg bool, args []string)

// storyCommands are what stories need beside testscript's own:
//
//	waitfor REGEXP CMD…          run CMD until it ends with 0 and its output matches
//	! waitfor REGEXP CMD…        … until it fails, or does not match any more
//	jsoncheck FILE PATH [VALUE]  a value of a JSON file; PATH as a/0/[name=x]/@len;
//	                             VALUE as ~REGEXP matches; without VALUE it has to be there
//	jsonget FILE PATH VAR        … into a variable
//	gitrepo DIR                  a repository with one commit on main
//	killhost                     kill -9 of the host; returns when it is gone
//	hostgone                     returns when the host that runs, or ran, is gone
//	gone PID                     returns when no such process lives; a zombie does not
//	opid VAR [DURATION]          an operation id, minted that much later (or -earlier)
//	count REGEXP N FILE          so many lines of the file match
//	pty FILE CMD…                CMD in a terminal; FILE says what is typed and seen
//	occupy PATH                  another program listens on the Unix socket PATH
//	garbage FILE                 the bytes go to the host's, the keeper's socket, WebSockets
//	newerstore                   the store as a later version leaves it
func storyCommands() map[string]storyCommand {
	return map[string]storyCommand{
		"waitfor": cmdWaitFor, "jsoncheck": cmdJSONCheck, "jsonget": cmdJSONGet, "gitrepo": cmdGitRepo,
		"killhost": cmdKillHost, "hostgone": cmdHostGone, "gone": cmdGone, "opid": cmdOperationID, "count": cmdCount,
		"pty": cmdPTY, "occupy": cmdOccupy, "garbage": cmdGarbage, "newerstore": cmdNewerStore,
	}
}

// storyExec prepares a program with the story's environment and directory.
func storyExec(ts *testscript.TestScript, args ...string) *exec.Cmd {
	path := args[0]
	if !strings.Contains(path, "/") {
		for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
			if info, err := os.Stat(filepath.Join(dir, path)); err == nil && info.Mode()&0o111 != 0 {
				path = filepath.Join(dir, path)
				break
			}
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range storyVariables {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

func want(ts *testscript.TestScript, neg bool, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: waitfor REGEXP CMD…")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	deadline := time.Now().Add(patience)
	for {
		cmd := storyExec(ts, args[1:]...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if (err == nil && pattern.Match(out.Bytes())) != neg {
			_, _ = ts.Stdout().Write(out.Bytes())
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not within %s: %s\n%s%s%v", patience, strings.Join(args[1:], " "), out.String(), errs.String(), err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func cmdJSONCheck(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: jsoncheck FILE PATH [VALUE]")
	}
	got, found := jsonAt(ts, args[0], args[1])
	ok := found
	if len(args) == 3 {
		if expr, isPattern := strings.CutPrefix(args[2], "~"); isPattern {
			matched, err := regexp.MatchString("(?s)"+expr, got)
			ts.Check(err)
			ok = found && matched
		} else {
			ok = found && got == args[2]
		}
	}
	if ok == neg {
		ts.Fatalf("%s of %s is %q (there: %v)\n%s", args[1], args[0], got, found, ts.ReadFile(args[0]))
	}
}

func cmdJSONGet(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "jsonget FILE PATH VAR")
	got, found := jsonAt(ts, args[0], args[1])
	if !found {
		ts.Fatalf("%s has no %s:\n%s", args[0], args[1], ts.ReadFile(args[0]))
	}
	ts.Setenv(args[2], got)
}

// jsonAt walks to a value: field names and indices between slashes, [field=value] for the
// first such element of a list, @len for a list's length.
func jsonAt(ts *testscript.TestScript, file, path string) (string, bool) {
	var at any
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &at); err != nil {
		ts.Fatalf("%s is not JSON: %v\n%s", file, err, ts.ReadFile(file))
	}
	for _, part := range strings.Split(path, "/") {
		if part == "" {
			continue
		}
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return "", false
			}
			at = next
		case []any:
			if part == "@len" {
				at = len(v)
				continue
			}
			next, ok := jsonElement(v, part)
			if !ok {
				return "", false
			}
			at = next
		default:
			return "", false
		}
	}
	switch v := at.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	}
	text, err := json.Marshal(at)
	ts.Check(err)
	return string(text), true
}

func jsonElement(list []any, part string) (any, bool) {
	if query, ok := strings.CutPrefix(part, "["); ok {
		field, value, _ := strings.Cut(strings.TrimSuffix(query, "]"), "=")
		for _, e := range list {
			if m, ok := e.(map[string]any); ok && fmt.Sprint(m[field]) == value {
				return m, true
			}
		}
		return nil, false
	}
	i, err := strconv.Atoi(part)
	if err == nil && i < 0 {
		i += len(list)
	}
	if err != nil || i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}

func cmdGitRepo(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "gitrepo DIR")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "README.md"), []byte("# compass\n"), 0o644))
	for _, git := range [][]string{{"init", "--quiet"}, {"add", "--all"}, {"commit", "--quiet", "--message", "Begin"}} {
		cmd := storyExec(ts, append([]string{"git"}, git...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			ts.Fatalf("git %s: %v: %s", git[0], err, out)
		}
	}
}

// storySocket is the host's socket of the story's home.
func storySocket(ts *testscript.TestScript) string {
	h, err := home.Find(ts.Getenv)
	ts.Check(err)
	socket, err := h.Socket()
	ts.Check(err)
	return socket
}

func cmdKillHost(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "killhost")
	killHost(ts)
}

func killHost(ts *testscript.TestScript) {
	out, err := storyExec(ts, "davit", "status", "--json").Output()
	var info struct{ Pid int }
	if err != nil || json.Unmarshal(out, &info) != nil || info.Pid <= 0 {
		ts.Fatalf("the host does not tell its pid: %v: %s", err, out)
	}
	ts.Check(syscall.Kill(info.Pid, syscall.SIGKILL))
	hostGone(ts)
}

func cmdHostGone(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "hostgone")
	hostGone(ts)
}

// hostGone waits until nobody holds the lock of the host: then the process is gone.
func hostGone(ts *testscript.TestScript) {
	lock := filepath.Join(ts.Getenv("DAVIT_HOME"), "state", "host.lock")
	deadline := time.Now().Add(patience)
	for {
		f, err := os.Open(lock)
		ts.Check(err)
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		_ = f.Close()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the host still runs")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "gone PID")
	pid, err := strconv.Atoi(args[0])
	ts.Check(err)
	deadline := time.Now().Add(patience)
	for {
		if _, alive := keeper.ProcessStart(pid); !alive {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("process %d still lives", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func cmdOperationID(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1 || len(args) == 2, "opid VAR [DURATION]")
	var shift time.Duration
	if len(args) == 2 {
		var err error
		shift, err = time.ParseDuration(args[1])
		ts.Check(err)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random)
	ts.Setenv(args[0], fmt.Sprintf("%013d-%s", time.Now().Add(shift).UnixMilli(), hex.EncodeToString(random)))
}

func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "count REGEXP N FILE")
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	expected, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(ts.MkAbs(args[2]))
	if !os.IsNotExist(err) {
		ts.Check(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if pattern.MatchString(line) {
			n++
		}
	}
	if n != expected {
		ts.Fatalf("%d lines match %s, not %d:\n%s", n, args[0], expected, data)
	}
}

// cmdOccupy has another program (this one) listen where the host wants to.
func cmdOccupy(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "occupy PATH")
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	listener, err := net.Listen("unix", path)
	ts.Check(err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte("220 mail.example.invalid ready\r\n"))
			_ = conn.Close()
		}
	}()
	ts.Defer(func() {
		_ = listener.Close()
		<-done
	})
}
