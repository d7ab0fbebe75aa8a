package sample_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/internal/sample"
)

func TestAShareIsTriedAndAllOfItAtNight(t *testing.T) {
	t.Setenv("MANIFOLD_NIGHTLY", "")
	t.Setenv("SAMPLE_SEED", "7")
	const n, oneIn = 100, 5
	some := sample.Of(t, n, oneIn)
	if again := sample.Of(t, n, oneIn); !slices.Equal(some, again) {
		t.Errorf("one seed chooses %v, then %v", some, again)
	}
	if len(some) == 0 || len(some) > n/oneIn {
		t.Errorf("%d of %d cases", len(some), n)
	}
	tried := map[int]bool{}
	for _, seed := range []string{"8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"} {
		t.Setenv("SAMPLE_SEED", seed)
		chosen := sample.Of(t, n, oneIn)
		if !slices.IsSorted(chosen) || len(slices.Compact(slices.Clone(chosen))) != len(chosen) {
			t.Errorf("not in order, or one twice: %v", chosen)
		}
		for _, at := range chosen {
			if at < 0 || at >= n {
				t.Fatalf("case %d of %d", at, n)
			}
			tried[at] = true
		}
	}
	if len(tried) < n/2 {
		t.Errorf("16 seeds try only %d of %d cases", len(tried), n)
	}
	t.Setenv("MANIFOLD_NIGHTLY", "1")
	want := n
	if sample.Race || testing.Short() {
		want = n / oneIn
	}
	if all := sample.Of(t, n, oneIn); len(all) != want {
		t.Errorf("at night %d of %d cases", len(all), n)
	}
}

func TestAFewCasesAreAllReached(t *testing.T) {
	t.Parallel()
	if got := sample.Of(t, 0, 3); len(got) != 0 {
		t.Errorf("of no case %v", got)
	}
	if got := sample.Of(t, 1, 50); !slices.Equal(got, []int{0}) {
		t.Errorf("of one case %v", got)
	}
}
