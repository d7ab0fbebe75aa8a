package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// words invents names that nobody has heard of, none of them twice.
type words struct {
	rng  *rand.Rand
	used map[string]bool
}

func (w *words) next() string {
	const consonants, vowels = "bdfgklmnprtvz", "aeiou"
	for {
		var b strings.Builder
		for range 2 + w.rng.IntN(2) {
			b.WriteByte(consonants[w.rng.IntN(len(consonants))])
			b.WriteByte(vowels[w.rng.IntN(len(vowels))])
		}
		b.WriteByte(consonants[w.rng.IntN(len(consonants))])
		if word := b.String(); !w.used[word] {
			w.used[word] = true
			return word
		}
	}
}

// invented is a domain of random words and schemas: things with ids of a
// random form have a random measure that can be read, and a random object that
// can be changed.
type invented struct {
	rng                                 *rand.Rand
	name, url                           string
	thing, measure, reads               string // reads is the verb
	object, writes, amount, mode, label string
	modes                               []string
	prefix                              string
	read, write, look                   string // names of capabilities

	mu      sync.Mutex // guards the fields below
	asked   []string
	changes []map[string]any
	byKey   map[string]contracts.ToolResult
	state   map[string]map[string]any
}

func invent(t *testing.T, rng *rand.Rand) *invented {
	t.Helper()
	w := &words{rng: rng, used: map[string]bool{}}
	d := &invented{
		rng: rng, name: w.next(), thing: w.next(), measure: w.next(), reads: w.next(), object: w.next(), writes: w.next(),
		amount: w.next(), mode: w.next(), label: w.next(), modes: []string{w.next(), w.next(), w.next()},
		prefix: strings.ToUpper(w.next()[:2+rng.IntN(2)]), byKey: map[string]contracts.ToolResult{}, state: map[string]map[string]any{},
	}
	d.read, d.write, d.look = d.reads+"_"+d.measure, d.writes+"_"+d.object, "look_"+d.object
	d.serve(t)
	return d
}

// twin is another domain with the same words under another name.
func (d *invented) twin(t *testing.T) *invented {
	t.Helper()
	out := &invented{
		rng: d.rng, name: d.name + "x", thing: d.thing, measure: d.measure, reads: d.reads, object: d.object, writes: d.writes,
		amount: d.amount, mode: d.mode, label: d.label, modes: d.modes, prefix: d.prefix, read: d.read, write: d.write, look: d.look,
		byKey: map[string]contracts.ToolResult{}, state: map[string]map[string]any{},
	}
	out.serve(t)
	return out
}

func (d *invented) serve(t *testing.T) {
	t.Helper()
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	d.url = srv.URL
}

// id makes a new id of the domain's form.
func (d *invented) id() string { return fmt.Sprintf("%s-%03d", d.prefix, d.rng.IntN(1000)) }

// readings and changings are sentences with new values in them.
func (d *invented) readings() []string {
	return []string{
		fmt.Sprintf("%s the %s of %s", d.reads, d.measure, d.id()),
		fmt.Sprintf("what is the %s of %s", d.measure, d.id()),
		fmt.Sprintf("show the %s of %s", d.measure, d.id()),
		fmt.Sprintf("compare the %s of %s and %s", d.measure, d.id(), d.id()),
		fmt.Sprintf("which %s does %s have", d.measure, d.id()),
	}
}

func (d *invented) changing(id string, amount int, mode string) string {
	return fmt.Sprintf("%s the %s of %s to %d in %s %s", d.writes, d.object, id, amount, mode, d.mode)
}

func (d *invented) manifest() contracts.Manifest {
	pattern := fmt.Sprintf("^%s-[0-9]{3}$", d.prefix)
	id := map[string]any{"type": "string", "pattern": pattern}
	no := false
	var examples []string
	for range 5 {
		examples = append(examples, d.changing(d.id(), 1+d.rng.IntN(900), d.modes[d.rng.IntN(3)]))
	}
	var amount any = "${params." + d.amount + "}"
	return contracts.Manifest{
		SchemaVersion: contracts.SchemaVersion, Domain: d.name, Version: "0.1.0",
		Capabilities: []contracts.Capability{
			{
				Name: d.read, Description: fmt.Sprintf("The %s of one or several %ss.", d.measure, d.thing),
				Schema: raw(map[string]any{
					"type": "object", "properties": map[string]any{
						d.thing:       id,
						d.thing + "s": map[string]any{"type": "array", "items": id, "maxItems": 20},
					},
					"oneOf": []any{map[string]any{"required": []string{d.thing}}, map[string]any{"required": []string{d.thing + "s"}}},
				}),
				Metadata: contracts.Metadata{
					SideEffectClass: contracts.ClassRead,
					IntentHints:     &contracts.IntentHints{Examples: d.readings(), Not: []string{"what is the weather", "tell me a joke"}},
					ParameterSpecs:  map[string]contracts.ParameterSpec{d.thing: {Examples: []any{d.id(), d.id()}, Ask: "Which " + d.thing + "?"}},
					Decomposition: &contracts.Decomposition{ArrayParams: []contracts.ArrayRule{
						{ParamName: d.thing + "s", SingleParamName: d.thing, MaxConcurrency: 4},
					}},
					Present: &contracts.Present{Title: d.label, Columns: []contracts.PresentColumn{
						{Path: d.thing, Title: d.thing}, {Path: d.measure, Title: d.measure},
					}},
				},
			},
			{
				Name: d.write, Description: fmt.Sprintf("Changes the %s of a %s.", d.object, d.thing),
				Schema: raw(map[string]any{
					"type": "object", "properties": map[string]any{
						d.thing:  id,
						d.amount: map[string]any{"type": "integer", "minimum": 1, "maximum": 1000},
						d.mode:   map[string]any{"type": "string", "enum": d.modes},
					},
					"required": []string{d.thing, d.amount, d.mode}, "additionalProperties": false,
				}),
				Metadata: contracts.Metadata{
					SideEffectClass: contracts.ClassWriteIrreversible, Idempotency: contracts.IdempotencyKeyed, RiskLevel: contracts.RiskHigh,
					IntentHints: &contracts.IntentHints{Examples: examples, Not: []string{"what is the " + d.object, "delete everything"}},
					ParameterSpecs: map[string]contracts.ParameterSpec{
						d.thing: {Examples: []any{d.id()}, Ask: "Which one?"}, d.amount: {Ask: "How much?"}, d.mode: {Ask: "In which way?"},
					},
					Verify: &contracts.VerifyRule{
						Capability: d.look, ParamMap: map[string]any{d.thing: "${params." + d.thing + "}"},
						Assertions: []contracts.Condition{{Path: "facts." + d.amount, Equals: &amount}},
					},
				},
			},
			{
				Name: d.look, Metadata: contracts.Metadata{SideEffectClass: contracts.ClassRead, Routable: &no},
				Schema: raw(map[string]any{"type": "object", "properties": map[string]any{d.thing: id}, "required": []string{d.thing}}),
			},
		},
	}
}

func raw(v any) json.RawMessage {
	body, _ := json.Marshal(v)
	return body
}

func (d *invented) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/health":
		answer(w, http.StatusOK, contracts.Health{Status: contracts.HealthOK})
	case "/manifest":
		d.mu.Lock()
		defer d.mu.Unlock()
		answer(w, http.StatusOK, d.manifest())
	default:
		var req contracts.ExecuteRequest
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			answer(w, http.StatusBadRequest, nil)
			return
		}
		answer(w, http.StatusOK, d.do(req))
	}
}

// size is the measure of a thing, as only this domain knows it.
func (d *invented) size(id string) float64 { return float64(len(d.name)*1000 + int(id[len(id)-1])) }

func (d *invented) do(req contracts.ExecuteRequest) contracts.ToolResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, _ := req.Parameters[d.thing].(string)
	switch req.Capability {
	case d.read:
		d.asked = append(d.asked, id)
		return contracts.ToolResult{OK: true, Summary: "read", Facts: map[string]any{d.thing: id, d.measure: d.size(id)}}
	case d.look:
		return contracts.ToolResult{OK: true, Summary: "looked", Facts: d.state[id]}
	}
	key := req.Context.IdempotencyKey
	if done, repeat := d.byKey[key]; repeat {
		return done
	}
	d.changes = append(d.changes, req.Parameters)
	d.state[id] = req.Parameters
	d.byKey[key] = contracts.ToolResult{OK: true, Summary: "changed", Facts: map[string]any{d.thing: id}}
	return d.byKey[key]
}

func (d *invented) done() (asked []string, changes []map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(slices.Values(d.asked)), slices.Clone(d.changes)
}

func TestInventedDomainsGoTheWholeWay(t *testing.T) {
	t.Parallel()
	seeds, begin := 5, firstSeed(t)
	if longTests() {
		seeds = 20
	}
	for i := range seeds {
		seed := begin + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			d := invent(t, rand.New(rand.NewPCG(seed, 7)))
			s := startSite(t)
			s.register(contracts.Registration{Domain: d.name, URL: d.url})
			s.tableOfThree(d)
			s.verifiedWrite(d)
		})
	}
}

func (s *site) tableOfThree(d *invented) {
	s.t.Helper()
	ids := []string{d.prefix + "-907", d.prefix + "-318", d.prefix + "-552"}
	r := s.ask(fmt.Sprintf("compare the %s of %s, %s and %s", d.measure, ids[0], ids[1], ids[2]))
	table := tableOf(r.Answer)
	if table == nil {
		s.t.Fatalf("no table; the session is %s:\n%s\n%s", r.Status, textOf(r.Answer), asJSON(r.Interrupts))
	}
	want := [][]any{{ids[0], d.size(ids[0])}, {ids[1], d.size(ids[1])}, {ids[2], d.size(ids[2])}}
	if diff := cmp.Diff(want, table.Rows); diff != "" {
		s.t.Errorf("rows (-want +got):\n%s", diff)
	}
	if table.Title != d.label {
		s.t.Errorf("the title is %q, want %q", table.Title, d.label)
	}
}

func (s *site) verifiedWrite(d *invented) {
	s.t.Helper()
	id, amount, mode := d.prefix+"-646", 473, d.modes[1]
	sentence := d.changing(id, amount, mode)
	r := s.ask(sentence)
	if r.Interrupt == nil || r.Interrupt.Type != contracts.InterruptWriteApproval {
		s.t.Fatalf("%q leads to no gate; the session is %s:\n%s\n%s", sentence, r.Status, textOf(r.Answer), asJSON(r.Interrupts))
	}
	s.approve(*r.Interrupt)
	view := s.ended(r.RunIDs[0])
	_, changes := d.done()
	want := []map[string]any{{d.thing: id, d.amount: float64(amount), d.mode: mode}}
	if diff := cmp.Diff(want, changes); diff != "" {
		s.t.Errorf("changes (-want +got):\n%s", diff)
	}
	if view.Verdict == nil || view.Verdict.Status != contracts.VerdictVerified {
		s.t.Errorf("the verdict is %s", asJSON(view.Verdict))
	}
	s.sound(view)
}

func TestTwoDomainsWithTheSameCapabilityName(t *testing.T) {
	t.Parallel()
	one := invent(t, rand.New(rand.NewPCG(firstSeed(t), 11)))
	two := one.twin(t)
	s := startSite(t)
	s.register(contracts.Registration{Domain: one.name, URL: one.url})
	s.register(contracts.Registration{Domain: two.name, URL: two.url})

	id := one.id()
	r := s.ask(fmt.Sprintf("%s the %s of %s", one.reads, one.measure, id))
	if r.Interrupt == nil || r.Interrupt.Type != contracts.InterruptClarification || len(r.Interrupt.Options) < 2 {
		t.Fatalf("the bare request is not asked back; the session is %s:\n%s\n%s", r.Status, textOf(r.Answer), asJSON(r.Interrupts))
	}
	r, err := s.rita.Resume(t.Context(), r.SessionID, contracts.Resume{Response: two.name + "." + two.read}, wait())
	if err != nil {
		t.Fatal(err)
	}
	firstAsked, _ := one.done()
	secondAsked, _ := two.done()
	if diff := cmp.Diff([][]string{nil, {id}}, [][]string{firstAsked, secondAsked}); diff != "" {
		t.Errorf("who was asked (-want +got):\n%s\n%s", diff, textOf(r.Answer))
	}
	view := s.ended(s.run(call(one.name+"."+one.read, map[string]any{one.thing: id})).RunIDs[0])
	if firstAsked, _ = one.done(); view.State != contracts.RunCompleted || len(firstAsked) != 1 {
		t.Errorf("namespaced: %v\n%s", firstAsked, states2text(view))
	}
}
