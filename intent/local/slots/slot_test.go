package slots_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/slots"
)

var saturday = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// capability decodes one from JSON, as in a manifest.
func capability(t *testing.T, raw string) *contracts.CapabilityEntry {
	t.Helper()
	var c contracts.Capability
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		t.Fatal(err)
	}
	return &contracts.CapabilityEntry{Domain: "test", Capability: &c}
}

func fill(t *testing.T, raw, say string, only ...string) slots.Filled {
	t.Helper()
	tools := slots.NewTools()
	set := slots.Compile(tools, capability(t, raw), "", nil)
	m := tools.Read(say, saturday)
	return set.Fill(m, slots.Range{To: len(m.Tokens)}, only)
}

const order = `{"name":"place_order","description":"Places an order.","schema":{"type":"object","properties":{
  "sku":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{3}$"},
  "skus":{"type":"array","items":{"type":"string"},"maxItems":3},
  "quantity":{"type":"integer","minimum":1,"maximum":500},
  "discount":{"type":"number","minimum":0,"maximum":1,"description":"Discount as a share."},
  "priority":{"type":"string","enum":["low","normal","very_high"]},
  "gift_wrap":{"type":"boolean"},
  "deliver_on":{"type":"string","format":"date"},
  "remind_at":{"type":"string","format":"date-time"},
  "hold_for":{"type":"string","format":"duration"},
  "email":{"type":"string","format":"email"},
  "note":{"type":"string","maxLength":60},
  "size":{"type":"integer","enum":[38,40,42]},
  "tags":{"type":"array","items":{"type":"string"}}},
 "required":["quantity"],"oneOf":[{"required":["sku"]},{"required":["skus"]}]},
 "metadata":{"intent_hints":{"examples":["order 3 of AB-123","buy 10 pieces of CD-456 with note leave at the door"]},
  "parameter_specs":{"sku":{"aliases":{"the blue mug":"BM-001","Tasse":"BM-001"}},"priority":{"aliases":{"urgent":"very_high","asap":"very_high"}},"note":{"examples":["leave at the door"]}},
  "decomposition":{"array_params":[{"param_name":"skus","single_param_name":"sku"}]}}}`

func TestFill(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		say     string
		want    string
		missing []string
	}{
		"a pattern and the only required number":           {"order 3 of AB-123", `{"quantity":3,"sku":"AB-123"}`, nil},
		"several values of one pattern make a list":        {"order 3 of AB-123, CD-456 and AB-123", `{"quantity":3,"skus":["AB-123","CD-456"]}`, nil},
		"more values than the list may have are asked":     {"order 1 of AA-111, BB-222, CC-333 and DD-444", `{"quantity":1}`, []string{"sku"}},
		"small letters are lifted to fit the pattern":      {"order 3 of ab-123", `{"quantity":3,"sku":"AB-123"}`, nil},
		"an alias of several words":                        {"order 2 of The Blue Mug", `{"quantity":2,"sku":"BM-001"}`, nil},
		"an alias in another language, any case":           {"order 2 TASSE", `{"quantity":2,"sku":"BM-001"}`, nil},
		"an enum value said in words":                      {"order 2 of AB-123 with very high priority", `{"priority":"very_high","quantity":2,"sku":"AB-123"}`, nil},
		"an alias with one wrong letter":                   {"order 2 of AB-123, urgnet", `{"priority":"very_high","quantity":2,"sku":"AB-123"}`, nil},
		"nothing optional is invented":                     {"order 2 of AB-123 as soon as possible", `{"quantity":2,"sku":"AB-123"}`, nil},
		"a number outside the bounds is asked":             {"order 900 of AB-123", `{"sku":"AB-123"}`, []string{"quantity"}},
		"a fraction is no integer":                         {"order 2.5 of AB-123", `{"sku":"AB-123"}`, []string{"quantity"}},
		"a number word":                                    {"order a dozen of AB-123", `{"quantity":12,"sku":"AB-123"}`, nil},
		"percent becomes a share where the bounds say so":  {"order 2 of AB-123, discount 15%", `{"discount":0.15,"quantity":2,"sku":"AB-123"}`, nil},
		"a switch by its name":                             {"order 2 of AB-123 with gift wrap", `{"gift_wrap":true,"quantity":2,"sku":"AB-123"}`, nil},
		"a switch behind a negation":                       {"order 2 of AB-123 without gift wrap", `{"gift_wrap":false,"quantity":2,"sku":"AB-123"}`, nil},
		"half of a switch's name is no switch":             {"order 2 of AB-123 as a gift", `{"quantity":2,"sku":"AB-123"}`, nil},
		"a date in the schema's format":                    {"order 2 of AB-123, deliver on 7 December 2026", `{"deliver_on":"2026-12-07","quantity":2,"sku":"AB-123"}`, nil},
		"a date in two readings is asked, though optional": {"order 2 of AB-123, deliver on 03/10/2026", `{"quantity":2,"sku":"AB-123"}`, []string{"deliver_on"}},
		"a date with a time":                               {"order 2 of AB-123, remind at 2026-12-07 10:30", `{"quantity":2,"remind_at":"2026-12-07T10:30:00Z","sku":"AB-123"}`, nil},
		"a period":                                         {"order 2 of AB-123 and hold for 3 days", `{"hold_for":"P3D","quantity":2,"sku":"AB-123"}`, nil},
		"an e-mail address":                                {"order 2 of AB-123 for ana@example.com", `{"email":"ana@example.com","quantity":2,"sku":"AB-123"}`, nil},
		"a quoted text behind its name":                    {`order 2 of AB-123, note "ring twice"`, `{"note":"ring twice","quantity":2,"sku":"AB-123"}`, nil},
		"a free text behind its name":                      {"order 2 of AB-123, note: ring twice, please", `{"note":"ring twice","quantity":2,"sku":"AB-123"}`, nil},
		"a text that is too long is not taken":             {`order 2 of AB-123, note "` + "0123456789012345678901234567890123456789012345678901234567890123456789" + `"`, `{"quantity":2,"sku":"AB-123"}`, nil},
		"a quoted text that two fields could take":         {`order 2 of AB-123 "ring twice"`, `{"quantity":2,"sku":"AB-123"}`, nil},
		"a number of an enum":                              {"order 2 of AB-123 in size 42", `{"quantity":2,"size":42,"sku":"AB-123"}`, nil},
		"keys and values":                                  {"sku=AB-123 quantity=2 gift_wrap=yes priority=low", `{"gift_wrap":true,"priority":"low","quantity":2,"sku":"AB-123"}`, nil},
		"JSON":                                             {`{"sku": "AB-123", "quantity": 2, "note": "a, b; c"}`, `{"note":"a, b; c","quantity":2,"sku":"AB-123"}`, nil},
		"a list in brackets":                               {`quantity: 2, skus: ["AB-123", "CD-456"]`, `{"quantity":2,"skus":["AB-123","CD-456"]}`, nil},
		"a list behind its name":                           {"tags: red, green and blue; order 2 of AB-123", `{"quantity":2,"sku":"AB-123","tags":["red","green","blue"]}`, nil},
		"a key with an impossible value":                   {"order AB-123 quantity=many", `{"sku":"AB-123"}`, []string{"quantity"}},
		"nothing":                                          {"order", `{}`, []string{"quantity", "sku"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fill(t, order, c.say)
			got, err := json.Marshal(f.Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values of %q (-want +got):\n%s", c.say, diff)
			}
			if diff := cmp.Diff(c.missing, f.Missing); diff != "" {
				t.Errorf("missing of %q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}

const badge = `{"name":"make_badge","description":"Prints a badge.","schema":{"type":"object","properties":{
  "person":{"type":"string"},"title":{"type":"string","minLength":2},"badge_id":{"type":"string"}},"required":["person","title"]},
 "metadata":{"intent_hints":{"examples":["print a badge for Ana Souza with the title Speaker","make Bruno Keller a badge","badge for Ana Souza as Head of Design"]},
  "parameter_specs":{"person":{"examples":["Ana Souza"]},"title":{"examples":["Speaker","Head of Design"]},"badge_id":{"examples":["b-12"]}},
  "flow":{"pre":[{"type":"resolve","param":"person","search_capability":"find"}]}}}`

func TestFillNames(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		say     string
		want    string
		missing []string
	}{
		"capitals behind a word that the examples use":    {"print a badge for Chen Wei with the title Guest", `{"person":"Chen Wei","title":"Guest"}`, nil},
		"a name in small letters where a name must stand": {"print a badge for chen wei", `{"person":"chen wei"}`, []string{"title"}},
		"particles belong to a name":                      {"badge for Maria da Silva as Speaker", `{"person":"Maria da Silva","title":"Speaker"}`, nil},
		"a possessive ending does not":                    {"make Chen Wei's badge with the title Guest", `{"person":"Chen Wei","title":"Guest"}`, nil},
		"a pronoun is no name":                            {"print a badge for her with the title Guest", `{"title":"Guest"}`, []string{"person"}},
		"me is no name":                                   {"print a badge for me", `{}`, []string{"person", "title"}},
		"an article is no name":                           {"print a badge for the speaker", `{"title":"Speaker"}`, []string{"person"}},
		"words are no identifier":                         {"print badge soon for Chen Wei", `{"person":"Chen Wei"}`, []string{"title"}},
		"an identifier of the examples' shape":            {"print badge b-77 for Chen Wei", `{"badge_id":"b-77","person":"Chen Wei"}`, []string{"title"}},
		"two joined names for one place are asked":        {"print a badge for Chen Wei and Bruno Keller with the title Guest", `{"title":"Guest"}`, []string{"person"}},
		"one title may have two parts":                    {"print a badge for Chen Wei with the title Sales and Marketing", `{"person":"Chen Wei","title":"Sales and Marketing"}`, nil},
		"two names for one place are asked":               {"print a badge for Chen Wei and for Bruno Keller", `{}`, []string{"person", "title"}},
		"a quoted title":                                  {`print a badge for Chen Wei as "guest of honour"`, `{"person":"Chen Wei","title":"guest of honour"}`, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fill(t, badge, c.say)
			got, err := json.Marshal(f.Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("values of %q (-want +got):\n%s", c.say, diff)
			}
			if diff := cmp.Diff(c.missing, f.Missing, cmp.Transformer("sorted", sorted)); diff != "" {
				t.Errorf("missing of %q (-want +got):\n%s", c.say, diff)
			}
		})
	}
}

func sorted(in []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range in {
		out[s] = true
	}
	return out
}

func TestEvidenceNamesTheBytes(t *testing.T) {
	t.Parallel()
	const say = "print a badge for Zoë Müller as Speaker"
	f := fill(t, badge, say)
	for name, want := range map[string]struct{ text, kind string }{"person": {"Zoë Müller", "name"}, "title": {"Speaker", "example"}} {
		ev, ok := f.Evidence[name]
		if !ok {
			t.Errorf("no evidence for %s in %v", name, f.Evidence)
			continue
		}
		if got := say[ev.Span[0]:ev.Span[1]]; got != want.text || ev.Kind != want.kind || ev.P <= 0 || ev.P > 1 {
			t.Errorf("%s was read from %q as %s with p %g; want %q as %s", name, got, ev.Kind, ev.P, want.text, want.kind)
		}
	}
}

func TestOnlyLimitsTheParameters(t *testing.T) {
	t.Parallel()
	f := fill(t, badge, "Chen Wei as Speaker", "person")
	if diff := cmp.Diff(map[string]any{"person": "Chen Wei"}, f.Values); diff != "" {
		t.Error(diff)
	}
}
