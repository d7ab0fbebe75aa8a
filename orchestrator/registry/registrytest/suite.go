package registrytest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

// RunStore runs the suite against the empty stores that open returns.
func RunStore(t *testing.T, open func(t *testing.T) registry.Store) {
	t.Helper()
	tests := map[string]func(t *testing.T, s registry.Store){
		"a row comes back as it was saved":                          rowComesBack,
		"rows are listed by name":                                   rowsAreListed,
		"a save with an old revision changes nothing":               staleSaveIsRefused,
		"a new row is refused while one of that name exists":        secondInsertIsRefused,
		"a delete with an old revision changes nothing":             staleDeleteIsRefused,
		"a manifest stays while a row names it, active or pending":  manifestStays,
		"a manifest that no row names any more is removed":          manifestIsRemoved,
		"a manifest that two domains share survives one of them":    sharedManifestSurvives,
		"of many savers of one revision exactly one wins":           oneSaverWins,
		"unknown names and digests are not found":                   unknownIsNotFound,
		"a row can be made again after its removal, from the start": rowIsMadeAgain,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func exampleRow(name string) registry.DomainRow {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return registry.DomainRow{
		Name: name, ManagedBy: registry.ManagedByAdmin,
		Registration: json.RawMessage(`{"domain":"` + name + `","url":"http://127.0.0.1:1"}`),
		ActiveDigest: "digest-" + name, ActiveETag: `"one"`, CreatedAt: at, UpdatedAt: at,
	}
}

func bodyOf(row registry.DomainRow) registry.ManifestBody {
	return registry.ManifestBody{Digest: row.ActiveDigest, Body: []byte(`{"domain":"` + row.Name + `"}`)}
}

func save(t *testing.T, s registry.Store, row registry.DomainRow, bodies ...registry.ManifestBody) registry.DomainRow {
	t.Helper()
	revision, err := s.SaveDomain(t.Context(), row, bodies...)
	if err != nil {
		t.Fatalf("save %s at revision %d: %v", row.Name, row.Revision, err)
	}
	if revision != row.Revision+1 {
		t.Fatalf("save %s: revision %d became %d, want one more", row.Name, row.Revision, revision)
	}
	row.Revision = revision
	return row
}

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func rowComesBack(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	row.ManagedBy, row.PendingDigest, row.PendingETag = registry.ManagedByFile, "digest-next", `W/"two"`
	pending := registry.ManifestBody{Digest: "digest-next", Body: []byte(`{"next":true}`)}
	row = save(t, s, row, bodyOf(row), pending)
	got, err := s.Domain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(row, got); diff != "" {
		t.Errorf("the row changed on its way (-saved +read):\n%s", diff)
	}
	body, err := s.Manifest(t.Context(), "digest-next")
	if err != nil || string(body) != `{"next":true}` {
		t.Errorf("pending manifest: got %q, %v", body, err)
	}
}

func rowsAreListed(t *testing.T, s registry.Store) {
	for _, name := range []string{"gamma", "alpha", "beta"} {
		row := exampleRow(name)
		save(t, s, row, bodyOf(row))
	}
	rows, err := s.Domains(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	if diff := cmp.Diff([]string{"alpha", "beta", "gamma"}, names); diff != "" {
		t.Error(diff)
	}
}

func staleSaveIsRefused(t *testing.T, s registry.Store) {
	first := exampleRow("alpha")
	first = save(t, s, first, bodyOf(first))
	second := save(t, s, first)
	first.ActiveDigest = "digest-stale"
	_, err := s.SaveDomain(t.Context(), first, registry.ManifestBody{Digest: "digest-stale", Body: []byte(`{}`)})
	wantCode(t, err, contracts.CodeConflict)
	got, err := s.Domain(t.Context(), "alpha")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second, got); diff != "" {
		t.Errorf("a refused save changed the row:\n%s", diff)
	}
	_, err = s.Manifest(t.Context(), "digest-stale")
	wantCode(t, err, contracts.CodeNotFound)
}

func secondInsertIsRefused(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	save(t, s, row, bodyOf(row))
	_, err := s.SaveDomain(t.Context(), row, bodyOf(row))
	wantCode(t, err, contracts.CodeConflict)
	ghost := exampleRow("ghost")
	ghost.Revision = 4
	_, err = s.SaveDomain(t.Context(), ghost, bodyOf(ghost))
	wantCode(t, err, contracts.CodeConflict)
}

func staleDeleteIsRefused(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	row = save(t, s, row, bodyOf(row))
	wantCode(t, s.DeleteDomain(t.Context(), "alpha", row.Revision-1), contracts.CodeConflict)
	if _, err := s.Domain(t.Context(), "alpha"); err != nil {
		t.Errorf("a refused delete removed the row: %v", err)
	}
}

func manifestStays(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	row = save(t, s, row, bodyOf(row))
	row.PendingDigest = "digest-next"
	row = save(t, s, row, registry.ManifestBody{Digest: "digest-next", Body: []byte(`{"next":1}`)})
	row.ActiveETag = `"again"`
	save(t, s, row)
	for _, digest := range []string{"digest-alpha", "digest-next"} {
		if _, err := s.Manifest(t.Context(), digest); err != nil {
			t.Errorf("manifest %s is named by the row, but: %v", digest, err)
		}
	}
}

func manifestIsRemoved(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	row = save(t, s, row, bodyOf(row))
	row.ActiveDigest = "digest-two"
	row = save(t, s, row, registry.ManifestBody{Digest: "digest-two", Body: []byte(`{}`)})
	_, err := s.Manifest(t.Context(), "digest-alpha")
	wantCode(t, err, contracts.CodeNotFound)
	if err := s.DeleteDomain(t.Context(), "alpha", row.Revision); err != nil {
		t.Fatal(err)
	}
	_, err = s.Manifest(t.Context(), "digest-two")
	wantCode(t, err, contracts.CodeNotFound)
}

func sharedManifestSurvives(t *testing.T, s registry.Store) {
	one, two := exampleRow("alpha"), exampleRow("beta")
	two.ActiveDigest = one.ActiveDigest
	one = save(t, s, one, bodyOf(one))
	save(t, s, two, bodyOf(one))
	if err := s.DeleteDomain(t.Context(), "alpha", one.Revision); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Manifest(t.Context(), two.ActiveDigest); err != nil {
		t.Errorf("beta still names the manifest, but: %v", err)
	}
}

func oneSaverWins(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	row = save(t, s, row, bodyOf(row))
	var wins atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			mine := row
			mine.ActiveETag = fmt.Sprintf("saver %d", i)
			_, err := s.SaveDomain(context.WithoutCancel(t.Context()), mine)
			if err == nil {
				wins.Add(1)
			} else if contracts.CodeOf(err) != contracts.CodeConflict {
				t.Errorf("saver %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d savers won, want 1", wins.Load())
	}
}

func unknownIsNotFound(t *testing.T, s registry.Store) {
	_, err := s.Domain(t.Context(), "nobody")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.Manifest(t.Context(), "nothing")
	wantCode(t, err, contracts.CodeNotFound)
	wantCode(t, s.DeleteDomain(t.Context(), "nobody", 1), contracts.CodeNotFound)
	rows, err := s.Domains(t.Context())
	if err != nil || len(rows) != 0 {
		t.Errorf("an empty store lists %v, %v", rows, err)
	}
}

func rowIsMadeAgain(t *testing.T, s registry.Store) {
	row := exampleRow("alpha")
	saved := save(t, s, row, bodyOf(row))
	if err := s.DeleteDomain(t.Context(), "alpha", saved.Revision); err != nil {
		t.Fatal(err)
	}
	again := save(t, s, row, bodyOf(row))
	if again.Revision != 1 {
		t.Errorf("the new row begins at revision %d", again.Revision)
	}
	if _, err := s.Manifest(t.Context(), row.ActiveDigest); err != nil {
		t.Error(err)
	}
}
