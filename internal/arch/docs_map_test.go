package arch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

func TestTheMapNamesPlacesThatExist(t *testing.T) {
	t.Parallel()
	row := func(n int, file, name string) string { return fmt.Sprintf("| %d | `%s` | `%s` | x |\n", n, file, name) }
	var nine strings.Builder
	for n := range 9 {
		nine.WriteString(row(n+1, "a/a.go", "Run"))
	}
	source := "package a\n\nfunc Run() {}\n\nfunc (t *T) Do() {}\n\nfunc (U) Go(x int) {}\n"
	tests := map[string]struct {
		text string
		want []string
	}{
		"a method":                    {nine.String() + row(10, "a/a.go", "T.Do"), nil},
		"one without a name for it":   {nine.String() + row(10, "a/a.go", "U.Go"), nil},
		"one that answers a question": {nine.String() + "| 10 | Where is it? | `a/a.go` | `T.Do` | x |\n", nil},
		"a function that is gone": {
			nine.String() + row(10, "a/a.go", "Walk"),
			[]string{"ARCHITECTURE.md: its map says that a/a.go declares Walk, which it does not"},
		},
		"a method of another type": {
			nine.String() + row(10, "a/a.go", "U.Do"),
			[]string{"ARCHITECTURE.md: its map says that a/a.go declares U.Do, which it does not"},
		},
		"a file that is gone": {
			nine.String() + row(10, "b/b.go", "Run"),
			[]string{"ARCHITECTURE.md: its map says that b/b.go declares Run, which it does not"},
		},
		"a place that is missing": {nine.String(), []string{"ARCHITECTURE.md: its map has 9 places, not 10"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := load(t, map[string]string{"ARCHITECTURE.md": "# Map\n\n" + tt.text, "a/a.go": source})
			if diff := cmp.Diff(tt.want, lines(arch.CheckMap(tree, "ARCHITECTURE.md"))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
