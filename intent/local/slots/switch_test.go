package slots_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	cabins = `{"name":"find_cabins","description":"Finds cabins.","schema":{"type":"object","properties":{
  "firewood":{"type":"boolean","description":"Whether there must be firewood."},
  "free_beds":{"type":"boolean","description":"Only cabins that still have free beds."},
  "members_only":{"type":"boolean","description":"Only those for members."}}},"metadata":{"side_effect_class":"CLASS"}}`
	leak = `{"name":"report_leak","description":"Reports a leak in a cabin.","schema":{"type":"object","properties":{
  "cabin":{"type":"string","pattern":"^K-[0-9]{2}$"},
  "usable":{"type":"boolean","description":"Whether one can still sleep there."}},"required":["cabin"]},"metadata":{"side_effect_class":"write_reversible"}}`
	bill = `{"name":"mark_bill","description":"Marks a bill.","schema":{"type":"object","properties":{
  "bill":{"type":"string","pattern":"^I-[0-9]{2}$"},
  "settled":{"type":"boolean","description":"Whether it counts as settled."}},"required":["bill"]},"metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":[
  "mark the bill I-44 as settled"]}}}`
)

// A switch is known by its name in any order and however its parts are written, by its noun
// behind "with" where something is only looked for, and by what its description says can be.
func TestSwitchesAreKnownByWhatTheySay(t *testing.T) {
	t.Parallel()
	read, write := cabins[:len(cabins)-len(`CLASS"}}`)]+`read"}}`, cabins[:len(cabins)-len(`CLASS"}}`)]+`write_reversible"}}`
	cases := map[string]struct{ capability, say, want string }{
		"written apart":              {read, "cabins that have fire wood", `{"firewood":true}`},
		"denied":                     {read, "cabins without fire wood", `{"firewood":false}`},
		"in another order":           {read, "only the cabins of members", `{}`},
		"in any order":               {read, "cabins, only for members", `{"members_only":true}`},
		"its noun":                   {read, "cabins with beds left", `{"free_beds":true}`},
		"its noun of another":        {read, "cabins near beds", `{}`},
		"its noun of a write":        {write, "take cabins with beds", `{}`},
		"what can be":                {leak, "K-17 leaks but you can still sleep there", `{"cabin":"K-17","usable":true}`},
		"what cannot be":             {leak, "K-17 leaks, one cannot sleep there", `{"cabin":"K-17","usable":false}`},
		"what cannot be any more":    {leak, "report a leak in K-17, we can't sleep in it", `{"cabin":"K-17","usable":false}`},
		"put on":                     {bill, "mark I-17 as settled", `{"bill":"I-17","settled":true}`},
		"taken off":                  {bill, "take the settled mark off I-17", `{"bill":"I-17","settled":false}`},
		"removed":                    {bill, "remove the settled mark from I-17", `{"bill":"I-17","settled":false}`},
		"a word of it alone":         {leak, "report a leak in K-17 where we sleep", `{"cabin":"K-17"}`},
		"behind a word of something": {leak, "report a leak in K-17, the guests can hear it in their sleep", `{"cabin":"K-17"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(fill(t, c.capability, c.say).Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values of %q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}
