package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// normalise converts a value to the form that Flowise stores, or returns why it does not fit the
// parameter.
func (d *draft) normalise(p *knowledge.Param, value []byte) (out []byte, problem string) {
	if string(value) == "null" {
		return defaultOf(p), ""
	}
	if p.Type == "json" || p.Type == "code" {
		if first := firstByte(value); first == '{' || first == '[' {
			return encode(string(value)), "" // Flowise stores such values as text
		}
	}
	if text := string(value); p.Type == "boolean" && (text == `"true"` || text == `"false"`) {
		return []byte(unquote(value)), "" // JavaScript treats the text "false" as true
	}
	if p.Type == "string" || p.Type == "password" {
		if first := firstByte(value); first != '"' && first != '{' && first != '[' {
			return encode(string(value)), ""
		}
	}
	if problem := checkValue(p, value); problem != "" {
		return nil, problem
	}
	return value, ""
}

// checkValue returns why a value does not fit a parameter, or "". Flowise stores "no value" as the
// empty text; it is valid for every type of text form.
func checkValue(p *knowledge.Param, value []byte) string {
	first := firstByte(value)
	text := ""
	if first == '"' {
		text = unquote(value)
		if text == "" || strings.Contains(text, "{{") {
			return ""
		}
	}
	switch p.Type {
	case "boolean":
		if first != 't' && first != 'f' && text != "true" && text != "false" {
			return fmt.Sprintf("%s must be true or false", p.Name)
		}
	case "number":
		return checkNumber(p, value, text)
	case "options":
		return checkOption(p, value, text)
	case "multiOptions", "asyncMultiOptions":
		return checkOptions(p, value, text)
	case "array":
		return checkArray(p, value)
	case "datagrid":
		if first != '[' && firstByte([]byte(text)) != '[' {
			return fmt.Sprintf("%s must be a list of rows", p.Name)
		}
	case "json":
		if text == "" || !json.Valid([]byte(text)) {
			return fmt.Sprintf("%s must be a text with JSON in it", p.Name)
		}
	case "string", "password", "code", "file", "folder", "date", "asyncOptions", "tabs", "conditionFunction":
		if first != '"' {
			return fmt.Sprintf("%s must be a text", p.Name)
		}
	case typeConfig:
		if first != '{' {
			return fmt.Sprintf("%s must be an object with the parameters of the chosen component", p.Name)
		}
	}
	return ""
}

func checkNumber(p *knowledge.Param, value []byte, text string) string {
	if first := firstByte(value); first == '-' || first >= '0' && first <= '9' {
		return ""
	}
	// Go also parses NaN, Inf, 0x10 and 1_000, which JavaScript rejects or reads differently.
	text = strings.TrimSpace(text)
	if _, err := strconv.ParseFloat(text, 64); err != nil || strings.Trim(text, "0123456789.+-eE") != "" {
		return fmt.Sprintf("%s must be a number, but is %s", p.Name, told(string(value)))
	}
	return ""
}

// freeSolo reports whether the user may type an option instead of choosing one.
func freeSolo(p *knowledge.Param) bool { return field(p.Raw).flag("freeSolo") }

func optionNames(p *knowledge.Param) []string {
	out := make([]string, 0, len(p.Options))
	for _, o := range p.Options {
		out = append(out, o.Name)
	}
	return out
}

func checkOption(p *knowledge.Param, value []byte, text string) string {
	if len(p.Options) == 0 || freeSolo(p) {
		return ""
	}
	if firstByte(value) != '"' {
		text = string(value)
	}
	if known := optionNames(p); !slices.Contains(known, text) {
		return unknown("option of "+p.Name, told(text), known)
	}
	return ""
}

// checkOptions accepts a list, or a text that contains one.
func checkOptions(p *knowledge.Param, value []byte, text string) string {
	if text != "" {
		value = []byte(text)
	}
	var chosen []string
	if json.Unmarshal(value, &chosen) != nil {
		return fmt.Sprintf("%s must be a list of options", p.Name)
	}
	for _, one := range chosen {
		if len(p.Options) == 0 || freeSolo(p) {
			break
		}
		if problem := checkOption(p, encode(one), one); problem != "" {
			return problem
		}
	}
	return ""
}

// checkArray checks the items and their members.
func checkArray(p *knowledge.Param, value []byte) string {
	if firstByte(value) != '[' {
		return fmt.Sprintf("%s must be a list of objects with %s", p.Name, listed(paramNames(p.Array)))
	}
	for i, item := range elements(value) {
		if firstByte(item) != '{' {
			return fmt.Sprintf("item %d of %s must be an object with %s", i, p.Name, listed(paramNames(p.Array)))
		}
		for _, m := range members(item) {
			if problem := checkMember(p, m.key, item[m.from:m.to]); problem != "" {
				return fmt.Sprintf("item %d of %s: %s", i, p.Name, problem)
			}
		}
	}
	return ""
}

// checkMember accepts a member that fits one of the parameters with its name.
func checkMember(p *knowledge.Param, key string, value []byte) string {
	problem, known := "", false
	for i := range p.Array {
		if p.Array[i].Name != key {
			continue
		}
		known = true
		if problem = checkValue(&p.Array[i], value); problem == "" {
			return ""
		}
	}
	if !known && len(p.Array) > 0 && !strings.HasSuffix(key, "Config") {
		return unknown("member", key, paramNames(p.Array))
	}
	return problem
}

// paramNames returns the distinct names.
func paramNames(params []knowledge.Param) []string {
	var out []string
	for i := range params {
		if !slices.Contains(out, params[i].Name) {
			out = append(out, params[i].Name)
		}
	}
	return out
}

const maxShown = 80

// clip shortens a text for a message.
func clip(text string) string { return clipTo(text, maxShown) }
