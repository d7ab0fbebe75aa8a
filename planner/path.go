package planner

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// opening begins an expression. Inside the planner every value is a template: external values are
// escaped on input, so that they are never evaluated, and plain undoes that.
const opening = "${"

// mentions reports whether a value contains the mark of an expression, escaped or not.
func mentions(v any) bool {
	return anyText(v, func(text string) bool { return strings.Contains(text, opening) })
}

// holdsExpr reports whether a value contains an expression.
func holdsExpr(v any) bool {
	return anyText(v, func(text string) bool {
		if !strings.Contains(text, opening) {
			return false
		}
		parts, err := contracts.ParseTemplate(text)
		for _, p := range parts {
			if p.Path != nil {
				return true
			}
		}
		return err != nil
	})
}

func anyText(v any, test func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return test(v)
	case []any:
		for _, item := range v {
			if anyText(item, test) {
				return true
			}
		}
	case map[string]any:
		for _, member := range v {
			if anyText(member, test) {
				return true
			}
		}
	}
	return false
}

// deferred reports whether a value is only complete at dispatch: it contains an expression, or an
// artifact whose content is inserted then.
func deferred(v any) bool { return holdsExpr(v) || holdsArtifact(v) }

func holdsArtifact(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, holdsArtifact)
	case map[string]any:
		if _, ok := v["$artifact"]; ok && len(v) == 1 {
			return true
		}
		for _, member := range v {
			if holdsArtifact(member) {
				return true
			}
		}
	}
	return false
}

// plain returns the unescaped value of a literal.
func plain(v any) any {
	if !mentions(v) {
		return v
	}
	out, _, err := expr.Resolve(v, nil)
	if err != nil {
		return v
	}
	return out
}

// literals returns the parameters with known values, unescaped.
func literals(params map[string]any) map[string]any {
	out := make(map[string]any, len(params))
	for name, value := range params {
		if !deferred(value) {
			out[name] = plain(value)
		}
	}
	return out
}

// wholeExpr returns the path of a text that is exactly one expression.
func wholeExpr(v any) (contracts.Path, bool) {
	text, ok := v.(string)
	if !ok || !strings.Contains(text, opening) {
		return nil, false
	}
	parts, err := contracts.ParseTemplate(text)
	if err != nil || len(parts) != 1 || parts[0].Path == nil {
		return nil, false
	}
	return parts[0].Path, true
}

// second returns the name after the root of a path, such as the id of a step.
func second(path contracts.Path) string {
	if len(path) < 2 {
		return ""
	}
	return path[1].Name
}

func expression(path contracts.Path) string { return opening + path.String() + "}" }

// templateText builds a template from literals and expressions.
type templateText struct{ out, literal strings.Builder }

func (t *templateText) path(path contracts.Path) {
	t.flush()
	if strings.HasSuffix(t.out.String(), `\`) {
		t.out.WriteByte(' ') // a backslash would escape the expression
	}
	t.out.WriteString(expression(path))
}

// value writes a template value: the items of a list separated by commas, other values as JSON.
func (t *templateText) value(v any) {
	if items, ok := v.([]any); ok {
		for i, item := range items {
			if i > 0 {
				t.literal.WriteString(", ")
			}
			t.value(item)
		}
		return
	}
	text, ok := v.(string)
	if !ok {
		text = spoken(v)
	}
	parts, err := contracts.ParseTemplate(text)
	if err != nil {
		t.literal.WriteString(text)
		return
	}
	for _, p := range parts {
		if p.Path != nil {
			t.path(p.Path)
			continue
		}
		t.literal.WriteString(p.Text)
	}
}

// flush writes the literal text so far, escaped as a whole: two separate pieces must not form an
// expression together.
func (t *templateText) flush() {
	t.out.WriteString(strings.ReplaceAll(t.literal.String(), opening, `\`+opening))
	t.literal.Reset()
}

func (t *templateText) String() string {
	t.flush()
	return t.out.String()
}
