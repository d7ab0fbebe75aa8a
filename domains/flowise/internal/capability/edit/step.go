package edit

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
)

// instance passes the server on to every look-up.
const instance = "${params.instance}"

// part looks up the part of the flow with a role, by name or as the only one.
func part(role edit.Role) []contracts.PreStep {
	about := map[string]any{"chatflow_id": "${params.chatflow_id}", "role": string(role), "instance": instance}
	return []contracts.PreStep{
		{Type: "find_part", Param: "part", SearchCapability: "find_part", SearchParam: "query", ParamMap: about, Choose: contracts.ChooseAsk},
		{Type: "find_part", Param: "part", SearchCapability: "find_part", ParamMap: about, Choose: contracts.ChooseAsk},
	}
}

// named looks up a part that must be named.
func named(param string, role edit.Role) []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_part", Param: param, SearchCapability: "find_part", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"chatflow_id": "${params.chatflow_id}", "role": string(role), "instance": instance},
	}}
}

// holding looks up the node with the parameter to set, if no node was named.
func holding(param string) []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_part", Param: param, SearchCapability: "find_part", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{
			"chatflow_id": "${params.chatflow_id}", "role": string(edit.RoleParameter), "parameter": "${params.parameter}", "instance": instance,
		},
	}}
}

// credentialNamed looks up a credential by its name.
func credentialNamed() []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_credential", Param: "credential", SearchCapability: "find_credential", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"instance": instance},
	}}
}

// kind looks up a kind of node, optionally within a category.
func kind(param string, category ...string) []contracts.PreStep {
	about := map[string]any{"instance": instance}
	if len(category) > 0 {
		about["category"] = category[0]
	}
	return []contracts.PreStep{{Type: "find_kind", Param: param, SearchCapability: "find_kind", SearchParam: "query", ParamMap: about, Choose: contracts.ChooseAsk}}
}

// model looks up a model by its name.
func model() []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_model", Param: "model", SearchCapability: "find_model", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"chatflow_id": "${params.chatflow_id}", "part": "${params.part}", "instance": instance},
	}}
}

// credential looks up the credential that a kind of node needs, if none was named.
func credential(of string) []contracts.PreStep {
	about := map[string]any{"kind": "${params." + of + "}", "instance": instance}
	if of == "model" {
		about["chatflow_id"], about["part"] = "${params.chatflow_id}", "${params.part}"
	}
	return []contracts.PreStep{{
		Type: "choose_credential", Param: "credential", SearchCapability: "choose_kind_credential", Choose: contracts.ChooseAsk,
		ParamMap: about,
	}}
}

// otherFlow looks up a second flow by its name.
func otherFlow() []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "resolve_chatflow", Param: "like", SearchCapability: "resolve_target", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"instance": instance},
	}}
}

// aliases returns the labels of the kinds of nodes that a parameter accepts, as shipped, so that
// messages with a label are recognized reliably.
func (e *Editor) aliases(searches [][]contracts.PreStep) map[string]contracts.ParameterSpec {
	out := map[string]contracts.ParameterSpec{}
	for _, steps := range searches {
		for _, step := range steps {
			if step.SearchCapability == "find_part" && step.SearchParam != "" && step.ParamMap["role"] == string(edit.RoleTool) {
				out[step.Param] = contracts.ParameterSpec{Aliases: e.labels("Tools")}
			}
			if step.SearchCapability == "find_part" && step.SearchParam != "" && step.ParamMap["role"] == string(edit.RoleNode) && len(searches) > 2 {
				out[step.Param] = contracts.ParameterSpec{Aliases: e.labels("")}
			}
			category, _ := step.ParamMap["category"].(string)
			if step.SearchCapability != "find_kind" {
				continue
			}
			names := map[string]any{}
			for _, def := range e.site.Shipped.Nodes() {
				if label := strings.Join(edit.Words(def.Label), " "); strings.HasPrefix(def.Category, category) && len(label) > 2 && names[label] == nil {
					names[label] = kindPrefix + def.Name
				}
			}
			out[step.Param] = contracts.ParameterSpec{Aliases: names}
		}
	}
	return out
}

// labels returns the labels of the nodes of a category.
func (e *Editor) labels(category string) map[string]any {
	out := map[string]any{}
	for _, def := range e.site.Shipped.Nodes() {
		if label := strings.Join(edit.Words(def.Label), " "); strings.HasPrefix(def.Category, category) && len(label) > 2 {
			out[label] = ofKind(def.Name)
		}
	}
	return out
}
