package slots_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	noticeBoard = `{"name":"hang_up_notice","description":"Hangs a notice on a board.","schema":{"type":"object","properties":{
  "text":{"type":"string"},"board":{"type":"string"}},"required":["text"]},"metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":[
  "tell the north board \"the gate is open\"","pin \"no parking\" on the south board"]},"parameter_specs":{"board":{"examples":["north","south"]}}}}`
	oracle = `{"name":"consult","description":"Puts a question to one of the scribes.","schema":{"type":"object","properties":{
  "scribe":{"type":"string"},"question":{"type":"string"}},"required":["scribe","question"]},"metadata":{"side_effect_class":"read","intent_hints":{"examples":[
  "ask Old Quill \"why is the sky blue\""]},"parameter_specs":{"scribe":{"examples":["Old Quill","Red Feather"]}}}}`
	roster = `{"name":"list_watches","description":"Lists the watches of a period.","schema":{"type":"object","properties":{
  "from":{"type":"string","format":"date"},"to":{"type":"string","format":"date"}},"required":["from","to"]},"metadata":{"side_effect_class":"CLASS"}}`
)

// What somebody is told or asked is content, without quotation marks too.
func TestWhatSomebodyIsTold(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ capability, say, want string }{
		"behind the one who is told":                 {noticeBoard, "tell the north board that the ferry is late", `{"board":"north","text":"the ferry is late"}`},
		"a question behind the one who is asked":     {oracle, "ask Red Feather how old the bridge is", `{"question":"how old the bridge is","scribe":"Red Feather"}`},
		"with politeness before":                     {oracle, "please ask Old Quill what a heron eats", `{"question":"what a heron eats","scribe":"Old Quill"}`},
		"between a verb of the examples and a value": {noticeBoard, "pin hello to all crews on the south board", `{"board":"south","text":"hello to all crews"}`},
		"before that name":                           {noticeBoard, "tell the east board that the ferry is late", `{"board":"east","text":"the ferry is late"}`},
		"a clause without a word before it":          {noticeBoard, "tell the north board the ferry arrived", `{"board":"north","text":"the ferry arrived"}`},
		"a noun alone is no clause":                  {noticeBoard, "tell the north board the time", `{"board":"north"}`},
		"words of the request are no content":        {noticeBoard, "pin a text on the south board", `{"board":"south"}`},
		"nobody is asked where it is told":           {oracle, "who told Old Quill what a heron eats", `{"scribe":"Old Quill"}`},
		"nor where it is refused":                    {noticeBoard, "never tell the north board that the ferry is late", `{"board":"north"}`},
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

// A week or a month that is pointed at fills both ends of a period of a read; a
// write asks whether Sunday is meant.
func TestPeriodsThatArePointedAt(t *testing.T) {
	t.Parallel()
	read, write := roster[:len(roster)-len(`CLASS"}}`)]+`read"}}`, roster[:len(roster)-len(`CLASS"}}`)]+`write_reversible"}}`
	cases := map[string]struct{ capability, say, want string }{
		"next month":              {read, "the watches next month", `{"from":"2026-12-01","to":"2026-12-31"}`},
		"this week":               {read, "the watches this week", `{"from":"2026-11-16","to":"2026-11-22"}`},
		"last year":               {read, "who had a watch last year", `{"from":"2025-01-01","to":"2025-12-31"}`},
		"in Portuguese":           {read, "os turnos da próxima semana", `{"from":"2026-11-23","to":"2026-11-29"}`},
		"in German":               {read, "die Wachen nächsten Monat", `{"from":"2026-12-01","to":"2026-12-31"}`},
		"since a month":           {read, "the watches since last month", `{"from":"2026-10-01"}`},
		"since one, in German":    {read, "die Wachen seit dem letzten Monat", `{"from":"2026-10-01"}`},
		"until a month":           {read, "the watches until next month", `{"to":"2026-12-31"}`},
		"a write asks":            {write, "plan the watches next week", `{}`},
		"a write takes a month":   {write, "plan the watches in December", `{"from":"2026-12-01","to":"2026-12-31"}`},
		"a name points at none":   {read, "the watches of Next Harbour", `{}`},
		"nor does the last watch": {read, "the last watch", `{}`},
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
