// Package node tells which versions of Node.js the user's version managers have installed,
// by looking at their directories, and how to switch to each (spec chips C5.2). It runs
// nothing, writes nothing, owns nothing. What it cannot see from here, as a shell on another
// machine, it does not guess.
package node

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"davit/internal/wire"
)

// Place is where a shell is.
type Place struct {
	Env    map[string]string // the login shell's: HOME, NVM_DIR, FNM_DIR, …
	Path   string            // the shell's own PATH; "" = that of Env
	Remote bool              // the shell is on another machine
}

const (
	maxVersions = 200     // of one manager
	maxFile     = 1 << 20 // bytes of a file that is read
)

var version = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+)$`)

// manager is one version manager.
type manager struct {
	name   string
	roots  []string // its directories of versions
	binary string   // of one version
	argv   func(version string) []string
	effect string
	active func() string // where the way of PATH does not tell it; may be nil
}

// Versions lists what is installed.
func Versions(ctx context.Context, at Place) wire.NodeVersions {
	list := wire.NodeVersions{Versions: []wire.NodeVersion{}}
	if at.Remote {
		list.Reason = "the shell is on another machine"
		return list
	}
	inUse := onPath(cmp.Or(at.Path, at.Env["PATH"]))
	for _, m := range managers(at) {
		list.Versions = append(list.Versions, m.versions(ctx, inUse)...)
	}
	if len(list.Versions) == 0 {
		list.Reason = "no version of node by nvm, fnm, volta, asdf, mise or n was found"
		if inUse != "" {
			list.Reason += "; the node in use is " + inUse
		}
	}
	return list
}

func managers(at Place) []manager {
	home := at.Env["HOME"]
	env := func(name, otherwise string) string { return cmp.Or(at.Env[name], otherwise) }
	below := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	data := env("XDG_DATA_HOME", below(".local", "share"))
	volta, prefix, asdf := env("VOLTA_HOME", below(".volta")), env("N_PREFIX", "/usr/local"), env("ASDF_DATA_DIR", below(".asdf"))
	words := func(before ...string) func(string) []string {
		return func(v string) []string {
			argv := slices.Clone(before)
			argv[len(argv)-1] += v
			return argv
		}
	}
	setNode, reach := words("asdf", "set", "nodejs", ""), "directory" // since 0.16
	if _, err := os.Stat(filepath.Join(env("ASDF_DIR", below(".asdf")), "asdf.sh")); err == nil {
		setNode, reach = words("asdf", "shell", "nodejs", ""), "shell"
	}
	return []manager{
		{name: "nvm", roots: []string{filepath.Join(env("NVM_DIR", below(".nvm")), "versions", "node")}, binary: "bin/node", argv: words("nvm", "use", ""), effect: "shell"},
		{
			name: "fnm", roots: []string{filepath.Join(env("FNM_DIR", filepath.Join(data, "fnm")), "node-versions"), below(".fnm", "node-versions")},
			binary: "installation/bin/node", argv: words("fnm", "use", ""), effect: "shell",
		},
		{
			name: "volta", roots: []string{filepath.Join(volta, "tools", "image", "node")}, binary: "bin/node", argv: words("volta", "install", "node@"), effect: "user",
			active: func() string { return voltaDefault(volta) },
		},
		{name: "asdf", roots: []string{filepath.Join(asdf, "installs", "nodejs")}, binary: "bin/node", argv: setNode, effect: reach},
		{name: "mise", roots: []string{filepath.Join(env("MISE_DATA_DIR", filepath.Join(data, "mise")), "installs", "node")}, binary: "bin/node", argv: words("mise", "shell", "node@"), effect: "shell"},
		{
			name: "n", roots: []string{filepath.Join(prefix, "n", "versions", "node")}, binary: "bin/node", argv: words("n", ""), effect: "user",
			active: func() string { return header(prefix) },
		},
	}
}

func (m manager) versions(ctx context.Context, inUse string) []wire.NodeVersion {
	var list []wire.NodeVersion
	for _, root := range m.roots {
		entries, err := os.ReadDir(root)
		if err != nil {
			continue // it is not installed, or keeps nothing there
		}
		for _, e := range entries {
			found := version.FindStringSubmatch(e.Name())
			if found == nil || !e.IsDir() || ctx.Err() != nil { // a link is another name of one
				continue
			}
			binary, err := filepath.EvalSymlinks(filepath.Join(root, e.Name(), m.binary))
			if err != nil || slices.ContainsFunc(list, func(v wire.NodeVersion) bool { return v.Version == found[1] }) {
				continue
			}
			list = append(list, wire.NodeVersion{Manager: m.name, Version: found[1], Active: binary == inUse, Switch: m.argv(found[1]), Effect: m.effect})
		}
	}
	if m.active != nil && m.owns(inUse) {
		current := m.active()
		for i := range list {
			list[i].Active = list[i].Active || list[i].Version == current
		}
	}
	slices.SortFunc(list, func(a, b wire.NodeVersion) int { return newer(a.Version, b.Version) })
	return list[:min(len(list), maxVersions)]
}

// owns says that the node in use is the manager's shim, or its copy of the chosen one.
func (m manager) owns(inUse string) bool {
	base := m.roots[0] // of volta HOME/tools/image/node, of n PREFIX/n/versions/node
	for range 3 {
		base = filepath.Dir(base)
	}
	if m.name == "n" {
		return inUse == filepath.Join(base, "bin", "node")
	}
	return strings.HasPrefix(inUse, filepath.Join(base, "bin")+string(filepath.Separator))
}

func newer(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range as {
		x, _ := strconv.Atoi(as[i]) // digits alone, by version
		y, _ := strconv.Atoi(bs[i])
		if by := cmp.Compare(y, x); by != 0 {
			return by
		}
	}
	return 0
}

// onPath is the node that a PATH leads to, links resolved; "" when there is none.
func onPath(path string) string {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, "node")
		if info, err := os.Stat(file); !filepath.IsAbs(dir) || err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(file); err == nil {
			return resolved
		}
	}
	return ""
}

// voltaDefault reads the user's default version.
func voltaDefault(volta string) string {
	var platform struct {
		Node struct {
			Runtime string `json:"runtime"`
		} `json:"node"`
	}
	_ = json.Unmarshal(read(filepath.Join(volta, "tools", "user", "platform.json")), &platform) // unreadable: not known
	return platform.Node.Runtime
}

var define = regexp.MustCompile(`(?m)^#define NODE_(MAJOR|MINOR|PATCH)_VERSION ([0-9]+)`)

// header reads the version out of the header that n puts beside its copy of node.
func header(prefix string) string {
	parts := map[string]string{}
	for _, m := range define.FindAllStringSubmatch(string(read(filepath.Join(prefix, "include", "node", "node_version.h"))), -1) {
		parts[m[1]] = m[2]
	}
	if len(parts) != 3 {
		return ""
	}
	return parts["MAJOR"] + "." + parts["MINOR"] + "." + parts["PATCH"]
}

func read(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil
	}
	return data
}
