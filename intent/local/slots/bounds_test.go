package slots

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// What a hostile message costs is bounded, whatever the capability takes: places
// that are looked at are counted, not time.
func TestTheWorkOnHostileTextIsBounded(t *testing.T) {
	t.Parallel()
	tools := NewTools()
	for _, c := range []struct{ value, piece string }{
		{`{"type":"number"}`, "12 and "},
		{`{"type":"array","items":{"type":"number"}}`, "[1,"},
		{`{"type":"string"}`, "Ana de Souza, "},
		{`{"type":"string"}`, `"ab cd" `},
		{`{"type":"string"}`, "p1: "},
		{`{"type":"string","format":"date"}`, "2026-12-01 "},
		{`{"type":"string","enum":[` + hostileEnum() + `]}`, "value number 7 "},
	} {
		set := Compile(tools, hostileCapability(t, c.value), "", nil)
		m := tools.Read(strings.Repeat(c.piece, 10_000/len(c.piece)), time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
		all := Range{To: len(m.Tokens)}
		r := &reading{passage: set.passage(m, all, nil)}
		r.collect()
		if len(r.mentions) > maxMentions || r.tries > maxTries || len(r.mentions) < maxMentions && r.tries < maxTries/2 {
			t.Errorf("%q: %d values after %d tries, want one of them at its bound", c.piece, len(r.mentions), r.tries)
		}
		f := set.completer(m, all, nil, r.solver().result(nil))
		z := f.texts(f.open(r.solver().result(nil)))
		z.Marginals()
		if len(f.field.spans) > maxSpans || z.Ways > MaxAssignments {
			t.Errorf("%q: %d spans and %d assignments", c.piece, len(f.field.spans), z.Ways)
		}
	}
}

func hostileEnum() string {
	var out []string
	for i := range 200 {
		out = append(out, fmt.Sprintf("\"value number %d\"", i))
	}
	return strings.Join(out, ",")
}

// hostileCapability has 50 parameters of one kind.
func hostileCapability(t *testing.T, value string) *contracts.CapabilityEntry {
	t.Helper()
	var properties []string
	for i := range 50 {
		properties = append(properties, fmt.Sprintf(`"p%d":%s`, i, value))
	}
	var c contracts.Capability
	raw := `{"name":"do","description":"Does it.","schema":{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":["p0","p1"]},"metadata":{"side_effect_class":"read"}}`
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	return &contracts.CapabilityEntry{Domain: "test", Capability: &c}
}
