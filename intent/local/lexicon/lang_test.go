package lexicon_test

import (
	"testing"
	"testing/fstest"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

func TestShippedFilesAreRead(t *testing.T) {
	t.Parallel()
	l := lexicon.Shipped()
	if len(l.Languages) == 0 || l.Languages[0].Code != "en" {
		t.Fatal("English is missing")
	}
}

func TestAFileIsReadStrictly(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"an unknown table":      "code = \"xx\"\nname = \"X\"\n[words]\nfunction = \"a\"",
		"an unknown list":       "code = \"xx\"\nname = \"X\"\n[grammar]\nfunctions = \"a\"",
		"an unknown operator":   "code = \"xx\"\nname = \"X\"\n[operators]\nexcepted = [\"but\"]",
		"a phrase that is none": "code = \"xx\"\nname = \"X\"\n[operators]\nexcept = [\"..2 but\"]",
		"another code":          "code = \"yy\"\nname = \"X\"",
		"a file without a name": "code = \"xx\"",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{"lexica/xx.toml": {Data: []byte(raw)}}
			if _, err := lexicon.Load(files); err == nil {
				t.Error("the file was taken")
			}
		})
	}
}
