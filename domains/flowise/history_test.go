package flowise_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/domains/flowise"
)

// changesOf returns the changes of one flow, newest first.
func (b *bench) changesOf(id string) []object {
	b.Helper()
	list, _ := b.facts("list_changes", object{"chatflow_id": id}, in{})["changes"].([]any)
	var out []object
	for _, item := range list {
		row, _ := item.(object)
		out = append(out, row)
	}
	return out
}

// TestWhatIsEditedInFlowiseIsKeptAndCanBeRestored: an edit in Flowise's UI is stored as a version
// with its differences, and can be rolled back from and to.
func TestWhatIsEditedInFlowiseIsKeptAndCanBeRestored(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := b.create("Watched "+rand.Text(), "one")
		original := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
		if rows := b.changesOf(id); len(rows) != 1 || rows[0]["by"] != "Manifold, run "+"run" {
			t.Errorf("our own write: %v", rows)
		}
		b.edit(id, strings.Replace(original, "one", "by hand", 1))
		rows := b.changesOf(id)
		if len(rows) != 2 || rows[0]["by"] != "somebody in Flowise" || !strings.Contains(text(rows[0]["change"]), "one → by hand") {
			t.Fatalf("after the edit: %v", rows)
		}
		if again := b.changesOf(id); len(again) != 2 {
			t.Errorf("looking again adds a version: %v", again)
		}
		b.direct("PUT", "/chatflows/"+id, object{"name": "Renamed by hand"}, &struct{}{})
		if rows = b.changesOf(id); len(rows) != 3 || !strings.Contains(text(rows[0]["change"]), "renamed from Watched") {
			t.Errorf("after the renaming: %v", rows)
		}
		b.facts("rollback_chatflow", object{"chatflow_id": id, "version": "v1"}, in{key: "back" + id})
		if now := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})); now != original {
			t.Error("what was there before the edit is not restored")
		}
		for from, to := range map[string]string{"the first one": "v1", "version 2": "v2", "the one before": "v3", "the last but one": "v3"} {
			if got := b.facts("diff_versions", object{"chatflow_id": id, "from": from}, in{}); got["from"] != to {
				t.Errorf("%s is %v, want %s", from, got["from"], to)
			}
		}
		b.refused("diff_versions", object{"chatflow_id": id, "from": "the best one"}, in{})
		b.facts("rollback_chatflow", object{"chatflow_id": id, "version": "v2"}, in{key: "forth" + id})
		if now := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})); !strings.Contains(now, "by hand") {
			t.Error("the edit of the colleague cannot be restored")
		}
	})
}

// TestTheWatcherKeepsEditsThatNobodyAsksFor: two edits without a call between them are two
// versions, because Watch polls the servers.
func TestTheWatcherKeepsEditsThatNobodyAsksFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create("Watched", "one")
	original := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- flowise.Watch(ctx, b.config, 5*time.Millisecond) }()
	for i, reply := range []string{"two", "three"} {
		b.edit(id, strings.Replace(original, "one", reply, 1))
		for deadline := time.Now().Add(20 * time.Second); ; {
			if got := b.facts("list_versions", object{"chatflow_id": id}, in{})["total"]; got == float64(i+2) {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("edit %d is not kept: %v", i+1, got)
			}
			<-time.After(2 * time.Millisecond)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestExportedFlowsAreTheSameFilesAndComeBack: exports are deterministic and contain no credential
// ids, and an import is bound like any other change.
func TestExportedFlowsAreTheSameFilesAndComeBack(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		folder := t.TempDir()
		b.config.Folder = folder
		b.restart()
		credential, called := b.newCredential("openAIApi")
		name := "Exported " + rand.Text()
		id := text(b.facts("create_chatflow", object{"name": name, "ops": chatOps(credential)}, in{key: rand.Text()})["chatflow_id"])
		if b.server == nil {
			// A real server has flows of other tests; one is enough here.
			out := b.execute("export_chatflow", object{"chatflow_id": id}, in{})
			if !out.OK || !strings.Contains(string(out.Artifacts["export"]), called) {
				t.Errorf("%v", out)
			}
			return
		}
		file := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".json")
		var first []byte
		for i := range 2 {
			names, err := flowise.Export(t.Context(), b.config, "", folder)
			if err != nil || len(names) == 0 {
				t.Fatal(names, err)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = raw
			} else if string(raw) != string(first) {
				t.Error("the same flow gives other bytes")
			}
		}
		if !strings.Contains(string(first), called) || !strings.Contains(string(first), "\n  \"flow\": {\n") {
			t.Errorf("it is not for people: %.300s", first)
		}
		original := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{}))
		if refusal := b.refused("import_chatflow", object{"file": filepath.Base(file)}, in{key: "same" + id}); !strings.Contains(refusal.Message, "nothing would change") {
			t.Errorf("%v", refusal)
		}
		b.edit(id, strings.Replace(original, "Be helpful", "Be brief", 1))
		shown := b.proposed("import_chatflow", object{"file": filepath.Base(file)})
		b.facts("import_chatflow", object{"file": filepath.Base(file), "base_sha256": shown["base_sha256"], "graph_sha256": shown["graph_sha256"]}, in{key: "in" + id})
		if now := b.graph(b.execute("load_flow", object{"chatflow_id": id}, in{})); now != original {
			t.Error("the import did not bring back what was exported")
		}
		for _, odd := range []string{"../data.db", "/etc/passwd", "none.json"} {
			if refusal := b.refused("import_chatflow", object{"file": odd}, in{key: odd + id}); refusal.Type != "not_found" {
				t.Errorf("%s: %v", odd, refusal)
			}
		}
	})
}
