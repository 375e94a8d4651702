package testenv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// OpenCode gives the real OpenCode, as `make test-agents` installs it, and the environment
// that points it at a stand-in model, with a home of its own and every permission to be
// asked for. The test is skipped when DAVIT_TEST_AGENTS does not name the folder that npm
// installed into.
func OpenCode(tb testing.TB, model *Model, home string) (program string, env []string) {
	tb.Helper()
	folder := os.Getenv("DAVIT_TEST_AGENTS")
	if folder == "" {
		tb.Skip("real agents are tested by `make test-agents`")
	}
	program = filepath.Join(folder, "node_modules", ".bin", "opencode")
	if _, err := os.Stat(program); err != nil {
		tb.Fatalf("DAVIT_TEST_AGENTS=%s: %v", folder, err)
	}
	config, err := json.Marshal(fields{
		"model": "standin/stand-in", "small_model": "standin/stand-in", "autoupdate": false, "share": "disabled",
		"permission": fields{"bash": "ask", "edit": "ask"},
		"provider": fields{"standin": fields{
			"npm": "@ai-sdk/openai-compatible", "name": "Stand-in", "options": fields{"baseURL": model.URL + "/v1", "apiKey": "none"},
			"models": fields{"stand-in": fields{"name": "Stand-in", "limit": fields{"context": 100000, "output": 4000}}},
		}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return program, []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_DATA_HOME=" + filepath.Join(home, "data"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
	}
}

// OpenCodeModel is what a stand-in model says to OpenCode, by the words of the prompt: "make
// a file" and "write a file <PATH>" call its tools, "hold" waits in the middle, "refuse it"
// is a fault of the provider; anything else is greeted.
func OpenCodeModel(q ModelQuestion, hold <-chan struct{}) ModelAnswer {
	switch {
	case len(q.Tools) == 0:
		return ModelAnswer{Text: []string{"A practice title"}}
	case strings.Contains(q.Text, "make a file") && !q.AfterTool:
		return ModelAnswer{Text: []string{"I make ", "a file."}, Tool: &ModelTool{"bash", `{"command":"echo made > made-by-agent.txt","description":"Make a file"}`}}
	case strings.Contains(q.Text, "write a file") && !q.AfterTool:
		_, path, _ := strings.Cut(q.Text, "<")
		path, _, _ = strings.Cut(path, ">")
		return ModelAnswer{Text: []string{"I write it."}, Tool: &ModelTool{"write", `{"filePath":"` + path + `","content":"one\ntwo\n"}`}}
	case strings.Contains(q.Text, "refuse it"):
		return ModelAnswer{Status: 400}
	case strings.Contains(q.Text, "hold"):
		return ModelAnswer{Text: []string{"Before. ", "After."}, Hold: hold}
	}
	return ModelAnswer{Text: []string{"Hello ", "from the ", "stand-in."}}
}
