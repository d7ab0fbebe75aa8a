package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
)

// nextMigration is what a next release may do to the tables while servers of this
// one still run: it expands them.
const nextMigration = `
CREATE TABLE of_the_next_release (id text PRIMARY KEY, body text NOT NULL);
ALTER TABLE run ADD COLUMN next_release text NOT NULL DEFAULT 'as before';
ALTER TABLE session ADD COLUMN next_release bigint NOT NULL DEFAULT 0;
ALTER TABLE interrupt ADD COLUMN next_release text;
CREATE INDEX run_of_the_next_release ON run (next_release, created_at);
`

// nextRelease builds the program of this checkout with one migration more, which
// stands in no folder of it.
func nextRelease(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../store/postgres/migrations")
	if err != nil {
		t.Fatal(err)
	}
	present, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(present) == 0 {
		t.Fatalf("migrations: %v, %v", present, err)
	}
	migration, overlay, program := filepath.Join(t.TempDir(), "next.sql"), filepath.Join(t.TempDir(), "overlay.json"), filepath.Join(t.TempDir(), "manifold-next")
	body, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(folder, fmt.Sprintf("%04d_next.sql", len(present)+1)): migration}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{migration: []byte(nextMigration), overlay: body} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, raceFlag, "-o", program, "../../cmd/manifold").CombinedOutput(); err != nil {
		t.Fatalf("build the next release: %v\n%s", err, out)
	}
	return program
}

// TestTwoReleasesServeOneDatabase upgrades servers one after the other, with runs
// under way: a program of the next release expands the tables, and both serve. It
// builds a program of its own, so only MANIFOLD_NIGHTLY asks for it.
func TestTwoReleasesServeOneDatabase(t *testing.T) {
	if !longTests() {
		t.Skip("MANIFOLD_NIGHTLY is not set")
	}
	program := nextRelease(t)
	old, gone := startReplicas(t)
	d := newDepot(t, "depot")
	old.register(d.registration())
	gone.servesDepot()
	ask := func(at *process, id string) string { return at.run(d.put("keyed", id, "1")).RunIDs[0] }
	ends := func(at *process, run, id string) {
		t.Helper()
		view := at.ended(run)
		if view.State != contracts.RunCompleted || d.done(id) != 1 {
			t.Errorf("%s was done %d times: %s", id, d.done(id), states2text(view))
		}
		at.sound(view)
	}
	before := ask(old, "before") // waits at its gate while the tables change
	busy := gone.run(call("depot.slow", map[string]any{"id": "s"}), d.put("keyed", "busy", "1")).RunIDs[0]
	d.awaitSlow(t)

	next := newProcess(t, old.postgres)
	next.program, next.keys, next.auditKeys, next.flags = program, old.keys, old.auditKeys, old.flags
	next.start()
	next.servesDepot()
	if known, has := schemaVersion(t, old.postgres); has != known+1 {
		t.Fatalf("the tables have version %d, and this release knows %d: the other is not newer", has, known)
	}

	// Who asked at one release is served at the other, in both directions.
	next.approve(next.gates(before, 1)[0])
	ends(old, before, "before")
	late, early := ask(old, "asked at the old"), ask(next, "asked at the next")
	next.approve(next.gates(late, 1)[0])
	old.approve(old.gates(early, 1)[0])
	ends(next, late, "asked at the old")
	ends(old, early, "asked at the next")

	// A server of the old release dies in the midst of a run; whoever is left, of
	// either release, ends it.
	gone.kill()
	d.awaitSlow(t)
	close(d.release)
	next.approve(next.gates(busy, 1)[0])
	ends(next, busy, "busy")

	// It does not come back as it was, and says why; as the next release it does.
	err := gone.tryStart()
	if err == nil || !strings.Contains(gone.log.String(), "which a newer release made") {
		t.Errorf("a server of the old release started on the tables of the next: %v\n%s", err, lastLines(gone.log.String(), 5))
	}
	gone.program = program
	gone.start()
	last := ask(gone, "last")
	old.approve(old.gates(last, 1)[0])
	ends(old, last, "last")
}

// schemaVersion is what this checkout knows, and what the tables have.
func schemaVersion(t *testing.T, address string) (known, has int) {
	t.Helper()
	present, err := filepath.Glob("../store/postgres/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), `SELECT version FROM manifold_migration WHERE component = 'manifold'`).Scan(&has); err != nil {
		t.Fatal(err)
	}
	return len(present), has
}
