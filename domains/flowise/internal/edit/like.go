package edit

import (
	"encoding/json"
	"slices"

	"github.com/manifold-run/manifold/domains/flowise/internal/flow"
)

// Like copies the setting of a role from another flow.
func (t Target) Like(role Role, other Target) ([]flow.Op, error) {
	at, err := t.Spot(role, "")
	if err != nil {
		return nil, err
	}
	from, err := other.Spot(role, "")
	if err != nil {
		return nil, err
	}
	switch role {
	case RoleModel:
		credential := from.Node.Credential()
		if from.Path != "" {
			credential = from.Text(nestedCredential)
		}
		return t.Model(at, from.Def.Name, from.Text(from.Param), credential)
	case RoleTemperature:
		var value float64
		raw := from.held()
		if text := from.Text(from.Param); text != "" {
			raw = text
		}
		if json.Unmarshal([]byte(raw), &value) != nil {
			return nil, refuse("the other flow sets no temperature")
		}
		return t.Temperature(at, value), nil
	case RolePrompt:
		prompt := from.Prompt()
		if prompt == "" {
			return nil, refuse("the other flow has no prompt")
		}
		return t.Prompt(at, prompt)
	case RoleMemory:
		there := other.Graph.Into(from.Node.ID(), from.Param)
		if len(there) == 0 {
			return t.Memory(at, "")
		}
		n, _ := other.Graph.Find(there[0])
		return t.Memory(at, n.Name())
	default:
		return nil, refuse("a %s cannot be taken over", role)
	}
}

// nestedCredential is the key of a selected component's credential.
const nestedCredential = "FLOWISE_CREDENTIAL_ID"

// Prompt returns the text of a prompt spot.
func (s Spot) Prompt() string {
	p, _ := s.Place.Param(s.Param)
	if p.Type != "array" {
		return s.Text(s.Param)
	}
	var messages []struct{ Role, Content string }
	raw, _ := s.Value(s.Param)
	if json.Unmarshal(raw, &messages) != nil {
		return ""
	}
	i := slices.IndexFunc(messages, func(m struct{ Role, Content string }) bool { return m.Role == "system" })
	if i < 0 {
		return ""
	}
	return messages[i].Content
}
