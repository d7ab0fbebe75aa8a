package store_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/store"
)

type clock struct{ now time.Time }

func open(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	if cfg.Path == "" {
		cfg.Path = filepath.Join(t.TempDir(), "data.db")
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAPermissionIsForOneRunOneHashAndOneKey(t *testing.T) {
	t.Parallel()
	c := &clock{time.Unix(1e9, 0)}
	s := open(t, store.Config{Now: func() time.Time { return c.now }})
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
	consume("run", "a", "k", store.Granted) // the same write again
	consume("run", "a", "l", store.Used)
	if err := s.Restore(t.Context(), "run", "a", "k"); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(7 * 24 * time.Hour) // as long as a gate may wait
	consume("run", "a", "l", store.Granted)
	c.now = c.now.Add(25 * time.Hour)
	consume("run", "a", "l", store.NotValidated)
}

func TestVersionsOutliveTheProcessAndTheOldestGoFirst(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data.db")
	s := open(t, store.Config{Path: path, KeepVersions: 3})
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
	again := open(t, store.Config{Path: path})
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

func TestOperationsAreKeptByTheirKeyForAWhile(t *testing.T) {
	t.Parallel()
	c := &clock{time.Unix(1e9, 0)}
	s := open(t, store.Config{Now: func() time.Time { return c.now }, OperationTTL: time.Hour})
	op := store.Operation{Instance: "i", Capability: "c", Key: "k", ChatflowID: "f", AfterSHA256: "h", PreviousVersion: 3}
	if err := s.Begin(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	if got, found, err := s.Operation(t.Context(), "i", "c", "k"); err != nil || !found || got != op {
		t.Errorf("%+v %v %v", got, found, err)
	}
	if _, found, _ := s.Operation(t.Context(), "i", "other", "k"); found {
		t.Error("a key of another capability was found")
	}
	c.now = c.now.Add(2 * time.Hour)
	if _, found, _ := s.Operation(t.Context(), "i", "c", "k"); found {
		t.Error("it is kept for ever")
	}
}

func TestAPatternIsSavedOncePerKeyAndCountsItsUses(t *testing.T) {
	t.Parallel()
	s := open(t, store.Config{})
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
