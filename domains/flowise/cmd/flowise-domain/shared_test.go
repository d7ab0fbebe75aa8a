package main

import (
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/internal/pgtest"
)

// shared starts the command with all its data in one database.
func shared(t *testing.T, database, endpoint, key string) (addr string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// URLs may contain a password, so they can also be set by environment variables.
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--listen", addr, "--url", endpoint, "--data", database)
	cmd.Env = append(os.Environ(), "TEST_AS_FLOWISE_DOMAIN=1", "FLOWISE_INSTANCES=", "FLOWISE_KEY="+key, "FLOWISE_DOMAIN_KEYS="+database)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	waitFor(t, "http://"+addr+"/health")
	return addr
}

func TestTwoProcessesOnOneDatabaseWriteOnce(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t).URL(t)
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	var processes [2]string
	for i := range processes {
		processes[i] = shared(t, database, front.URL, server.Key())
	}
	var answers [6]contracts.ToolResult
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i], _ = create(t, processes[i%len(processes)]) })
	}
	all.Wait()
	answered := 0
	for _, out := range answers {
		if out.OK {
			answered++
			if effectsID(out) != effectsID(answers[0]) && answers[0].OK {
				t.Errorf("two flows: %v and %v", out.Facts, answers[0].Facts)
			}
		}
	}
	if effects := server.Effects(); len(effects) != 1 || answered == 0 {
		t.Errorf("%d answers, effects %v", answered, effects)
	}
	// The other process returns the stored answer.
	for _, addr := range processes {
		if out, _ := create(t, addr); !out.OK || effectsID(out) != server.Effects()[0].ID {
			t.Errorf("a repeat: %v %v", out.Error, out.Facts)
		}
	}
}
