package smallmodel_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startModel installs the model if it is not there, starts it, and gives its address and what it is called.
func startModel(t *testing.T) string {
	t.Helper()
	install := exec.CommandContext(t.Context(), "./install.sh")
	install.Stderr = os.Stderr
	out, err := install.Output()
	if err != nil {
		t.Fatalf("install the model: %v", err)
	}
	weights := filepath.Join(strings.TrimSpace(string(out)), "model.gguf")
	url := startProgram(t, os.Environ(), "http://", "node", "server.mjs", weights)
	return "http://" + url + "/v1"
}

// startProgram starts a program that is stopped when the test ends, and gives what follows a mark in the first line that
// has it. A program that ends before that fails the test, and so does one that ended by itself.
func startProgram(t *testing.T, env []string, mark, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env, cmd.Stderr, cmd.WaitDelay = env, log, 10*time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopProgram(t, cmd, log) })
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadString('\n')
		if _, after, found := strings.Cut(line, mark); found {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the program
			return strings.TrimSpace(after)
		}
		if err != nil {
			t.Fatalf("%s ended before it was serving", name)
		}
	}
}

func stopProgram(t *testing.T, cmd *exec.Cmd, log *os.File) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); errors.Is(err, os.ErrProcessDone) {
		t.Errorf("%s ended by itself", cmd.Path)
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // it was told to end; how is not of interest
	stuck.Stop()
	said, err := os.ReadFile(log.Name())
	if err != nil || strings.Contains(string(said), "panic:") || strings.Contains(string(said), "DATA RACE") {
		t.Errorf("%s panicked (%v)", cmd.Path, err)
	}
	if t.Failed() {
		t.Log(last(string(said), 4000))
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}

func last(text string, size int) string { return fmt.Sprintf("…%s", text[max(0, len(text)-size):]) }
