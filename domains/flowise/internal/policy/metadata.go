package policy

import (
	"reflect"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Metadata common to the writes of flows. Vocabulary, examples and differences between the writes
// are in the manifest.

// windowS is the idempotency window of a write in seconds: a week.
const windowS = 604800

// Propose is the capability that shows what a write would do.
const Propose = "propose"

// Changing returns the metadata of a write of an existing flow with parameters In: reconciliation,
// verification, the look-up of the flow by name, and a proposal that binds the write to what its
// approver sees. A write of a graph is compensated by a rollback to the version before.
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

// Making is like Changing for a write that creates a flow; it is compensated by deleting the flow.
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

// Carrying is like Changing for a write that creates a flow or changes the one with its name. flow
// says that the parameters name a flow that is looked up. The proposal determines whether there is
// a base.
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

// writing returns the metadata that all of them have.
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

// ResolveFlow returns the look-up of a flow by name on the requested server.
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

// FindModel returns the look-up of a model by name, for any kind of node.
func FindModel() contracts.PreStep {
	return contracts.PreStep{
		Type: "find_model", Param: "model", SearchCapability: "find_model", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"instance": "${params.instance}"},
	}
}

// ChooseCredential returns the choice of the credential of a new flow, if it needs one and there
// are several.
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

// bindGraph binds a change to the graph of a proposal for the reviewed base, so that the approved
// graph is not applied to another flow.
func bindGraph(name string, params []string) contracts.PreStep {
	return bind(name, "graph_sha256", "facts.graph", append([]string{"base_sha256"}, params...))
}

// bind sets a hash from a proposal of the write with these parameters.
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

// Equal returns a condition on a value.
func Equal(path string, value any) contracts.Condition {
	return contracts.Condition{Path: path, Equals: &value}
}

// parametersOf returns the parameters of a write that a proposal takes: all but the hashes that the
// proposal returns, and the server.
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
