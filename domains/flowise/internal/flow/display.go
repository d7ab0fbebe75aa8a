package flow

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// noIndex is the index for parameters outside of arrays.
const noIndex = -1

// displayed reports whether the canvas shows a parameter, given the other values. index is the
// index of its array item, or noIndex. The rules are the canvas's: text is compared for equality
// and as a pattern.
func displayed(p *knowledge.Param, inputs map[string]any, index int) bool {
	for path, want := range p.Show {
		if !holds(want, valueAt(inputs, path, index)) {
			return false
		}
	}
	for path, want := range p.Hide {
		if holds(want, valueAt(inputs, path, index)) {
			return false
		}
	}
	return true
}

// valueAt returns the value at a path such as conditions[$index].type.
func valueAt(inputs map[string]any, path string, index int) any {
	path = strings.ReplaceAll(path, "$index", strconv.Itoa(index))
	steps, _ := parsePath(path)
	var v any = inputs
	for _, step := range steps {
		ok := false
		switch at := v.(type) {
		case map[string]any:
			v, ok = at[step.key]
		case []any:
			ok = step.list && step.index >= 0 && step.index < len(at)
			if ok {
				v = at[step.index]
			}
		}
		if !ok {
			return ""
		}
	}
	if text, isText := v.(string); isText && strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		var list []any
		if json.Unmarshal([]byte(text), &list) == nil {
			return list
		}
	}
	return v
}

// holds reports whether one display condition is met.
func holds(want, got any) bool {
	if list, ok := got.([]any); ok {
		return slices.ContainsFunc(list, func(item any) bool { return holdsOne(want, item) })
	}
	return holdsOne(want, got)
}

func holdsOne(want, got any) bool {
	switch want := want.(type) {
	case []any:
		return slices.ContainsFunc(want, func(w any) bool { return reflect.DeepEqual(w, got) })
	case string:
		if text, ok := got.(string); ok && text == want {
			return true
		}
		if regexp.QuoteMeta(want) == want {
			return strings.Contains(plainText(got), want)
		}
		pattern, err := regexp.Compile(want)
		return err == nil && pattern.MatchString(plainText(got))
	default:
		return reflect.DeepEqual(want, got)
	}
}

// plainText formats a value like JavaScript's string concatenation.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case nil:
		return "null"
	default:
		return "[object Object]"
	}
}

// step is one part of a path: a key or a list index.
type step struct {
	key   string
	index int
	list  bool
}

// parsePath parses "a.b[0].c".
func parsePath(path string) ([]step, bool) {
	var out []step
	for part := range strings.SplitSeq(path, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name == "" {
			return nil, false
		}
		out = append(out, step{key: name})
		for indexed {
			var inner string
			inner, rest, indexed = strings.Cut(rest, "]")
			i, err := strconv.Atoi(inner)
			if inner == "-" {
				i, err = noIndex, nil
			} else if i < 0 {
				return nil, false
			}
			if !indexed || err != nil {
				return nil, false
			}
			out = append(out, step{index: i, list: true})
			if rest == "" {
				break
			}
			if rest, indexed = strings.CutPrefix(rest, "["); !indexed {
				return nil, false
			}
		}
	}
	return out, true
}

// refreshDisplay updates the display marks after a value changed. Nodes of old versions have no
// marks and get none.
func (n *draftNode) refreshDisplay(name string) {
	var inputs map[string]any
	params := n.part(partInputParams)
	for i, f := range fieldsOf(params) {
		if !bytes.Contains(f, []byte(`"show"`)) && !bytes.Contains(f, []byte(`"hide"`)) {
			continue
		}
		show, _ := get(f, "show")
		hide, _ := get(f, "hide")
		mark, marked := get(f, "display")
		if !marked || !bytes.Contains(show, []byte(name)) && !bytes.Contains(hide, []byte(name)) {
			continue
		}
		if inputs == nil {
			inputs = n.inputs()
		}
		p := f.decode()
		if now := strconv.FormatBool(displayed(&p, inputs, noIndex)); now != string(mark) {
			current := n.part(partInputParams)
			at := spans(current)[i]
			n.set(splice(current, at.from, at.to, set(f, []byte(now), "display")), "data", "inputParams")
		}
	}
}

// inputs returns the decoded values of a node.
func (n Node) inputs() map[string]any {
	raw := n.part(partInputs)
	inputs, _ := decoded(raw).(map[string]any)
	return inputs
}
