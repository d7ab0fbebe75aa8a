package slots_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	savings = `{"name":"project_savings","description":"What savings grow to.","schema":{"type":"object","properties":{
  "deposit":{"type":"number","description":"Money at the begin."},"fee":{"type":"number","description":"Cost of the account."},
  "rate":{"type":"number","description":"Growth of a year."},"years":{"type":"integer"}},"required":["deposit","rate","years"]},"metadata":{"side_effect_class":"CLASS"}}`
	prism = `{"name":"volume","description":"Volume of a box.","schema":{"type":"object","properties":{
  "width":{"type":"number"},"height":{"type":"number"},"mass_kg":{"type":"number"}},"required":["width","height"]},"metadata":{"side_effect_class":"read"}}`
	samples = `{"name":"compare_samples","description":"Compares two samples.","schema":{"type":"object","properties":{
  "before":{"type":"array","items":{"type":"number"}},"after":{"type":"array","items":{"type":"number"}}},"required":["before","after"]},"metadata":{"side_effect_class":"read"}}`
	turnover = `{"name":"turnover_growth","description":"Growth of the turnover.","schema":{"type":"object","properties":{
  "turnover":{"type":"integer"},"base_year":{"type":"integer"}},"required":["turnover","base_year"]},"metadata":{"side_effect_class":"read"}}`
	square = `{"name":"area","description":"Area of a square.","schema":{"type":"object","properties":{
  "side":{"type":"number"}},"required":["side"]},"metadata":{"side_effect_class":"read"}}`
	term = `{"name":"loan_end","description":"When a loan ends.","schema":{"type":"object","properties":{
  "years":{"type":"integer"}},"required":["years"]},"metadata":{"side_effect_class":"read"}}`
	epoch = `{"name":"rulers","description":"Who ruled.","schema":{"type":"object","properties":{
  "century":{"type":"integer"},"count":{"type":"integer"}},"required":["century"]},"metadata":{"side_effect_class":"read"}}`
)

func TestFillNumbers(t *testing.T) {
	t.Parallel()
	read := strings.Replace(savings, "CLASS", "read", 1)
	cases := map[string]struct {
		capability, say, want string
		missing               []string
	}{
		"percent of a rate is its hundredth":                      {read, "what do $20,000 at 4.5% over 10 years grow to", `{"deposit":20000,"rate":0.045,"years":10}`, nil},
		"a write asks where nobody says if percent is meant":      {strings.Replace(savings, "CLASS", "write_reversible", 1), "project a deposit of 20000 at a rate of 4.5% over 10 years", `{"deposit":20000,"years":10}`, []string{"rate"}},
		"words behind a number multiply it":                       {read, "a deposit of 2 million at a rate of 3% for 5 years", `{"deposit":2000000,"rate":0.03,"years":5}`, nil},
		"the name beside a number counts, not the order":          {read, "for 5 years, with a rate of 3% and a deposit of 700", `{"deposit":700,"rate":0.03,"years":5}`, nil},
		"money is no number of years":                             {read, "savings of $900", `{}`, []string{"deposit", "rate", "years"}},
		"a number with its unit in one word":                      {prism, "a box with a width of 6cm, a height of 10cm and 70kg", `{"height":10,"mass_kg":70,"width":6}`, nil},
		"a word that only counts is no value beside digits":       {prism, "the two edges are 6 and 10", `{"height":10,"width":6}`, nil},
		"names together before the numbers":                       {prism, "a width and height of 6 and 10", `{"height":10,"width":6}`, nil},
		"nor where one number is asked for":                       {square, "the two sides are 6", `{"side":6}`, nil},
		"names behind the numbers":                                {prism, "10 in height and 6 in width", `{"height":10,"width":6}`, nil},
		"money where only years are asked for":                    {term, "a loan of $900", `{}`, []string{"years"}},
		"lists of numbers, in their order":                        {samples, "compare 3, 5 and 8 with 2, 4 and 9", `{"after":[2,4,9],"before":[3,5,8]}`, nil},
		"lists in brackets, by their names":                       {samples, "after [2, 4], before [3, 5]", `{"after":[2,4],"before":[3,5]}`, nil},
		"the same number twice in a list":                         {samples, "compare [3, 3] with [4, 4]", `{"after":[4,4],"before":[3,3]}`, nil},
		"a year is written as one":                                {turnover, "growth from 1,500,000 in 2019", `{"base_year":2019,"turnover":1500000}`, nil},
		"an ordinal beside its name":                              {epoch, "who ruled in the 17th century", `{"century":17}`, nil},
		"an ordinal in words beside its name":                     {epoch, "rulers of the seventeenth century", `{"century":17}`, nil},
		"an ordinal in words beside another word":                 {epoch, "the third ruler", `{}`, []string{"century"}},
		"an ordinal beside another word is not what is asked for": {epoch, "the 3rd ruler", `{}`, []string{"century"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fill(t, c.capability, c.say)
			got, err := json.Marshal(f.Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values of %q (-want +got):\n%s%v", c.say, diff, f.Evidence)
			}
			if diff := cmp.Diff(c.missing, f.Missing, cmp.Transformer("sorted", sorted)); diff != "" {
				t.Errorf("missing of %q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}
