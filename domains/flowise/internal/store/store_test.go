package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/pgstore"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
	"github.com/manifold-run/manifold/internal/pgtest"
)

type clock struct{ now time.Time }

func TestSQLite(t *testing.T) {
	t.Parallel()
	suite(t, func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "data of a domain?.db") })
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	suite(t, pgtest.Start(t).URL)
}

// database is the source of a database, one per test.
type database string

// suite tests a store with any database.
func suite(t *testing.T, source func(t *testing.T) string) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, database){
		"a permission is for one run, one hash and one key":           permissions,
		"versions outlive the process and the oldest go first":        versions,
		"operations are kept by their key for a while":                operations,
		"a pattern is saved once per key and counts its uses":         patterns,
		"snapshots and repairs are kept by instance":                  snapshots,
		"of several processes one takes a permission":                 permissionRace,
		"several processes number versions without a gap":             versionRace,
		"a pattern is saved once, however many processes save it":     patternRace,
		"bytes stay as they are, and as long as a version needs them": bodies,
		"bytes go with the last version that has them":                droppedBodies,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, database(source(t)))
		})
	}
}

func (d database) open(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	cfg.Source = string(d)
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func permissions(t *testing.T, db database) {
	c := &clock{time.Unix(1e9, 0)}
	s := db.open(t, store.Config{Now: func() time.Time { return c.now }})
	consume := func(run, hash, key string, want store.Permission) {
		t.Helper()
		if got, err := s.Consume(t.Context(), run, hash, key); err != nil || got != want {
			t.Errorf("%s %s %s: %s %v, want %s", run, hash, key, got, err, want)
		}
	}
	consume("run", "a", "k", store.NotValidated)
	if err := s.Authorize(t.Context(), "run", "a"); err != nil {
		t.Fatal(err)
	}
	consume("run", "b", "k", store.OtherBytes)
	consume("other", "a", "k", store.NotValidated)
	consume("run", "a", "k", store.Granted)
	consume("run", "a", "k", store.Granted) // a retry of the write
	consume("run", "a", "l", store.Used)
	if err := s.Restore(t.Context(), "run", "a", "k"); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(7 * 24 * time.Hour) // as long as a gate may wait
	consume("run", "a", "l", store.Granted)
	c.now = c.now.Add(25 * time.Hour)
	consume("run", "a", "l", store.NotValidated)
}

func versions(t *testing.T, db database) {
	s := db.open(t, store.Config{KeepVersions: 3})
	record := func(n int, label string) store.Version {
		t.Helper()
		v, err := s.Record(t.Context(), store.Version{Instance: "i", ChatflowID: "f", Name: "n", SHA256: fmt.Sprint("hash ", n), Label: label}, fmt.Sprint("body ", n))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	record(1, "keep me")
	for n := 2; n <= 6; n++ {
		record(n, "")
	}
	if again := record(6, ""); again.Number != 6 {
		t.Errorf("the same state became version %d", again.Number)
	}
	again := db.open(t, store.Config{})
	list, total, err := again.Versions(t.Context(), "i", "f", 10)
	if err != nil || total != 4 || list[0].Label != "v6" || list[3].Label != "keep me" {
		t.Fatalf("%d versions: %+v %v", total, list, err)
	}
	for label, want := range map[string]string{"keep me": "body 1", "v1": "body 1", "V5": "body 5", "6": "body 6"} {
		if _, body, err := again.Version(t.Context(), "i", "f", label); err != nil || body != want {
			t.Errorf("%s: %q %v", label, body, err)
		}
	}
	if _, _, err := again.Version(t.Context(), "i", "f", "v3"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("a version that is gone: %v", err)
	}
}

func operations(t *testing.T, db database) {
	c := &clock{time.Unix(1e9, 0)}
	s := db.open(t, store.Config{Now: func() time.Time { return c.now }, OperationTTL: time.Hour})
	op := store.Operation{Instance: "i", Capability: "c", Key: "k", ChatflowID: "f", AfterSHA256: "h", PreviousVersion: 3}
	if err := s.Begin(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if got, found, err := s.Operation(t.Context(), "c", "k"); err != nil || !found || got != op {
		t.Errorf("%+v %v %v", got, found, err)
	}
	if _, found, _ := s.Operation(t.Context(), "other", "k"); found {
		t.Error("a key of another capability was found")
	}
	c.now = c.now.Add(2 * time.Hour)
	if _, found, _ := s.Operation(t.Context(), "c", "k"); found {
		t.Error("it is kept for ever")
	}
	for _, capability := range []string{"c", "other"} {
		op.Capability = capability
		if err := s.Begin(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget(t.Context(), "i", "c", "k"); err != nil {
		t.Fatal(err)
	}
	for capability, want := range map[string]bool{"c": false, "other": true} {
		if _, found, err := s.Operation(t.Context(), capability, "k"); err != nil || found != want {
			t.Errorf("%s, after one was forgotten: %v %v", capability, found, err)
		}
	}
}

func patterns(t *testing.T, db database) {
	s := db.open(t, store.Config{})
	p := store.Pattern{Name: "p", NodeTypes: []string{"a"}, FlowData: "{}", SavedBy: "k"}
	first, err := s.SavePattern(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.SavePattern(t.Context(), p); err != nil || again.ID != first.ID {
		t.Errorf("saved again as %d: %v", again.ID, err)
	}
	if err := s.Used(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Patterns(t.Context()); err != nil || len(list) != 1 || list[0].Uses != 1 {
		t.Errorf("%+v %v", list, err)
	}
	if was, err := s.DeletePattern(t.Context(), first.ID); err != nil || !was {
		t.Errorf("deleted: %v %v", was, err)
	}
	if was, _ := s.DeletePattern(t.Context(), first.ID); was {
		t.Error("deleted twice")
	}
}

func snapshots(t *testing.T, db database) {
	s := db.open(t, store.Config{})
	if body, _, err := s.Snapshot(t.Context(), "i", "nodes"); err != nil || body != nil {
		t.Errorf("nothing kept: %q %v", body, err)
	}
	for _, body := range []string{"one", "two\x00\xff"} {
		if err := s.PutSnapshot(t.Context(), "i", "nodes", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	body, at, err := s.Snapshot(t.Context(), "i", "nodes")
	if err != nil || string(body) != "two\x00\xff" || at.IsZero() {
		t.Errorf("%q %v %v", body, at, err)
	}
	for kind, want := range map[string]time.Time{"nodes": at, "templates": {}} {
		if when, err := s.SnapshotTime(t.Context(), "i", kind); err != nil || !when.Equal(want) {
			t.Errorf("%s were kept at %v, want %v: %v", kind, when, want, err)
		}
	}
	if err := s.AddRepair(t.Context(), store.Repair{Instance: "i", RunID: "r", Node: "n", Action: "added", Reason: "new"}); err != nil {
		t.Fatal(err)
	}
	for run, want := range map[string]int{"r": 1, "other": 0} {
		if n, err := s.Repairs(t.Context(), "i", run); err != nil || n != want {
			t.Errorf("%s: %d repairs %v", run, n, err)
		}
	}
}

// together runs n simulated processes on one database, each with its own store.
func together(t *testing.T, db database, n int, work func(process int, s *store.Store) error) {
	t.Helper()
	var group errgroup.Group
	for process := range n {
		group.Go(func() error {
			s, err := store.Open(t.Context(), store.Config{Source: string(db), KeepVersions: 1000})
			if err != nil {
				return err
			}
			return errors.Join(work(process, s), s.Close())
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

func permissionRace(t *testing.T, db database) {
	const tokens, processes = 20, 4
	s := db.open(t, store.Config{})
	for i := range tokens {
		if err := s.Authorize(t.Context(), "run", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	var granted [tokens]atomic.Int32
	together(t, db, processes, func(process int, s *store.Store) error {
		for i := range tokens {
			got, err := s.Consume(t.Context(), "run", fmt.Sprint(i), fmt.Sprint("key of ", process))
			if err != nil || got != store.Granted && got != store.Used {
				return fmt.Errorf("%s: %w", got, err)
			}
			if got == store.Granted {
				granted[i].Add(1)
			}
		}
		return nil
	})
	for i := range granted {
		if n := granted[i].Load(); n != 1 {
			t.Errorf("token %d was used %d times", i, n)
		}
	}
}

func versionRace(t *testing.T, db database) {
	const processes, each = 4, 15
	together(t, db, processes, func(process int, s *store.Store) error {
		for i := range each {
			v := store.Version{Instance: "i", ChatflowID: "f", Name: "n", SHA256: fmt.Sprint(process, " ", i)}
			if _, err := s.Record(t.Context(), v, v.SHA256); err != nil {
				return err
			}
		}
		return nil
	})
	list, total, err := db.open(t, store.Config{}).Versions(t.Context(), "i", "f", 1000)
	if err != nil || total != processes*each {
		t.Fatalf("%d versions %v", total, err)
	}
	for i, v := range list {
		if v.Number != total-i {
			t.Fatalf("version %d stands at place %d of %d", v.Number, i, total)
		}
	}
}

func patternRace(t *testing.T, db database) {
	var ids [4]int64
	together(t, db, len(ids), func(process int, s *store.Store) error {
		p, err := s.SavePattern(t.Context(), store.Pattern{Name: fmt.Sprint(process), FlowData: "{}", SavedBy: "one key"})
		ids[process] = p.ID
		return errors.Join(err, s.Used(t.Context(), p.ID))
	})
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("saved as %v", ids)
		}
	}
	list, err := db.open(t, store.Config{}).Patterns(t.Context())
	if err != nil || len(list) != 1 || list[0].Uses != len(ids) {
		t.Errorf("%+v %v", list, err)
	}
}

func bodies(t *testing.T, db database) {
	s := db.open(t, store.Config{KeepVersions: 2})
	odd := "{\"text\":\"\x00 \xff \\u0000 é 🙂\"}"
	for i, v := range []store.Version{
		{ChatflowID: "a", SHA256: "odd", Label: "first"},
		{ChatflowID: "b", SHA256: "odd"},
		{ChatflowID: "b", SHA256: "2"},
		{ChatflowID: "b", SHA256: "3"},
		{ChatflowID: "b", SHA256: "4"},
	} {
		v.Instance, v.Name = "i", "n"
		if _, err := s.Record(t.Context(), v, odd); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if _, body, err := s.Version(t.Context(), "i", "a", "FIRST"); err != nil || body != odd {
		t.Errorf("%q %v", body, err)
	}
	if _, _, err := s.Version(t.Context(), "i", "b", "v1"); contracts.CodeOf(err) != contracts.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// raw opens the database without the store.
func (d database) raw(t *testing.T) *sql.DB {
	t.Helper()
	driver, source := "sqlite", "file:"+(&url.URL{Path: string(d)}).EscapedPath()+"?_pragma=busy_timeout(5000)"
	if pgstore.IsURL(string(d)) {
		driver, source = "pgx", string(d)
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// droppedBodies also adds bytes that no version ever had: retention must not scan all stored bytes,
// so it does not find them.
func droppedBodies(t *testing.T, db database) {
	s := db.open(t, store.Config{KeepVersions: 2})
	direct := db.raw(t)
	if _, err := direct.ExecContext(t.Context(), "INSERT INTO flowise_body (sha256, flow_data) VALUES ('stray', 'x')"); err != nil {
		t.Fatal(err)
	}
	for _, v := range []store.Version{
		{ChatflowID: "a", SHA256: "1"},
		{ChatflowID: "a", SHA256: "shared"},
		{ChatflowID: "b", SHA256: "shared"},
		{ChatflowID: "a", SHA256: "3"},
		{ChatflowID: "a", SHA256: "1"},
		{ChatflowID: "a", SHA256: "5"},
		{ChatflowID: "a", SHA256: "6"},
		{ChatflowID: "a", SHA256: "7", Label: "kept"},
		{ChatflowID: "a", SHA256: "8"},
		{ChatflowID: "a", SHA256: "9"},
		{ChatflowID: "a", SHA256: "10"},
	} {
		v.Instance, v.Name = "i", "n"
		if _, err := s.Record(t.Context(), v, "body of "+v.SHA256); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := direct.QueryContext(t.Context(), "SELECT sha256 FROM flowise_body ORDER BY sha256")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var kept []string
	for rows.Next() {
		var sha256 string
		if err := rows.Scan(&sha256); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, sha256)
	}
	if want := []string{"10", "7", "9", "shared", "stray"}; rows.Err() != nil || !slices.Equal(kept, want) {
		t.Errorf("kept are the bytes of %v, want %v: %v", kept, want, rows.Err())
	}
}

func TestADatabaseThatCannotBeOpenedIsNamed(t *testing.T) {
	t.Parallel()
	for source, says := range map[string]string{
		filepath.Join(t.TempDir(), "no", "folder", "data.db"):              "data.db",
		"postgres://someone:hunter2@127.0.0.1:1/nowhere?connect_timeout=5": "nowhere",
	} {
		s, err := store.Open(t.Context(), store.Config{Source: source})
		if err == nil || s != nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}
