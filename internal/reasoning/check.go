package reasoning

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// Probe is the result of one call of Check.
type Probe struct {
	// Name describes the probe, for people.
	Name  string `json:"name"`
	Model string `json:"model"`
	// Problem describes what does not work and what follows from it; it is empty if all is well.
	Problem string                `json:"problem,omitempty"`
	Calls   []contracts.ModelCall `json:"calls"`
}

// OK reports whether the probe succeeded.
func (p Probe) OK() bool { return p.Problem == "" }

const (
	probeSchema = `{"type":"object","additionalProperties":false,"required":["colours"],"properties":{"colours":{"type":"array","minItems":3,"maxItems":3,"items":{"enum":["red","green","blue"]}}}}`
	probeInput  = `{"type":"object","additionalProperties":false,"required":["minutes"],"properties":{"minutes":{"type":"integer"}}}`
)

// Check makes one call of each kind: reading a message, an object by a schema, a verdict. It
// calls the real models, which costs a few hundred tokens.
func (m *Model) Check(ctx context.Context) []Probe {
	return []Probe{m.probeUnderstand(ctx), m.probeReason(ctx, SizeSmall), m.probeReason(ctx, SizeLarge), m.probeJudge(ctx)}
}

func (m *Model) probeUnderstand(ctx context.Context) Probe {
	timer := &contracts.CapabilityEntry{Domain: "kitchen", Capability: &contracts.Capability{Name: "set_timer", Description: "Sets a timer", Schema: json.RawMessage(probeInput)}}
	reading, err := m.Understand(ctx, Question{Message: "set a timer for 12 minutes", Offered: []*contracts.CapabilityEntry{timer}})
	p := Probe{Name: "reads a message as a call of a function", Model: m.Name(SizeSmall), Calls: reading.Calls, Problem: problem(err)}
	if err == nil && (len(reading.Proposals) != 1 || fmt.Sprint(reading.Proposals[0].Parameters["minutes"]) != "12") {
		p.Problem = "it called no function, or with another value: messages are read without it"
	}
	return p
}

func (m *Model) probeReason(ctx context.Context, size Size) Probe {
	p := Probe{Name: "gives an object that fits a schema (" + string(size) + ")", Model: m.Name(size)}
	schema, err := contracts.CompileSchema(json.RawMessage(probeSchema))
	if err != nil {
		p.Problem = problem(err)
		return p
	}
	result, err := m.Reason(ctx, Task{Skill: contracts.CompactWords("Name the three primary colours of light."), Output: schema, Size: size, TokensLeft: NoBudget, MaxOutputTokens: 200})
	p.Calls, p.Problem = result.Calls, problem(err)
	return p
}

func (m *Model) probeJudge(ctx context.Context) Probe {
	inputs := map[string]contracts.Compact{"goal": contracts.CompactWords("The price of milk and of bread."), "results": contracts.CompactWords("milk: 1.20")}
	opinion, err := m.Judge(ctx, Case{Inputs: inputs})
	return Probe{Name: "gives a verdict", Model: m.Name(SizeSmall), Calls: opinion.Calls, Problem: problem(err)}
}

func problem(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// String formats the probe for a terminal.
func (p Probe) String() string {
	status, problem := "ok", ""
	if !p.OK() {
		status, problem = "FAILED", "        "+p.Problem+"\n"
	}
	var ms int64
	for _, call := range p.Calls {
		ms += call.DurationMS
	}
	used := contracts.SumTokens(p.Calls)
	return fmt.Sprintf("%-7s %s · %s · %d ms, %d + %d tokens\n%s", status, p.Name, p.Model, ms, used.In, used.Out, problem)
}
