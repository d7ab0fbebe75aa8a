package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/cmd/manifold/internal/authoring"
)

// started returns the command that serves a new domain, "" if this machine lacks the tools for the
// language.
func started(t *testing.T, language, dir string) []string {
	t.Helper()
	have := func(program string, args ...string) bool {
		path, err := exec.LookPath(program)
		return err == nil && exec.CommandContext(t.Context(), path, args...).Run() == nil
	}
	switch language {
	case "go":
		program := filepath.Join(t.TempDir(), "service")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
		build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		return []string{program, "0"}
	case "python":
		if have("python3", "--version") {
			return []string{"python3", "service.py", "0"}
		}
	case "typescript":
		switch {
		case have("node", "-e", "if (!process.features.typescript) process.exit(1)"):
			return []string{"node", "service.ts", "0"}
		case have("tsx", "--version"):
			return []string{"tsx", "service.ts", "0"}
		}
	}
	return nil
}

func TestANewDomainKeepsTheContractInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range authoring.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			d := &desk{t: t, dir: t.TempDir()}
			dir := filepath.Join(d.dir, "helpdesk")
			d.does("", exitOK, "manifest.json", "domain", "new", "helpdesk", "--language", language, "--dir", dir)
			d.does("", exitError, "is not empty", "domain", "new", "helpdesk", "--language", language, "--dir", dir)
			args := started(t, language, dir)
			if args == nil {
				t.Skip("this machine runs no " + language)
			}
			service := exec.CommandContext(t.Context(), args[0], args[1:]...)
			service.Dir = dir
			service.WaitDelay = time.Second
			var errs bytes.Buffer
			service.Stderr = &errs
			out, err := service.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := service.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = service.Process.Signal(os.Interrupt) // what started another program passes it on
				_ = service.Wait()
			})
			line, _ := bufio.NewReader(out).ReadString('\n')
			_, url, ok := strings.Cut(strings.TrimSpace(line), "serving on ")
			if !ok {
				t.Fatalf("it says %q\n%s", line, errs.String())
			}
			said := d.does("", exitOK, "0 errors", "domain", "check", url, "--allow-writes")
			if !strings.Contains(said, "passed   sentences of the manifest's tests") || strings.Count(said, "warning") != 2 { // one, and the count
				t.Errorf("%s", said)
			}
		})
	}
}

func TestANameThatIsNoneMakesNoDomain(t *testing.T) {
	t.Parallel()
	d := &desk{t: t, dir: t.TempDir()}
	for _, name := range []string{"Help Desk", "shared", "9lives", "../away"} {
		d.does("", exitError, "no name of a domain", "domain", "new", name, "--dir", filepath.Join(d.dir, "x"))
	}
	d.does("", exitError, "no language", "domain", "new", "desk", "--language", "cobol", "--dir", filepath.Join(d.dir, "x"))
}
