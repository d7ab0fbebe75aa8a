// Package storedtest contains tests for both stores, besides the suites of the core.
package storedtest

import (
	"bytes"
	"context"
	"testing"
)

// ModelCache is the cache of trained models.
type ModelCache interface {
	Load(ctx context.Context, id string) ([]byte, error)
	Store(ctx context.Context, id string, body []byte, newest int) error
}

// TestModelCache checks that stored models are returned byte for byte, that storing again
// replaces, and that the oldest are removed.
func TestModelCache(t *testing.T, s ModelCache) {
	t.Helper()
	keep := func(id string, body []byte) {
		t.Helper()
		if err := s.Store(t.Context(), id, body, 2); err != nil {
			t.Fatal(err)
		}
	}
	want := func(id string, body []byte) {
		t.Helper()
		got, err := s.Load(t.Context(), id)
		if err != nil || !bytes.Equal(got, body) || (got == nil) != (body == nil) {
			t.Errorf("%s: %d bytes, %v; want %d", id, len(got), err, len(body))
		}
	}
	large := bytes.Repeat([]byte{0, 1, 0xff}, 1<<20)
	want("a", nil)
	keep("a", []byte("first"))
	keep("b", large)
	want("a", []byte("first"))
	want("b", large)
	keep("a", []byte("second"))
	want("a", []byte("second"))
	keep("c", []byte("third")) // b is the oldest now
	want("b", nil)
	want("a", []byte("second"))
	want("c", []byte("third"))
}
