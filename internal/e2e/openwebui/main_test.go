package openwebui_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// shared is the stage of all tests: Open WebUI takes its time to start, and
// chats do not see each other.
var shared *stage

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	if os.Getenv("OPENWEBUI") != "1" {
		return m.Run() // every test skips, and says how to run it
	}
	dir, err := os.MkdirTemp("", "manifold-openwebui-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shared, err = setUp(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "openwebui:", errors.Join(err, shared.close()))
		fmt.Fprintln(os.Stderr, shared.logs())
		return 1
	}
	code = m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "openwebui:", err)
	}
	if code != 0 {
		fmt.Fprintln(os.Stderr, shared.logs())
	}
	return code
}

// onStage returns what the tests play on.
func onStage(t *testing.T) *stage {
	t.Helper()
	if os.Getenv("OPENWEBUI") != "1" {
		t.Skip("it installs Open WebUI from PyPI and needs a Chromium; make test-openwebui runs it")
	}
	return shared
}
