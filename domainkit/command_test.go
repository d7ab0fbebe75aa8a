package domainkit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/domainkit"
)

// TestMain lets the test binary act as a command.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_COMMAND") != "" {
		os.Exit(domainkit.Main("thing", thing))
	}
	os.Exit(m.Run())
}

// thing fails, prints its usage, or waits until it is stopped.
func thing(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	flags := domainkit.NewFlags("thing", getenv, stderr)
	var how string
	flags.Text(&how, "how", "THING_HOW", "", "how it ends")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if how == "fail" {
		return errors.New("it broke")
	}
	_, _ = fmt.Fprintln(stdout, "ready")
	<-ctx.Done()
	return nil
}

func start(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "TEST_AS_COMMAND=1")
	return cmd
}

func TestMainTellsHowACommandEnded(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args   []string
		status int
		says   string
	}{
		"a failure":           {[]string{"--how", "fail"}, 1, "thing: it broke\n"},
		"a faulty flag":       {[]string{"--nope"}, 1, "flag provided but not defined: -nope"},
		"asking for the help": {[]string{"--help"}, 0, "how it ends ($THING_HOW)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := start(t, tt.args...)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != tt.status || !strings.Contains(string(out), tt.says) {
				t.Errorf("status %d (%v): %s", cmd.ProcessState.ExitCode(), err, out)
			}
			if tt.status == 0 && strings.Contains(string(out), "help requested") {
				t.Errorf("the help is an error: %s", out)
			}
		})
	}
}

func TestMainStopsWhenItIsTold(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd := start(t)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", signal, err)
		}
	}
}

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestAFlagWinsOverTheEnvironment(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"neither":            {nil, nil, "fallback"},
		"the environment":    {nil, map[string]string{"PLACE": "env"}, "env"},
		"the flag":           {[]string{"--place", "flag"}, map[string]string{"PLACE": "env"}, "flag"},
		"the flag, to empty": {[]string{"--place="}, map[string]string{"PLACE": "env"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got string
			flags := domainkit.NewFlags("x", environment(tt.env), io.Discard)
			flags.Text(&got, "place", "PLACE", "fallback", "where")
			if err := flags.Parse(tt.args); err != nil || got != tt.want {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestASecretIsInAFileOrInTheEnvironment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(" in the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		env  map[string]string
		want []string
		says string
	}{
		"none leaves it open":     {nil, nil, nil, ""},
		"the environment":         {nil, map[string]string{"TOKEN": "in the environment"}, []string{"in the environment"}, ""},
		"a file":                  {[]string{"--token-file", file}, map[string]string{"TOKEN": "in the environment"}, []string{"in the file"}, ""},
		"a file, by variable":     {nil, map[string]string{"TOKEN_FILE": file}, []string{"in the file"}, ""},
		"a file that is not here": {[]string{"--token-file", file + "x"}, map[string]string{"TOKEN": "t"}, nil, "read token: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var token domainkit.Secret
			flags := domainkit.NewFlags("x", environment(tt.env), io.Discard)
			flags.Secret(&token, "token", "TOKEN", "the token")
			if err := flags.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			got, err := token.Tokens()
			if diff := cmp.Diff(tt.want, got); diff != "" || (tt.says == "") != (err == nil) || (err != nil && !strings.HasPrefix(err.Error(), tt.says)) {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestNoFlagCarriesASecret(t *testing.T) {
	t.Parallel()
	var token domainkit.Secret
	flags := domainkit.NewFlags("x", environment(nil), io.Discard)
	flags.Secret(&token, "token", "TOKEN", "the token")
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "token-file" {
			t.Errorf("there is a flag %s", f.Name)
		}
	})
	if err := flags.Parse([]string{"--token", "s"}); err == nil {
		t.Error("a secret on the command line was taken")
	}
}
