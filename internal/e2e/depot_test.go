package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// fault is one way in which a domain, or what stands before it, misbehaves.
// "After" means that the write was done all the same.
type fault string

const (
	faultBusy        fault = "429"
	fault503         fault = "503 before the write"
	fault503After    fault = "503 of a proxy after the write"
	faultReset       fault = "reset before the write"
	faultResetAfter  fault = "reset after the write"
	faultHalfAfter   fault = "half an answer"
	faultAccepted    fault = "202 with polling"
	faultForgotten   fault = "202 and then no such operation"
	faultHang        fault = "hang before the write"
	faultHangAfter   fault = "hang after the write"
	faultRefusedOnce fault = "refused, may be tried again"
	faultRefused     fault = "refused for good"
	faultInvalid     fault = "400"
	faultForbidden   fault = "403"
	faultConflict    fault = "409"
	faultNonsense    fault = "200 that is no result"
	faultWait        fault = "done when released"
)

// effect is one thing that a domain did to its world.
type effect struct {
	Capability string
	Key        string
	Instance   string
	ID         string
	Value      string
}

// depot is a domain that lives in the test: it does things to values, keeps a
// record of each effect, and misbehaves when told to.
type depot struct {
	name string
	url  string

	mu       sync.Mutex // guards the fields below
	manifest contracts.Manifest
	// faults are taken one by one by the calls of writes; the last of a list
	// that begins with repeated stays.
	faults   []fault
	repeated bool
	effects  []effect
	values   map[string]string
	// data is the raw output of peek, nil for none.
	data json.RawMessage
	// peeked changes what peek answers, nil for nothing.
	peeked func(*contracts.ToolResult)
	// kept are the results of keyed writes by key.
	kept map[string]contracts.ToolResult
	// polls counts the questions for accepted work by operation.
	polls map[string]int
	// headers are the Idempotency-Key headers that came, by key in the context.
	headers map[string][]string
	// arrived tells that a call of slow has come; it is answered when release
	// is closed.
	arrived chan struct{}
	release chan struct{}
	closing chan struct{}
}

// newDepot serves a depot under this name.
func newDepot(t *testing.T, name string, change ...func(*contracts.Manifest)) *depot {
	t.Helper()
	d := &depot{
		name: name, manifest: depotManifest(name), values: map[string]string{}, kept: map[string]contracts.ToolResult{},
		polls: map[string]int{}, headers: map[string][]string{},
		arrived: make(chan struct{}, 100), release: make(chan struct{}), closing: make(chan struct{}),
	}
	for _, c := range change {
		c(&d.manifest)
	}
	srv := httptest.NewServer(d)
	t.Cleanup(func() {
		close(d.closing)
		srv.CloseClientConnections()
		srv.Close()
	})
	d.url = srv.URL
	return d
}

// edit changes what the depot declares from now on.
func (d *depot) edit(change func(*contracts.Manifest)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.manifest)
}

// capability finds a declaration to change.
func capability(m *contracts.Manifest, name string) *contracts.Capability {
	i := slices.IndexFunc(m.Capabilities, func(c contracts.Capability) bool { return c.Name == name })
	return &m.Capabilities[i]
}

// misbehave lets the next writes meet these faults, one each.
func (d *depot) misbehave(faults ...fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults, d.repeated = faults, false
}

// alwaysMisbehave lets every write meet the fault.
func (d *depot) alwaysMisbehave(f fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults, d.repeated = []fault{f}, true
}

// record returns what was really done, in order.
func (d *depot) record() []effect {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.effects)
}

// awaitSlow waits until a call of slow is under way.
func (d *depot) awaitSlow(t *testing.T) {
	t.Helper()
	select {
	case <-d.arrived:
	case <-time.After(patience):
		t.Fatal("the slow read was not called")
	}
}

// done counts the effects on one value.
func (d *depot) done(id string) int {
	n := 0
	for _, e := range d.record() {
		if e.ID == id {
			n++
		}
	}
	return n
}

// sent returns the keys under which calls of a run arrived, with their headers.
func (d *depot) sent() map[string][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.headers)
}

func (d *depot) registration() contracts.Registration {
	return contracts.Registration{Domain: d.name, URL: d.url}
}

func (d *depot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
		answer(w, http.StatusOK, contracts.Health{Status: contracts.HealthOK})
	case "/manifest":
		d.mu.Lock()
		m := d.manifest
		d.mu.Unlock()
		answer(w, http.StatusOK, m)
	case "/execute":
		var req contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		d.execute(w, r, req)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (d *depot) execute(w http.ResponseWriter, r *http.Request, req contracts.ExecuteRequest) {
	id, _ := req.Parameters["id"].(string)
	switch req.Capability {
	case "peek":
		answer(w, http.StatusOK, d.peek(id))
	case "slow":
		d.arrived <- struct{}{}
		select {
		case <-d.release:
			answer(w, http.StatusOK, d.peek(id))
		case <-r.Context().Done():
		case <-d.closing:
		}
	case "find_put":
		key, _ := req.Parameters["key"].(string)
		answer(w, http.StatusOK, d.find(key))
	default:
		d.write(w, r, req)
	}
}

func (d *depot) peek(id string) contracts.ToolResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	value, found := d.values[id]
	result := contracts.ToolResult{OK: true, Summary: id + " is " + value, Facts: map[string]any{"id": id, "found": found, "value": value}}
	if d.data != nil {
		result.Data = contracts.NewOpaque(d.data)
	}
	if d.peeked != nil {
		d.peeked(&result)
	}
	return result
}

func (d *depot) find(key string) contracts.ToolResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	applied := slices.ContainsFunc(d.effects, func(e effect) bool { return e.Key == key })
	return contracts.ToolResult{OK: true, Summary: fmt.Sprintf("applied: %t", applied), Facts: map[string]any{"applied": applied}}
}

// nextFault takes the fault of this call.
func (d *depot) nextFault() fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.faults) == 0 {
		return ""
	}
	f := d.faults[0]
	if !d.repeated {
		d.faults = d.faults[1:]
	}
	return f
}

func (d *depot) write(w http.ResponseWriter, r *http.Request, req contracts.ExecuteRequest) {
	d.mu.Lock()
	key := req.Context.IdempotencyKey
	d.headers[key] = append(d.headers[key], r.Header.Get("Idempotency-Key"))
	d.mu.Unlock()
	if req.Context.Operation != "" {
		d.poll(w, req)
		return
	}
	switch f := d.nextFault(); f {
	case "":
		answer(w, http.StatusOK, d.apply(req))
	case faultWait:
		d.arrived <- struct{}{}
		select {
		case <-d.release:
			answer(w, http.StatusOK, d.apply(req))
		case <-d.closing:
		}
	case faultAccepted, faultForgotten:
		if f == faultForgotten {
			d.apply(req)
		}
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusAccepted, contracts.Accepted{Operation: string(f) + " " + key})
	case fault503After, faultResetAfter, faultHalfAfter, faultHangAfter, faultNonsense:
		d.fail(w, r, f, d.apply(req))
	default:
		d.fail(w, r, f, contracts.ToolResult{})
	}
}

// fail answers in the way of the fault; result is what an honest answer would
// have been.
func (d *depot) fail(w http.ResponseWriter, r *http.Request, f fault, result contracts.ToolResult) {
	switch f {
	case faultBusy:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, map[string]string{"error": "busy"})
	case fault503, fault503After:
		http.Error(w, "the proxy is tired", http.StatusServiceUnavailable)
	case faultReset, faultResetAfter:
		reset(w)
	case faultHalfAfter:
		half(w, result)
	case faultHang, faultHangAfter:
		select {
		case <-r.Context().Done():
		case <-d.closing:
		}
	case faultRefusedOnce, faultRefused:
		answer(w, http.StatusOK, contracts.ToolResult{Summary: "not now", Error: &contracts.ToolError{
			Type: contracts.ErrPrecondition, Message: "not now", Retryable: f == faultRefusedOnce, Effect: contracts.EffectNone,
		}})
	case faultInvalid:
		answer(w, http.StatusBadRequest, map[string]string{"error": "this does not fit"})
	case faultForbidden:
		answer(w, http.StatusForbidden, map[string]string{"error": "not you"})
	case faultConflict:
		answer(w, http.StatusConflict, map[string]string{"error": "another request had this key"})
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<h1>welcome to the hotel's network</h1>"))
	}
}

// poll answers a question for accepted work: not yet, then the result, unless
// it was forgotten.
func (d *depot) poll(w http.ResponseWriter, req contracts.ExecuteRequest) {
	operation := req.Context.Operation
	if operation != string(faultAccepted)+" "+req.Context.IdempotencyKey {
		answer(w, http.StatusGone, map[string]string{"error": "there is no such operation"})
		return
	}
	d.mu.Lock()
	d.polls[operation]++
	n := d.polls[operation]
	d.mu.Unlock()
	if n == 1 {
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusAccepted, contracts.Accepted{Operation: operation})
		return
	}
	answer(w, http.StatusOK, d.apply(req))
}

// apply does the write. Keyed ones are done once for a key, all others at
// every call.
func (d *depot) apply(req contracts.ExecuteRequest) contracts.ToolResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := req.Context.IdempotencyKey
	keyed := req.Capability == "put_keyed"
	if result, repeat := d.kept[key]; keyed && repeat {
		return result
	}
	id, _ := req.Parameters["id"].(string)
	value, _ := req.Parameters["value"].(string)
	d.values[id] = value
	d.effects = append(d.effects, effect{Capability: req.Capability, Key: key, Instance: req.Context.Instance, ID: id, Value: value})
	result := contracts.ToolResult{OK: true, Summary: id + " is " + value + " now", Facts: map[string]any{"id": id, "value": value}}
	if keyed {
		d.kept[key] = result
	}
	return result
}

// reset cuts the connection so that the other side meets an error, not an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// half sends the head and the first half of an answer.
func half(w http.ResponseWriter, result contracts.ToolResult) {
	body, _ := json.Marshal(result)
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])
	_ = buf.Flush()
	_ = conn.Close()
}

// depotManifest declares the depot: reads, and writes of each idempotency with
// a read-back.
func depotManifest(name string) contracts.Manifest {
	no := false
	helper := contracts.Metadata{SideEffectClass: contracts.ClassRead, Routable: &no, TimeoutMS: 60_000}
	m := contracts.Manifest{
		SchemaVersion: contracts.SchemaVersion, Domain: name, Version: "1.0.0",
		Instances: []contracts.Instance{{ID: "north", Default: true}, {ID: "south"}},
		Capabilities: []contracts.Capability{
			{Name: "peek", Schema: object("id"), Metadata: helper},
			{Name: "slow", Schema: object("id"), Metadata: helper},
			{Name: "find_put", Schema: object("key"), Metadata: helper},
		},
	}
	for _, kind := range []struct {
		name        string
		idempotency contracts.Idempotency
		reconcile   *contracts.CapabilityCall
	}{
		{"put_keyed", contracts.IdempotencyKeyed, nil},
		{"put_plain", contracts.IdempotencyNone, nil},
		{"put_traced", contracts.IdempotencyNone, &contracts.CapabilityCall{
			Capability: "find_put", ParamMap: map[string]any{"key": "${context.idempotency_key}"},
		}},
	} {
		var asked any = "${params.value}"
		m.Capabilities = append(m.Capabilities, contracts.Capability{
			Name: kind.name, Schema: object("id", "value"),
			Metadata: contracts.Metadata{
				SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: kind.idempotency, RiskLevel: contracts.RiskMedium,
				Routable: &no, TimeoutMS: 60_000, NodeTimeoutMS: 300_000, Reconcile: kind.reconcile,
				Verify: &contracts.VerifyRule{
					Capability: "peek", ParamMap: map[string]any{"id": "${params.id}"},
					Assertions: []contracts.Condition{{Path: "facts.value", Equals: &asked}},
				},
			},
		})
	}
	return m
}

// object is a schema of required texts.
func object(names ...string) json.RawMessage {
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]any{"type": "string", "minLength": 1, "maxLength": 200}
	}
	body, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": names, "additionalProperties": false})
	return body
}

// put is a write of this kind as an intent.
func (d *depot) put(kind, id, value string) contracts.Intent {
	return call(d.name+".put_"+kind, map[string]any{"id": id, "value": value})
}
