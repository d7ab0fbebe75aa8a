package witness_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/manifold-run/manifold/internal/witness"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// TestRotatedKeysAreFollowed checks that roots after a rotation are verified with the old key alone
// and with the new key alone, and that old seals can be verified.
func TestRotatedKeysAreFollowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.keys")
	first, made, err := witness.Load(path)
	if err != nil || !made {
		t.Fatal(made, err)
	}
	second, err := witness.Rotate(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(second.Sealing[1]) != string(first.Sealing[0]) || string(second.Sealing[0]) == string(first.Sealing[0]) || string(second.Links) == string(first.Links) {
		t.Error("the keys of seals and links are not new ones before the old")
	}
	stored, made, err := witness.Load(path)
	if err != nil || made || stored.Signing[0] != second.Signing[0] {
		t.Errorf("the file has not the new keys: %v, %v", made, err)
	}
	signers, err := second.Signers()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := note.Sign(&note.Note{Text: "a root\n"}, signers...)
	if err != nil {
		t.Fatal(err)
	}
	public, err := second.Public()
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range public {
		known, err := witness.Verifiers(key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := note.Open(signed, known); err != nil {
			t.Errorf("key %d: %v", i, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

// TestServersThatStartTogetherHaveOneSetOfKeys checks concurrent creation of the key file.
func TestServersThatStartTogetherHaveOneSetOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.keys")
	var mu sync.Mutex
	var group sync.WaitGroup
	keys, makers := map[string]bool{}, 0
	for range 16 {
		group.Go(func() {
			k, made, err := witness.Load(path)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			keys[k.Signing[0]] = true
			if made {
				makers++
			}
		})
	}
	group.Wait()
	if len(keys) != 1 || makers != 1 {
		t.Errorf("%d sets of keys, made by %d", len(keys), makers)
	}
}

// TestRootsGoToAWebhook also checks that a refused root is an error.
func TestRootsGoToAWebhook(t *testing.T) {
	t.Parallel()
	status, got := http.StatusNoContent, audit.Root{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &got)
		}
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, body, err)
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	place, err := witness.Open(server.URL, server.Client(), nil)
	if err != nil {
		t.Fatal(err)
	}
	root := audit.Root{Size: 7, Note: "a signed root\n"}
	if err := place.Publish(t.Context(), root); err != nil || got != root {
		t.Errorf("the webhook got %+v, %v", got, err)
	}
	if last, err := place.Last(t.Context()); err != nil || last != (audit.Root{}) {
		t.Errorf("it gave back %+v, %v", last, err)
	}
	status = http.StatusInternalServerError
	if err := place.Publish(t.Context(), root); err == nil {
		t.Error("a root that was not taken was published")
	}
}
