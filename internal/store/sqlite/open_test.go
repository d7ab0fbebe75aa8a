package sqlite_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/sqlite"
	"github.com/manifold-run/manifold/orchestrator"
)

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func exampleRun(id string) execution.Run {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return execution.Run{
		ID: id, SessionID: "s1", Owner: "one", Format: execution.Format, State: contracts.RunRunning,
		Plan: contracts.Plan{RunID: id, Goal: "goal", Owner: contracts.Principal{ID: "ana"}}, CreatedAt: at, UpdatedAt: at,
	}
}

// create inserts a run that is leased for an hour.
func create(tb testing.TB, s *store, id string, first execution.Transition) execution.Lease {
	tb.Helper()
	if err := s.CreateRun(tb.Context(), exampleRun(id), time.Hour, first); err != nil {
		tb.Fatal(err)
	}
	return execution.Lease{RunID: id, Owner: "one", Epoch: 1}
}

func node(id string) []execution.NodeRecord {
	return []execution.NodeRecord{{NodeID: id, State: contracts.NodeCompleted}}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, path string){
		"a reopened file shows everything":                       reopened,
		"a file that is in use is refused, and free after Close": inUse,
		"a file that is in use is refused by another name, too":  inUseByAnotherName,
		"the tables of a newer release are refused":              newerTables,
		"tables of no release are refused":                       noRelease,
		"a file that is no database is refused and left alone":   noDatabase,
		"a damaged file is an internal error, never a panic":     damaged,
		"a path in a place that cannot be made is refused":       badPlace,
		"only the owner may read the file":                       ownerOnly,
		"a commit reaches the disk before it is acknowledged":    fullySynchronous,
		"a path may contain any character":                       oddPath,
		"the store's clock decides, not the machine's":           injectedClock,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, filepath.Join(t.TempDir(), "manifold.db"))
		})
	}
}

func reopened(t *testing.T, path string) {
	t.Helper()
	ctx := t.Context()
	s, err := openAll(ctx, sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "r1", execution.Transition{
		Nodes: node("n1"), Events: []contracts.Event{{Type: contracts.EventDone}},
		Gates: []contracts.Interrupt{{InterruptID: "g1", Code: "AAA", Prompt: "?"}},
		Blobs: []execution.Blob{{SHA256: "cafe", Body: []byte("body")}}, // older releases stored payloads of ledger entries like this
	})
	if err := s.CreateSession(ctx, orchestrator.Session{ID: "s1", Name: "talk"}); err != nil {
		t.Fatal(err)
	}
	read := func(s *store) []any {
		run, err := s.LoadRun(ctx, "r1")
		events, errEvents := s.Events(ctx, "s1", 0, 0)
		session, errSession := s.Session(ctx, "s1")
		body, errBlob := s.Payload(ctx, contracts.LedgerEntry{RunID: "r1", Seq: 1, PayloadSHA256: "cafe"})
		if err := errors.Join(err, errEvents, errSession, errBlob); err != nil {
			t.Fatal(err)
		}
		run.Run.LeaseUntil = time.Time{} // ends with the process; see TestRunsOfAProcessThatDiedAreDueAtOnce
		return []any{run, events, session, body}
	}
	before := read(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, read(open(t, path)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after reopening (-before +after):\n%s", diff)
	}
}

func inUse(t *testing.T, path string) {
	t.Helper()
	first, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	_, err = openAll(t.Context(), sqlite.Config{Path: path})
	wantCode(t, err, contracts.CodeConflict)
	if got := openElsewhere(t, path); got != string(contracts.CodeConflict) {
		t.Errorf("another process got %q", got)
	}
	create(t, first, "r1", execution.Transition{})
	for range 2 { // closing twice is allowed
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := openElsewhere(t, path); got != "" {
		t.Errorf("another process got %q although the file is free", got)
	}
	open(t, path)
}

func inUseByAnotherName(t *testing.T, path string) {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("there are no links here: ", err)
	}
	for range 2 { // before and after the file exists
		s, err := openAll(t.Context(), sqlite.Config{Path: link})
		if err != nil {
			t.Fatal(err)
		}
		_, err = openAll(t.Context(), sqlite.Config{Path: path})
		wantCode(t, err, contracts.CodeConflict)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	create(t, open(t, path), "r1", execution.Transition{})
	_, err := openAll(t.Context(), sqlite.Config{Path: link})
	wantCode(t, err, contracts.CodeConflict)
}

func newerTables(t *testing.T, path string) {
	t.Helper()
	s, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Version(t.Context()); err != nil || v < 1 {
		t.Errorf("the tables have version %d, %v", v, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	setVersion(t, path, "99")
	for range 2 { // a rejected open leaves no lock
		_, err = openAll(t.Context(), sqlite.Config{Path: path})
		wantCode(t, err, contracts.CodeUnsupported)
	}
}

func noRelease(t *testing.T, path string) {
	t.Helper()
	setVersion(t, path, "-1")
	_, err := openAll(t.Context(), sqlite.Config{Path: path})
	wantCode(t, err, contracts.CodeUnsupported)
}

func setVersion(t *testing.T, path, version string) {
	t.Helper()
	statements(t, path, "PRAGMA user_version = "+version)
}

// statements changes a database that is not open.
func statements(t *testing.T, path string, all ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range all {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func noDatabase(t *testing.T, path string) {
	t.Helper()
	const letter = "Dear Sir or Madam, this is a letter and has been one for a long time, longer than any header."
	if err := os.WriteFile(path, []byte(letter), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openAll(t.Context(), sqlite.Config{Path: path})
	wantCode(t, err, contracts.CodeInternal)
	if body, err := os.ReadFile(path); err != nil || string(body) != letter {
		t.Errorf("the letter is now %q, %v", body, err)
	}
}

// damaged overwrites one page after the other, and checks that the damage is reported as such by
// Open or by a call.
func damaged(t *testing.T, path string) {
	t.Helper()
	s, err := openAll(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "r1", execution.Transition{Nodes: node("n1")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	noticed := 0
	for at := 0; at < len(sound); at += page {
		body := slices.Clone(sound)
		for i := at; i < min(at+page, len(body)); i++ {
			body[i] = 0xa5
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openAll(t.Context(), sqlite.Config{Path: path})
		if err == nil {
			_, err = s.LoadRun(t.Context(), "r1")
			_, due := s.DueRuns(t.Context(), []int{execution.Format}, 9)
			err = errors.Join(err, due, s.Close())
		}
		if err != nil {
			noticed++
			wantCode(t, err, contracts.CodeInternal)
		}
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
}

func badPlace(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openAll(t.Context(), sqlite.Config{Path: filepath.Join(path, "below", "a.db")})
	wantCode(t, err, contracts.CodeUnavailable)
	_, err = openAll(t.Context(), sqlite.Config{})
	wantCode(t, err, contracts.CodeInvalid)
}

func ownerOnly(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	create(t, s, "r1", execution.Transition{})
	for _, name := range []string{path, path + "-wal", path + "-lock"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&fs.FileMode(0o077) != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func fullySynchronous(t *testing.T, path string) {
	t.Helper()
	const full = 2
	journal, synchronous, err := open(t, path).Durability(t.Context())
	if err != nil || journal != "wal" || synchronous != full {
		t.Errorf("the journal is %s, synchronous is %d, %v; want wal and %d", journal, synchronous, err, full)
	}
}

func oddPath(t *testing.T, path string) {
	t.Helper()
	path = filepath.Join(filepath.Dir(path), "50% of ? and # and ä", "a b.db")
	create(t, open(t, path), "r1", execution.Transition{})
	if info, err := os.Stat(path); err != nil || info.Size() == 0 && !exists(path+"-wal") {
		t.Errorf("the data is not at the path: %v, %v", info, err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func injectedClock(t *testing.T, path string) {
	t.Helper()
	now := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := openAll(t.Context(), sqlite.Config{Path: path, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	create(t, s, "r1", execution.Transition{Gates: []contracts.Interrupt{{InterruptID: "g1", Code: "AAA"}}})
	_, err = s.AcquireRun(t.Context(), "r1", "two", time.Hour)
	wantCode(t, err, contracts.CodeConflict)
	at, err := s.InterruptAt(t.Context(), "g1")
	if err != nil || !at.Now.Equal(now) {
		t.Errorf("the decider sees %v, %v; want %v", at.Now, err, now)
	}
	now = now.Add(time.Hour)
	if _, err = s.AcquireRun(t.Context(), "r1", "two", time.Hour); err != nil {
		t.Errorf("the lease has ended by the store's clock: %v", err)
	}
}

// TestAnotherNameOfAnOpenDatabase checks that neither a second link nor a removed lock file lets
// another server open the database.
func TestAnotherNameOfAnOpenDatabase(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "manifold.db")
	open(t, path)
	link := filepath.Join(folder, "link.db")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: link}); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("a hard link: %v", err)
	}
	if err := os.Remove(path + "-lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("a removed lock file: %v", err)
	}
}

func TestAnEmptyFileIsNoNewDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "manifold.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); contracts.CodeOf(err) != contracts.CodeConflict || !strings.Contains(err.Error(), "--init") {
		t.Errorf("an empty file: %v", err)
	}
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Init: true})
	if err != nil {
		t.Fatalf("with Init: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAFullDiskIsNotReady(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	if err := s.Probe(t.Context()); err != nil {
		t.Errorf("before: %v", err)
	}
	if err := s.DenyWrites(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Probe(t.Context()); err == nil {
		t.Error("it says that it can write")
	}
	if err := s.AllowWrites(); err != nil {
		t.Fatal(err)
	}
}
