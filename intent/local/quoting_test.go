package local_test

import (
	"testing"

	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// TestAnExampleIsOneWhateverIsQuoted: who says an example with other words in its
// quotation marks says just that; where two capabilities are asked for so, or hardly a
// word is beside the quotation, the rest has to tell.
func TestAnExampleIsOneWhateverIsQuoted(t *testing.T) {
	t.Parallel()
	catalog := catalogOf("letters",
		decoded(t, `{"schema_version":"1","domain":"letters","version":"1","capabilities":[
			{"name":"hang_sign","description":"Hangs a sign","schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},
			 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["paint \"Closed\" on the front door","put up a sign that says \"Open\""]}}},
			{"name":"send_note","description":"Sends a note","schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},
			 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["drop \"Hello\" into the front mailbox","say \"Hi\""]}}}]}`),
		decoded(t, `{"schema_version":"1","domain":"stage","version":"1","capabilities":[
			{"name":"dim","description":"Dims the light","schema":{"type":"object"},
			 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["drop \"Curtain\" into the front mailbox","make it dark"]}}}]}`))
	a := newAdapter(t, local.Config{})
	for message, want := range map[string]struct {
		ref   string
		exact bool
	}{
		`paint "Back at three" on the front door`:          {"letters.hang_sign", true},
		`Paint “gone fishing” on the front door`:           {"letters.hang_sign", true},
		`paint "Back at three" on the back door`:           {"letters.hang_sign", false},
		`drop "Good night" into the front mailbox`:         {"", false}, // two are asked for so
		`say "Good night"`:                                 {"", false},
		`never paint "Back at three" on the front door`:    {"", false},
		`paint "Back at three" on the front door tomorrow`: {"", false},
	} {
		_, clauses, err := a.Explain(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: saturday})
		if err != nil || len(clauses) == 0 || len(clauses[0].Candidates) == 0 {
			t.Errorf("%s: %v %v", message, clauses, err)
			continue
		}
		top := clauses[0].Candidates[0]
		if top.Exact != want.exact || want.ref != "" && top.Entry.Ref() != want.ref {
			t.Errorf("%s: %s, exact %v", message, top.Entry.Ref(), top.Exact)
		}
		if want.exact {
			if text, _ := top.Parameters["text"].(string); text == "" {
				t.Errorf("%s: nothing is read of what is quoted: %v", message, top.Parameters)
			}
		}
	}
}
