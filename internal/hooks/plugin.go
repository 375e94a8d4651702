package hooks

import (
	_ "embed"
	"fmt"
	"strings"
)

// pluginForm is a file of its own, all of it ours.
type pluginForm struct{}

//go:embed opencode.js
var plugin string

// pluginMark is how the file begins; one that begins otherwise is somebody else's.
const pluginMark = "// davit: "

var errForeign = fmt.Errorf("a file of that name is there, and is not davit's")

func (pluginForm) fresh(_ Agent, self string) string {
	return strings.Replace(plugin, `"{self}"`, jsonString(self), 1)
}

func (f pluginForm) edit(text string, a Agent, self string, install bool) (string, error) {
	if text != "" && !strings.HasPrefix(text, pluginMark) {
		return "", errForeign
	}
	if !install {
		return "", nil
	}
	return f.fresh(a, self), nil
}

func (pluginForm) has(text string) ([]string, error) {
	switch {
	case text == "":
		return nil, nil
	case !strings.HasPrefix(text, pluginMark):
		return nil, errForeign
	}
	return []string{text}, nil
}

func (f pluginForm) byHand(a Agent, self string) string { return f.fresh(a, self) }
