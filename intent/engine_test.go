package intent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// engine proposes what a test wants, and counts how often it is asked.
type engine struct {
	says  func(intent.Ask) []intent.Proposal
	err   error
	asked int
}

func (e *engine) Propose(_ context.Context, ask intent.Ask) ([]intent.Proposal, []contracts.ModelCall, error) {
	e.asked++
	calls := []contracts.ModelCall{{Purpose: contracts.PurposeUnderstand, Tokens: contracts.Tokens{In: 100, Out: 10}}}
	if e.err != nil {
		return nil, calls, e.err
	}
	return e.says(ask), calls, nil
}

// garage is a domain with a read and two writes that are easily mixed up.
func garage(t *testing.T) *contracts.Catalog {
	t.Helper()
	m := &contracts.Manifest{SchemaVersion: "1", Domain: "garage", Version: "1"}
	for name, c := range map[string]struct {
		schema, description string
		class               contracts.SideEffectClass
		examples            []string
	}{
		"find_cars": {
			`{"type":"object","properties":{"colour":{"type":"string"}}}`, "Finds cars", contracts.ClassRead,
			[]string{"find the red cars", "which cars are blue", "show cars", "list all cars", "cars please"},
		},
		"warn_tank": {
			`{"type":"object","properties":{"car":{"type":"string"},"below":{"type":"integer"},"above":{"type":"integer"}},"required":["car"]}`, "Warns about the tank of a car", contracts.ClassWriteIrreversible,
			[]string{"warn me when the tank of K12 is below 10", "warn about the tank of K3 above 50", "set a tank warning for K7 below 5", "tank warning K9", "warn me about the tank of B4"},
		},
		"scrap_car": {
			`{"type":"object","properties":{"car":{"type":"string"}},"required":["car"]}`, "Scraps a car", contracts.ClassWriteIrreversible,
			[]string{"scrap the car K12", "scrap K3", "have K7 scrapped", "scrap car B4", "please scrap K9"},
		},
	} {
		m.Capabilities = append(m.Capabilities, contracts.Capability{Name: name, Description: c.description, Schema: json.RawMessage(c.schema), Metadata: contracts.Metadata{
			SideEffectClass: c.class, RiskLevel: contracts.RiskMedium, IntentHints: &contracts.IntentHints{Examples: c.examples},
		}})
	}
	entry := &contracts.DomainEntry{Name: m.Domain, Digest: "d", Manifest: m}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		entry.Capabilities = append(entry.Capabilities, &contracts.CapabilityEntry{Domain: m.Domain, Capability: c, Policy: c.Metadata.Policy(true)})
	}
	return contracts.NewCatalog("garage", []*contracts.DomainEntry{entry}, nil)
}

func understand(t *testing.T, e *engine, mode intent.EngineMode, message string) intent.Understanding {
	t.Helper()
	a, err := intent.NewAdapter(intent.Config{Engine: e, EngineMode: mode})
	if err != nil {
		t.Fatal(err)
	}
	u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: garage(t), Now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// An engine that is always sure and always wrong cannot get a write accepted that
// the judgement of the local reading holds.
func TestAnEngineThatIsWrongGetsNoWriteAccepted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message    string
		capability string
		parameters map[string]any
	}{
		"it was told not to":                      {"do not scrap K12", "scrap_car", map[string]any{"car": "K12"}},
		"it is only a question whether":           {"should I scrap K12?", "scrap_car", map[string]any{"car": "K12"}},
		"it was done before":                      {"Ben scrapped K12 yesterday", "scrap_car", map[string]any{"car": "K12"}},
		"it depends on a condition":               {"scrap K12 only if it is older than ten years", "scrap_car", map[string]any{"car": "K12"}},
		"one is excepted":                         {"scrap all cars except K12", "scrap_car", map[string]any{"car": "K12"}},
		"the sign is turned round":                {"warn me when the tank of K12 drops under 10", "warn_tank", map[string]any{"car": "K12", "above": 10.0}},
		"a value that it needs is missing":        {"scrap it", "scrap_car", map[string]any{}},
		"a parameter that nobody declared":        {"scrap it", "scrap_car", map[string]any{"everything": true}},
		"it has nothing to do with what was said": {"what a lovely morning", "scrap_car", map[string]any{"car": "K12"}},
		"it is taken back":                        {"scrap K12. No wait, don't.", "scrap_car", map[string]any{"car": "K12"}},
	} {
		for _, mode := range []intent.EngineMode{intent.EngineAssists, intent.EngineAlways} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				e := &engine{says: func(ask intent.Ask) []intent.Proposal {
					for _, entry := range ask.Offered {
						if entry.Capability.Name == c.capability {
							return []intent.Proposal{{Entry: entry, Parameters: c.parameters}}
						}
					}
					return nil
				}}
				u := understand(t, e, mode, c.message)
				for _, in := range u.Intents {
					if u.Outcome == contracts.GateAccept && in.Capability == c.capability && len(in.Missing) == 0 {
						t.Errorf("%q is accepted as %s %v", c.message, in.Capability, in.Parameters)
					}
				}
			})
		}
	}
}

func TestAnEngineIsAskedWhereTheLocalReadingIsUnsure(t *testing.T) {
	t.Parallel()
	silent := func() *engine { return &engine{says: func(intent.Ask) []intent.Proposal { return nil }} }
	for message, want := range map[string]map[intent.EngineMode]int{
		"list all cars":                  {intent.EngineNever: 0, intent.EngineAssists: 0, intent.EngineAlways: 1},
		"get rid of that old banger K12": {intent.EngineNever: 0, intent.EngineAssists: 1, intent.EngineAlways: 1},
	} {
		for mode, asked := range want {
			e := silent()
			if understand(t, e, mode, message); e.asked != asked {
				t.Errorf("%s: %q asks the engine %d times, want %d", mode, message, e.asked, asked)
			}
		}
	}
}

func TestWithoutAnAnswerTheLocalReadingStands(t *testing.T) {
	t.Parallel()
	broken := &engine{err: errors.New("the model cannot be reached just now")}
	with := understand(t, broken, intent.EngineAlways, "scrap K3")
	without := understand(t, broken, intent.EngineNever, "scrap K3")
	if with.Outcome != without.Outcome || with.EngineFault == "" || len(with.Calls) != 1 {
		t.Errorf("%+v, without an engine %+v", with, without)
	}
}

// A value of a write that the message does not hold is shown as the engine's.
func TestValuesThatNobodySaidAreMarked(t *testing.T) {
	t.Parallel()
	e := &engine{says: func(ask intent.Ask) []intent.Proposal {
		for _, entry := range ask.Offered {
			if entry.Capability.Name == "warn_tank" {
				return []intent.Proposal{{Entry: entry, Parameters: map[string]any{"car": "K12", "below": 7.0}}}
			}
		}
		return nil
	}}
	u := understand(t, e, intent.EngineAlways, "set a tank warning for K12")
	if len(u.Intents) != 1 || u.Intents[0].Said == nil {
		t.Fatalf("%+v", u)
	}
	if from := u.Intents[0].Said.Values; from["car"] != contracts.FromSaid || from["below"] != contracts.FromModel {
		t.Errorf("the values are from %v", from)
	}
}
