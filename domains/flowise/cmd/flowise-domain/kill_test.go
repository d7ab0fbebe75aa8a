package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
)

// TestMain lets the test's own program be the command, so that it can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_FLOWISE_DOMAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// lethal lets a flow be saved and then kills the domain instead of answering.
type lethal struct {
	server *sandbox.Server
	victim atomic.Pointer[exec.Cmd]
}

func (l *lethal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	victim := l.victim.Load()
	if r.Method != http.MethodPost || r.URL.Path != "/api/v1/chatflows" || victim == nil {
		l.server.ServeHTTP(w, r)
		return
	}
	l.victim.Store(nil)
	l.server.ServeHTTP(httptest.NewRecorder(), r)
	_ = victim.Process.Kill() // the test notices when it lives on
}

// start runs the command as a process of its own.
func start(t *testing.T, addr, dir, endpoint, key string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "--listen", addr, "--url", endpoint,
		"--data", filepath.Join(dir, "data.db"), "--keys", filepath.Join(dir, "keys.db"))
	cmd.Env = append(os.Environ(), "TEST_AS_FLOWISE_DOMAIN=1", "FLOWISE_INSTANCES=", "FLOWISE_KEY="+key)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "http://"+addr+"/health")
	return cmd
}

// create asks for a chatflow under one key; ok is false without an answer.
func create(t *testing.T, addr string) (contracts.ToolResult, bool) {
	t.Helper()
	// The short time-out is that of the lease, which a repeat waits for.
	body := []byte(`{"capability":"create_chatflow","parameters":{"name":"Once","reply":"Pong"},` +
		`"context":{"run_id":"run","node_id":"n1","attempt":1,"idempotency_key":"run/n1/1","timeout_ms":2000}}`)
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, "http://"+addr+"/execute", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return contracts.ToolResult{}, false
	}
	defer res.Body.Close()
	var out contracts.ToolResult
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out, true
}

func TestAKillBetweenTheWriteAndItsAnswerMakesOneFlow(t *testing.T) {
	t.Parallel()
	server, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	between := &lethal{server: server}
	front := httptest.NewServer(between)
	t.Cleanup(front.Close)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, dir := l.Addr().String(), t.TempDir()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	first := start(t, addr, dir, front.URL, server.Key())
	between.victim.Store(first)
	if out, answered := create(t, addr); answered {
		t.Fatalf("the killed domain answered %v", out)
	}
	_ = first.Wait() // it was killed

	second := start(t, addr, dir, front.URL, server.Key())
	t.Cleanup(func() { _ = second.Process.Kill(); _ = second.Wait() })
	out, answered := create(t, addr)
	if !answered || !out.OK {
		t.Fatalf("the repeat: %v %v", out.Error, out.Summary)
	}
	if effects := server.Effects(); len(effects) != 1 || effects[0].Kind != "flow.create" || effects[0].ID != out.Facts["chatflow_id"] {
		t.Errorf("effects %v, answer %v", effects, out.Facts)
	}
	saved, found := server.FlowData(effectsID(out))
	if !found || contracts.HashBytes([]byte(saved)) != out.Facts["sha256"] {
		t.Error("the flow has other bytes than the answer says")
	}
}

func effectsID(r contracts.ToolResult) string {
	id, _ := r.Facts["chatflow_id"].(string)
	return id
}
