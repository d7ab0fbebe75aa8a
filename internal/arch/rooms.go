package arch

import (
	"slices"
	"strings"
)

// Module is the path of this module.
const Module = "github.com/manifold-run/manifold"

// Room is a folder with one rule about what its non-test files may import.
type Room struct {
	// Dir is the folder, including its internal/ folders, which Go hides from all others. "dir/*"
	// makes each subfolder of dir, with everything below it, a room of its own.
	Dir string
	// Core rooms must not name a domain or a capability.
	Core bool
	// Rooms are the other rooms that it may import, by their Dir.
	Rooms []string
	// Modules are path prefixes of packages outside this module and the standard library that it
	// may import; "*" allows all.
	Modules []string
	// Refuses are path prefixes of the standard library that it must not import. Only test
	// harnesses may import testing.
	Refuses []string
	// Allows are exceptions from Refuses.
	Allows []string
}

// contains reports whether dir is in the room, and returns the folder of the room instance.
func (r Room) contains(dir string) (instance string, ok bool) {
	if base, each := strings.CutSuffix(r.Dir, "/*"); each {
		rest, below := strings.CutPrefix(dir, base+"/")
		first, _, _ := strings.Cut(rest, "/")
		return base + "/" + first, below
	}
	return r.Dir, dir == r.Dir || strings.HasPrefix(dir, r.Dir+"/internal/")
}

// testHarness is the package that only rooms for tests may import.
const testHarness = "testing"

// inputOutput returns the packages that pure rooms must not import. Time, randomness and logging
// through a passed *slog.Logger are allowed.
func inputOutput() []string {
	return []string{
		"database/sql", "io/ioutil", "log/syslog", "net!", "net/http", "net/rpc", "net/smtp",
		"os", "plugin", "syscall",
	}
}

// Rooms returns the rooms of the diagram in ARCHITECTURE.md.
func Rooms() []Room {
	return slices.Concat(coreRooms(), sdkRooms(), adapterRooms(), edgeRooms())
}

// useCases returns the rooms of the orchestrator.
func useCases() []string {
	return []string{
		"orchestrator", "orchestrator/access", "orchestrator/answer", "orchestrator/audit", "orchestrator/chat",
		"orchestrator/conversation", "orchestrator/conversation/change", "orchestrator/conversation/command",
		"orchestrator/gates", "orchestrator/registry", "orchestrator/runs", "orchestrator/sessions",
	}
}

// matcherRooms returns the parts of the matcher that works without a language model.
func matcherRooms() []string {
	return []string{
		"intent/local/followup", "intent/local/lexicon", "intent/local/modality", "intent/local/retrieve", "intent/local/slots",
		"intent/local/tokenize", "intent/local/values",
	}
}

// coreRooms returns the pure rooms: they do no I/O and name no domain. intent, planner and
// execution do not import each other.
func coreRooms() []Room {
	words := []string{"contracts", "contracts/metrics", "contracts/gateview", "internal/expr"}
	stages := append([]string{"intent", "intent/local", "intent/llm", "planner", "planner/workflow", "execution", "execution/decision", "execution/runmetrics"}, words...)
	rooms := []Room{
		{Dir: "contracts/metrics"},
		{Dir: "contracts", Rooms: []string{"contracts/metrics"}, Modules: []string{"github.com/santhosh-tekuri/jsonschema/v5"}},
		{Dir: "contracts/gateview", Rooms: []string{"contracts"}},
		{Dir: "internal/expr", Rooms: []string{"contracts"}, Modules: []string{"cel.dev/cel-go"}},
		{Dir: "intent", Rooms: words},
		{Dir: "intent/local", Rooms: append(slices.Clip(words), append(matcherRooms(), "intent")...), Modules: []string{"golang.org/x/sync/errgroup"}},
		{Dir: "intent/local/lexicon", Modules: []string{"github.com/pelletier/go-toml/v2", "golang.org/x/text"}},
		{Dir: "intent/local/tokenize", Rooms: []string{"intent/local/lexicon"}, Modules: []string{"github.com/kljensen/snowball", "golang.org/x/text"}},
		{Dir: "intent/local/values", Rooms: []string{"intent/local/lexicon", "intent/local/tokenize"}},
		{Dir: "intent/local/modality", Rooms: []string{"contracts", "intent/local/lexicon", "intent/local/tokenize", "intent/local/values"}},
		{Dir: "intent/local/retrieve", Rooms: []string{"contracts", "intent/local/lexicon", "intent/local/tokenize"}},
		{Dir: "intent/local/slots", Rooms: []string{"contracts", "intent/local/lexicon", "intent/local/modality", "intent/local/retrieve", "intent/local/tokenize", "intent/local/values"}},
		{Dir: "intent/local/followup", Rooms: []string{"contracts", "intent/local/lexicon", "intent/local/modality", "intent/local/tokenize"}},
		{Dir: "intent/llm", Rooms: append(words, "intent", "internal/reasoning")},
		{Dir: "intent/eval", Rooms: append(words, "intent", "intent/local", "intent/local/lexicon", "intent/local/tokenize")},
		{Dir: "intent/eval/conversation", Rooms: []string{"contracts"}, Modules: []string{"golang.org/x/text"}},
		{Dir: "internal/reasoning", Rooms: []string{"contracts"}, Modules: []string{"github.com/sony/gobreaker/v2"}},
		{Dir: "planner", Rooms: append(words, "planner/workflow")},
		{Dir: "planner/workflow", Rooms: words, Modules: []string{"github.com/agnivade/levenshtein"}},
		{
			Dir: "planner/workflow/workflowtest", Rooms: append(words, "planner/workflow"),
			Modules: []string{"github.com/goccy/go-yaml"}, Allows: []string{testHarness},
		},
		{Dir: "execution", Rooms: append(words, "execution/admission", "execution/decision", "execution/runmetrics", "execution/runstate", "execution/verdict"), Modules: []string{"golang.org/x/sync/errgroup"}},
		{Dir: "execution/decision", Rooms: append(words, "contracts/gateview", "execution/runstate")},
		{Dir: "execution/runmetrics", Rooms: append(words, "execution/admission", "execution/runstate", "execution/verdict")},
		{Dir: "execution/admission", Rooms: []string{"contracts", "internal/ratelimit"}},
		{Dir: "internal/ratelimit", Modules: []string{"golang.org/x/time/rate"}},
		{Dir: "execution/grounding", Modules: []string{"golang.org/x/text"}},
		{Dir: "execution/runstate", Rooms: words},
		{Dir: "execution/verdict", Rooms: append(words, "execution/grounding", "execution/runstate")},
		suite("execution/executiontest", append(words, "execution", "execution/runmetrics", "execution/runstate")),
		suite("orchestrator/registry/registrytest", append(useCases(), words...)),
		suite("orchestrator/access/accesstest", append(useCases(), words...)),
		suite("orchestrator/orchestratortest", append(useCases(), "contracts", "execution", "execution/executiontest", "intent", "intent/local", "orchestrator/access/accesstest")),
	}
	for _, dir := range useCases() {
		rooms = append(rooms, Room{Dir: dir, Rooms: append(append(useCases(), "internal/ratelimit"), stages...), Modules: []string{"golang.org/x/sync", "golang.org/x/text"}})
	}
	for i := range rooms {
		if rooms[i].Dir == "orchestrator/registry" {
			rooms[i].Rooms = append(rooms[i].Rooms, "contracts")
		}
		if rooms[i].Dir == "orchestrator/audit" {
			rooms[i].Modules = append(rooms[i].Modules, "golang.org/x/mod/sumdb")
		}
		rooms[i].Core = rooms[i].Dir != "planner/workflow/workflowtest" // it contains fake domains
		rooms[i].Refuses = inputOutput()
	}
	return rooms
}

// suite returns a room with an in-memory fake and the tests that every implementation of a port
// must pass.
func suite(dir string, rooms []string) Room {
	return Room{
		Dir: dir, Rooms: rooms, Modules: []string{"github.com/google/go-cmp/cmp", "golang.org/x/sync/errgroup"},
		Refuses: inputOutput(), Allows: []string{testHarness, "os"},
	}
}

// sdkRooms returns the rooms for authors of domains, and the domains. A domain never imports the
// core, internal/ or another domain.
func sdkRooms() []Room {
	kit := []string{"contracts", "domainkit", "domainkit/login", "domainkit/pgstore", "domainkit/sandboxkit", "domainkit/sqlitestore", "domainkit/upstream"}
	return []Room{
		{Dir: "domainkit", Rooms: []string{"contracts"}, Refuses: []string{"database/sql"}},
		{Dir: "domainkit/conformance", Rooms: []string{"contracts"}, Refuses: []string{"database/sql"}},
		{Dir: "domainkit/keystore", Rooms: []string{"domainkit"}},
		{Dir: "domainkit/pgstore", Rooms: []string{"contracts", "domainkit", "domainkit/keystore"}, Modules: []string{"github.com/jackc/pgx/v5"}},
		{Dir: "domainkit/sqlitestore", Rooms: []string{"contracts", "domainkit", "domainkit/keystore"}, Modules: []string{"modernc.org/sqlite"}},
		{Dir: "domainkit/login", Rooms: []string{"contracts"}, Modules: []string{"golang.org/x/oauth2"}},
		{Dir: "domainkit/domaintest", Rooms: []string{"contracts", "domainkit"}, Allows: []string{testHarness}},
		{Dir: "domainkit/sandboxkit"},
		{Dir: "domainkit/upstream", Modules: []string{"github.com/hashicorp/go-retryablehttp"}},
		suite("domainkit/storetest", []string{"contracts", "domainkit"}),
		{Dir: "domains/*", Rooms: kit, Modules: []string{"*"}},
		{Dir: "examples/*", Rooms: kit, Modules: []string{"*"}},
		{Dir: "examples/cmd/example-domain", Rooms: []string{"domainkit", "examples/*"}},
	}
}

// adapterRooms returns the rooms that implement the ports of the core. They do not import each
// other.
func adapterRooms() []Room {
	ports := append(useCases(), "contracts", "contracts/metrics", "contracts/gateview", "execution", "execution/decision")
	retries := []string{"github.com/hashicorp/go-retryablehttp"}
	return []Room{
		{Dir: "client", Rooms: []string{"contracts", "contracts/metrics", "orchestrator"}, Modules: retries},
		{Dir: "internal/bridge", Rooms: []string{"contracts", "domainkit"}, Modules: []string{"github.com/goccy/go-yaml"}},
		{Dir: "internal/bridge/mcp", Rooms: []string{"contracts", "domainkit", "domainkit/login", "internal/bridge"}, Modules: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/oauth2", "golang.org/x/sync"}},
		{Dir: "internal/bridge/openapi", Rooms: []string{"contracts", "domainkit", "domainkit/upstream", "internal/bridge"}, Modules: []string{"github.com/getkin/kin-openapi", "github.com/oasdiff/yaml"}},
		{Dir: "internal/bridge/host", Rooms: []string{"contracts", "domainkit/sqlitestore", "internal/bridge", "internal/bridge/mcp", "internal/bridge/openapi"}},
		{Dir: "internal/domainclient", Rooms: ports, Modules: retries},
		{Dir: "internal/embed/use", Modules: append(slices.Clone(retries), "golang.org/x/sync/errgroup", "golang.org/x/sys/cpu")},
		{Dir: "internal/httpapi", Rooms: append(slices.Clip(ports), "internal/ratelimit"), Modules: []string{"github.com/gin-gonic/gin", "github.com/golang-jwt/jwt/v5"}},
		{Dir: "internal/agentserver", Rooms: []string{"client", "contracts", "contracts/gateview", "orchestrator/chat"}, Modules: []string{"github.com/a2aproject/a2a-go/v2", "github.com/modelcontextprotocol/go-sdk"}},
		{Dir: "internal/model", Rooms: []string{"contracts", "internal/reasoning"}, Modules: append(slices.Clone(retries), "github.com/openai/openai-go/v3", "github.com/anthropics/anthropic-sdk-go")},
		{Dir: "internal/model/scripted", Rooms: []string{"contracts"}},
		{Dir: "internal/model/scripted/cmd/scripted-model", Rooms: []string{"internal/model/scripted"}},
		{Dir: "internal/store/groupcommit", Rooms: []string{"contracts"}},
		{Dir: "internal/store/postgres", Rooms: []string{"contracts", "domainkit/pgstore", "execution/admission", "internal/store/postgres/proof", "internal/store/postgres/queue", "internal/store/sqlstore", "internal/store/stored"}, Modules: []string{"github.com/jackc/pgx/v5"}},
		{Dir: "internal/store/postgres/proof", Rooms: []string{"contracts", "internal/store/seal", "internal/store/sqlstore"}, Modules: []string{"github.com/jackc/pgx/v5"}},
		{Dir: "internal/store/postgres/queue", Rooms: []string{"contracts"}, Modules: []string{"github.com/jackc/pgx/v5", "github.com/riverqueue/river"}},
		{Dir: "internal/store/seal"},
		{Dir: "internal/store/sqlstore", Rooms: append(slices.Clip(ports), "internal/store/groupcommit", "internal/store/seal", "internal/store/stored")},
		{Dir: "internal/store/sqlite", Rooms: []string{"contracts", "internal/store/groupcommit", "internal/store/seal", "internal/store/sqlstore", "internal/store/stored"}, Modules: []string{"modernc.org/sqlite"}},
		{Dir: "internal/store/stored", Rooms: ports},
		{Dir: "internal/store/stored/storedtest", Allows: []string{testHarness}},
		{Dir: "internal/telegram", Rooms: append(slices.Clip(ports), "internal/telegram/render"), Modules: []string{"github.com/go-telegram/bot", "golang.org/x/time/rate"}},
		{Dir: "internal/telemetry", Rooms: append(slices.Clip(ports), "internal/reasoning", "execution/runmetrics"), Modules: []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", "github.com/prometheus/client_golang"}},
		{Dir: "internal/telegram/render", Rooms: ports, Modules: []string{"github.com/go-telegram/bot"}},
		{Dir: "internal/telegram/telegramtest", Allows: []string{testHarness}},
		{Dir: "internal/webhook", Rooms: ports, Modules: retries},
		{Dir: "internal/witness", Rooms: ports, Modules: []string{"golang.org/x/mod/sumdb"}},
	}
}

// edgeRooms returns the rooms that assemble the parts. Only cmd/demo imports both the core and
// the domains.
func edgeRooms() []Room {
	core := append(useCases(), "contracts", "contracts/metrics", "contracts/gateview", "internal/expr", "intent", "intent/llm", "intent/local", "planner", "execution", "internal/reasoning")
	adapters := []string{"internal/bridge/host", "internal/domainclient", "internal/embed/use", "internal/model", "internal/httpapi", "internal/agentserver", "internal/store/postgres", "internal/store/sqlite", "internal/telegram", "internal/telemetry", "internal/webhook", "internal/witness", "web"}
	whole := slices.Clip(slices.Concat(core, adapters, []string{"internal/app", "client", "domainkit"}))
	return []Room{
		{Dir: "internal/app", Rooms: slices.Concat(core, adapters, []string{"execution/admission", "execution", "internal/ratelimit"}), Modules: []string{"*"}},
		{Dir: "internal/app/apptest", Rooms: []string{"client", "internal/app"}, Allows: []string{testHarness}},
		{
			Dir: "cmd/manifold", Rooms: []string{"contracts", "contracts/metrics", "contracts/gateview", "internal/reasoning", "intent", "intent/eval", "intent/eval/conversation", "intent/local", "domainkit", "domainkit/sqlitestore", "internal/app", "internal/bridge", "internal/bridge/host", "internal/bridge/mcp", "internal/agentserver", "internal/model/scripted", "internal/webhook", "internal/witness", "client", "domainkit/conformance", "planner/workflow", "internal/embed/use", "internal/model"},
			Modules: []string{"github.com/spf13/cobra", "golang.org/x/term", "github.com/modelcontextprotocol/go-sdk"},
		},
		{Dir: "internal/dev/fit", Rooms: []string{"contracts", "intent/eval", "intent/local/slots"}},
		{Dir: "cmd/demo", Rooms: append(whole, "domainkit/sqlitestore", "domains/*", "examples/*", "intent/eval", "internal/model/scripted"), Modules: []string{"golang.org/x/term"}},
		{Dir: "internal/arch"},
		{Dir: "internal/dev/serve", Rooms: []string{"contracts"}, Modules: []string{"golang.org/x/sync/errgroup"}},
		{Dir: "web"},
		{Dir: "internal/sample", Allows: []string{testHarness}},
		{Dir: "internal/pgtest", Modules: []string{"github.com/jackc/pgx/v5"}, Allows: []string{testHarness}},
		{Dir: "internal/e2e", Rooms: whole, Modules: []string{"github.com/google/go-cmp/cmp"}, Allows: []string{testHarness}},
		{Dir: "internal/e2e/attack", Rooms: whole, Modules: []string{"github.com/golang-jwt/jwt/v5"}, Allows: []string{testHarness}},
		{Dir: "internal/e2e/bridges", Rooms: append(whole, "internal/bridge", "internal/bridge/mcp", "internal/bridge/openapi"), Allows: []string{testHarness}},
		{Dir: "internal/e2e/chatclients", Rooms: whole, Allows: []string{testHarness}},
		{Dir: "internal/e2e/smallmodel", Rooms: whole, Allows: []string{testHarness}},
		{
			Dir: "internal/e2e/openwebui", Rooms: append(whole, "domains/*", "examples/*"), Allows: []string{testHarness},
			Modules: []string{"github.com/chromedp/chromedp", "github.com/chromedp/cdproto/input"},
		},
		{Dir: "bench/chaos", Rooms: []string{"client", "contracts"}, Modules: []string{"github.com/jackc/pgx/v5"}, Allows: []string{testHarness}},
		{Dir: "bench", Rooms: append(whole, "execution/executiontest", "internal/bridge", "internal/bridge/mcp", "internal/bridge/openapi"), Modules: []string{"*"}, Allows: []string{testHarness}},
		{Dir: "bench/compare", Allows: []string{testHarness}},
		{Dir: "bench/beside", Rooms: []string{"client", "contracts", "contracts/metrics", "examples/*", "internal/app"}},
		{Dir: "tools/otelcol", Modules: []string{"go.opentelemetry.io/collector"}},
		{Dir: "bench/peers", Modules: []string{"github.com/jackc/pgx/v5", "github.com/dbos-inc/dbos-transact-golang", "go.temporal.io/sdk", "github.com/restatedev/sdk-go"}, Allows: []string{testHarness}},
	}
}
