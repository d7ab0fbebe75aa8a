package contracts_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

func entry(domain, name string, m contracts.Metadata) *contracts.CapabilityEntry {
	c := &contracts.Capability{Name: name, Schema: json.RawMessage(`{"type":"object","required":["a"]}`), Metadata: m}
	return &contracts.CapabilityEntry{Domain: domain, Capability: c}
}

func catalog() *contracts.Catalog {
	send := contracts.Metadata{Plays: []contracts.RolePlay{{Role: "notifier", ParamMap: map[string]any{"a": "${params.message}"}}}}
	return contracts.NewCatalog("s1", []*contracts.DomainEntry{
		{Name: "zoo", Capabilities: []*contracts.CapabilityEntry{entry("zoo", "find", contracts.Metadata{}), entry("zoo", "feed", contracts.Metadata{})}},
		{Name: "bar", Capabilities: []*contracts.CapabilityEntry{entry("bar", "find", contracts.Metadata{Routable: new(false)}), entry("bar", "send", send)}},
	}, nil)
}

func TestCatalogResolve(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ref, home string
		want      string
		code      contracts.Code
	}{
		"a full name":                     {"zoo.find", "bar", "zoo.find", ""},
		"a bare name of the home domain":  {"find", "bar", "bar.find", ""},
		"a bare name while unambiguous":   {"feed", "", "zoo.feed", ""},
		"a bare name of another domain":   {"feed", "bar", "", contracts.CodeNotFound},
		"a bare name of two domains":      {"find", "", "", contracts.CodeConflict},
		"a bare name of nobody":           {"sing", "bar", "", contracts.CodeNotFound},
		"a full name of nobody":           {"bar.feed", "zoo", "", contracts.CodeNotFound},
		"a full name is never taken bare": {"nowhere.feed", "", "", contracts.CodeNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := catalog().Resolve(tc.ref, tc.home)
			if contracts.CodeOf(err) != tc.code {
				t.Fatalf("code %q: %v", contracts.CodeOf(err), err)
			}
			if err == nil && e.Ref() != tc.want {
				t.Errorf("got %s", e.Ref())
			}
			if tc.code == contracts.CodeConflict && !strings.Contains(err.Error(), "bar.find, zoo.find") {
				t.Errorf("the candidates are named, got %v", err)
			}
		})
	}
}

func TestCatalogIsOrderedAndTellsRoles(t *testing.T) {
	t.Parallel()
	c := catalog()
	if c.Domains[0].Name != "bar" || c.Domains[1].Name != "zoo" {
		t.Error("domains come by name")
	}
	if d, ok := c.Domain("zoo"); !ok || d.Capabilities[0].Ref() != "zoo.find" || !d.Capabilities[0].Routable() {
		t.Error("zoo.find is there and routable")
	}
	if e, _ := c.Capability("bar.find"); e.Routable() {
		t.Error("bar.find is a helper")
	}
	players := c.Playing("notifier")
	if len(players) != 1 || players[0].Entry.Ref() != "bar.send" || players[0].ParamMap["a"] == nil {
		t.Errorf("got %v", players)
	}
}

func TestEntrySchemas(t *testing.T) {
	t.Parallel()
	e := entry("a", "b", contracts.Metadata{})
	in, err := e.Input()
	if err != nil || len(in.Validate(map[string]any{})) != 1 {
		t.Errorf("the input schema holds: %v", err)
	}
	if again, _ := e.Input(); again != in {
		t.Error("it is compiled once")
	}
	if out, err := e.Output(); out != nil || err != nil {
		t.Errorf("there is no output schema: %v, %v", out, err)
	}
	e.Capability.OutputSchema = json.RawMessage(`{`)
	other := &contracts.CapabilityEntry{Capability: e.Capability}
	if _, err := other.Output(); contracts.CodeOf(err) != contracts.CodeInvalid {
		t.Errorf("a broken schema is told, got %v", err)
	}
}

func TestCapabilityDigestPinsWhatARunDependsOn(t *testing.T) {
	t.Parallel()
	digest := func(change func(*contracts.Capability, *contracts.Policy)) string {
		e := entry("a", "b", contracts.Metadata{})
		p := e.Capability.Metadata.Policy(false)
		change(e.Capability, &p)
		d, err := contracts.CapabilityDigest(e.Capability, p)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same := digest(func(*contracts.Capability, *contracts.Policy) {})
	for name, change := range map[string]func(*contracts.Capability, *contracts.Policy){
		"white space": func(c *contracts.Capability, _ *contracts.Policy) {
			c.Schema = json.RawMessage(`{ "required": ["a"], "type": "object" }`)
		},
		"a description": func(c *contracts.Capability, _ *contracts.Policy) { c.Description = "new" },
		"hints":         func(c *contracts.Capability, _ *contracts.Policy) { c.Metadata.IntentHints = &contracts.IntentHints{} },
	} {
		if digest(change) != same {
			t.Errorf("%s must not change the digest", name)
		}
	}
	for name, change := range map[string]func(*contracts.Capability, *contracts.Policy){
		"the name":          func(c *contracts.Capability, _ *contracts.Policy) { c.Name = "c" },
		"the schema":        func(c *contracts.Capability, _ *contracts.Policy) { c.Schema = json.RawMessage(`{"type":"object"}`) },
		"the output schema": func(c *contracts.Capability, _ *contracts.Policy) { c.OutputSchema = json.RawMessage(`{}`) },
		"the policy":        func(_ *contracts.Capability, p *contracts.Policy) { p.RiskLevel = contracts.RiskLow },
		"the locks":         func(c *contracts.Capability, _ *contracts.Policy) { c.Metadata.Locks = []string{"x"} },
		"the read-back":     func(c *contracts.Capability, _ *contracts.Policy) { c.Metadata.Verify = &contracts.VerifyRule{} },
		"the reconcile":     func(c *contracts.Capability, _ *contracts.Policy) { c.Metadata.Reconcile = &contracts.CapabilityCall{} },
		"the compensation": func(c *contracts.Capability, _ *contracts.Policy) {
			c.Metadata.Compensation = &contracts.CapabilityCall{}
		},
	} {
		if digest(change) == same {
			t.Errorf("%s must change the digest", name)
		}
	}
}

func TestSealChains(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.FixedZone("east", 3600))
	first := contracts.LedgerEntry{Seq: 1, At: at, RunID: "r", Kind: contracts.LedgerPlan, Actor: "ana"}
	second := contracts.LedgerEntry{Seq: 2, At: at, RunID: "r", Kind: contracts.LedgerIntent}
	seal := func(e contracts.LedgerEntry, prev string) contracts.LedgerEntry {
		if err := e.Seal(prev); err != nil {
			t.Fatal(err)
		}
		return e
	}
	first = seal(first, "")
	second = seal(second, first.Hash)
	if first.PrevHash != "" || second.PrevHash != first.Hash || first.Hash == second.Hash || len(first.Hash) != 64 {
		t.Errorf("got %q after %q", second.PrevHash, first.Hash)
	}
	var stored contracts.LedgerEntry
	raw, err := json.Marshal(first)
	if err != nil || json.Unmarshal(raw, &stored) != nil {
		t.Fatal(err)
	}
	if again := seal(stored, ""); again.Hash != first.Hash {
		t.Error("an entry that was stored and read has the same hash")
	}
	if again := seal(first, ""); again.Hash != first.Hash {
		t.Error("sealing twice changes nothing")
	}
	for name, change := range map[string]func(*contracts.LedgerEntry){
		"seq": func(e *contracts.LedgerEntry) { e.Seq++ }, "at": func(e *contracts.LedgerEntry) { e.At = e.At.Add(time.Microsecond) },
		"run": func(e *contracts.LedgerEntry) { e.RunID = "x" }, "kind": func(e *contracts.LedgerEntry) { e.Kind = contracts.LedgerOutcome },
		"actor": func(e *contracts.LedgerEntry) { e.Actor = "eve" }, "payload": func(e *contracts.LedgerEntry) { e.PayloadSHA256 = "1" },
		"action": func(e *contracts.LedgerEntry) { e.ActionSHA256 = "1" }, "key": func(e *contracts.LedgerEntry) { e.Key = "k" },
		"node": func(e *contracts.LedgerEntry) { e.NodeID = "n" }, "tool": func(e *contracts.LedgerEntry) { e.Tool = "t" },
	} {
		changed := first
		change(&changed)
		if seal(changed, "").Hash == first.Hash {
			t.Errorf("a changed %s is not seen", name)
		}
	}
	if seal(first, "other").Hash == first.Hash {
		t.Error("another entry before is not seen")
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	t.Parallel()
	cause := contracts.Errorf(contracts.CodeNotFound, "no such run")
	wrapped := contracts.Errorf(contracts.CodeUnavailable, "load run %s: %w", "r1", cause)
	if wrapped.Error() != "load run r1: no such run" || contracts.CodeOf(wrapped) != contracts.CodeUnavailable || !errors.Is(wrapped, cause) {
		t.Errorf("got %v", wrapped)
	}
	many := contracts.Invalid("bad", contracts.Fault{Message: "a"}, contracts.Fault{Pointer: "/b", Message: "b"}, contracts.Fault{Pointer: "/c", Message: "c"}, contracts.Fault{Pointer: "/d", Message: "d"})
	if got := many.Error(); got != "bad; /: a; /b: b; /c: c; and 1 more" {
		t.Errorf("got %q", got)
	}
	if contracts.CodeOf(nil) != "" || contracts.CodeOf(errors.New("strange")) != contracts.CodeInternal {
		t.Error("no error has no code; a stranger's error is internal")
	}
	seen := map[contracts.Code]bool{}
	for _, code := range contracts.Codes() {
		seen[code] = true
	}
	if diff := cmp.Diff(len(contracts.Codes()), len(seen)); diff != "" {
		t.Error("a code stands there twice")
	}
	for _, code := range wordsByType(t)["Code"] {
		if !seen[contracts.Code(code)] {
			t.Errorf("Codes leaves out %s", code)
		}
	}
}
