package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func place(t *testing.T) (Place, func(name, text string)) {
	home := t.TempDir()
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return Place{Env: map[string]string{"HOME": home, "N_PREFIX": home + "/prefix", "PATH": "/nowhere"}}, write
}

// What is installed is found by directories alone, the one in use is marked, and each has
// the command that switches to it (spec chips C5.2).
func TestVersions(t *testing.T) {
	at, write := place(t)
	home := at.Env["HOME"]
	for _, file := range []string{
		".nvm/versions/node/v9.11.2/bin/node", ".nvm/versions/node/v20.10.0/bin/node", ".nvm/versions/node/v18.0.0-broken/bin/node",
		".local/share/fnm/node-versions/v22.1.0/installation/bin/node", ".volta/tools/image/node/21.0.0/bin/node", ".volta/tools/image/node/20.0.0/bin/node",
		".asdf/installs/nodejs/16.20.2/bin/node", ".local/share/mise/installs/node/23.0.0/bin/node", "prefix/n/versions/node/14.21.3/bin/node",
	} {
		write(file, "")
	}
	if err := os.MkdirAll(filepath.Join(home, ".nvm/versions/node/v19.0.0"), 0o755); err != nil { // without a node
		t.Fatal(err)
	}
	for link, to := range map[string]string{".local/share/mise/installs/node/23": "23.0.0", "multishell": ".local/share/fnm/node-versions/v22.1.0/installation"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	write(".volta/bin/volta-shim", "")
	if err := os.Symlink("volta-shim", filepath.Join(home, ".volta/bin/node")); err != nil {
		t.Fatal(err)
	}
	write(".volta/tools/user/platform.json", `{"node":{"runtime":"21.0.0","npm":null}}`)
	write("prefix/bin/node", "")
	write("prefix/include/node/node_version.h", "#define NODE_MAJOR_VERSION 14\n#define NODE_MINOR_VERSION 21\n#define NODE_PATCH_VERSION 3\n")
	all := "nvm 20.10.0: nvm use 20.10.0 (shell)\nnvm 9.11.2: nvm use 9.11.2 (shell)\nfnm 22.1.0: fnm use 22.1.0 (shell)\n" +
		"volta 21.0.0: volta install node@21.0.0 (user)\nvolta 20.0.0: volta install node@20.0.0 (user)\n" +
		"asdf 16.20.2: asdf set nodejs 16.20.2 (directory)\nmise 23.0.0: mise shell node@23.0.0 (shell)\nn 14.21.3: n 14.21.3 (user)\n"
	for path, active := range map[string]string{
		"":                                  "",
		"/nowhere:.":                        "",
		".nvm/versions/node/v9.11.2/bin":    "nvm 9.11.2",
		"multishell/bin":                    "fnm 22.1.0",
		".volta/bin":                        "volta 21.0.0",
		"prefix/bin":                        "n 14.21.3",
		".asdf/installs/nodejs/16.20.2/bin": "asdf 16.20.2",
	} {
		if path != "" && !strings.HasPrefix(path, "/") {
			at.Path = "/nowhere:" + filepath.Join(home, path)
		} else {
			at.Path = path
		}
		got, marked := "", ""
		for _, v := range Versions(t.Context(), at).Versions {
			got += fmt.Sprintf("%s %s: %s (%s)\n", v.Manager, v.Version, strings.Join(v.Switch, " "), v.Effect)
			if v.Active {
				marked += v.Manager + " " + v.Version
			}
		}
		if got != all || marked != active {
			t.Errorf("PATH %q: active %q, want %q; all\n%swant\n%s", path, marked, active, got, all)
		}
	}
	write(".asdf/asdf.sh", "")
	for _, v := range Versions(t.Context(), at).Versions {
		if v.Manager == "asdf" && (strings.Join(v.Switch, " ") != "asdf shell nodejs 16.20.2" || v.Effect != "shell") {
			t.Errorf("an asdf of before 0.16: %+v", v)
		}
	}
}

// An empty list says why.
func TestNoVersions(t *testing.T) {
	at, write := place(t)
	if got := Versions(t.Context(), at); len(got.Versions) != 0 || !strings.Contains(got.Reason, "no version of node") {
		t.Errorf("%+v", got)
	}
	write("bin/node", "")
	at.Path = at.Env["HOME"] + "/bin"
	if got := Versions(t.Context(), at); !strings.Contains(got.Reason, at.Path+"/node") {
		t.Errorf("%+v", got)
	}
	write(".nvm/versions/node/v20.10.0/bin/node", "")
	at.Remote = true
	if got := Versions(t.Context(), at); len(got.Versions) != 0 || got.Reason != "the shell is on another machine" {
		t.Errorf("%+v", got)
	}
}
