package eval_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// What is said of a fleet is not lost: a listed value of three letters in its plural, the
// reason behind a command, and the Portuguese "no", which says where.
func TestAListedValueAReasonAndAPlaceAreRead(t *testing.T) {
	t.Parallel()
	capability := func(name, about, properties string, class contracts.SideEffectClass, examples ...string) contracts.Capability {
		c := contracts.Capability{Name: name, Description: about, Schema: json.RawMessage(`{"type":"object","properties":{` + properties + `},"additionalProperties":false}`)}
		c.Metadata.SideEffectClass, c.Metadata.RiskLevel, c.Metadata.IntentHints = class, contracts.RiskLow, &contracts.IntentHints{Examples: examples}
		return c
	}
	const id = `"vehicle_id":{"type":"string","description":"The vehicle, e.g. LM-100.","pattern":"^[A-Z]{2}-[0-9]{3}$"}`
	set := eval.Set{Manifests: []*contracts.Manifest{{SchemaVersion: contracts.SchemaVersion, Domain: "fleet", Capabilities: []contracts.Capability{
		capability("list_vehicles", "Lists the vehicles of one kind.", `"kind":{"type":"string","enum":["van","truck","car"]}`, contracts.ClassRead, "list the vehicles", "show all vans", "which trucks do we have"),
		capability("log_fuel", "Records how many litres were put into a vehicle.", id+`,"litres":{"type":"number","description":"How many litres."}`, contracts.ClassWriteReversible, "log 40 litres for LM-100", "record 38 litres in LM-204", "note 60 litres on KT-310"),
		capability("retire_vehicle", "Takes a vehicle out of service for good.", id+`,"reason":{"type":"string","description":"Why it is retired."}`, contracts.ClassWriteReversible, "retire LM-100", "take LM-204 out of service", "scrap KT-310"),
	}}}}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for say, want := range map[string]string{
		"show the vans": "fleet.list_vehicles kind=van",
		"please retire LM-100, the frame is bent":        "fleet.retire_vehicle reason=[the frame is bent] vehicle_id=LM-100",
		"retire LM-100 because the frame is bent":        "fleet.retire_vehicle reason=[the frame is bent] vehicle_id=LM-100",
		"retire LM-100, no, the frame is fine":           "",
		"registra 38 litros en LM-204, no en LM-100":     "",
		"não registes 38 litros no LM-100":               "",
		"retire LM-100 only if the frame is really bent": "",
	} {
		u, err := adapter.Understand(t.Context(), intent.Request{Message: say, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(u.Intents) == 1 {
			got = callOf(u.Intents[0])
		}
		if accepted := u.Outcome == contracts.ReadingAccepted; want == "" && accepted || want != "" && got != want {
			t.Errorf("%q: %s %s, want %q", say, u.Outcome, got, want)
		}
	}
}

// Who is only told is no request for what is done beside it, and a word that is known for a
// value in its own language is read as no other one.
func TestWhoIsToldAsksForNothingElse(t *testing.T) {
	t.Parallel()
	catalog := domainsIn(t, "testdata/practice.json")
	judgeAll(t, settled(t, catalog), catalog, map[string][]string{
		"cancel VT48120 and warn the owner":                       {"vet.cancel_appointments appointment_ids=[VT48120] notify_owner=true"},
		"annulla VT48120 senza avvisare il proprietario":          {"vet.cancel_appointments appointment_ids=[VT48120] notify_owner=false"},
		"cancela VT48120 y avisa a la dueña":                      {"vet.cancel_appointments appointment_ids=[VT48120] notify_owner=true"},
		"VT48120 is confirmed, please tell the owner":             nil,
		"VT48120 is all right, let the owner know":                nil,
		"VT48120 ist bestätigt, informiere den Besitzer":          nil,
		"drop PJ-48120, no fee":                                   {"print.cancel_jobs charge_fee=false job_nos=[PJ-48120]"},
		"add \"ring twice\" to PJ-48120, visible to the customer": nil,
		"ayer ya encargué 700 hojas de papel kraft":               nil,
		"bring the deadline of PJ-48120 forward to 4 December":    {"print.change_due_day day=2026-12-04 job_no=PJ-48120"},
		"which banners are late":                                  {"print.find_jobs overdue_only=true product=banner"},
		"Mill Lane Books needs 30 folded brochures by Friday":     {"print.create_job copies=30 customer=[Mill Lane Books] due_day=2026-11-27 finishing=[folding] product=brochure"},
	})
}
