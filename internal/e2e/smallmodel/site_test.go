package smallmodel_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/domaintest"
	"github.com/manifold-run/manifold/examples/communication"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/examples/logistics"
	"github.com/manifold-run/manifold/internal/app/apptest"
)

// site is a server, its model and its domains, with somebody who asks and nobody who approves.
type site struct {
	admin, rita *client.Client
	effects     effects
}

// effects are the writes that the domains were asked for.
type effects struct {
	mu   sync.Mutex // guards done
	done []string
}

func (e *effects) note(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done = append(e.done, what)
}

func (e *effects) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.done)
}

func startSite(t *testing.T, model string) *site {
	t.Helper()
	s := &site{}
	dir := t.TempDir()
	bootstrap := filepath.Join(dir, "domains.json")
	if err := os.WriteFile(bootstrap, s.serveDomains(t), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "manifold")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../../cmd/manifold").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REASONING_") })
	env = append(env, "REASONING_ENGINE=openai", "REASONING_MODEL=small", "REASONING_BASE_URL="+model)
	data := filepath.Join(dir, "data")
	url := startProgram(t, env, "serving at ", program, "serve", "--embeddings", "off", "--addr", "127.0.0.1:0", "--data", data, "--bootstrap", bootstrap,
		"--log-level", "warn", "--reasoning-timeout", patience.String(), "--sessions-per-minute", "100000", "--requests-per-minute", "1000000")
	s.admin = apptest.Client(t, client.Config{URL: url, Key: apptest.Key(t, filepath.Join(data, "admin.key"))})
	s.served(t, 3)
	made, err := s.admin.CreateKey(t.Context(), contracts.KeySpec{Kind: "user", Principal: "rita", Roles: []string{"operator"}})
	if err != nil {
		t.Fatal(err)
	}
	s.rita = apptest.Client(t, client.Config{URL: url, Key: made.Text})
	return s
}

// served waits until so many domains are in service.
func (s *site) served(t *testing.T, count int) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	late := time.After(10 * time.Minute) // seconds, but for a machine that is busy
	for {
		domains, err := s.admin.Domains(t.Context())
		active := slices.DeleteFunc(slices.Clone(domains), func(d contracts.DomainView) bool { return d.Outcome != contracts.DomainActive })
		if err == nil && len(active) == count {
			return
		}
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("the domains are not served: %+v, %v", domains, err)
		}
	}
}

// serveDomains serves those that need no system behind them, and gives the file that names them.
func (s *site) serveDomains(t *testing.T) []byte {
	t.Helper()
	prices, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := communication.New(t.Context(), communication.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := messages.Close(); err != nil {
			t.Error(err)
		}
	})
	freight, err := logistics.New(logistics.Config{})
	if err != nil {
		t.Fatal(err)
	}
	type domain struct {
		Domain string `json:"domain"`
		URL    string `json:"url"`
	}
	out, err := json.Marshal(map[string][]domain{"domains": {
		{"finance", s.watched(t, prices)}, {"communication", s.watched(t, messages.Service)}, {"logistics", s.watched(t, freight)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// watched serves a domain and notes each write that it is asked for.
func (s *site) watched(t *testing.T, svc *domainkit.Service) string {
	t.Helper()
	writes := map[string]bool{}
	for _, c := range domaintest.Manifest(t, svc).Capabilities {
		writes[c.Name] = c.Metadata.SideEffectClass.Writes()
	}
	next, err := svc.Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var call struct {
			Capability string `json:"capability"`
		}
		if r.URL.Path == "/execute" && json.Unmarshal(body, &call) == nil && writes[call.Capability] {
			s.effects.note(string(body))
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
