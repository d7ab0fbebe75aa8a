package edit

import (
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
)

// instance is passed on by every search.
const instance = "${params.instance}"

// part finds the part of the flow that plays a role: by what it is called, or the
// one that there is.
func part(role edit.Role) []contracts.PreStep {
	about := map[string]any{"chatflow_id": "${params.chatflow_id}", "role": string(role), "instance": instance}
	return []contracts.PreStep{
		{Type: "find_part", Param: "part", SearchCapability: "find_part", SearchParam: "query", ParamMap: about, Choose: contracts.ChooseAsk},
		{Type: "find_part", Param: "part", SearchCapability: "find_part", ParamMap: about, Choose: contracts.ChooseAsk},
	}
}

// named finds a part that must be called by its name.
func named(param string, role edit.Role) []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_part", Param: param, SearchCapability: "find_part", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"chatflow_id": "${params.chatflow_id}", "role": string(role), "instance": instance},
	}}
}

// holding finds what has the parameter that is to be set, where no node was named.
func holding(param string) []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_part", Param: param, SearchCapability: "find_part", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{
			"chatflow_id": "${params.chatflow_id}", "role": string(edit.RoleParameter), "parameter": "${params.parameter}", "instance": instance,
		},
	}}
}

// credentialNamed finds a credential by its name.
func credentialNamed() []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_credential", Param: "credential", SearchCapability: "find_credential", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"instance": instance},
	}}
}

// kind finds a kind of node, of a category if one is given.
func kind(param string, category ...string) []contracts.PreStep {
	about := map[string]any{"instance": instance}
	if len(category) > 0 {
		about["category"] = category[0]
	}
	return []contracts.PreStep{{Type: "find_kind", Param: param, SearchCapability: "find_kind", SearchParam: "query", ParamMap: about, Choose: contracts.ChooseAsk}}
}

// model finds a model by its name.
func model() []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "find_model", Param: "model", SearchCapability: "find_model", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"chatflow_id": "${params.chatflow_id}", "part": "${params.part}", "instance": instance},
	}}
}

// credential asks for the one that a kind of node needs, where it was not named.
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

// otherFlow finds a second flow by its name.
func otherFlow() []contracts.PreStep {
	return []contracts.PreStep{{
		Type: "resolve_chatflow", Param: "like", SearchCapability: "resolve_target", SearchParam: "query", Choose: contracts.ChooseAsk,
		ParamMap: map[string]any{"instance": instance},
	}}
}

// aliases are what people call the kinds of nodes that a parameter takes: their
// labels, as the program knows them, so that a sentence names them surely.
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

// labels are what people call the nodes of a category that stand in a flow.
func (e *Editor) labels(category string) map[string]any {
	out := map[string]any{}
	for _, def := range e.site.Shipped.Nodes() {
		if label := strings.Join(edit.Words(def.Label), " "); strings.HasPrefix(def.Category, category) && len(label) > 2 {
			out[label] = ofKind(def.Name)
		}
	}
	return out
}
