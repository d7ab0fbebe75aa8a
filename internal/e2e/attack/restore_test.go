package attack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/pgtest"
)

// TestARestoredDatabaseRepeatsNoWrite: after a backup a payment is approved and
// done, of which the backup knows nothing. Whoever starts from it in quarantine
// and approves again pays nobody twice.
func TestARestoredDatabaseRepeatsNoWrite(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		path, kept := filepath.Join(s.dir, "manifold.db"), []byte(nil)
		repeatsNothing(t, s, app.Config{}, func() { kept = must(t, func() ([]byte, error) { return os.ReadFile(path) }) }, func() {
			for _, name := range []string{path + "-wal", path + "-shm"} {
				_ = os.Remove(name) // they may be gone
			}
			if err := os.WriteFile(path, kept, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		on := pgtest.Start(t)
		url, other := on.URL(t), on.URL(t)
		var kept server
		s := open(t, func(c *app.Config) { c.PostgresURL = url })
		repeatsNothing(t, s, app.Config{PostgresURL: url}, func() { kept = keptCopy(t, url, other) }, func() { kept.restore(t) })
	})
}

// repeatsNothing plays it: keep and restore are called while no server runs.
func repeatsNothing(t *testing.T, s *site, cfg app.Config, keep, restore func()) {
	t.Helper()
	ctx := t.Context()
	aliceKey := s.key(s.root, contracts.KeySpec{Kind: "user", Principal: "alice", Roles: []string{"requester"}})
	ottoKey := s.key(s.root, contracts.KeySpec{Kind: "user", Principal: "otto", Roles: []string{"approver", "operator"}})
	var alice, otto *client.Client
	again := func(quarantine bool) {
		t.Helper()
		cfg.Addr, cfg.DataDir, cfg.Lookup, cfg.Quarantine, cfg.Webhooks.AllowLoopback = "127.0.0.1:0", s.dir, os.LookupEnv, quarantine, true
		s.app = apptest.Start(t, cfg)
		s.url = s.app.URL()
		s.root, alice, otto = s.with(apptest.Key(t, filepath.Join(s.dir, "admin.key"))), s.with(aliceKey), s.with(ottoKey)
	}
	alice, otto = s.with(aliceKey), s.with(ottoKey)
	done, open, dropped := s.asks(alice, "vault.pay", toAlice), s.asks(alice, "vault.pay", toAlice), s.asks(alice, "vault.pay", toAlice)
	for _, run := range []string{done, open, dropped} {
		s.gate(run)
	}
	apptest.Stop(t, s.app)
	keep()

	again(false)
	s.approves(otto, s.gate(done))
	s.ended(done)
	if n := len(s.vault.record()); n != 1 {
		t.Fatalf("%d payments", n)
	}
	apptest.Stop(t, s.app)
	restore()

	cfg.Addr, cfg.DataDir, cfg.Lookup, cfg.Quarantine = "127.0.0.1:0", s.dir, os.LookupEnv, false
	if err := startsOn(t, cfg); contracts.CodeOf(err) != contracts.CodeConflict || !strings.Contains(err.Error(), "--quarantine") {
		t.Fatalf("a plain start on an older database: %v", err)
	}
	again(true)
	for _, run := range []string{done, open, dropped} {
		if view, err := otto.Run(ctx, run, client.Opt{}); err != nil || view.HeldSince == nil || view.State.Terminal() {
			t.Fatalf("%s is not held: %s, %v", run, asJSON(view), err)
		}
	}
	held, err := otto.Runs(ctx, client.RunsFilter{Held: true, Everybody: true})
	if err != nil || len(held) != 3 {
		t.Errorf("held: %s, %v", asJSON(held), err)
	}
	s.approves(otto, s.gate(done))
	fresh := s.asks(alice, "vault.peek", toAlice)
	s.ended(fresh) // others go on, so this one would have
	if n := len(s.vault.record()); n != 1 {
		t.Fatalf("%d payments: the write was repeated", n)
	}
	if _, err := alice.ReleaseRun(ctx, open); contracts.CodeOf(err) != contracts.CodeForbidden {
		t.Errorf("who asked released it: %v", err)
	}
	// A second start, without the flag, releases nothing.
	apptest.Stop(t, s.app)
	again(false)
	if view, err := otto.Run(ctx, done, client.Opt{}); err != nil || view.HeldSince == nil {
		t.Errorf("after the next start: %s, %v", asJSON(view), err)
	}

	for _, run := range []string{done, dropped} {
		if _, err := otto.CancelRun(ctx, run); err != nil {
			t.Fatal(err)
		}
		s.ended(run)
	}
	if n := len(s.vault.record()); n != 1 {
		t.Fatalf("%d payments after the cancels", n)
	}
	if _, err := otto.ReleaseRun(ctx, open); err != nil {
		t.Fatal(err)
	}
	if _, err := otto.ReleaseRun(ctx, open); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("released twice: %v", err)
	}
	s.approves(otto, s.gate(open))
	s.ended(open)
	if n := len(s.vault.record()); n != 2 {
		t.Errorf("%d payments after the release, want 2", n)
	}
	report, err := s.root.AuditVerify(ctx, "")
	if err != nil || !report.OK {
		t.Errorf("an audit: %s, %v", asJSON(report), err)
	}
	acts, err := s.root.Ledger(ctx, execution.AdminChain)
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for _, a := range acts {
		if a.Kind == contracts.ActQuarantine {
			by = append(by, a.Actor+" "+a.NodeID)
		}
	}
	if want := []string{"system database", "otto " + open}; !slices.Equal(by, want) {
		t.Errorf("on record: %v, want %v", by, want)
	}
}

// startsOn starts a server and stops it, if it starts.
func startsOn(t *testing.T, cfg app.Config) error {
	t.Helper()
	server, err := app.New(t.Context(), cfg)
	if err != nil {
		return err
	}
	err = server.Start(t.Context())
	apptest.Stop(t, server)
	return err
}
