package flow

import (
	"encoding/json"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// decode returns an input with all its members, or an empty one if it cannot be decoded. It is
// written by hand for speed: a flow describes thousands of inputs, most with a few short members.
func (f field) decode() knowledge.Param {
	p := knowledge.Param{Raw: json.RawMessage(f)}
	for c := over(f); c.next(); {
		if value := c.value(); string(value) != "null" && !decodeMember(&p, &c, value) {
			return knowledge.Param{Name: f.text("name"), Type: f.text("type"), Optional: true}
		}
	}
	return p
}

// decodeMember decodes a member and reports whether its value has the right type.
func decodeMember(p *knowledge.Param, c *cursor, value []byte) bool {
	switch {
	case c.is("label"):
		return decodeText(&p.Label, value)
	case c.is("name"):
		return decodeText(&p.Name, value)
	case c.is("type"):
		return decodeText(&p.Type, value)
	case c.is("optional"):
		p.Optional = string(value) != "false"
	case c.is("default"):
		p.Default = value
	case c.is("list"):
		return decodeFlag(&p.List, value)
	case c.is("acceptVariable"):
		return decodeFlag(&p.AcceptVariable, value)
	case c.is("additionalParams"):
		return decodeFlag(&p.AdditionalParams, value)
	case c.is("hidden"):
		return decodeFlag(&p.Hidden, value)
	case c.is("loadConfig"):
		return decodeFlag(&p.LoadConfig, value)
	default:
		return decodeRare(p, c, value)
	}
	return true
}

func decodeRare(p *knowledge.Param, c *cursor, value []byte) bool {
	for key, into := range map[string]any{
		"options": &p.Options, "array": &p.Array, "tabs": &p.Tabs, "show": &p.Show, "hide": &p.Hide, "minItems": &p.MinItems,
		"tabIdentifier": &p.TabIdentifier, "loadMethod": &p.LoadMethod, "credentialNames": &p.CredentialNames,
	} {
		if c.is(key) {
			return json.Unmarshal(value, into) == nil
		}
	}
	return true
}

func decodeText(into *string, value []byte) bool {
	*into = unquote(value)
	return value[0] == '"'
}

func decodeFlag(into *bool, value []byte) bool {
	*into = string(value) == "true"
	return *into || string(value) == "false"
}
