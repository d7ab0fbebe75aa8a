package arch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

// methods returns n method declarations of a receiver.
func methods(receiver, prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "func (x %s) %s%d() {}\n", receiver, prefix, i)
	}
	return b.String()
}

func TestMethods(t *testing.T) {
	t.Parallel()
	other := "package other\n\ntype Base struct{}\n\n" + methods("*Base", "b", 30)
	tests := map[string]struct {
		files    map[string]string
		ratchets []arch.Ratchet
		want     []string
	}{
		"at the limit": {
			files: map[string]string{"a/a.go": "package a\n" + methods("*T", "m", 40)},
		},
		"one more, over two files": {
			files: map[string]string{"a/a.go": "package a\n" + methods("*T", "m", 20), "a/b.go": "package a\n" + methods("T", "n", 21)},
			want:  []string{"a.T: 41 methods, more than 40; split it by what its parts own"},
		},
		"methods of tests do not count": {
			files: map[string]string{"a/a.go": "package a\n" + methods("T", "m", 40), "a/a_test.go": "package a\n" + methods("T", "n", 9)},
		},
		"those of an embedded type of another room count": {
			files: map[string]string{
				"other/o.go": other,
				"a/a.go":     "package a\nimport o \"" + arch.Module + "/other\"\ntype T struct { *o.Base; x int }\n" + methods("T", "m", 11),
			},
			want: []string{"a.T: 41 methods, more than 40; split it by what its parts own"},
		},
		"and of one embedded in that": {
			files: map[string]string{
				"other/o.go": other,
				"a/a.go":     "package a\nimport \"" + arch.Module + "/other\"\ntype U struct { other.Base }\ntype T[K any] struct { U }\n" + methods("*T[K]", "m", 11),
			},
			want: []string{"a.T: 41 methods, more than 40; split it by what its parts own"},
		},
		"what hides a method of an embedded type counts once": {
			files: map[string]string{
				"other/o.go": other,
				"a/a.go":     "package a\nimport \"" + arch.Module + "/other\"\ntype T struct { other.Base }\n" + methods("T", "b", 40),
			},
		},
		"an alias is no way around it": {
			files: map[string]string{
				"other/o.go": other,
				"a/a.go":     "package a\nimport \"" + arch.Module + "/other\"\ntype B = other.Base\ntype T struct { B }\n" + methods("T", "m", 11),
			},
			want: []string{"a.T: 41 methods, more than 40; split it by what its parts own"},
		},
		"an interface is a type too": {
			files: map[string]string{"a/a.go": "package a\ntype P interface { Q; A(); B() }\ntype Q interface {\n" + strings.ReplaceAll(strings.ReplaceAll(methods("Q", "q", 39), "func (x Q) ", ""), " {}", "") + "}\n"},
			want:  []string{"a.P: 41 methods, more than 40; split it by what its parts own"},
		},
		"a ratchet allows what it says": {
			files:    map[string]string{"a/a.go": "package a\n" + methods("T", "m", 50)},
			ratchets: []arch.Ratchet{{Of: "a.T", Most: 50, Why: "so"}},
		},
		"and not one more": {
			files:    map[string]string{"a/a.go": "package a\n" + methods("T", "m", 51)},
			ratchets: []arch.Ratchet{{Of: "a.T", Most: 50, Why: "so"}},
			want:     []string{"a.T: 51 methods, and its ratchet allows 50; a ratchet may only fall"},
		},
		"it falls with the type": {
			files:    map[string]string{"a/a.go": "package a\n" + methods("T", "m", 49)},
			ratchets: []arch.Ratchet{{Of: "a.T", Most: 50, Why: "so"}},
			want:     []string{"a.T: 49 methods; lower its ratchet from 50"},
		},
		"it goes when the type is small, or gone": {
			files:    map[string]string{"a/a.go": "package a\n" + methods("T", "m", 40)},
			ratchets: []arch.Ratchet{{Of: "a.T", Most: 50, Why: "so"}, {Of: "a.U", Most: 50, Why: "so"}},
			want: []string{
				"a.T: 40 methods are within the limit of 40; take its ratchet out",
				"a.U: 0 methods are within the limit of 40; take its ratchet out",
			},
		},
		"it says why": {
			files:    map[string]string{"a/a.go": "package a\n" + methods("T", "m", 50)},
			ratchets: []arch.Ratchet{{Of: "a.T", Most: 50}},
			want:     []string{"a.T: its ratchet does not say why"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := arch.CheckMethods(load(t, tt.files), tt.ratchets)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRoomSizes(t *testing.T) {
	t.Parallel()
	statements := func(n int) string { return "package p\n" + strings.Repeat("var _ = 1\n", n-1) }
	files := map[string]string{
		"a/a.go": statements(1300), "a/b.go": statements(1300), "a/a_test.go": statements(700),
		"b/a.go": statements(1300), "b/c/a.go": statements(1300),
	}
	tests := map[string]struct {
		ratchets []arch.Ratchet
		want     []string
	}{
		"two files of one folder":     {nil, []string{"a: 2600 lines of code, more than 2500; split it by what its parts own"}},
		"a ratchet with a little air": {[]arch.Ratchet{{Of: "a", Most: 2900, Why: "so"}}, nil},
		"and with too much of it":     {[]arch.Ratchet{{Of: "a", Most: 2901, Why: "so"}}, []string{"a: 2600 lines of code; lower its ratchet from 2901"}},
		"one that is too tight":       {[]arch.Ratchet{{Of: "a", Most: 2599, Why: "so"}}, []string{"a: 2600 lines of code, and its ratchet allows 2599; a ratchet may only fall"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(arch.CheckRoomSizes(load(t, files), tt.ratchets))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
