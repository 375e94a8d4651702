# The targets that people use; `make help` lists them.

GO      ?= go
BIN     := bin/davit
SOURCES := $(shell find . -name '*.go' -not -path './web/node_modules/*') $(shell find internal -name '*.sql' -o -name '*.toml' -o -name '*.txt' | grep -v testdata) go.mod go.sum
PAGE    := web/dist/index.html
PAGESRC := $(shell find web/src web/public web/index.html -type f 2>/dev/null) web/package.json web/package-lock.json web/vite.config.ts web/tsconfig.json

.PHONY: help run build test test-agents e2e web bench kill soak fuzz lint try vet fmt check torture clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: build ## build everything and start davit for the current directory
	@$(BIN)

build: $(BIN) ## the binary, the page inside

$(BIN): $(SOURCES) $(PAGE)
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/davit

web: $(PAGE) ## the page: types checked, built

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

$(PAGE): web/node_modules/.package-lock.json $(PAGESRC)
	cd web && npm run --silent check && npm run --silent build

# First, or the machine waits for them with one core at the end.
LONGEST := ./internal/daemon ./internal/cli ./internal/session ./internal/tab
REST     = $(shell $(GO) list ./... | grep -v '^davit/web$$')

test: vet build ## every test: Go with -race, the page's, browser stories
	cd web && npm run --silent test:unit
	$(GO) test -count=1 -timeout 25m ./web # alone: a page on a busy machine tells of the machine
	$(GO) test -race -count=1 -timeout 25m $(LONGEST) $(REST) # some build the program: no cached answers

# Real agents: installed below .cache, never part of the tree. Where root allows, their tests
# run in a network namespace that has nothing but loopback.
AGENTS   := $(CURDIR)/.cache/agents
OPENCODE := 1.18.33
CLAUDE   := 2.1.197
CODEX    := 0.171.0
GEMINI   := 0.61.0
ALONE     = $(shell unshare -n sh -c 'ip link set lo up' 2>/dev/null && echo unshare -n)

test-agents: ## the real OpenCode in a chat; prompts into Claude Code, Codex and Gemini CLI (npm), with a stand-in model (ARGS=-update records frames)
	@mkdir -p $(AGENTS)
	@test "$$($(AGENTS)/node_modules/.bin/opencode --version 2>/dev/null)" = $(OPENCODE) || { npm install --no-audit --no-fund --ignore-scripts --prefix $(AGENTS) opencode-ai@$(OPENCODE) && node $(AGENTS)/node_modules/opencode-ai/postinstall.mjs; }
	@test -x $(AGENTS)/node_modules/.bin/gemini || npm install --no-audit --no-fund --prefix $(AGENTS) @anthropic-ai/claude-code@$(CLAUDE) @openai/codex@$(CODEX) @google/gemini-cli@$(GEMINI)
	$(GO) test -c -o $(AGENTS)/protocol.test ./internal/session/acp
	$(GO) test -c -o $(AGENTS)/chat.test ./internal/daemon
	@alone="$(ALONE)"; echo "== $${alone:-no network namespace}"; \
	run() { cd $(CURDIR)/$$1 && DAVIT_TEST_AGENTS=$(AGENTS) $$alone sh -c "$${alone:+ip link set lo up &&} exec \"\$$@\"" sh "$$2" -test.v -test.timeout 40m -test.run '^Test(OpenCode|AgentTerminals)' $$3; }; \
	(run internal/session/acp $(AGENTS)/protocol.test "$(ARGS)") && (run internal/daemon $(AGENTS)/chat.test)

e2e: build ## the stories alone: scripts, the killed host, the browser
	$(GO) test -timeout 20m ./internal/cli/... ./internal/daemon/... ./web/...

vet: $(PAGE)
	$(GO) vet ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet $$($(GO) list ./... | grep -v /testenv)

lint: vet ## vet, staticcheck, formatting
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) tool staticcheck ./...

fmt: ## format the Go files
	gofmt -w $$(git ls-files '*.go')

bench: build ## side by side with tmux; prints docs/benchmarks.md's table to stdout
	$(GO) run ./internal/bench

kill: ## kill the host 50 times (DAVIT_KILLS) at random under full output, and at each step of a cleanup
	DAVIT_KILLS=$${DAVIT_KILLS:-50} $(GO) test -count=1 -timeout 2h -v -run '^TestKilled(Host|Cleanup)$$' ./internal/daemon

soak: ## 30 minutes (DAVIT_SOAK): 20 panes print, clients come and go, the host is killed every minute
	DAVIT_SOAK=$${DAVIT_SOAK:-30m} $(GO) test -count=1 -timeout 12h -v -run '^TestSoak$$' ./internal/daemon

torture: ## 2,000 launches at random (DAVIT_TORTURE) while host and keeper are killed; 1,000 prompts (DAVIT_DELIVERIES)
	DAVIT_TORTURE=$${DAVIT_TORTURE:-2000} DAVIT_DELIVERIES=$${DAVIT_DELIVERIES:-1000} $(GO) test -count=1 -timeout 6h -v -run '^Test(Torture|Delivery)$$' ./internal/daemon

fuzz: ## each fuzz target for a while (FUZZTIME=20s)
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	  echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-20s} $$p || exit 1; done; done

try: build ## a tour in an instance of its own
	$(BIN) try

clean: ## what the build made
	rm -rf bin web/dist/assets web/dist/index.html
