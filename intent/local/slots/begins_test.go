package slots_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/local/slots"
)

const (
	trophy = `{"name":"give_trophy","description":"Gives a trophy to a runner.","schema":{"type":"object","properties":{
  "runner":{"type":"string","description":"The full name of the runner, e.g. Olga Brandt."},
  "place":{"type":"integer","minimum":1,"maximum":10}},"required":["runner","place"]},"metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":[
  "give Olga Brandt the trophy for place 2","the trophy for place 3 goes to Piet Vos"]},"parameter_specs":{"runner":{"examples":["Olga Brandt","Piet Vos"]}}}}`
	tutor = `{"name":"list_pupils","description":"Lists the pupils of a tutor.","schema":{"type":"object","properties":{
  "tutor":{"type":"string","description":"The surname without the title, e.g. Brandt."}},"required":["tutor"]},"metadata":{"side_effect_class":"read","intent_hints":{"examples":[
  "list the pupils of Dr Brandt","which pupils does Dr Vos have"]},"parameter_specs":{"tutor":{"examples":["Brandt","Vos"]}}}}`
)

// A name that a sentence begins with is read as a whole where the sentence goes on to say
// something of it; and a title is none of a name where the examples have it before.
func TestNamesThatASentenceBeginsWith(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ capability, say, want string }{
		"said of somebody":            {trophy, "Inga Moreau got place 4", `{"place":4,"runner":"Inga Moreau"}`},
		"of three words":              {trophy, "Inga Lund Moreau got place 4", `{"place":4,"runner":"Inga Lund Moreau"}`},
		"behind a verb":               {trophy, "Give Moreau the trophy for place 4", `{"place":4,"runner":"Moreau"}`},
		"no name in small letters":    {trophy, "Inga Moreau is first to cross lines, give her place 1", `{"place":1,"runner":"Inga Moreau"}`},
		"behind a title":              {tutor, "list the pupils of Dr. Moreau", `{"tutor":"Moreau"}`},
		"behind one of another word":  {tutor, "list the pupils of Prof Moreau", `{"tutor":"Moreau"}`},
		"behind an article and title": {tutor, "os alunos da Dra. Moreau", `{"tutor":"Moreau"}`},
		"in small letters":            {tutor, "which pupils does prof moreau have", `{"tutor":"moreau"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := slots.Compile(slots.NewTools(), capability(t, c.capability), "", nil)
			m := slots.NewTools().Read(c.say, saturday)
			all := slots.Range{To: len(m.Tokens)}
			got, err := json.Marshal(set.Complete(m, all, nil, set.Fill(m, all, nil)).Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values of %q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}
