package slots_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const pantry = `{"name":"take_out","description":"Takes pieces of something out of a shelf.","schema":{"type":"object","properties":{
  "thing":{"type":"string","description":"What is taken, e.g. oat cakes."},
  "pieces":{"type":"integer","minimum":1,"maximum":500},
  "shelf":{"type":"string","pattern":"^S[0-9]{1,2}$"}},"required":["thing","pieces","shelf"]},"metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":[
  "take 4 oat cakes out of S3","take 12 jars of honey from S14","tira 3 latas de atum da S2"]},"parameter_specs":{"thing":{"examples":["oat cakes","jars of honey","latas de atum"]}}}}`

// The nouns behind a number are what is counted, where the examples have it there.
func TestNounsBehindANumber(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]string{
		"take 6 corn cobs out of S7":               `{"pieces":6,"shelf":"S7","thing":"corn cobs"}`,
		"take a dozen eggs from S7":                `{"pieces":12,"shelf":"S7","thing":"eggs"}`,
		"could you carry 5 bags of rice from S7":   `{"pieces":5,"shelf":"S7","thing":"bags of rice"}`,
		"take 5 pieces of cheese from S7":          `{"pieces":5,"shelf":"S7","thing":"cheese"}`,
		"tira 7 frascos de mel da S7":              `{"pieces":7,"shelf":"S7","thing":"frascos de mel"}`,
		"take 4 oat cakes from S7":                 `{"pieces":4,"shelf":"S7","thing":"oat cakes"}`,
		"take 4 from S7":                           `{"pieces":4,"shelf":"S7"}`,
		"take 4.5 corn cobs from S7":               `{"shelf":"S7"}`,
		"take 4 of them from S7":                   `{"pieces":4,"shelf":"S7"}`,
		"in the room 4B corn is out, look into S7": `{"shelf":"S7"}`,
	} {
		got, err := json.Marshal(fill(t, pantry, say).Values)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("values of %q (-want +got):\n%s", say, diff)
		}
	}
}
