package policy

import (
	"reflect"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// What the core is told of every write of a flow. Words, examples and what
// differs from one to the next stand in the manifest.

// windowS is how long the key of a write is kept, in seconds: a week.
const windowS = 604800

// Propose is the capability that shows what a write would do.
const Propose = "propose"

// Changing is what the core must know of a write of an existing flow whose
// parameters are an In: it is looked for and read back, the flow is searched for
// by its name, and a proposal binds it to what its approver sees. One that makes
// a graph is undone by the version before it.
func Changing[In any](name string, graph bool) contracts.Metadata {
	params := parametersOf(reflect.TypeFor[In]())
	md := writing(name)
	md.SideEffectClass = contracts.ClassWriteReversible
	md.Locks = []string{"chatflow:{chatflow_id}"}
	md.Flow = &contracts.Flow{
		Pre:     []contracts.PreStep{ResolveFlow(false), bind(name, "base_sha256", "facts.base", params)},
		StaleOn: []string{ErrConcurrentEdit},
	}
	md.Verify.ParamMap["chatflow_id"] = "${params.chatflow_id}"
	md.Verify.Assertions = []contracts.Condition{Equal("facts.state_sha256", "${result.facts.state_sha256}")}
	if graph {
		md.Flow.Pre = append(md.Flow.Pre, bindGraph(name, params))
		md.Verify.Assertions = []contracts.Condition{Equal("facts.sha256", "${result.facts.sha256}")}
		md.Compensation = &contracts.CapabilityCall{Capability: site.OpRollback, ParamMap: map[string]any{
			"chatflow_id": "${params.chatflow_id}", "instance": "${params.instance}",
			"version": "${result.facts.previous_version}", "base_sha256": "${result.facts.sha256}",
		}}
	}
	return md
}

// Making is the same for a write that makes a flow; it is undone by deleting it.
func Making[In any](name string) contracts.Metadata {
	params := parametersOf(reflect.TypeFor[In]())
	md := writing(name)
	md.SideEffectClass = contracts.ClassWriteReversible
	md.Flow = &contracts.Flow{
		Pre:     []contracts.PreStep{bind(name, "graph_sha256", "facts.graph", params)},
		StaleOn: []string{ErrConcurrentEdit},
	}
	if slices.Contains(params, "chatflow_id") {
		md.Locks = []string{"chatflow:{chatflow_id}"}
		md.Flow.Pre = slices.Insert(md.Flow.Pre, 0, ResolveFlow(false))
	}
	md.Verify.ParamMap["chatflow_id"] = "${result.facts.chatflow_id}"
	md.Verify.Assertions = []contracts.Condition{Equal("facts.sha256", "${result.facts.sha256}")}
	md.Compensation = &contracts.CapabilityCall{Capability: site.OpDelete, ParamMap: map[string]any{
		"chatflow_id": "${result.facts.chatflow_id}", "instance": "${params.instance}", "base_sha256": "${result.facts.sha256}",
	}}
	return md
}

// Carrying is the same for a write that makes a flow or changes the one of the same
// name; flow says that its parameters name one that is looked for. Whether there is
// anything to base it on, the proposal says.
func Carrying[In any](name string, flow bool) contracts.Metadata {
	params := parametersOf(reflect.TypeFor[In]())
	md := writing(name)
	md.SideEffectClass = contracts.ClassWriteReversible
	md.Flow = &contracts.Flow{
		Pre:     []contracts.PreStep{bind(name, "base_sha256", "facts.base", params), bindGraph(name, params)},
		StaleOn: []string{ErrConcurrentEdit},
	}
	md.Locks = []string{"chatflow-file:{file}"}
	if flow {
		md.Flow.Pre = slices.Insert(md.Flow.Pre, 0, ResolveFlow(false))
		md.Locks = []string{"chatflow:{chatflow_id}"}
	}
	md.Verify.ParamMap["chatflow_id"] = "${result.facts.chatflow_id}"
	md.Verify.Assertions = []contracts.Condition{Equal("facts.sha256", "${result.facts.sha256}")}
	md.Compensation = &contracts.CapabilityCall{Capability: site.OpWithdraw, ParamMap: map[string]any{
		"chatflow_id": "${result.facts.chatflow_id}", "instance": "${result.facts.instance}",
		"version": "${result.facts.previous_version}", "base_sha256": "${result.facts.sha256}",
	}}
	return md
}

// writing is what all of them have.
func writing(name string) contracts.Metadata {
	return contracts.Metadata{
		ExecutionMode: contracts.ModeSequential, Idempotency: contracts.IdempotencyKeyed, IdempotencyWindowS: windowS,
		ApprovalRequired: new(true), TimeoutMS: 60000,
		Reconcile: &contracts.CapabilityCall{Capability: "find_write", ParamMap: map[string]any{
			"operation": name, "key": "${context.idempotency_key}",
		}},
		Verify: &contracts.VerifyRule{Capability: "get_chatflow", ParamMap: map[string]any{"instance": "${result.facts.instance}"}, WithinMS: 1000},
		Present: &contracts.Present{Title: "Chatflow", Columns: []contracts.PresentColumn{
			{Path: "name", Title: "Name"}, {Path: "change", Title: "Change"}, {Path: "version", Title: "Version"}, {Path: "chatflow_id", Title: "Id"},
		}},
	}
}

// ResolveFlow finds the flow that a name means, on the server that is meant.
func ResolveFlow(deleted bool) contracts.PreStep {
	step := contracts.PreStep{
		Type: "resolve_chatflow", Param: "chatflow_id", SearchCapability: "resolve_target", SearchParam: "query",
		ParamMap: map[string]any{"instance": "${params.instance}"}, ResultPath: "facts.matches", Choose: contracts.ChooseAsk,
	}
	if deleted {
		step.ParamMap["deleted"] = true
	}
	return step
}

// FindModel finds a model by its name, whatever kind of node speaks to it.
func FindModel() contracts.PreStep {
	return contracts.PreStep{
		Type: "find_model", Param: "model", SearchCapability: "find_model", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"instance": "${params.instance}"},
	}
}

// ChooseCredential asks which credential a new flow shall have, where it needs one
// and there are several.
func ChooseCredential() contracts.PreStep {
	step := contracts.PreStep{
		Type: "choose_credential", Param: "credential", SearchCapability: "choose_credential", ResultPath: "facts.matches", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{},
	}
	for _, name := range []string{"instance", "name", "starter", "model", "template", "pattern", "pattern_id", "flow_data", "ops", "reply"} {
		step.ParamMap[name] = "${params." + name + "}"
	}
	return step
}

// bindGraph fills the hash of the graph that shall come of a change from a proposal
// for the base that was looked at: what is shown is what becomes of no other flow.
func bindGraph(name string, params []string) contracts.PreStep {
	return bind(name, "graph_sha256", "facts.graph", append([]string{"base_sha256"}, params...))
}

// bind fills a hash from a proposal of the write with these parameters.
func bind(name, param, path string, params []string) contracts.PreStep {
	given := map[string]any{}
	for _, p := range params {
		given[p] = "${params." + p + "}"
	}
	return contracts.PreStep{
		Type: "look_at_flow", Param: param, SearchCapability: Propose, ResultPath: path, Choose: contracts.ChooseFail,
		ParamMap: map[string]any{"write": name, "instance": "${params.instance}", "parameters": given},
	}
}

// Equal is a condition on a value that was read.
func Equal(path string, value any) contracts.Condition {
	return contracts.Condition{Path: path, Equals: &value}
}

// parametersOf names the parameters of a write that a proposal takes: all but
// the hashes that it gives, and the server, which it is called on.
func parametersOf(t reflect.Type) []string {
	var out []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "base_sha256" && name != "graph_sha256" && name != "instance" {
			out = append(out, name)
		}
	}
	return out
}
