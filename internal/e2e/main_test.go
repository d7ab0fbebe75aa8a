package e2e_test

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/app"
	"github.com/manifold-run/manifold/internal/sample"
	"github.com/manifold-run/manifold/internal/webhook"
)

// raceFlag builds a program as this binary was built.
var raceFlag = fmt.Sprintf("-race=%t", sample.Race)

// tools is the folder of the programs that tests run, which built fills once, and of the
// trained models that these programs share.
var tools string

var built = sync.OnceValues(func() (string, error) {
	program := filepath.Join(tools, "manifold")
	out, err := exec.Command("go", "build", raceFlag, "-o", program, "../../cmd/manifold").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build cmd/manifold: %w\n%s", err, out)
	}
	return program, nil
})

// mortal is the program with points at which it kills itself, for tests that name
// the commit.
var mortal = sync.OnceValues(func() (string, error) {
	program := filepath.Join(tools, "manifold-mortal")
	out, err := exec.Command("go", "build", "-tags", "faultpoint", raceFlag, "-o", program, "../../cmd/manifold").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build cmd/manifold: %w\n%s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "manifold-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tools = dir
	return m.Run()
}

// manifold returns the program, built of this checkout.
func manifold(t *testing.T) string {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// serverConfig is that of servers in this process. The limits per minute are
// out of the way: tests are faster than people.
func serverConfig(dir string, logger *slog.Logger) app.Config {
	return app.Config{
		ChatSettle: time.Nanosecond,
		Addr:       "127.0.0.1:0", DataDir: dir, Lookup: os.LookupEnv, Logger: logger, Version: "e2e",
		Webhooks: webhook.GuardConfig{AllowLoopback: true}, SessionsPerMinute: 100_000, RequestsPerMinute: 1_000_000,
	}
}
