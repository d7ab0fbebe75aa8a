package attack_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/witness"
)

// TestEveryActOfAdministrationIsOnRecord: each stands in the chain of acts, in its
// order, with who did it, by which key and from where, and what it was about.
func TestEveryActOfAdministrationIsOnRecord(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	alice, mallory := s.person("alice", "operator"), s.person("mallory", "operator", "approver")
	extra, err := s.root.CreateKey(ctx, contracts.KeySpec{Kind: "user", Principal: "temp", Roles: []string{"viewer"}})
	if err == nil {
		err = s.root.RevokeKey(ctx, extra.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	sly := newVault(t, func(m *contracts.Manifest) {
		m.Domain = "sly"
		m.Capabilities = m.Capabilities[:2]
		m.Capabilities[1].Name = "delete_everything"
	})
	report, err := s.root.RegisterDomain(ctx, contracts.Registration{Domain: "sly", URL: sly.url})
	if err == nil {
		_, err = s.root.ConfirmDomain(ctx, "sly", report.Digest)
	}
	if err == nil {
		_, err = s.root.RegisterDomain(ctx, contracts.Registration{Domain: "vault", URL: s.vault.url, Overlay: contracts.Overlay{Floor: &contracts.Floor{FloorRule: contracts.FloorRule{RiskLevel: contracts.RiskMedium}}}})
	}
	if err == nil {
		err = s.root.UnregisterDomain(ctx, "sly")
	}
	if err != nil {
		t.Fatal(err)
	}
	s.vault.falls()
	run := s.asks(alice, "vault.pay", toAlice)
	s.approves(mallory, s.gate(run))
	unknown := s.asked(run, contracts.InterruptOutcomeUnknown)
	s.answers(mallory, unknown, contracts.AnswerApplied)
	s.ended(run)
	if err := s.root.DeleteSession(ctx, unknown.SessionID); err != nil {
		t.Fatal(err)
	}
	acts, err := s.root.Ledger(ctx, execution.AdminChain)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range acts {
		got = append(got, strings.TrimPrefix(string(a.Kind)+" by "+a.Actor, "user:"))
		if a.Actor != "system" && (a.KeyID == "" || a.From != "127.0.0.1" || a.NodeID == "") {
			t.Errorf("%s does not say by which key, from where, and about what: %s", a.Kind, asJSON(a))
		}
	}
	want := []string{
		"key_created by system", "domain_registered by admin", "key_created by admin", "key_created by admin", "key_created by admin", "key_revoked by admin",
		"domain_registered by admin", "domain_confirmed by admin", "domain_registered by admin", "domain_removed by admin", "outcome_settled by mallory", "session_deleted by admin",
	}
	if !slices.Equal(got, want) {
		t.Errorf("acts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWhoBreaksALockIsOnRecord: a write holds its key while the domain does not answer;
// who takes it away stands in the chain of locks, with the key and the address.
func TestWhoBreaksALockIsOnRecord(t *testing.T) {
	t.Parallel()
	s := open(t)
	locking := newVault(t, func(m *contracts.Manifest) {
		m.Domain = "safe"
		for i := range m.Capabilities[2:] {
			m.Capabilities[2+i].Metadata.Locks = []string{"account:{account}"}
		}
	})
	s.register(locking)
	release := locking.holds()
	t.Cleanup(release)
	alice, otto := s.person("alice", "operator"), s.person("otto", "approver")
	run := s.asks(alice, "safe.pay", toAlice)
	s.approves(otto, s.gate(run))
	held := eventually(t, "the lock of the write", func() ([]contracts.LockView, bool) {
		locks, err := s.root.Locks(t.Context())
		return locks, err == nil && len(locks) > 0 && len(locking.record()) == 1
	})
	if _, err := s.root.BreakLock(t.Context(), held[0].Key); err != nil {
		t.Fatal(err)
	}
	release()
	s.ended(run)
	entries, err := s.root.Ledger(t.Context(), execution.LockChain)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v %s", err, asJSON(entries))
	}
	if e := entries[0]; e.Kind != contracts.LedgerLockBroken || e.Key != held[0].Key || e.Actor != "admin" || e.KeyID == "" || e.From != "127.0.0.1" {
		t.Errorf("the chain of locks says %s", asJSON(e))
	}
	if report, err := s.root.AuditVerify(t.Context(), ""); err != nil || !report.OK {
		t.Errorf("audit: %v %s", err, asJSON(report))
	}
}

// TestRootsGoToTheLog: where the log is kept elsewhere it is a place for roots, each
// signed as those of a file are.
func TestRootsGoToTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *app.Config) { c.Proof.Roots = []string{"log"} })
	s.ended(s.asks(s.person("alice", "operator"), "vault.peek", toAlice))
	apptest.Stop(t, s.app)
	keys, _, err := witness.Load(filepath.Join(s.dir, "audit.keys"))
	if err != nil {
		t.Fatal(err)
	}
	known := must(t, keys.Known)
	found := regexp.MustCompile(`msg="audit root" size=(\d+) note=("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(s.log.String(), -1)
	for _, root := range found {
		text := must(t, func() (string, error) { return strconv.Unquote(root[2]) })
		signed, err := note.Open([]byte(text), known)
		if err != nil || len(signed.Sigs) == 0 || !strings.Contains(signed.Text, "\n"+root[1]+"\n") {
			t.Errorf("root of %s: %v\n%s", root[1], err, text)
		}
	}
	if len(found) == 0 {
		t.Errorf("no root in the log:\n%s", s.log)
	}
}

// TestASiteCanAskForASecondPersonAlways: who asked may approve a reversible write of
// low risk, unless the site prevents self-review.
func TestASiteCanAskForASecondPersonAlways(t *testing.T) {
	t.Parallel()
	for name, prevented := range map[string]bool{"by default": false, "prevented": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := `{}`
			if prevented {
				rules = `{"review":{"prevent_self_review":true}}`
			}
			s := open(t, policy(rules))
			s.register(newVault(t, desk))
			both := s.person("both", "operator", "approver")
			gate := s.gate(s.asks(both, "desk.note", toAlice))
			if prevented {
				s.mayNot(both, gate, "who asked for it", "second pair of eyes")
				return
			}
			if got := s.approves(both, gate); got.Status != contracts.InterruptApproved {
				t.Errorf("it is %s", got.Status)
			}
		})
	}
}

// TestNoKeyStandsInTheDatabase: who copies it can sign no root, make no seal, forge no
// link and use no key of an admin.
func TestNoKeyStandsInTheDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *app.Config) { c.Links.PublicURL = "https://manifold.example" })
	s.ended(s.asks(s.person("alice", "operator"), "vault.peek", toAlice))
	apptest.Stop(t, s.app)
	keys, _, err := witness.Load(filepath.Join(s.dir, "audit.keys"))
	if err != nil {
		t.Fatal(err)
	}
	secrets := [][]byte{[]byte(apptest.Key(t, filepath.Join(s.dir, "admin.key"))), keys.Links}
	secrets = append(secrets, keys.Sealing...)
	for _, signing := range keys.Signing { // PRIVATE+KEY+name+hash+key, as golang.org/x/mod/sumdb/note writes them
		secret := must(t, func() ([]byte, error) { return base64.StdEncoding.DecodeString(strings.SplitN(signing, "+", 5)[4]) })
		secrets = append(secrets, secret[1:]) // before it stands the algorithm
	}
	var kept []byte
	for _, name := range []string{"manifold.db", "manifold.db-wal"} {
		if raw, err := os.ReadFile(filepath.Join(s.dir, name)); err == nil {
			kept = append(kept, raw...)
		}
	}
	if !bytes.Contains(kept, []byte("vault")) {
		t.Fatal("this is not the database")
	}
	for n, secret := range secrets {
		if len(secret) < 16 {
			t.Fatalf("secret %d has %d bytes", n, len(secret))
		}
		for form, text := range map[string]string{
			"it is": string(secret), "hex": hex.EncodeToString(secret),
			"base64": base64.RawStdEncoding.EncodeToString(secret), "base64url": base64.RawURLEncoding.EncodeToString(secret),
		} {
			if bytes.Contains(kept, []byte(text)) {
				t.Errorf("secret %d stands in the database as %s", n, form)
			}
		}
	}
}

// TestReadySaysWhenNothingCanBeWritten: a program that takes the database for itself
// leaves a server that answers, and says that it is not ready.
func TestReadySaysWhenNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	db := must(t, func() (*sql.DB, error) { return sql.Open("sqlite", filepath.Join(s.dir, "manifold.db")) })
	t.Cleanup(func() { _ = db.Close() })
	conn := must(t, func() (*sql.Conn, error) { return db.Conn(ctx) })
	for _, statement := range []string{"PRAGMA busy_timeout = 10000", "BEGIN IMMEDIATE"} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.sends("", http.MethodGet, "/ready", nil); got.status != http.StatusServiceUnavailable {
		t.Errorf("it says %d %s", got.status, got.body)
	}
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server to be ready", func() (int, bool) {
		got := s.sends("", http.MethodGet, "/ready", nil)
		return got.status, got.status == http.StatusOK
	})
}
