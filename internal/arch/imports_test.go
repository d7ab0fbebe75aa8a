package arch_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

// goFile returns a file that imports the packages; "~/" stands for this module.
func goFile(imports ...string) string {
	src := "package p\n"
	for _, imported := range imports {
		src += fmt.Sprintf("import _ %q\n", strings.Replace(imported, "~", arch.Module, 1))
	}
	return src
}

// load returns a tree of files by path.
func load(t *testing.T, files map[string]string) *arch.Tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for path, src := range files {
		fsys[path] = &fstest.MapFile{Data: []byte(src)}
	}
	tree, err := arch.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func lines(findings []arch.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.String())
	}
	return out
}

func TestImports(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path    string
		imports []string
		want    string // part of the only finding; "" for none
	}{
		"a stage of the core imports the vocabulary":      {"planner/a.go", []string{"~/contracts", "~/internal/expr"}, ""},
		"the vocabulary imports nothing of ours":          {"contracts/a.go", []string{"~/internal/expr"}, "contracts must not import internal/expr"},
		"the planner does not know the matcher":           {"planner/a.go", []string{"~/intent"}, "planner must not import intent"},
		"the runner does not know the planner":            {"execution/a.go", []string{"~/planner"}, "execution must not import planner"},
		"the matcher does not know the runner":            {"intent/a.go", []string{"~/execution"}, "intent must not import execution"},
		"the use cases know all stages":                   {"orchestrator/a.go", []string{"~/intent", "~/planner", "~/execution", "~/orchestrator/registry"}, ""},
		"the core knows no adapter":                       {"orchestrator/a.go", []string{"~/internal/httpapi"}, "orchestrator must not import internal/httpapi"},
		"the core knows no SDK":                           {"execution/a.go", []string{"~/domainkit"}, "execution must not import domainkit"},
		"the core opens no socket":                        {"planner/a.go", []string{"net"}, `planner must not import "net"`},
		"the core speaks no HTTP":                         {"intent/a.go", []string{"net/http"}, `intent must not import "net/http"`},
		"the core reads no file":                          {"internal/expr/a.go", []string{"os"}, `internal/expr must not import "os"`},
		"the core catches no signal":                      {"execution/a.go", []string{"os/signal"}, `execution must not import "os/signal"`},
		"the core opens no database":                      {"execution/a.go", []string{"database/sql/driver"}, "database/sql/driver"},
		"the core may parse addresses":                    {"orchestrator/registry/a.go", []string{"net/url", "net/netip"}, ""},
		"the runner may use errgroup":                     {"execution/a.go", []string{"golang.org/x/sync/errgroup"}, ""},
		"the planner may not use errgroup":                {"planner/a.go", []string{"golang.org/x/sync/errgroup"}, "must not depend on"},
		"a prefix of a name is not a module":              {"contracts/a.go", []string{"github.com/santhosh-tekuri/jsonschema/v55"}, "must not depend on"},
		"the suite for stores may import testing and os":  {"execution/executiontest/a.go", []string{"testing", "os", "~/execution"}, ""},
		"the suite for stores opens no socket":            {"execution/executiontest/a.go", []string{"net"}, `execution/executiontest must not import "net"`},
		"a program imports no test harness":               {"internal/httpapi/a.go", []string{"testing"}, `internal/httpapi must not import "testing"`},
		"the SDK speaks HTTP":                             {"domainkit/a.go", []string{"net/http", "~/contracts"}, ""},
		"the SDK brings no database":                      {"domainkit/a.go", []string{"database/sql"}, "domainkit must not import"},
		"the SDK brings no web framework":                 {"domainkit/a.go", []string{"github.com/gin-gonic/gin"}, "must not depend on"},
		"the SDK does not know its stores":                {"domainkit/a.go", []string{"~/domainkit/sqlitestore"}, "must not import domainkit/sqlitestore"},
		"a domain uses the SDK and itself":                {"domains/one/cmd/a.go", []string{"~/domainkit", "~/domainkit/sqlitestore", "~/domains/one/internal/x"}, ""},
		"a domain does not know another":                  {"domains/one/a.go", []string{"~/domains/two"}, "domains/one must not import domains/two"},
		"a domain does not know the core":                 {"domains/one/a.go", []string{"~/orchestrator"}, "domains/one must not import orchestrator"},
		"a domain does not know the wiring":               {"domains/one/a.go", []string{"~/internal/app"}, "domains/one must not import internal/app"},
		"an example does not know a domain":               {"examples/one/a.go", []string{"~/domains/one"}, "examples/one must not import domains/one"},
		"adapters do not know each other":                 {"internal/httpapi/a.go", []string{"~/internal/store/sqlite"}, "must not import internal/store/sqlite"},
		"an adapter implements the ports of the core":     {"internal/store/sqlstore/a.go", []string{"~/execution", "~/orchestrator/registry", "~/internal/store/seal"}, ""},
		"only a database's own room knows its driver":     {"internal/store/sqlstore/a.go", []string{"modernc.org/sqlite"}, "must not depend on"},
		"an adapter does not know the planner":            {"internal/domainclient/a.go", []string{"~/planner"}, "must not import planner"},
		"only one room knows the web framework":           {"internal/webhook/a.go", []string{"github.com/gin-gonic/gin"}, "must not depend on"},
		"the wiring sees every adapter":                   {"internal/app/a.go", []string{"~/internal/httpapi", "~/internal/store/sqlite", "~/intent"}, ""},
		"the wiring sees no domain":                       {"internal/app/a.go", []string{"~/domains/one"}, "internal/app must not import domains/one"},
		"the wiring sees no command":                      {"internal/app/a.go", []string{"~/cmd/manifold"}, "internal/app must not import cmd/manifold"},
		"the command line uses the client":                {"cmd/manifold/a.go", []string{"~/client", "~/internal/app", "~/domainkit/conformance", "os"}, ""},
		"the command line sees no store":                  {"cmd/manifold/a.go", []string{"~/internal/store/sqlite"}, "must not import internal/store/sqlite"},
		"the command line sees no domain":                 {"cmd/manifold/a.go", []string{"~/domains/one"}, "cmd/manifold must not import domains/one"},
		"the demo sees both the core and the domains":     {"cmd/demo/a.go", []string{"~/internal/app", "~/domains/one", "~/examples/two"}, ""},
		"a folder without a room is refused":              {"utils/a.go", nil, "no room for this folder"},
		"a folder below a plain room is refused":          {"planner/helpers/a.go", nil, "no room for this folder"},
		"a room may hide parts of itself":                 {"intent/internal/text/a.go", []string{"~/contracts"}, ""},
		"a hidden part keeps the rules of its room":       {"intent/internal/text/a.go", []string{"os"}, `intent must not import "os"`},
		"a test too needs a room":                         {"misc/a_test.go", nil, "no room for this folder"},
		"the root is no room":                             {"a.go", nil, "no room for this folder"},
		"what a test imports is its own affair":           {"planner/a_test.go", []string{"testing", "os", "~/domains/one"}, ""},
		"what the go tool ignores is ignored":             {"planner/testdata/a.go", []string{"os"}, ""},
		"an import of a folder without a room is refused": {"planner/a.go", []string{"~/utils"}, "planner imports utils, which no room covers"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, err := arch.CheckImports(load(t, map[string]string{tt.path: goFile(tt.imports...)}), arch.Rooms())
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(lines(findings), "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want one finding with %q", got, tt.want)
			}
		})
	}
}

func TestImportsSayWhere(t *testing.T) {
	t.Parallel()
	tree := load(t, map[string]string{"planner/a.go": goFile("fmt", "os")})
	findings, err := arch.CheckImports(tree, arch.Rooms())
	if err != nil {
		t.Fatal(err)
	}
	want := []arch.Finding{{Path: "planner/a.go", Line: 3, Text: `planner must not import "os": no I/O of its own, no test harness`}}
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestImportsRefuseWhatDoesNotParse(t *testing.T) {
	t.Parallel()
	_, err := arch.CheckImports(load(t, map[string]string{"planner/a.go": "pakage p"}), arch.Rooms())
	if err == nil || !strings.Contains(err.Error(), "parse planner/a.go") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestRoomsWithoutCode(t *testing.T) {
	t.Parallel()
	rooms := []arch.Room{{Dir: "contracts"}, {Dir: "domains/*"}, {Dir: "planner"}}
	tree := load(t, map[string]string{"contracts/a.go": "package a", "domains/one/cmd/a.go": "package a", "planner/readme.md": ""})
	want := []string{"planner: this room has no Go file; take it out of internal/arch/rooms.go"}
	if diff := cmp.Diff(want, lines(arch.CheckRooms(tree, rooms))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestRoomsAreConsistent finds rules that refer to a room that does not exist.
func TestRoomsAreConsistent(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, r := range arch.Rooms() {
		if known[r.Dir] {
			t.Errorf("the room %s stands there twice", r.Dir)
		}
		known[r.Dir] = true
	}
	for _, r := range arch.Rooms() {
		for _, other := range r.Rooms {
			if !known[other] {
				t.Errorf("%s may import %s, which is no room", r.Dir, other)
			}
		}
	}
}
