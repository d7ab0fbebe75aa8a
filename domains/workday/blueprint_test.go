package workday_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/sandboxkit"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/domains/workday/sandbox"
)

// TestFlowsAreWiredByASnapshotOfTheServer: a refresh writes it and a dry run does not; it reports
// changes, and is sufficient while the server is unreachable.
func TestFlowsAreWiredByASnapshotOfTheServer(t *testing.T) {
	t.Parallel()
	b, file := wired(t), filepath.Join(t.TempDir(), "workday_mcp.snapshot.json")
	refresh := func(b *bench, dry bool) []string {
		t.Helper()
		changes, err := workday.RefreshBlueprint(t.Context(), b.config, file, dry)
		if err != nil {
			t.Fatal(err)
		}
		return changes
	}
	all := []string{"getMyInfo is new: acme_getMyInfo", "searchForWorker is new: acme_searchForWorker", "getWorkers is new: acme_getWorkers"}
	if got := refresh(b, true); !slices.Equal(got, all) {
		t.Errorf("a dry run: %q", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a dry run wrote")
	}
	if got := refresh(b, false); !slices.Equal(got, all) {
		t.Errorf("the first: %q", got)
	}
	if got := refresh(b, false); len(got) != 0 {
		t.Errorf("the second: %q", got)
	}
	wiring := func(b *bench) string {
		t.Helper()
		out := b.execute("compile_ops", object{"spot": "toolAgent_0#tools"}, "")
		text, err := contracts.Canonical(out.Facts)
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + fmt.Sprint(out.Error)
	}
	asked := wiring(b)
	b.config.MCP.Blueprint = file
	b.tenant.Inject(sandboxkit.Fault{Kind: sandboxkit.Unavailable, PathPrefix: "/mcp", Count: -1})
	b.restart()
	if got := wiring(b); got != asked || !strings.Contains(got, "acme_getWorkers") {
		t.Errorf("by the snapshot: %s, by the server: %s", got, asked)
	}
	other := setup(t, sandbox.Config{ToolPrefix: "next_"})
	other.config.MCP = &workday.MCP{URL: other.config.Tenant.URL + "/mcp"}
	if got := refresh(other, true); len(got) != 4 || !strings.HasPrefix(got[0], "the server is ") || got[1] != "getMyInfo is called next_getMyInfo, was acme_getMyInfo" {
		t.Errorf("of another server: %q", got)
	}
	other.config.MCP.Blueprint = file
	if _, err := workday.New(other.config); err == nil || !strings.Contains(err.Error(), "refresh it") {
		t.Errorf("a snapshot of another server: %v", err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(raw), "acme_getWorkers", "evil_getWorkers", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := workday.New(b.config); err == nil || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("a snapshot that was changed by hand: %v", err)
	}
}
