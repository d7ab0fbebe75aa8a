package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/seal"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// tampered stores one of everything, changes the closed file by SQL, and returns the scopes that
// the next start finds to differ.
func tampered(t *testing.T, change string, args ...any) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifold.db")
	keys := [][]byte{[]byte("outside of the database")}
	s, err := openAll(t.Context(), sqlite.Config{Path: path, SealKeys: keys})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s)
	if found := differing(t, s); len(found) > 0 {
		t.Fatalf("before anything was changed: %v", found)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	result, err := db.ExecContext(t.Context(), change, args...)
	if err == nil {
		var n int64
		if n, err = result.RowsAffected(); err == nil && n == 0 {
			err = errors.New("it changed nothing")
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatalf("%s: %v", change, err)
	}
	if s, err = openAll(t.Context(), sqlite.Config{Path: path, SealKeys: keys}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	return differing(t, s)
}

func differing(t *testing.T, s *store) []string {
	t.Helper()
	var found []string
	if _, err := s.CheckRows(t.Context(), func(scope, _ string) { found = append(found, scope) }); err != nil {
		t.Fatal(err)
	}
	return found
}

func fill(t *testing.T, s *store) {
	t.Helper()
	ctx, day := t.Context(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	entry := contracts.LedgerEntry{Seq: 1, At: day, RunID: "r1", Kind: contracts.LedgerPlan}
	gate := contracts.Interrupt{InterruptID: "g1", Code: "AB2CD", Type: contracts.InterruptWriteApproval, SessionID: "s1", Prompt: "Pay?"}
	body := []byte("content")
	err := errors.Join(
		entry.Seal(""),
		s.CreateSession(ctx, orchestrator.Session{ID: "s1", Owner: contracts.Principal{ID: "ana"}, Name: "first", CreatedAt: day, UpdatedAt: day}),
		s.CreateRun(ctx, execution.Run{ID: "r1", SessionID: "s1", State: contracts.RunRunning, Plan: contracts.Plan{Goal: "pay"}}, 0, execution.Transition{
			At: day, Nodes: []execution.NodeRecord{{NodeID: "n1", State: contracts.NodePending}}, Gates: []contracts.Interrupt{gate},
			Intents: []execution.Intent{{RunID: "r1", NodeID: "n1", N: 1, Key: "r1/n1/1", Nonce: "nonce", Parameters: []byte(`{"amount":1}`)}},
			Events:  []contracts.Event{{Type: contracts.EventNodeStart, NodeID: "n1"}}, Ledger: []contracts.LedgerEntry{entry},
			Blobs: []execution.Blob{{SHA256: contracts.HashBytes(body), Kind: execution.BlobArtifact, Body: body}},
			Data:  []execution.NodeData{{NodeID: "n1", Body: []byte("raw"), ExpiresAt: time.Now().Add(time.Hour)}},
		}),
		s.InsertKey(ctx, access.Key{ID: "k1", Name: "ana", Roles: []access.Role{access.RoleViewer}, CreatedAt: day}),
	)
	_, _, begun := s.BeginTurn(ctx, orchestrator.Turn{TurnKey: orchestrator.TurnKey{Conversation: "s1", Key: "k"}, SessionID: "s1", Message: "pay it", CreatedAt: day})
	_, secret := s.SecretOnce(ctx, "name", []byte("secret"))
	if err := errors.Join(err, begun, secret); err != nil {
		t.Fatal(err)
	}
}

func TestAChangedRowIsNoticed(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		`UPDATE plan SET body = replace(body, 'pay', 'buy')`:                      "run:r1",
		`UPDATE node SET body = replace(body, 'pending', 'completed')`:            "run:r1",
		`UPDATE interrupt SET body = replace(body, 'Pay?', 'Read?')`:              "run:r1",
		`UPDATE interrupt SET status = 'approved'`:                                "run:r1",
		`UPDATE intent SET outcome = '{"kind":"result"}'`:                         "run:r1",
		`UPDATE run SET cancelled_by = 'mallory'`:                                 "run:r1",
		`UPDATE run SET format = 1`:                                               "run:r1",
		`UPDATE event SET body = replace(body, 'n1', 'n2')`:                       "session:s1",
		`DELETE FROM event`:                                                       "session:s1",
		`DELETE FROM node_data`:                                                   "run:r1",
		`DELETE FROM run`:                                                         "run:r1",
		`DELETE FROM ledger`:                                                      "run:r1",
		`DELETE FROM intent`:                                                      "run:r1",
		`INSERT INTO node (run_id, node_id, body) VALUES ('r2', 'n1', '{}')`:      "run:r2",
		`UPDATE session SET owner = 'mallory'`:                                    "session:s1",
		`UPDATE turn SET body = replace(body, 'pay', 'buy')`:                      "session:s1",
		`UPDATE api_key SET body = replace(body, 'viewer', 'admin')`:              "house",
		`INSERT INTO api_key SELECT 'k2', hash, created_at, 0, body FROM api_key`: "house",
		`UPDATE secret SET value = x'00'`:                                         "house",
		`DELETE FROM blob`:                                                        "house",
		`UPDATE seal SET version = version + 1 WHERE scope = 'run:r1'`:            "run:r1",
		`UPDATE seal SET sum = x'' WHERE scope = 'run:r1'`:                        "run:r1",
		`DELETE FROM seal WHERE scope = 'run:r1'`:                                 "run:r1",
		`UPDATE blob SET body = x'6f'`:                                            "content:" + contracts.HashBytes([]byte("content")),
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			if found := tampered(t, change); !slices.Contains(found, want) {
				t.Errorf("found %v, want %s", found, want)
			}
		})
	}
}

// TestEveryColumnIsSealedOrNamedHarmless forces a decision about every new column.
func TestEveryColumnIsSealedOrNamedHarmless(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	columns, err := s.Columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sealed []string
	for _, t := range seal.Tables() {
		for _, c := range t.Columns {
			sealed = append(sealed, t.Name+"."+c)
		}
	}
	harmless := seal.Harmless()
	maps.Copy(harmless, seal.Checked())
	for _, c := range columns {
		if _, named := harmless[c]; slices.Contains(sealed, c) == named {
			t.Errorf("column %s is to be sealed or named harmless, one of the two", c)
		}
	}
	for _, c := range append(slices.Clone(sealed), slices.Collect(maps.Keys(harmless))...) {
		if !slices.Contains(columns, c) {
			t.Errorf("there is no column %s", c)
		}
	}
}

// TestTheKeyOfTheSeals checks that the database does not open without its key, that a key change
// needs the old key too, and that it fails if rows were changed.
func TestTheKeyOfTheSeals(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	reopen := func(change string, keys ...string) error {
		t.Helper()
		if change != "" {
			db, err := sql.Open("sqlite", path)
			if err == nil {
				_, err = db.ExecContext(t.Context(), change)
			}
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}
		cfg := sqlite.Config{Path: path}
		for _, k := range keys {
			cfg.SealKeys = append(cfg.SealKeys, []byte(k))
		}
		s, err := openAll(t.Context(), cfg)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		if found := differing(t, s); len(found) > 0 {
			return fmt.Errorf("differs: %v", found)
		}
		return nil
	}
	s, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s) // before there were seals
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		change string
		keys   []string
		code   contracts.Code
	}{
		{"", []string{"first"}, ""},
		{"", nil, contracts.CodeConflict},
		{"", []string{"second"}, contracts.CodeConflict},
		{"", []string{"second", "first"}, ""},
		{"", []string{"second"}, ""},
		{"UPDATE session SET name = 'x'", []string{"third", "second"}, contracts.CodeConflict},
	} {
		err := reopen(step.change, step.keys...)
		if contracts.CodeOf(err) != step.code || step.code != "" && !strings.Contains(err.Error(), "seal") {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

func TestARefusedWriteLeavesTheSealsWhole(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	fill(t, s)
	for range 3 { // two of them share a batch with writes that succeed
		done := make(chan error, 2)
		go func() { done <- s.InsertKey(t.Context(), access.Key{ID: "k1"}) }()
		go func() { done <- s.RecordOperation(t.Context(), "nonce", "op") }()
		<-done
		<-done
	}
	if found := differing(t, s); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// TestATextWithAZeroByteIsRefused checks this because sealed text ends at a zero byte.
func TestATextWithAZeroByteIsRefused(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	err := s.CreateSession(t.Context(), orchestrator.Session{ID: "s1", Owner: contracts.Principal{ID: "ana"}, Name: "a\x00b"})
	if contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

// TestASealThatTheMemoryHasNoRoomForIsReadAgain changes more scopes than the cache holds.
func TestASealThatTheMemoryHasNoRoomForIsReadAgain(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	fill(t, s)
	var group errgroup.Group
	group.SetLimit(128)
	for i := range 9000 { // each is a scope of its own
		group.Go(func() error { return s.CreateSession(t.Context(), orchestrator.Session{ID: fmt.Sprintf("s%d", i+10)}) })
	}
	if err := errors.Join(group.Wait(), s.InsertKey(t.Context(), access.Key{ID: "k2"})); err != nil {
		t.Fatal(err)
	}
	if found := differing(t, s); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}
