package model_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/model"
	"github.com/manifold-run/manifold/internal/reasoning"
)

func readJournal(t *testing.T, path string) []reasoning.Exchange {
	t.Helper()
	var out []reasoning.Exchange
	if err := model.ReadJournal(path, func(e reasoning.Exchange) error { out = append(out, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsKeptCanBeRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "model.jsonl")
	j, err := model.OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := j.Keep(t.Context(), reasoning.Exchange{System: "a\nb", Call: contracts.ModelCall{Model: "m"}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readJournal(t, path); len(got) != 20 || got[0].System != "a\nb" {
		t.Errorf("%d exchanges, %+v", len(got), got[0])
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v: only its owner may read it", info.Mode(), err)
	}
}

func TestALineThatACrashCutOffIsPassedOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "model.jsonl")
	if err := os.WriteFile(path, []byte("{\"reply\":\"whole\"}\n{\"reply\":\"cu"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := readJournal(t, path); len(got) != 1 || got[0].Reply != "whole" {
		t.Errorf("%+v", got)
	}
}

func TestAJournalIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "model.jsonl")
	j, err := model.OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 6<<20)
	for range 7 {
		if err := j.Keep(t.Context(), reasoning.Exchange{Reply: large}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".old"} {
		if info, err := os.Stat(name); err != nil || info.Size() > model.MaxJournalBytes {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if got := readJournal(t, path); len(got) < 2 {
		t.Errorf("%d exchanges are left", len(got))
	}
}
