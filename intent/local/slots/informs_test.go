package slots_test

import (
	"encoding/json"
	"testing"
)

const (
	berth = `{"name":"release_berths","description":"Releases berths of the marina.","schema":{"type":"object","properties":{
  "berths":{"type":"array","items":{"type":"string","pattern":"^B-[0-9]{3}$"}},
  "asked_by":{"type":"string","enum":["skipper","marina"]},
  "inform_skipper":{"type":"boolean","description":"Whether the skipper hears of it."},
  "late_fee":{"type":"boolean","description":"True if a fine is due, false with an open bill."}},"required":["berths"]},
 "metadata":{"side_effect_class":"write_reversible","parameter_specs":{"asked_by":{"aliases":{"Kapitän":"skipper","patrón":"skipper","capitaine":"skipper","capitano":"skipper","capitão":"skipper"}}}}}`
	boats = `{"name":"find_boats","description":"Finds boats of the marina.","schema":{"type":"object","properties":{
  "damaged_only":{"type":"boolean","description":"True to see only boats that are leaking."},
  "sealed":{"type":"boolean","description":"True for boats that must not be entered, false for those that may sail."},
  "due_from":{"type":"string","format":"date"},"due_until":{"type":"string","format":"date"}}},"metadata":{"side_effect_class":"read"}}`
	cargo = `{"name":"load_crate","description":"Loads a crate.","schema":{"type":"object","properties":{
  "crate":{"type":"string","pattern":"^K-[0-9]{2}$"},"mass_kg":{"type":"number","description":"What it weighs."}},"required":["crate"]},"metadata":{"side_effect_class":"write_reversible"}}`
)

// Whether somebody is told is said by any verb of telling or its noun, of whoever it is in
// whatever language; what was told, and who tells it, is none of it. A switch is off without
// the noun of its name, and set by what its description says.
func TestWhoIsToldIsASwitch(t *testing.T) {
	t.Parallel()
	cases := map[string]map[string]string{
		berth: {
			"release B-104 and warn the skipper":                           `{"berths":["B-104"],"inform_skipper":true}`,
			"release B-104 and let the skipper know":                       `{"berths":["B-104"],"inform_skipper":true}`,
			"release B-104 but don't tell the skipper":                     `{"berths":["B-104"],"inform_skipper":false}`,
			"release B-104, no need to alert the skipper":                  `{"berths":["B-104"],"inform_skipper":false}`,
			"gib B-104 frei und benachrichtige den Kapitän":                `{"berths":["B-104"],"inform_skipper":true}`,
			"gib B-104 frei, ohne den Kapitän zu informieren":              `{"berths":["B-104"],"inform_skipper":false}`,
			"libera B-104 sin avisar al patrón":                            `{"berths":["B-104"],"inform_skipper":false}`,
			"libère B-104 et préviens le capitaine":                        `{"berths":["B-104"],"inform_skipper":true}`,
			"libera B-104 e avvisa il capitano":                            `{"berths":["B-104"],"inform_skipper":true}`,
			"libera B-104 e avisa o capitão":                               `{"berths":["B-104"],"inform_skipper":true}`,
			"release B-104, the skipper told me so":                        `{"asked_by":"skipper","berths":["B-104"]}`,
			"release B-104, the skipper was informed":                      `{"asked_by":"skipper","berths":["B-104"]}`,
			"release B-104, warn the harbour":                              `{"berths":["B-104"]}`,
			"release B-104 for the skipper, no fee":                        `{"asked_by":"skipper","berths":["B-104"],"late_fee":false}`,
			"release B-104 with an open bill":                              `{"berths":["B-104"],"late_fee":false}`,
			"release B-104, the bill was paid":                             `{"berths":["B-104"]}`,
			"release B-104 and only inform the skipper if there is a bill": `{"berths":["B-104"],"inform_skipper":true}`, // "only" and "if" are left, and bind
		},
		boats: {
			"which boats are leaking":            `{"damaged_only":true}`,
			"boats that are not leaking":         `{"damaged_only":false}`,
			"which boats must not be entered":    `{"sealed":true}`,
			"which boats may sail":               `{"sealed":false}`,
			"boats due from 3 to 9 December":     `{"due_from":"2026-12-03","due_until":"2026-12-09"}`,
			"boats due until 9 December":         `{"due_until":"2026-12-09"}`,
			"boats of the marina, please, today": `{"due_from":"2026-11-21","due_until":"2026-11-21"}`,
		},
		cargo: {
			"load K-17, 40 kilos":        `{"crate":"K-17","mass_kg":40}`,
			"carica K-17, 40 chili":      `{"crate":"K-17","mass_kg":40}`,
			"load K-17 and 4000 grams":   `{"crate":"K-17","mass_kg":4}`,
			"charge K-17, 4000 grammes":  `{"crate":"K-17","mass_kg":4}`,
			"carrega K-17, 12,5 quilos":  `{"crate":"K-17","mass_kg":12.5}`,
			"lade K-17, 40 Kilogramm":    `{"crate":"K-17","mass_kg":40}`,
			"carga K-17, 40 kilogramos.": `{"crate":"K-17","mass_kg":40}`,
		},
	}
	for capability, says := range cases {
		for say, want := range says {
			if got, _ := json.Marshal(fill(t, capability, say).Values); string(got) != want { //nolint:errchkjson // plain values
				t.Errorf("%q: %s, want %s", say, got, want)
			}
		}
	}
}

// A name that begins a request is a value where the examples have one there.
func TestANameLeadsARequest(t *testing.T) {
	t.Parallel()
	const catering = `{"name":"order_lunch","description":"Orders lunch.","schema":{"type":"object","properties":{
  "firm":{"type":"string","description":"Who orders."},"plates":{"type":"integer"}},"required":["firm","plates"]},
 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["Tall Pines Ltd orders 40 plates","Blue Heron wants 12 plates","30 plates for Tall Pines Ltd"]},
  "parameter_specs":{"firm":{"examples":["Tall Pines Ltd","Blue Heron"]}}}}`
	for say, want := range map[string]string{
		"Copper Kettle needs 25 plates":       `{"firm":"Copper Kettle","plates":25}`,
		"Gasthof Krone möchte 25 Teller":      `{"firm":"Gasthof Krone","plates":25}`,
		"a Quinta Velha precisa de 25 plates": `{"firm":"Quinta Velha","plates":25}`,
		"Copper needs 25 plates":              `{"plates":25}`,
	} {
		if got, _ := json.Marshal(fill(t, catering, say).Values); string(got) != want { //nolint:errchkjson // plain values
			t.Errorf("%q: %s, want %s", say, got, want)
		}
	}
}

// What must be there by a day has no other end of a period, whatever stands before the day.
func TestADayByWhich(t *testing.T) {
	t.Parallel()
	const coal = `{"name":"order_coal","description":"Orders coal.","schema":{"type":"object","properties":{
  "sacks":{"type":"integer"},"bring_by":{"type":"string","format":"date"}},"required":["sacks"]},"metadata":{"side_effect_class":"write_reversible"}}`
	for _, say := range []string{"order 7 sacks by Wednesday", "order 7 sacks for Wednesday", "bestelle 7 Sack bis Mittwoch", "bestelle 7 Sack zum 25. November", "pide 7 sacos para el miércoles"} {
		if got, _ := json.Marshal(fill(t, coal, say).Values); string(got) != `{"bring_by":"2026-11-25","sacks":7}` { //nolint:errchkjson // plain values
			t.Errorf("%q: %s", say, got)
		}
	}
	if got := fill(t, coal, "order 7 sacks from Wednesday").Values["bring_by"]; got != nil {
		t.Errorf("from a day on is by %v", got)
	}
}

// A full name behind a word that stands before it in the examples is no part of the single one
// before it, no name is a slip, and the noun behind "without" is the switch's.
func TestAFullNameIsNotThatOfWhatItOwns(t *testing.T) {
	t.Parallel()
	const bell = `{"name":"hang_bell","description":"Hangs a bell.","schema":{"type":"object","properties":{
  "cow":{"type":"string","description":"What the cow is called."},"farmer":{"type":"string","description":"Who has the cow."},
  "colour":{"type":"string","enum":["red","green"]},"engraving":{"type":"boolean"}},"required":["cow","farmer"]},
 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["hang a bell on Berta of Josef Huber","a bell for Liesl of Resi Maier","häng Berta von Josef Huber eine Glocke um, ohne Gravur"]},
  "parameter_specs":{"cow":{"examples":["Berta","Liesl"]},"farmer":{"examples":["Josef Huber","Resi Maier"]},"colour":{"aliases":{"crimson":"red","perla":"green"}}}}}`
	for say, want := range map[string]string{
		"hang a bell on Zenzi of Ann Moss":               `{"cow":"Zenzi","farmer":"Ann Moss"}`,
		"hang a bell on Berta of Perlo Lang":             `{"cow":"Berta","farmer":"Perlo Lang"}`,
		"häng Berta von Josef Huber was um, ohne Gravur": `{"cow":"Berta","engraving":false,"farmer":"Josef Huber"}`,
	} {
		if got, _ := json.Marshal(fill(t, bell, say).Values); string(got) != want { //nolint:errchkjson // plain values
			t.Errorf("%q: %s, want %s", say, got, want)
		}
	}
}
