package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

const domainName = "vault"

// vault is the domain. It records each write that it applies, and fails at random.
type vault struct {
	server *httptest.Server

	mu       sync.Mutex // guards the fields below
	chance   *rand.Rand
	gentle   bool
	effects  map[string]int // by idempotency key, "run/node/n"
	kept     map[string]contracts.ToolResult
	values   map[string]string
	approved map[string]map[string]bool // "run/node", then digests of capabilities
	edition  int                        // of the manifest
	wild     []string                   // writes that were applied without approval
	calls    int
}

func newVault(seed uint64) *vault {
	v := &vault{
		chance: rand.New(rand.NewPCG(seed, 1)), effects: map[string]int{}, kept: map[string]contracts.ToolResult{}, //nolint:gosec // by the seed
		values: map[string]string{}, approved: map[string]map[string]bool{},
	}
	v.server = httptest.NewServer(v)
	return v
}

// nodeOf returns "run/node" of a key.
func nodeOf(key string) string { return key[:max(strings.LastIndex(key, "/"), 0)] }

// approve records that a person is about to approve a write by a capability with the shown digest.
func (v *vault) approve(runID, nodeID, digest string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	node := runID + "/" + nodeID
	if v.approved[node] == nil {
		v.approved[node] = map[string]bool{}
	}
	v.approved[node][digest] = true
}

// change switches to another edition of the manifest: approvals under the previous one no longer
// count.
func (v *vault) change() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.edition++
}

func (v *vault) manifest() contracts.Manifest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return manifest(v.edition)
}

// applied counts how often a node's write was applied, in all attempts.
func (v *vault) applied(runID, nodeID string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := 0
	for key, times := range v.effects {
		if nodeOf(key) == runID+"/"+nodeID {
			n += times
		}
	}
	return n
}

// calm ends the domain's random faults.
func (v *vault) calm() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gentle = true
}

// fate is the outcome of a call.
type fate int

const (
	fine fate = iota
	busy
	lostBefore
	lostAfter
	slowAfter
)

// next draws the duration and the outcome of a call.
func (v *vault) next() (time.Duration, fate) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls++
	takes, n := time.Duration(10+v.chance.IntN(90))*time.Millisecond, v.chance.IntN(100)
	switch {
	case v.gentle || n >= 10:
		return takes, fine
	case n < 3:
		return takes, busy
	case n < 5:
		return takes, lostBefore
	case n < 8:
		return takes, lostAfter
	default:
		return takes, slowAfter
	}
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
		answer(w, http.StatusOK, contracts.Health{Status: contracts.HealthOK})
	case "/manifest":
		answer(w, http.StatusOK, v.manifest())
	case "/execute":
		var req contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		v.execute(w, r, req)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller may be dead
}

func (v *vault) execute(w http.ResponseWriter, r *http.Request, req contracts.ExecuteRequest) {
	takes, f := v.next()
	time.Sleep(takes)
	switch f {
	case busy:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, map[string]string{"error": "busy"})
		return
	case lostBefore:
		cut(w)
		return
	case fine, lostAfter, slowAfter:
	}
	result := v.do(req)
	switch f {
	case lostAfter:
		cut(w)
		return
	case slowAfter:
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	case fine, busy, lostBefore:
	}
	answer(w, http.StatusOK, result)
}

// cut closes the connection instead of answering.
func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close() // as it should be
	}
}

// do reads, or applies a write. Keyed writes are applied once per key, all others at every call.
func (v *vault) do(req contracts.ExecuteRequest) contracts.ToolResult {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, _ := req.Parameters["id"].(string)
	key := req.Context.IdempotencyKey
	switch req.Capability {
	case "peek":
		return contracts.ToolResult{OK: true, Summary: id, Facts: map[string]any{"id": id, "value": v.values[id]}}
	case "find_put":
		asked, _ := req.Parameters["key"].(string)
		return contracts.ToolResult{OK: true, Summary: "looked up", Facts: map[string]any{"applied": v.effects[asked] > 0}}
	}
	if result, repeat := v.kept[key]; req.Capability == "put_keyed" && repeat {
		return result
	}
	value, _ := req.Parameters["value"].(string)
	v.values[id] = value
	v.effects[key]++
	if !v.approved[nodeOf(key)][req.Context.CapabilityDigest] {
		v.wild = append(v.wild, key)
	}
	result := contracts.ToolResult{OK: true, Summary: id + " is " + value, Facts: map[string]any{"id": id, "value": value}}
	v.kept[key] = result
	return result
}

// careful is a workflow that reads, asks, goes back as often as the answers say, and then writes.
const careful = `{
  "name": "careful", "description": "Looks, asks, and then writes.", "metadata": {"routable": false},
  "schema": {"type": "object", "required": ["id", "value"], "additionalProperties": false, "properties": {"id": {"type": "string"}, "value": {"type": "string"}}},
  "steps": [
    {"id": "look", "kind": "tool", "tool": "peek", "params": {"id": "${params.id}"},
      "on": [{"error": "upstream", "goto": "look", "max": 5}, {"error": "timeout", "goto": "look", "max": 5}]},
    {"id": "agree", "kind": "human", "depends_on": ["look"], "human": {
      "interrupt": "plan_approval", "prompt": "Write it?", "value": {"value": "${params.value}"}, "show": {"is": "${steps.look.facts}"},
      "allow": ["approve", "reject"], "unattended": "fail"},
      "on": [{"answer": "reject", "goto": "look", "max": 3}]},
    {"id": "first", "kind": "tool", "tool": "put_keyed", "depends_on": ["agree"], "params": {"id": "${params.id}", "value": "${steps.agree.facts.value.value}"}},
    {"id": "second", "kind": "tool", "tool": "put_plain", "depends_on": ["first"], "params": {"id": "${params.id}", "value": "${steps.agree.facts.value.value}"}}
  ],
  "result": {"summary": "${params.id} is ${steps.agree.facts.value.value}."}
}`

// tuned is a workflow with a write in a loop: it writes, reads twice what it wrote, and is
// reviewed. Each iteration uses the feedback of the review, writes again, and spends from a budget
// that a person has to raise.
const tuned = `{
  "name": "tuned", "description": "Writes, is reviewed, and writes again as it was told.", "metadata": {"routable": false},
  "schema": {"type": "object", "required": ["id", "value"], "additionalProperties": false, "properties": {"id": {"type": "string"}, "value": {"type": "string"}}},
  "budgets": {"puts": 1},
  "steps": [
    {"id": "word", "kind": "set", "set": {"value": "${has(round.with.word) ? string(params.value) + \" \" + string(round.with.word) : string(params.value)}"}},
    {"id": "put", "kind": "tool", "tool": "put_keyed", "depends_on": ["word"], "spend": {"puts": "${size([params.id])}"},
      "params": {"id": "${params.id}", "value": "${steps.word.facts.value}"}},
    {"id": "look", "kind": "tool", "tool": "peek", "depends_on": ["put"], "params": {"id": "${params.id}"},
      "on": [{"error": "upstream", "goto": "look", "max": 5}, {"error": "timeout", "goto": "look", "max": 5}, {"when": "${round.n < 2}", "goto": "look", "max": 3}]},
    {"id": "review", "kind": "human", "depends_on": ["look"], "human": {
      "interrupt": "result_review", "prompt": "Is it right?", "value": "${steps.look.facts}", "allow": ["accept", "iterate"], "unattended": "fail"},
      "on": [{"answer": "iterate", "goto": "word", "max": 2, "with": {"word": "${steps.review.facts.feedback}"}}]},
    {"id": "settle", "kind": "tool", "tool": "put_plain", "depends_on": ["review"],
      "params": {"id": "${params.id} settled", "value": "${steps.look.facts.value}"}}
  ],
  "result": {"summary": "${params.id} is ${steps.look.facts.value}."}
}`

func manifest(edition int) contracts.Manifest {
	no := false
	helper := contracts.Metadata{SideEffectClass: contracts.ClassRead, Routable: &no, TimeoutMS: 3000, NodeTimeoutMS: 120_000}
	m := contracts.Manifest{
		SchemaVersion: contracts.SchemaVersion, Domain: domainName, Version: "1.0.0",
		Capabilities: []contracts.Capability{{Name: "peek", Schema: object("id"), Metadata: helper}, {Name: "find_put", Schema: object("key"), Metadata: helper}},
	}
	for _, kind := range kinds() {
		meta := contracts.Metadata{
			SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: kind.idempotency, RiskLevel: contracts.RiskMedium,
			Routable: &no, TimeoutMS: 3000, NodeTimeoutMS: 600_000, Locks: []string{fmt.Sprintf("edition %d of {id}", edition)},
		}
		m.Capabilities = append(m.Capabilities, contracts.Capability{Name: "put_" + kind.name, Schema: object("id", "value"), Metadata: meta})
	}
	m.Workflows = make([]contracts.Workflow, 2)
	_ = json.Unmarshal([]byte(careful), &m.Workflows[0]) // they are constants, and a test reads them
	_ = json.Unmarshal([]byte(tuned), &m.Workflows[1])
	return m
}

// kind is one idempotency of writes of a domain.
type kind struct {
	name        string
	idempotency contracts.Idempotency
}

func kinds() []kind {
	return []kind{{"keyed", contracts.IdempotencyKeyed}, {"plain", contracts.IdempotencyNone}}
}

// object returns a schema of required strings.
func object(names ...string) json.RawMessage {
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]any{"type": "string", "minLength": 1, "maxLength": 200}
	}
	body, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": names, "additionalProperties": false})
	return body
}
