package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/manifold-run/manifold/internal/app"
)

func TestAModelDirGivesWhatWasStored(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	quiet := slog.New(slog.DiscardHandler)
	one, other := app.ModelDir(dir, quiet), app.ModelDir(dir, quiet)
	if got := one.Load(t.Context(), "a"); got != nil {
		t.Errorf("of an empty folder: %q", got)
	}
	one.Store(t.Context(), "a", []byte("first"))
	one.Store(t.Context(), "a", []byte("second"))
	one.Store(t.Context(), "b", []byte("b"))
	if got := other.Load(t.Context(), "a"); string(got) != "second" {
		t.Errorf("by another server: %q", got)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v; want one file each", left, err)
	}
	for _, f := range left {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v; others must not read it", info, err)
		}
	}
}

func TestAModelDirThatCannotBeWrittenIsNoFault(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cache := app.ModelDir(filepath.Join(file, "below"), slog.New(slog.DiscardHandler))
	cache.Store(t.Context(), "a", []byte("x"))
	if got := cache.Load(t.Context(), "a"); got != nil {
		t.Errorf("got %q", got)
	}
}
