package e2e_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/pgtest"
)

// tool finds a program that makes backups, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Skipf("there is no %s here", name)
	}
	return found[len(found)-1]
}

func runTool(t *testing.T, path string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(path), err, out)
	}
}

// A backup that is taken while people ask and approve is one moment of the
// database: a server that starts on it finds every row sealed, every ledger
// whole, and ends what was open, without doing anything twice.
func TestABackupOfARunningServerRestores(t *testing.T) {
	t.Parallel()
	for name, backup := range map[string]func(t *testing.T, p *process) (restored *process){
		"file":       backupFile,
		"PostgreSQL": backupPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p *process
			if name == "file" {
				p = startProcess(t)
			} else {
				p, _ = startReplicas(t)
			}
			d := newDepot(t, "depot")
			p.register(d.registration())
			waits := p.run(d.put("keyed", "waits", "1")).RunIDs[0]
			p.gates(waits, 1)
			c := &caller{depot: d, rita: p.rita, otto: p.otto}
			done := make(chan struct{})
			var people sync.WaitGroup
			for person := range 4 {
				people.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-done:
							return
						default:
						}
						if err := c.ask(t.Context(), fmt.Sprintf("k%d-%d", person, n)); err != nil {
							t.Errorf("person %d: %v", person, err)
							return
						}
					}
				})
			}
			eventually(t, "runs to end", func() (int64, bool) { return c.ended.Load(), t.Failed() || c.ended.Load() > 5 })
			restored := backup(t, p)
			close(done)
			people.Wait()
			p.kill()

			restored.keys = p.keys
			restored.start()
			if out, errs, code := restored.command(restored.keys[0], "audit", "verify"); code != 0 {
				t.Errorf("the audit of what was restored ends with %d: %s%s", code, out, errs)
			}
			open := restored.gates(waits, 1)
			restored.approve(open[0])
			if view := restored.ended(waits); view.State != contracts.RunCompleted || d.done("waits") != 1 {
				t.Errorf("%s, effects: %+v", states2text(view), d.record())
			}
			runs, err := restored.rita.Runs(t.Context(), client.RunsFilter{})
			if err != nil || len(runs) < 6 {
				t.Fatalf("%d runs were restored, %v", len(runs), err)
			}
			for _, run := range runs {
				eventually(t, "the end of "+run.RunID, func() (bool, bool) {
					for _, gate := range openGates(restored, run.RunID) {
						restored.approve(gate)
					}
					view, err := restored.rita.Run(t.Context(), run.RunID, client.Opt{Wait: time.Second})
					return true, err == nil && view.State.Terminal()
				})
				restored.sound(restored.ended(run.RunID))
			}
			for _, effect := range d.record() {
				if n := d.done(effect.ID); n != 1 {
					t.Errorf("%s was done %d times", effect.ID, n)
				}
			}
			t.Logf("%d runs were restored of %d that had ended when the server died", len(runs), c.ended.Load())
		})
	}
}

func openGates(p *process, run string) []contracts.Interrupt {
	p.t.Helper()
	open, err := p.rita.Gates(p.t.Context(), client.GatesFilter{RunID: run, Status: contracts.InterruptOpen})
	if err != nil {
		p.t.Fatal(err)
	}
	return open
}

// backupFile copies the database by SQLite's own means, and the keys beside it.
func backupFile(t *testing.T, p *process) *process {
	t.Helper()
	restored := newProcess(t, "")
	if err := os.MkdirAll(restored.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	copyInto := filepath.Join(restored.dir, "manifold.db")
	runTool(t, tool(t, "sqlite3"), filepath.Join(p.dir, "manifold.db"), "VACUUM INTO '"+copyInto+"'")
	keys, err := os.ReadFile(filepath.Join(p.dir, "audit.keys"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(restored.dir, "audit.keys"), keys, 0o600); err != nil {
		t.Fatal(err)
	}
	return restored
}

// backupPostgres dumps the schema and restores it in another database.
func backupPostgres(t *testing.T, p *process) *process {
	t.Helper()
	server := pgtest.Start(t)
	other := server.URL(t)
	u, err := url.Parse(p.postgres)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	schema := query.Get("search_path")
	query.Del("search_path")
	u.RawQuery = query.Encode()
	dump := filepath.Join(t.TempDir(), "dump.sql")
	runTool(t, tool(t, "pg_dump"), "--schema="+schema, "--file="+dump, u.String())
	to, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	query = to.Query()
	query.Del("search_path")
	to.RawQuery = query.Encode()
	runTool(t, tool(t, "psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--file="+dump, to.String())
	query.Set("search_path", schema)
	to.RawQuery = query.Encode()
	restored := newProcess(t, to.String())
	restored.auditKeys = p.auditKeys
	return restored
}
