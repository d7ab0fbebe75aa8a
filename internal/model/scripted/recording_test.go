package scripted_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/manifold-run/manifold/internal/model/scripted"
)

// TestARecordingTellsCasesOfTheSameTextApart: two cases may have the same text and offer different
// functions; each gets its own recorded answer.
func TestARecordingTellsCasesOfTheSameTextApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	casesPath, answersPath := filepath.Join(dir, "cases.json"), filepath.Join(dir, "answers.json")
	for path, text := range map[string]string{
		casesPath: `{"cases":[{"id":"one","text":"dim the lamp","offered":["lamp.dim"]},{"id":"two","text":"dim the lamp","offered":["lamp.dim-2","lamp.off"]},{"id":"three","text":"dim it"}]}`,
		answersPath: `{"models":{"m":{"one":{"calls":[{"name":"lamp.dim","arguments":{"to":1}}],"tokens_in":5,"tokens_out":1},
			"two":{"calls":[{"name":"lamp.dim-2","arguments":{"to":2}}],"tokens_in":6,"tokens_out":1}}}}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := scripted.ReadRecording(casesPath, answersPath, "m")
	if err != nil {
		t.Fatal(err)
	}
	asked := func(text string, names ...string) scripted.Asked {
		a := scripted.Asked{Turns: []scripted.Turn{{Role: "user", Text: text}}}
		for _, name := range names {
			a.Tools = append(a.Tools, scripted.Tool{Name: name})
		}
		return a
	}
	for _, c := range []struct {
		asked scripted.Asked
		in    int
	}{
		{asked("dim the lamp", "home-lamp_dim"), 5},
		{asked(" dim the lamp\n", "home-lamp_dim-2", "home-lamp_off"), 6},
		{asked("dim the lamp"), 5},
		{asked("dim it"), 0},
	} {
		if a := r.Answer(c.asked); a.Tokens.In != c.in {
			t.Errorf("%+v gets %+v, want the answer of %d tokens", c.asked, a, c.in)
		}
	}
	if a, ok := r.Case("two"); !ok || a.Calls[0].Name != "lamp.dim-2" {
		t.Errorf("the second case is %+v, %t", a, ok)
	}
	if a, ok := r.Case("three"); ok {
		t.Errorf("what was not recorded is %+v", a)
	}
}

// TestARuleFitsByWhatWasSaidBefore: a rule may require a text anywhere in the conversation, and
// calls only offered functions.
func TestARuleFitsByWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	call := []scripted.Call{{Name: "post", Arguments: map[string]any{"text": "x"}}}
	s := &scripted.Script{Rules: []scripted.Rule{{Contains: "go on", Told: []string{"Apple", "find it"}, Answer: scripted.Answer{Calls: call}}}}
	turns := []scripted.Turn{{Role: "user", Text: "find it"}, {Role: "assistant", Text: "Result: apple"}, {Role: "user", Text: "Go on."}}
	tools := []scripted.Tool{{Name: "post"}}
	for name, c := range map[string]struct {
		asked scripted.Asked
		calls int
	}{
		"all of it was said": {scripted.Asked{Turns: turns, Tools: tools}, 1},
		"one thing was not":  {scripted.Asked{Turns: turns[1:], Tools: tools}, 0},
		"nothing is offered": {scripted.Asked{Turns: turns}, 0},
	} {
		if got := s.Answer(c.asked); len(got.Calls) != c.calls {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
