package attack_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// payment is one thing that the vault really did.
type payment struct {
	Capability string
	Account    string
	Key        string
	Roles      []string // those of the principal, as the vault was told
}

// vault is a domain that lives in the test and keeps a record of what it did.
type vault struct {
	name, url string

	mu       sync.Mutex // guards the fields below
	manifest contracts.Manifest
	paid     []payment
	// silent lets the next writes be done and not answered.
	silent int
	// held keeps the answers of writes back until it is closed.
	held chan struct{}
}

func newVault(t *testing.T, change ...func(*contracts.Manifest)) *vault {
	t.Helper()
	v := &vault{name: "vault", manifest: vaultManifest()}
	for _, c := range change {
		c(&v.manifest)
	}
	v.name = v.manifest.Domain
	srv := httptest.NewServer(v)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	v.url = srv.URL
	return v
}

// record returns what was really done, in order.
func (v *vault) record() []payment {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.paid)
}

// falls lets the next write be done without an answer.
func (v *vault) falls() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.silent = 1
}

// holds keeps the answers of writes back until release is called.
func (v *vault) holds() (release func()) {
	held := make(chan struct{})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = held
	return sync.OnceFunc(func() { close(held) })
}

// forgets takes a capability out of the manifest, and gives it.
func (v *vault) forgets(name string) contracts.Capability {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := slices.IndexFunc(v.manifest.Capabilities, func(c contracts.Capability) bool { return c.Name == name })
	gone := v.manifest.Capabilities[at]
	v.manifest.Capabilities = slices.Delete(slices.Clone(v.manifest.Capabilities), at, at+1)
	return gone
}

// learns puts a capability into the manifest.
func (v *vault) learns(c contracts.Capability) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.manifest.Capabilities = append(slices.Clone(v.manifest.Capabilities), c)
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
		answer(w, contracts.Health{Status: contracts.HealthOK})
	case "/manifest":
		v.mu.Lock()
		m := v.manifest
		v.mu.Unlock()
		answer(w, m)
	case "/execute":
		var req contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		v.execute(w, req)
	default:
		http.NotFound(w, r)
	}
}

func (v *vault) execute(w http.ResponseWriter, req contracts.ExecuteRequest) {
	account, _ := req.Parameters["account"].(string)
	switch req.Capability {
	case "find_account":
		answer(w, contracts.ToolResult{OK: true, Summary: "2 accounts", Facts: map[string]any{"matches": []any{
			map[string]any{"value": "acc-1", "label": "Savings of Alice"}, map[string]any{"value": "acc-666", "label": "Savings of Mallory"},
		}}})
		return
	case "peek":
		answer(w, contracts.ToolResult{OK: true, Summary: "peeked", Facts: map[string]any{"account": account}})
		return
	}
	v.mu.Lock()
	v.paid = append(v.paid, payment{req.Capability, account, req.Context.IdempotencyKey, req.Context.Principal.Roles})
	silent := v.silent > 0
	v.silent = max(v.silent-1, 0)
	held := v.held
	v.mu.Unlock()
	if held != nil {
		<-held
	}
	if silent {
		cut(w)
		return
	}
	answer(w, contracts.ToolResult{OK: true, Summary: "paid", Facts: map[string]any{"account": account}})
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// vaultManifest declares writes of every risk, each without idempotency, so that
// an unanswered one is a question to people.
func vaultManifest() contracts.Manifest {
	no := false
	read := contracts.Metadata{SideEffectClass: contracts.ClassRead, Routable: &no}
	m := contracts.Manifest{
		SchemaVersion: contracts.SchemaVersion, Domain: "vault", Version: "1.0.0",
		Capabilities: []contracts.Capability{
			{Name: "find_account", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`), Metadata: read},
			{Name: "peek", Schema: json.RawMessage(`{"type":"object","properties":{"account":{"type":"string"}}}`), Metadata: read},
		},
	}
	for name, risk := range map[string]contracts.RiskLevel{
		"pay": contracts.RiskHigh, "wire": contracts.RiskCritical, "note": contracts.RiskLow,
	} {
		m.Capabilities = append(m.Capabilities, contracts.Capability{
			Name:   name,
			Schema: json.RawMessage(`{"type":"object","properties":{"account":{"type":"string","pattern":"^acc-[0-9]+$"},"text":{"type":"string"}},"required":["account"],"additionalProperties":false}`),
			Metadata: contracts.Metadata{
				SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyNone, RiskLevel: risk, Routable: &no,
				Flow: &contracts.Flow{Pre: []contracts.PreStep{{Type: "account", Param: "account", SearchCapability: "find_account"}}},
			},
		})
	}
	slices.SortFunc(m.Capabilities[2:], func(a, b contracts.Capability) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return m
}

// desk makes a vault another domain, whose notes can be taken back: the requester of
// one may approve it.
func desk(m *contracts.Manifest) {
	m.Domain = "desk"
	for i := range m.Capabilities {
		if m.Capabilities[i].Name == "note" {
			md := &m.Capabilities[i].Metadata
			md.SideEffectClass = contracts.ClassWriteReversible
			md.Compensation = &contracts.CapabilityCall{Capability: "pay", ParamMap: map[string]any{"account": "${result.facts.account}"}}
		}
	}
}
