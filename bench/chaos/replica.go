package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/manifold-run/manifold/client"
)

// replica is one server process that is killed, frozen and restarted.
type replica struct {
	program, dir, addr string
	postgres           string
	clock              *clock

	mu    sync.Mutex // guards the fields below
	cmd   *exec.Cmd
	ended chan struct{}
}

// buildServer builds cmd/manifold of this checkout, with an adjustable clock.
func buildServer(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "manifold")
	out, err := exec.CommandContext(ctx, "go", "build", "-tags", "wrongclock,nomsgpack", "-o", program, "./cmd/manifold").CombinedOutput() //nolint:gosec // our own program
	if err != nil {
		return "", fmt.Errorf("build ./cmd/manifold (run this in the repository): %w\n%s", err, out)
	}
	return program, nil
}

func newReplica(ctx context.Context, program, dir, postgres string) (*replica, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	clock, err := newClock(dir + ".clock")
	r := &replica{program: program, dir: dir, addr: listener.Addr().String(), postgres: postgres, clock: clock}
	return r, errors.Join(err, listener.Close(), os.MkdirAll(dir, 0o700))
}

// start starts the server and waits until it serves, again while the database prevents it.
func (r *replica) start(ctx context.Context) error {
	for {
		served, err := r.try(ctx)
		if err != nil || served {
			return err
		}
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
}

func (r *replica) try(ctx context.Context) (served bool, err error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.program, "serve", "--embeddings", "off", "--addr", r.addr, "--data", r.dir, "--audit-keys", filepath.Join(filepath.Dir(r.dir), "audit.keys"), //nolint:gosec // our own program
		"--log-level", "info", "--sessions-per-minute", "100000", "--requests-per-minute", "10000000")
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "POSTGRES_DSN="+r.postgres, r.clock.env())
	log, err := os.OpenFile(r.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	lines := bufio.NewScanner(out)
	for !served && lines.Scan() {
		served = strings.Contains(lines.Text(), "serving at ")
	}
	ended := make(chan struct{})
	go func() {
		for lines.Scan() {
			continue // other output is ignored
		}
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	if !served {
		<-ended
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cmd, r.ended = cmd, ended
	return true, nil
}

// signal sends a signal to the process, if there is one.
func (r *replica) signal(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		_ = r.cmd.Process.Signal(s) // it may have ended already
	}
}

// kill ends the process without warning.
func (r *replica) kill() {
	r.signal(syscall.SIGKILL)
	r.mu.Lock()
	ended := r.ended
	r.cmd, r.ended = nil, nil
	r.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// with returns a client of this server.
func (r *replica) with(key string) (*client.Client, error) {
	return client.New(client.Config{URL: "http://" + r.addr, Key: key, Retries: -1, Timeout: 10 * time.Second})
}
