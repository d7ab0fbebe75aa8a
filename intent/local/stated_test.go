package local_test

import (
	"encoding/json"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// moorings is a domain whose bookings have an address, a berth and a time of arrival that
// nobody has to give.
const moorings = `{
	"schema_version": "1", "domain": "harbour", "version": "1.0.0", "title": "Harbour",
	"capabilities": [
		{"name": "book_mooring", "description": "Books a mooring for a boat.",
		 "schema": {"type": "object", "required": ["boat", "skipper"], "properties": {
			"boat": {"type": "string", "description": "The boat, e.g. SB-204.", "pattern": "^SB-[0-9]{3}$"},
			"skipper": {"type": "string", "description": "The full name of the skipper, e.g. Olga Brandt."},
			"email": {"type": "string", "format": "email", "description": "Where the bill is sent."},
			"berth": {"type": "string", "description": "The berth, e.g. Q4.", "pattern": "^Q[0-9]{1,2}$"},
			"arrival_time": {"type": "string", "description": "When the boat makes fast, e.g. 17:30.", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}}},
		 "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "idempotency_window_s": 86400,
			"parameter_specs": {"boat": {"examples": ["SB-204", "SB-311"]}, "skipper": {"examples": ["Olga Brandt", "Piet Vos"]}},
			"intent_hints": {"examples": ["book a mooring for SB-204, skipper Olga Brandt", "book SB-311 in for Piet Vos", "book a mooring for the boat SB-204 and Olga Brandt", "book berth Q4 for SB-204 and Piet Vos", "reserve a mooring for SB-311, arrival time 17:30, skipper Piet Vos"]}}},
		{"name": "cancel_moorings", "description": "Cancels moorings that are booked.",
		 "schema": {"type": "object", "required": ["mooring_ids"], "properties": {
			"mooring_ids": {"type": "array", "items": {"type": "string", "pattern": "^M-[0-9]{5}$"}, "description": "The bookings, e.g. M-10233.", "minItems": 1}}},
		 "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "idempotency_window_s": 86400,
			"parameter_specs": {"mooring_ids": {"examples": ["M-10233", "M-10871"]}},
			"intent_hints": {"examples": ["cancel the mooring M-10233", "cancel M-10871", "cancel the booked moorings M-10233 and M-10871", "drop M-10233, the boat is not coming"]}}},
		{"name": "list_moorings", "description": "Lists the moorings.", "schema": {"type": "object"},
		 "metadata": {"side_effect_class": "read", "intent_hints": {"examples": ["list the moorings", "which moorings are booked", "show me all moorings"]}}}
	]
}`

// What a statement says beside a request is used where it can be meant for one thing alone,
// and asked about where it cannot.
func TestWhatAStatementSaysIsUsedOrAskedAbout(t *testing.T) {
	t.Parallel()
	const plain = `{"boat":"SB-777","skipper":"Inga Moss"}`
	judgeParameters(t, moorings, map[string]string{
		"book a mooring for SB-777, skipper Inga Moss":                                               plain,
		"book a mooring for SB-777, skipper Inga Moss, her address is inga@moss.example":             `{"boat":"SB-777","email":"inga@moss.example","skipper":"Inga Moss"}`,
		"book a mooring for SB-777, skipper Inga Moss. She is at Q12":                                `{"berth":"Q12","boat":"SB-777","skipper":"Inga Moss"}`,
		"book a mooring for SB-777, skipper Inga Moss, the arrival is at 18:45":                      `{"arrival_time":"18:45","boat":"SB-777","skipper":"Inga Moss"}`,
		"book a mooring for SB-777, skipper Inga Moss, she had to leave Q12 yesterday":               plain,
		"book a mooring for SB-777, skipper Inga Moss, because she is at Q12":                        plain,
		"book a mooring for SB-777, skipper Inga Moss, her dinner is at 20:15":                       "",
		"book a mooring for SB-777, skipper Inga Moss, she has dinner at 8":                          "",
		"book a mooring for SB-777, skipper Inga Moss, she is at Q12 or Q13":                         "",
		"book a mooring for SB-777, skipper Inga Moss, her address is not inga@moss.example":         "",
		"book a mooring for SB-777, skipper Inga Moss, her uncle Karl Moss has karl@moss.example":    "",
		"book a mooring for SB-777, skipper Inga Moss, her addresses are i@moss.example, j@moss.com": "",
	})
}

// Codes of one form in a row are one list, whatever is told behind them, and a verb that
// another capability is asked for with asks for nothing else.
func TestCodesInARowAndTheVerbsOfOthers(t *testing.T) {
	t.Parallel()
	judgeParameters(t, moorings, map[string]string{
		"cancel M-20417": `{"mooring_ids":["M-20417"]}`,
		"cancel M-20417 and M-20418, the regatta is off": `{"mooring_ids":["M-20417","M-20418"]}`,
		"cancel M-20417 und M-20418":                     `{"mooring_ids":["M-20417","M-20418"]}`,
		"cancel M-20417, M-20418 and M-20419":            `{"mooring_ids":["M-20417","M-20418","M-20419"]}`,
		"cancel M-20417, M-20418 stays":                  "",
		"cancel M-20417 and M-20418 is to be kept":       "",
		"book M-20417":             "",
		"book M-20417 and M-20418": "",
		"reserve M-20417":          "",
		"book a mooring for SB-777, skipper Inga Moss, ok": `{"boat":"SB-777","skipper":"Inga Moss"}`,
	})
}

// parrots is a domain whose things say something.
const parrots = `{
	"schema_version": "1", "domain": "aviary", "version": "1.0.0", "title": "Aviary",
	"capabilities": [
		{"name": "make_parrot", "description": "Makes a clockwork parrot.",
		 "schema": {"type": "object", "required": ["name"], "properties": {
			"name": {"type": "string", "description": "What it is called."},
			"phrase": {"type": "string", "description": "What it calls out."}}},
		 "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "idempotency_window_s": 86400,
			"parameter_specs": {"name": {"examples": ["Polly", "Captain Flint"]}, "phrase": {"examples": ["Ahoy", "Pieces of eight"]}},
			"intent_hints": {"examples": ["make a parrot called Polly", "make a clockwork parrot named Captain Flint", "make a parrot called Polly that says \"Ahoy\"", "build a parrot named Polly that answers \"Pieces of eight\""]}}},
		{"name": "list_parrots", "description": "Lists the parrots.", "schema": {"type": "object"},
		 "metadata": {"side_effect_class": "read", "intent_hints": {"examples": ["list the parrots", "which parrots are there", "show me all parrots"]}}}
	]
}`

// A quotation beside a request is what the thing shall say where that is said of it, and a
// name behind a colon ends with its sentence.
func TestWhatAThingShallSayStandsBesideTheRequest(t *testing.T) {
	t.Parallel()
	judgeParameters(t, parrots, map[string]string{
		`make a parrot called Long John, it says "Land in sight"`:          "",
		`make a parrot called Long John. It should say "Land in sight"`:    `{"name":"Long John","phrase":"Land in sight"}`,
		`make a parrot, name: Long John. it must answer "Land"`:            `{"name":"Long John","phrase":"Land"}`,
		`make a parrot, name: Dr. Long John. it must answer "Land"`:        `{"name":"Dr. Long John","phrase":"Land"}`,
		`make a parrot called Long John that just says "Land"`:             `{"name":"Long John","phrase":"Land"}`,
		`make a parrot called Long John. It should not say "Land"`:         "",
		`make a parrot called Long John, it is like the one with "Ho" on`:  "",
		`make a parrot called Long John. It says "Land" if somebody comes`: "",
	})
}

// judgeParameters asks one domain for things: each is done with these values, or not at all.
func judgeParameters(t *testing.T, manifest string, cases map[string]string) {
	t.Helper()
	catalog := catalogOf("one", decoded(t, manifest))
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range cases {
		u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: saturday})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if u.Outcome == contracts.ReadingAccepted && len(u.Intents) == 1 {
			raw, err := json.Marshal(u.Intents[0].Parameters)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if got != want {
			t.Errorf("%s:\n got  %s\n want %s (%s)", message, got, want, u.Question)
		}
	}
}
