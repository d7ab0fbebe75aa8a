package slot_test

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/internal/slot"
)

// A needed parameter is absent when nothing in the text could be its value.
func TestAbsent(t *testing.T) {
	t.Parallel()
	c := contracts.Capability{
		Name: "book_boat", Description: "Books a boat for a number of people on a day.",
		Schema: []byte(`{"type":"object","properties":{"boat":{"type":"string"},"people":{"type":"integer"},"day":{"type":"string","format":"date"}},"required":["boat","people","day"]}`),
	}
	tools := slot.NewTools()
	set := slot.Compile(tools, &contracts.CapabilityEntry{Domain: "harbour", Capability: &c}, "")
	for say, want := range map[string]float64{
		"book a boat": 1,
		"book a boat for 4 people on 2026-12-01 called Ondina": 0,
		"book a boat for 4 people":                             2.0 / 3,
		"book the Ondina":                                      2.0 / 3,
		"book the Ondina for 4":                                1.0 / 3,
		"book the boat Ondina on 2026-12-01":                   1.0 / 3,
	} {
		m := tools.Read(say, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
		run := slot.Range{To: len(m.Tokens)}
		if got := set.Absent(m, run, set.Fill(m, run, nil)); got != want {
			t.Errorf("%q lacks %.2f of what is needed, want %.2f", say, got, want)
		}
	}
}
