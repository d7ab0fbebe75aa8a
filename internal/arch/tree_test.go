package arch_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/internal/arch"
)

func TestLoadLeavesOutWhatGitIgnores(t *testing.T) {
	t.Parallel()
	tree := load(t, map[string]string{
		".gitignore":              "# built\n/bin/\n*.db\nnode_modules/\n/only/here\n",
		".git/config":             "",
		"bin/tool":                "",
		"docs/bin/kept.md":        "",
		"a/store.db":              "",
		"web/node_modules/x/y.js": "",
		"only/here":               "",
		"deep/only/here":          "",
		"z.go":                    "",
	})
	var got []string
	for _, f := range tree.Files {
		got = append(got, f.Path)
	}
	want := []string{".gitignore", "deep/only/here", "docs/bin/kept.md", "z.go"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestLoadRefusesPatternsItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"!keep.db", "**/x", "a/b"} {
		_, err := arch.Load(fstest.MapFS{".gitignore": &fstest.MapFile{Data: []byte(pattern)}})
		if err == nil || !strings.Contains(err.Error(), pattern) {
			t.Errorf("%s: got %v, want an error that names the pattern", pattern, err)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	statements := func(n int) string { return "package p\n" + strings.Repeat("var _ = 1\n", n-1) }
	tests := map[string]struct {
		path, src string
		want      []string
	}{
		"at the limit":                     {"planner/a.go", statements(500), nil},
		"one line more":                    {"planner/a.go", statements(501), []string{"planner/a.go: 501 lines without comments and blanks, more than 500; split it by noun"}},
		"comments and blanks do not count": {"planner/a.go", statements(500) + strings.Repeat("\n// word\n/* a\nb */\n", 100), nil},
		"a long text counts":               {"planner/a.go", "package p\nvar x = `" + strings.Repeat("\n", 500) + "`\n", []string{"planner/a.go: 502 lines without comments and blanks, more than 500; split it by noun"}},
		"a line with two statements":       {"planner/a.go", statements(499) + "var a = 1; var b = 2 // both\n", nil},
		"a test may be longer":             {"planner/a_test.go", statements(800), nil},
		"but not endless":                  {"planner/a_test.go", statements(801), []string{"planner/a_test.go: 801 lines without comments and blanks, more than 800; split it by noun"}},
		"only Go is measured":              {"planner/words.txt", strings.Repeat("word\n", 900), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lines(arch.CheckSizes(load(t, map[string]string{tt.path: tt.src})))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLeaks builds the forbidden texts from parts, because the rule also reads this file.
func TestLeaks(t *testing.T) {
	t.Parallel()
	const slash = "/"
	tests := map[string]struct {
		text string
		want bool
	}{
		"a checkout":                      {`cd ` + slash + `work/main`, true},
		"a home":                          {`open("` + slash + `root/x")`, true},
		"a user's home":                   {slash + `home/jane/src`, true},
		"a file URL":                      {`file://` + slash + `work/main`, true},
		"the folder beside":               {`see ..` + slash + `shared/spec`, true},
		"the module proxy":                {`GOPROXY=https://proxy.` + `golang.org`, true},
		"a home on another system":        {slash + `Users/Jane/src`, true},
		"the checksum database":           {`sum.` + `golang.org`, true},
		"another proxy":                   {`https://goproxy.` + `io`, true},
		"a mirror":                        {`registry.` + `yarnpkg.com`, true},
		"a registry of Python":            {`https://pypi.` + `org/simple`, true},
		"its files":                       {`files.` + `pythonhosted.org`, true},
		"another registry":                {`https://registry.` + `npmjs.org/x`, true},
		"a path inside the repository":    {`internal` + slash + `work/x`, false},
		"a relative path":                 {`.` + slash + `work/x`, false},
		"a word that begins alike":        {slash + `workers/1 ` + slash + `rooted/`, false},
		"a folder of the system":          {`/usr/bin/env`, false},
		"a page of package documentation": {`https://pkg.go.dev/x`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lines(arch.CheckLeaks(load(t, map[string]string{"docs/a.md": "# A\n\n" + tt.text + "\n"})))
			if (len(got) == 1) != tt.want {
				t.Fatalf("%s: got %q, want a finding: %t", tt.text, got, tt.want)
			}
			if tt.want && !strings.HasPrefix(got[0], "docs/a.md:3: ") {
				t.Errorf("got %q, want line 3", got[0])
			}
		})
	}
}

func TestLeaksSkipWhatIsNotText(t *testing.T) {
	t.Parallel()
	tree := load(t, map[string]string{"a.png": "\x00 /" + "root/x"})
	if got := lines(arch.CheckLeaks(tree)); len(got) != 0 {
		t.Errorf("got %q, want nothing", got)
	}
}
