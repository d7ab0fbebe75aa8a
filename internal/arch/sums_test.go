package arch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

func TestSums(t *testing.T) {
	t.Parallel()
	lines1000 := "package p\n" + strings.Repeat("var _ = 1\n", 999)
	files := map[string]string{
		"a/a.go": lines1000, "a/b/b.go": lines1000, "a/b/b_test.go": lines1000, "a/storetest/s.go": lines1000, "a/b/testdata/x.go": lines1000,
		"c/c.go": lines1000, "c/only/doc.go": "// Package only holds tests.\npackage only\n", "c/only/only_test.go": lines1000,
	}
	tests := map[string]struct {
		limits   map[string]int
		packages int
		want     []string
	}{
		"at the limits":           {map[string]int{"a": 2000, "c": 1602}, 3, nil},
		"one line too many":       {map[string]int{"a": 1999, "c": 1002}, 3, []string{"a: 2000 lines of Go, more than 1999; delete as much as you add"}},
		"a limit falls":           {map[string]int{"a": 2000, "c": 1603}, 3, []string{"c: 1002 lines of Go; lower its limit from 1603"}},
		"each folder has one":     {map[string]int{"a": 2000}, 3, []string{"c: 1002 lines of Go, and no limit on them; give it one"}},
		"and no other":            {map[string]int{"a": 2000, "c": 1002, "d": 1}, 3, []string{"d: there is no Go in it; take its limit out"}},
		"a package too many":      {map[string]int{"a": 2000, "c": 1002}, 2, []string{".: 3 packages, more than 2; merge two"}},
		"the packages fall, too":  {map[string]int{"a": 2000, "c": 1002}, 7, []string{".: 3 packages; lower the limit from 7"}},
		"with a little air there": {map[string]int{"a": 2000, "c": 1002}, 6, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(arch.CheckSums(load(t, files), tt.limits, tt.packages))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
