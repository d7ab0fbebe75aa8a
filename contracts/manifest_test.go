package contracts_test

import (
	"os"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParseManifestTakesTheExample(t *testing.T) {
	t.Parallel()
	m, err := contracts.ParseManifest(readFile(t, "testdata/manifest.finance.json"))
	if err != nil {
		for _, f := range faultsOf(t, err) {
			t.Log(f)
		}
		t.Fatal(err)
	}
	if len(m.Capabilities) != 5 {
		t.Error(len(m.Capabilities))
	}
}
