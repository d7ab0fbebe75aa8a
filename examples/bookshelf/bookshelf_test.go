// Package bookshelf_test tests the example domain written in Python.
package bookshelf_test

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/domainkit/conformance"
)

// start runs domain.py on a free port and returns its URL.
func start(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the example domain in Python is not checked here")
	}
	command := exec.CommandContext(t.Context(), python, "domain.py", "0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("domain.py did not start: %v", err)
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), "serving on ")
	return url
}

func TestConformance(t *testing.T) {
	t.Parallel()
	report := conformance.Run(t.Context(), conformance.Options{URL: start(t), AllowWrites: true})
	if report.Domain != "bookshelf" || len(report.Checks) < 9 {
		t.Errorf("the suite ended early: %+v", report)
	}
	for _, f := range report.Findings() {
		// It listens on this machine only and requires no credential.
		if f.Rule != "open" {
			t.Errorf("%s %s at %s: %s", f.Severity, f.Rule, f.Pointer, f.Message)
		}
	}
}
