package testenv

import (
	"encoding/json"
	"os"
	"path/filepath"
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
