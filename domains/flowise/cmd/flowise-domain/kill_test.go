package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/sandbox"
	"github.com/manifold-run/manifold/internal/sample"
)

// TestMain lets the test binary act as the command, so that it can be killed.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_AS_FLOWISE_DOMAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// lethal lets the next write take effect in Flowise, and then kills the domain instead of
// answering.
type lethal struct {
	flowise http.Handler
	victim  atomic.Pointer[exec.Cmd]
	writes  atomic.Int64
}

func (l *lethal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		l.flowise.ServeHTTP(w, r)
		return
	}
	l.writes.Add(1)
	victim := l.victim.Swap(nil)
	if victim == nil {
		l.flowise.ServeHTTP(w, r)
		return
	}
	l.flowise.ServeHTTP(httptest.NewRecorder(), r)
	_ = victim.Process.Kill() // the test notices if it survives
}

// start runs the command as a process.
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

// create calls create_chatflow with one key; ok is false without an answer.
func create(t *testing.T, addr string) (contracts.ToolResult, bool) {
	t.Helper()
	return execute(t, addr, "run/n1/1", "create_chatflow", map[string]any{"name": "Once", "reply": "Pong"})
}

// execute calls a capability; ok is false without an answer.
func execute(t *testing.T, addr, key, capability string, parameters map[string]any) (contracts.ToolResult, bool) {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"capability": capability, "parameters": parameters,
		"context": map[string]any{"run_id": "run", "node_id": "n1", "attempt": 1, "idempotency_key": key},
	})
	if err != nil {
		t.Fatal(err)
	}
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

// flowises are an in-memory server, and a real one if there is one.
func flowises(t *testing.T) map[string]func(*testing.T) (flowise http.Handler, key string) {
	t.Helper()
	return map[string]func(*testing.T) (http.Handler, string){
		"sandbox": func(t *testing.T) (http.Handler, string) {
			t.Helper()
			server, err := sandbox.New(sandbox.Config{})
			if err != nil {
				t.Fatal(err)
			}
			return server, server.Key()
		},
		"real": func(t *testing.T) (http.Handler, string) {
			t.Helper()
			address, key := os.Getenv("FLOWISE_URL"), os.Getenv("FLOWISE_KEY")
			if address == "" {
				absent(t)
			}
			target, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}, key
		},
	}
}

// flow is a row of a Flowise.
type flow struct{ ID, Name, FlowData string }

// called returns the flows with a text in their name.
func called(t *testing.T, endpoint, key, part string) []flow {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, endpoint+"/api/v1/chatflows", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var all, out []flow
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, f := range all {
		if strings.Contains(f.Name, part) {
			out = append(out, f)
		}
	}
	return out
}

// freeAddress returns an unused address.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

// killed is one write in which the domain dies.
type killed struct {
	capability string
	parameters map[string]any
	// before are writes that succeed; the first one creates the flow.
	before []killed
	flows  []string // what is there afterwards, by the end of its name
	says   string   // what each of them replies
}

func kills() []killed {
	reply := func(text string) map[string]any {
		return map[string]any{"ops": []any{map[string]any{
			"op_type": "SetParam", "node_id": "directReplyAgentflow_0", "param_name": "directReplyMessage", "value": text,
		}}}
	}
	create := killed{capability: "create_chatflow", parameters: map[string]any{"reply": "one"}, flows: []string{""}, says: "one"}
	patch := killed{capability: "apply_patch", parameters: reply("two"), before: []killed{create}, flows: []string{""}, says: "two"}
	return []killed{
		create, patch,
		{"rename_chatflow", map[string]any{"name": " renamed"}, []killed{create}, []string{" renamed"}, "one"},
		{"rollback_chatflow", map[string]any{"version": "v1"}, []killed{create, patch}, []string{""}, "one"},
		{"duplicate_chatflow", map[string]any{"name": " copy"}, []killed{create}, []string{"", " copy"}, "one"},
		{"delete_chatflow", map[string]any{}, []killed{create}, nil, ""},
	}
}

// TestAKillBetweenAWriteAndItsAnswer kills the domain after a write took effect and before it is
// answered. A new process gets the same request with the same key. It is the only process that uses
// the key store, so it does not wait for a lease.
func TestAKillBetweenAWriteAndItsAnswer(t *testing.T) {
	t.Parallel()
	sample.Long(t, "it starts processes")
	for name, open := range flowises(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flowise, key := open(t)
			var all []*death
			for _, k := range kills() {
				all = append(all, k.die(t, &lethal{flowise: flowise}, key))
			}
			for _, d := range all {
				t.Run(d.capability, d.repeat)
			}
		})
	}
}

// death is the state of a domain that was killed during a write.
type death struct {
	killed
	between    *lethal
	front, key string
	addr, dir  string
	mark, id   string
	base       string // hash of the graph before the write
}

func (k killed) die(t *testing.T, between *lethal, key string) *death {
	t.Helper()
	front := httptest.NewServer(between)
	t.Cleanup(front.Close)
	// A real server has flows of other tests, hence the mark in the name.
	d := &death{killed: k, between: between, front: front.URL, key: key, addr: freeAddress(t), dir: t.TempDir(), mark: rand.Text()}
	victim := start(t, d.addr, d.dir, d.front, key)
	for _, b := range k.before {
		out, answered := execute(t, d.addr, d.mark+b.capability, b.capability, b.about(d.mark, d.id, d.base))
		if !answered || !out.OK {
			t.Fatalf("%s before %s: %v %v", b.capability, k.capability, out.Error, out.Summary)
		}
		d.id = effectsID(out)
		d.base, _ = out.Facts["sha256"].(string)
	}
	between.writes.Store(0)
	between.victim.Store(victim)
	if out, answered := execute(t, d.addr, d.mark+k.capability, k.capability, k.about(d.mark, d.id, d.base)); answered {
		_ = victim.Process.Kill()
		t.Fatalf("%s: the killed domain answered %v %v", k.capability, out.Facts, out.Error)
	}
	_ = victim.Wait() // it was killed
	return d
}

func (d *death) repeat(t *testing.T) {
	next := start(t, d.addr, d.dir, d.front, d.key)
	t.Cleanup(func() { _, _ = next.Process.Kill(), next.Wait() })
	out, answered := execute(t, d.addr, d.mark+d.capability, d.capability, d.about(d.mark, d.id, d.base))
	if !answered || !out.OK {
		t.Fatalf("the repeat: %v %v", out.Error, out.Summary)
	}
	if writes := d.between.writes.Load(); writes != 1 {
		t.Errorf("it was written %d times", writes)
	}
	there := called(t, d.front, d.key, d.mark)
	d.check(t, there, d.mark, out)
	for _, f := range there {
		remove(t, d.front, d.key, f.ID)
	}
}

// about returns the parameters for a flow with the mark in its name.
func (k killed) about(mark, id, base string) map[string]any {
	out := maps.Clone(k.parameters)
	if name, named := out["name"].(string); named || id == "" {
		out["name"] = mark + name
	}
	if id != "" {
		out["chatflow_id"] = id
		if k.capability != "duplicate_chatflow" {
			out["base_sha256"] = base
		}
	}
	return out
}

func (k killed) check(t *testing.T, there []flow, mark string, out contracts.ToolResult) {
	t.Helper()
	var names []string
	for _, f := range there {
		names = append(names, strings.TrimPrefix(f.Name, mark))
		if !strings.Contains(f.FlowData, `"directReplyMessage":"`+k.says+`"`) {
			t.Errorf("%q does not reply %q: %s", f.Name, k.says, f.FlowData)
		}
		if f.ID == effectsID(out) && contracts.HashBytes([]byte(f.FlowData)) != out.Facts["sha256"] {
			t.Error("the flow has other bytes than the answer says")
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, k.flows) {
		t.Errorf("there are %q, want %q", names, k.flows)
	}
}

func remove(t *testing.T, endpoint, key, id string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, endpoint+"/api/v1/chatflows/"+id, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

func effectsID(r contracts.ToolResult) string {
	id, _ := r.Facts["chatflow_id"].(string)
	return id
}
