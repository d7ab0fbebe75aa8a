package e2e_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/manifold-run/manifold/internal/app/apptest"
	"github.com/manifold-run/manifold/internal/sample"
)

// process is "manifold serve" on a data folder that outlives it.
type process struct {
	*site

	cmd      *exec.Cmd
	addr     string    // where it serves, "" for any free port
	keys     [3]string // of the admin, rita and otto
	flags    []string  // besides those of every test
	postgres string    // the address of a shared database, "" for a file
	program  string    // what is run, "" for what is shipped
	env      []string  // besides that of every test
	instead  []string  // what is run in the place of the command of every test
	// auditKeys are those of all servers on a shared database, "" for its own.
	auditKeys string
	finished  chan error
}

// startProcess starts the program on a new data folder.
func startProcess(t *testing.T, flags ...string) *process {
	t.Helper()
	p := newProcess(t, "")
	p.flags = flags
	p.first()
	return p
}

// first starts a process on a data folder that is new, with its people.
func (p *process) first() {
	p.t.Helper()
	p.start()
	p.keys[0] = adminKey(p.t, p.dir)
	p.admin = p.with(p.keys[0])
	p.rita, p.keys[1] = p.person("rita", "operator")
	p.otto, p.keys[2] = p.person("otto", "approver")
}

// newProcess is one that is not started yet.
func newProcess(t *testing.T, postgres string) *process {
	t.Helper()
	sample.Long(t, "it starts servers as processes of their own")
	p := &process{site: &site{t: t, dir: filepath.Join(t.TempDir(), "data"), log: &apptest.Log{}}, postgres: postgres}
	t.Cleanup(func() {
		p.kill()
		if strings.Contains(p.log.String(), "DATA RACE") {
			t.Error("the race detector found something in the server")
		}
		if t.Failed() {
			t.Log(lastLines(p.log.String(), 40))
		}
	})
	return p
}

// start runs the program until it says where it serves.
func (p *process) start() {
	p.t.Helper()
	if err := p.tryStart(); err != nil {
		p.t.Fatalf("%v\n%s", err, p.log.String())
	}
	p.key = p.keys[0]
	p.admin, p.rita, p.otto = p.with(p.keys[0]), p.with(p.keys[1]), p.with(p.keys[2])
}

func (p *process) tryStart() error {
	cmd := exec.Command(cmp.Or(p.program, manifold(p.t)), append([]string{
		"serve", "--embeddings", "off", "--addr", cmp.Or(p.addr, "127.0.0.1:0"), "--data", p.dir, "--log-level", "debug", "--webhook-allow-loopback",
		"--sessions-per-minute", "100000", "--requests-per-minute", "1000000", "--model-cache", filepath.Join(tools, "models"),
	}, p.flags...)...)
	if p.instead != nil {
		cmd.Args = append(cmd.Args[:1], p.instead...)
	}
	cmd.Dir = filepath.Dir(p.dir)
	if p.auditKeys != "" {
		cmd.Args = append(cmd.Args, "--audit-keys", p.auditKeys)
	}
	cmd.Env = append(os.Environ(), "E2E_DOMAIN_TOKEN="+domainToken, "POSTGRES_DSN="+p.postgres)
	cmd.Env = append(cmd.Env, p.env...)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, p.log
	if err := cmd.Start(); err != nil {
		return err
	}
	finished := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = in.Close()
		finished <- err
	}()
	hung := time.AfterFunc(patience, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	url, err := servingAt(out)
	hung.Stop()
	if err != nil {
		return errors.Join(err, p.stops(cmd, finished))
	}
	p.cmd, p.finished, p.url = cmd, finished, url
	return nil
}

// stops waits for the end of a program, and makes one that hangs say where.
func (p *process) stops(cmd *exec.Cmd, finished <-chan error) error {
	select {
	case err := <-finished:
		return err
	case <-time.After(patience):
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		return fmt.Errorf("it did not end in %s: %w\n%s", patience, <-finished, p.log.String())
	}
}

// servingAt reads the address off the program's output, and lets the rest of
// it go.
func servingAt(out io.Reader) (string, error) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if _, url, found := strings.Cut(line, "serving at "); found {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return strings.TrimSpace(url), nil
		}
		if err != nil {
			return "", errors.New("the server ended before it was serving")
		}
	}
}

// kill ends the process like a power cut would: nothing of it runs any more.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.finished
	p.cmd = nil
}

// again kills the server and starts it on the same data.
func (p *process) again() {
	p.t.Helper()
	p.kill()
	p.start()
}

// quit ends the server in good order, and gives what it said.
func (p *process) quit() error {
	cmd := p.cmd
	p.cmd = nil
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.stops(cmd, p.finished)
}

func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// command runs the command line against the server and returns its output and
// exit code.
func (p *process) command(key string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, manifold(p.t), args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "MANIFOLD_URL="+p.url, "MANIFOLD_KEY="+key)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		p.t.Fatalf("manifold %v: %v", args, err)
	}
	return out.String(), errs.String(), 0
}

// domainToken is what the server sends to domains that ask for a credential.
const domainToken = "Bearer e2e-domain-token-5b1f9d"

// each runs the same thing several times side by side: most of the time of a
// test that kills servers is waiting.
func each(n int, do func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
}
