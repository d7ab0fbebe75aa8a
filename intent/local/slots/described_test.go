package slots_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/local/slots"
)

// What is only described is read by what the description says of it.
func TestReadByTheDescription(t *testing.T) {
	t.Parallel()
	drying := tool("kiln_drying", "How long planks dry in the kiln.", "thickness! number Thickness of a plank in centimetres.", "batch_kg number Weight of the batch.")
	examples := tool("lesson_plan", "Plans examples.", "lessons_per_week! integer Lessons a week.", "weeks! integer Length of the plan in weeks.")
	alarm := tool("wake_up_call", "Orders a call in the morning.", "call! string When the telephone rings, HH:MM.", "room! integer Number of the room.")
	ferry := tool("ferry_booking", "Looks for a ferry.", "sailing! string Date and time of sailing, YYYY-MM-DD HH:MM.")
	prices := tool("price_change", "By how much a price changed.", "new_price! number Price now.", "old_price! number Price then.")
	coins := tool("coin_search", "Finds coins in a collection.", "minted_after! integer Earliest year of minting.", "worth! number Least value in euros.")
	curve := tool("slope_of", "Slope of a curve.", "curve! string Expression in x.", "at! number Where.")
	crate := tool("crate_check", "Checks whether a crate fits.", "depth! number Inner measure.", "load_weight! number What it carries.")
	cases := map[string]struct{ capability, say, want string }{
		"a length in another unit is turned":                    {drying, "how long do planks of 45 mm dry", `{"thickness":4.5}`},
		"so is a weight":                                        {drying, "drying for a thickness of 3 cm and a batch of 250000 g", `{"batch_kg":250,"thickness":3}`},
		"a unit behind what is counted says how often":          {examples, "plan 3 examples a week for 10 weeks", `{"lessons_per_week":3,"weeks":10}`},
		"a time is written as the description has it":           {alarm, "a call at 6:15 pm for room 204", `{"call":"18:15","room":204}`},
		"a day with its time is":                                {ferry, "a ferry on 12 May 2027 at 7:30 am", `{"sailing":"2027-05-12 07:30"}`},
		"a day without one stays a day":                         {ferry, "a ferry on 12 May 2027", `{"sailing":"2027-05-12"}`},
		"from and to tell the ends apart, whatever comes first": {prices, "the price went from 12 to 15", `{"new_price":15,"old_price":12}`},
		"a year is known by its description":                    {coins, "coins since 1820 of 300 euros", `{"minted_after":1820,"worth":300}`},
		"an expression goes on over its signs":                  {curve, "the slope of 5x^2 - 3*x at 2", `{"at":2,"curve":"5x^2 - 3*x"}`},
		"kilograms are of a weight":                             {crate, "does 18 kg at 40 cm fit into the crate", `{"depth":40,"load_weight":18}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := slots.NewTools()
			set := slots.Compile(tools, capability(t, c.capability), "", nil)
			got, err := json.Marshal(set.Answer(tools.Read(c.say, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)), nil).Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.say, diff)
			}
		})
	}
}
