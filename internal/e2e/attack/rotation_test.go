package attack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/witness"
)

// TestKeysAreRotatedAndNobodyLosesTheThread: who knows the old public key alone
// follows the log over the change, what was sealed before stays proven, and who
// kept the old file, or makes one, has the database no more.
func TestKeysAreRotatedAndNobodyLosesTheThread(t *testing.T) {
	t.Parallel()
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		rotates(t, func(*app.Config) {})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Start(t).URL(t)
		rotates(t, func(c *app.Config) { c.PostgresURL = url })
	})
}

func rotates(t *testing.T, on func(*app.Config)) {
	t.Helper()
	often := func(c *app.Config) { c.Proof.Every = 20 * time.Millisecond }
	s := open(t, on, often)
	path := filepath.Join(s.dir, "audit.keys")
	old := must(t, func() ([]byte, error) { return os.ReadFile(path) })
	oldKey := s.publicKeys()[0]
	before := s.looked()
	proof := s.proven(before, oldKey)

	apptest.Stop(t, s.app)
	if _, err := witness.Rotate(path); err != nil {
		t.Fatal(err)
	}
	s.starts(on, often)
	s.root = s.with(apptest.Key(t, filepath.Join(s.dir, "admin.key")))
	keys := s.publicKeys()
	if len(keys) != 2 || keys[1] != oldKey || keys[0] == oldKey {
		t.Fatalf("the public keys are %v, and the one before was %s", keys, oldKey)
	}
	after := s.looked()
	for _, run := range []string{before, after} {
		for _, key := range keys { // who knows either is convinced
			s.proven(run, key)
		}
	}
	grown, err := s.root.AuditConsistency(t.Context(), proof.Root.Size)
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range [][]string{{oldKey}, keys} {
		if _, err := witness.CheckConsistency(grown, proof.Root.Note, known...); err != nil {
			t.Errorf("the log after the change, from the root before it, by %v: %v", known, err)
		}
	}
	if report, err := s.root.AuditVerify(t.Context(), ""); err != nil || !report.OK || report.Sealed == 0 {
		t.Errorf("an audit after the change: %+v, %v", report, err)
	}

	apptest.Stop(t, s.app)
	for name, file := range map[string][]byte{"the old file of keys": old, "a file of keys that a stranger made": nil} {
		strange := filepath.Join(t.TempDir(), "audit.keys")
		if file == nil {
			if _, _, err := witness.Load(strange); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(strange, file, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := app.Config{Addr: "127.0.0.1:0", DataDir: s.dir, Lookup: os.LookupEnv}
		on(&cfg)
		cfg.Proof.Keys = strange
		server, err := app.New(t.Context(), cfg)
		if err == nil {
			if err = server.Start(t.Context()); err == nil {
				apptest.Stop(t, server)
			}
		}
		if contracts.CodeOf(err) != contracts.CodeConflict || !strings.Contains(err.Error(), "seal") {
			t.Errorf("a server with %s: %v, want a conflict about seals", name, err)
		}
	}
}

// publicKeys are what lies beside the keys of the site for others.
func (s *site) publicKeys() []string {
	s.t.Helper()
	body, err := os.ReadFile(filepath.Join(s.dir, "audit.keys.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(body))
}

// looked lets somebody look into the vault, and returns the run when it has ended.
func (s *site) looked() string {
	s.t.Helper()
	run := s.asks(s.root, "vault.peek", toAlice)
	s.ended(run)
	return run
}

// proven waits until a signed root covers the first entry of a run, and checks the
// proof with one key.
func (s *site) proven(run, key string) contracts.AuditProof {
	s.t.Helper()
	proof := eventually(s.t, "a signed root over "+run, func() (contracts.AuditProof, bool) {
		proof, err := s.root.AuditProof(s.t.Context(), run, 1)
		return proof, err == nil
	})
	if _, err := witness.CheckProof(proof, key); err != nil {
		s.t.Errorf("%s by %s: %v", run, key, err)
	}
	return proof
}
