package accesstest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// RunStore runs the suite against the empty stores that open returns.
func RunStore(t *testing.T, open func(t *testing.T) access.KeyStore) {
	t.Helper()
	tests := map[string]func(t *testing.T, s access.KeyStore){
		"a key comes back as it was inserted":                  keyComesBack,
		"a taken id is refused and the first key stays":        takenIDIsRefused,
		"keys are listed oldest first":                         keysAreListed,
		"a revoked key keeps the time of its first revocation": revocationIsKept,
		"an unknown key is not found":                          unknownKey,
		"of many first keys exactly one is inserted":           oneFirstKey,
		"a first key is refused once any key exists":           noFirstKeyLater,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func exampleKey(id string, minute int) access.Key {
	expires := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	return access.Key{
		ID: id, Hash: "hash of " + id, Name: "laptop", Kind: access.KindUser, Principal: "ana",
		Roles: []access.Role{access.RoleOperator, access.RoleApprover},
		Scopes: access.Scopes{
			Domains: []string{"alpha"},
			Classes: []contracts.SideEffectClass{contracts.ClassRead},
		},
		CreatedBy: "root", CreatedAt: time.Date(2026, 3, 4, 5, minute, 0, 0, time.UTC), ExpiresAt: &expires,
	}
}

func insert(t *testing.T, s access.KeyStore, key access.Key) {
	t.Helper()
	if err := s.InsertKey(t.Context(), key); err != nil {
		t.Fatalf("insert key %s: %v", key.ID, err)
	}
}

func wantCode(t *testing.T, err error, want contracts.Code) {
	t.Helper()
	if got := contracts.CodeOf(err); got != want {
		t.Errorf("got error %v with code %q, want code %q", err, got, want)
	}
}

func keyComesBack(t *testing.T, s access.KeyStore) {
	key := exampleKey("k1", 0)
	insert(t, s, key)
	got, err := s.Key(t.Context(), "k1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(key, got); diff != "" {
		t.Errorf("the key changed on its way (-inserted +read):\n%s", diff)
	}
}

func takenIDIsRefused(t *testing.T, s access.KeyStore) {
	insert(t, s, exampleKey("k1", 0))
	other := exampleKey("k1", 1)
	other.Hash = "another hash"
	wantCode(t, s.InsertKey(t.Context(), other), contracts.CodeConflict)
	got, err := s.Key(t.Context(), "k1")
	if err != nil || got.Hash != "hash of k1" {
		t.Errorf("got %q, %v; the first key must stay", got.Hash, err)
	}
}

func keysAreListed(t *testing.T, s access.KeyStore) {
	insert(t, s, exampleKey("b", 1))
	insert(t, s, exampleKey("c", 0))
	insert(t, s, exampleKey("a", 1))
	keys, err := s.Keys(t.Context(), contracts.Page{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range keys.Items {
		ids = append(ids, k.ID)
	}
	if diff := cmp.Diff([]string{"c", "a", "b"}, ids); diff != "" {
		t.Error(diff)
	}
	ids = nil
	p := contracts.Page{Limit: 2}
	for first := true; first || p.Cursor != ""; first = false {
		page, err := s.Keys(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range page.Items {
			ids = append(ids, k.ID)
		}
		p.Cursor = page.Next
	}
	if diff := cmp.Diff([]string{"c", "a", "b"}, ids); diff != "" {
		t.Errorf("page by page: %s", diff)
	}
}

func revocationIsKept(t *testing.T, s access.KeyStore) {
	insert(t, s, exampleKey("k1", 0))
	first := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{first, first.Add(time.Hour)} {
		if err := s.RevokeKey(t.Context(), "k1", at); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Key(t.Context(), "k1")
	if err != nil || got.RevokedAt == nil || !got.RevokedAt.Equal(first) {
		t.Errorf("revoked at %v, %v; want %v", got.RevokedAt, err, first)
	}
}

func unknownKey(t *testing.T, s access.KeyStore) {
	_, err := s.Key(t.Context(), "nobody")
	wantCode(t, err, contracts.CodeNotFound)
	wantCode(t, s.RevokeKey(t.Context(), "nobody", time.Now()), contracts.CodeNotFound)
}

func oneFirstKey(t *testing.T, s access.KeyStore) {
	var wins atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			inserted, err := s.InsertFirstKey(context.WithoutCancel(t.Context()), exampleKey(fmt.Sprintf("k%d", i), 0))
			if err != nil {
				t.Errorf("insert %d: %v", i, err)
			}
			if inserted {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	keys, err := s.Keys(t.Context(), contracts.Page{})
	if err != nil || len(keys.Items) != 1 || wins.Load() != 1 {
		t.Errorf("%d were told yes, %d keys are stored (%v); want 1 and 1", wins.Load(), len(keys.Items), err)
	}
}

func noFirstKeyLater(t *testing.T, s access.KeyStore) {
	insert(t, s, exampleKey("k1", 0))
	if err := s.RevokeKey(t.Context(), "k1", time.Now()); err != nil {
		t.Fatal(err)
	}
	inserted, err := s.InsertFirstKey(t.Context(), exampleKey("k2", 1))
	if err != nil || inserted {
		t.Errorf("got %v, %v; a revoked key is a key too", inserted, err)
	}
}
