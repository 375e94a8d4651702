package testenv

import (
	"encoding/json"
	"fmt"
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

// AgentTerminal sets up a real agent's terminal program, as `make test-agents` installs it:
// its home has been through the first start, a repository is known to it as its user's, and
// its provider is a stand-in model. It gives the environment that a shell would have.
// trusted says whether the agent has been told to trust the repository.
func AgentTerminal(tb testing.TB, agent string, model *Model, home, repo string, trusted bool) (env []string) {
	tb.Helper()
	folder := os.Getenv("DAVIT_TEST_AGENTS")
	if folder == "" {
		tb.Skip("real agents are tested by `make test-agents`")
	}
	bin := filepath.Join(folder, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, agent)); err != nil {
		tb.Fatalf("DAVIT_TEST_AGENTS=%s: %v", folder, err)
	}
	write := func(name, text string) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	writeJSON := func(name string, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			tb.Fatal(err)
		}
		write(name, string(data))
	}
	env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "COLORTERM=truecolor"}
	switch agent {
	case "claude":
		key := "sk-ant-api03-standin-0123456789abcdef"
		writeJSON(".claude.json", fields{
			"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": fields{"approved": []string{key[len(key)-20:]}},
			"projects": fields{repo: fields{"hasTrustDialogAccepted": trusted, "hasCompletedProjectOnboarding": true}},
		})
		return append(env, "ANTHROPIC_API_KEY="+key, "ANTHROPIC_BASE_URL="+model.URL, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	case "codex":
		text := fmt.Sprintf("model = \"stand-in\"\nmodel_provider = \"standin\"\ncheck_for_update_on_startup = false\n"+
			"[model_providers.standin]\nname = \"Stand-in\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"STANDIN_KEY\"\n", model.URL+"/v1")
		if trusted {
			text += fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", repo)
		}
		write(".codex/config.toml", text)
		return append(env, "STANDIN_KEY=none")
	case "gemini":
		writeJSON(".gemini/settings.json", fields{
			"security": fields{"auth": fields{"selectedType": "gemini-api-key"}, "folderTrust": fields{"enabled": true}},
			"general":  fields{"enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true}, "privacy": fields{"usageStatisticsEnabled": false},
		})
		if trusted {
			writeJSON(".gemini/trustedFolders.json", fields{repo: "TRUST_FOLDER"})
		}
		return append(env, "GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+model.URL)
	}
	tb.Fatalf("nobody knows how to set up %s", agent)
	return nil
}
