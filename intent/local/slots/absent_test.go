package slots_test

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// A needed parameter is absent when nothing in the text could be its value.
func TestAbsent(t *testing.T) {
	t.Parallel()
	c := contracts.Capability{
		Name: "book_boat", Description: "Books a boat for a number of people on a day.",
		Schema: []byte(`{"type":"object","properties":{"boat":{"type":"string"},"people":{"type":"integer"},"day":{"type":"string","format":"date"}},"required":["boat","people","day"]}`),
	}
	tools := slots.NewTools()
	set := slots.Compile(tools, &contracts.CapabilityEntry{Domain: "harbour", Capability: &c}, "", nil)
	for say, want := range map[string]float64{
		"book a boat": 1,
		"book a boat for 4 people on 2026-12-01 called Ondina": 0,
		"book a boat for 4 people":                             2.0 / 3,
		"book the Ondina":                                      2.0 / 3,
		"book the Ondina for 4":                                1.0 / 3,
		"book the boat Ondina on 2026-12-01":                   1.0 / 3,
	} {
		m := tools.Read(say, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
		run := slots.Range{To: len(m.Tokens)}
		if got := set.Absent(m, run, set.Fill(m, run, nil)); got != want {
			t.Errorf("%q lacks %.2f of what is needed, want %.2f", say, got, want)
		}
	}
}

// Words that the capability does not know could be a value; they are unlikely
// to be one where nothing else speaks for it.
func TestUnlikely(t *testing.T) {
	t.Parallel()
	c := contracts.Capability{
		Name: "song_length", Description: "Tells how long a song is.",
		Schema: []byte(`{"type":"object","properties":{"song":{"type":"string"},"verses":{"type":"integer"}},"required":["song","verses"]}`),
	}
	tools := slots.NewTools()
	set := slots.Compile(tools, &contracts.CapabilityEntry{Domain: "choir", Capability: &c}, "", nil)
	for say, c := range map[string]struct{ absent, least, most float64 }{
		"how long is the song":                            {1, 1, 1},
		"how long is it usually raining":                  {0.5, 0.75, 0.99},
		"how long is the song Greensleeves":               {0.5, 0.5, 0.75},
		"how long is the song Greensleeves with 4 verses": {0, 0, 0.25},
	} {
		m := tools.Read(say, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
		run := slots.Range{To: len(m.Tokens)}
		f := set.Fill(m, run, nil)
		if absent, doubt := set.Absent(m, run, f), set.Doubt(m, run, f); absent != c.absent || doubt < c.least || doubt > c.most {
			t.Errorf("%q lacks %.2f of what is needed, or %.2f by likely values", say, absent, doubt)
		}
	}
}
