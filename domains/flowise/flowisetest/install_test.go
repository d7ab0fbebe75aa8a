package flowisetest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// pinned is a package in a lock file.
type pinned struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	Link      bool   `json:"link"`
}

func locked(t *testing.T, file string) map[string]pinned {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lock struct{ Packages map[string]pinned }
	if err := json.Unmarshal(raw, &lock); err != nil {
		t.Fatal(err)
	}
	delete(lock.Packages, "")
	return lock.Packages
}

// TestTheInstallIsWhatTheLockSays compares npm's list of installed packages with the committed lock
// file.
func TestTheInstallIsWhatTheLockSays(t *testing.T) {
	t.Parallel()
	install := os.Getenv("FLOWISE_DIR")
	if install == "" && os.Getenv("REQUIRE_FLOWISE") == "1" {
		t.Fatal("REQUIRE_FLOWISE is set, but FLOWISE_DIR is not")
	}
	if install == "" {
		t.Skip("FLOWISE_DIR names no install")
	}
	want, got := locked(t, "package-lock.json"), locked(t, filepath.Join(install, "node_modules", ".package-lock.json"))
	if len(got) < 2500 { // packages for other platforms are not installed
		t.Errorf("only %d of %d packages are installed", len(got), len(want))
	}
	for name, p := range got {
		if p != want[name] {
			t.Errorf("%s is %s %s, locked is %s %s", name, p.Version, p.Integrity, want[name].Version, want[name].Integrity)
		}
	}
}
