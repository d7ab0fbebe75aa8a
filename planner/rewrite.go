package planner

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// bindings gives the values of the expressions of a param_map at one place of the plan: "params"
// are known during planning, "result" is the result of a node.
type bindings struct {
	node   string
	params map[string]any
}

// rewriting rewrites one param_map.
type rewriting struct {
	bindings

	// absent are missing parameters inside texts.
	absent []string
}

// values rewrites every member; a member that is only a missing parameter is omitted.
func (r *rewriting) values(in map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		value, given, err := r.value(in[name])
		if err != nil {
			return nil, err
		}
		if given {
			out[name] = value
		}
	}
	return out, nil
}

func (r *rewriting) value(v any) (any, bool, error) {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case map[string]any:
		members, err := r.values(v)
		return members, true, err
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			value, given, err := r.value(item)
			if err != nil {
				return nil, false, err
			}
			if given {
				out = append(out, value)
			}
		}
		return out, true, nil
	default:
		return v, true, nil
	}
}

// text rewrites a text: a single expression keeps the type of its value, expressions inside other
// text become text.
func (r *rewriting) text(text string) (any, bool, error) {
	parts, err := contracts.ParseTemplate(text)
	if err != nil {
		return nil, false, err
	}
	if len(parts) == 1 && parts[0].Path != nil {
		return r.path(parts[0].Path)
	}
	var out templateText
	for _, p := range parts {
		if p.Path == nil {
			out.literal.WriteString(p.Text)
			continue
		}
		value, given, err := r.path(p.Path)
		if err != nil {
			return nil, false, err
		}
		if !given {
			r.absent = append(r.absent, second(p.Path))
			continue
		}
		out.value(value)
	}
	return out.String(), true, nil
}

// path returns the meaning of a path in the plan: the value of a parameter, or the expression that
// the run evaluates.
func (r *rewriting) path(path contracts.Path) (any, bool, error) {
	switch path.Root() {
	case "params":
		return r.param(path)
	case "context":
		if second(path) != "principal" {
			return nil, false, contracts.Errorf(contracts.CodeInvalid, "%s cannot be read there, only context.principal", path)
		}
		return expression(path), true, nil
	default:
		moved, err := resultPath(path, r.node)
		return expression(moved), true, err
	}
}

func (r *rewriting) param(path contracts.Path) (any, bool, error) {
	value, given := r.params[second(path)]
	if inner, whole := wholeExpr(value); given && whole {
		return expression(append(slices.Clone(inner), path[2:]...)), true, nil
	}
	return expr.Lookup(expr.Scope{"params": r.params}, path.String())
}

// resultPath returns the path, from the root steps, of a part of a node's result.
func resultPath(path contracts.Path, node string) (contracts.Path, error) {
	rest := path
	if path.Root() == "result" {
		rest = path[1:]
	}
	if len(rest) == 0 || !slices.Contains([]string{"summary", "facts", "artifacts"}, rest[0].Name) {
		return path, contracts.Errorf(contracts.CodeInvalid,
			"%s cannot be read there; possible are params, result.summary, result.facts, result.artifacts and context.principal", path)
	}
	return append(contracts.Path{{Name: "steps"}, {Name: node}}, rest...), nil
}

// condition rewrites a condition. If it reads only parameters, it is evaluated here and holds is
// the result; otherwise the run evaluates when.
func (r *rewriting) condition(in contracts.Condition) (when *contracts.Condition, holds bool, err error) {
	if faults := expr.CheckCondition(in, "params", "result", "facts", "artifacts", "context"); len(faults) > 0 {
		return nil, false, contracts.Invalid("the condition is not valid", faults...)
	}
	refs, err := expr.RefsOf(in)
	if err != nil {
		return nil, false, err
	}
	if !slices.ContainsFunc(refs, r.laterKnown) {
		holds, _, err := expr.Holds(in, expr.Scope{"params": unescaped(r.params)})
		return nil, holds, err
	}
	if !r.laterKnown(in.Path) {
		if in, err = turned(in); err != nil {
			return nil, false, err
		}
	}
	return r.sides(in)
}

// unescaped returns the parameters as they were given, as far as they are known.
func unescaped(params map[string]any) map[string]any {
	out := make(map[string]any, len(params))
	for name, value := range params {
		out[name] = plain(value)
	}
	return out
}

// sides rewrites both sides of a condition that the run evaluates. A comparison with a missing
// parameter never holds.
func (r *rewriting) sides(in contracts.Condition) (*contracts.Condition, bool, error) {
	path, err := contracts.ParseExpr(in.Path)
	if err != nil {
		return nil, false, err
	}
	value, _, err := r.path(path)
	if err != nil {
		return nil, false, err
	}
	moved, whole := wholeExpr(value)
	if !whole {
		return nil, false, contracts.Errorf(contracts.CodeUnsupported, "a condition on %q, which is only known in part, cannot be planned", in.Path)
	}
	out := contracts.Condition{Path: moved.String(), Exists: in.Exists}
	for _, side := range []struct{ from, to **any }{{&in.Equals, &out.Equals}, {&in.GTE, &out.GTE}, {&in.LTE, &out.LTE}} {
		if *side.from == nil {
			continue
		}
		value, given, err := r.value(**side.from)
		if err != nil || !given {
			return nil, false, err
		}
		*side.to = &value
	}
	if in.In == nil {
		return &out, true, nil
	}
	items, _, err := r.value(in.In)
	out.In = listOf(items)
	return &out, len(out.In) > 0, err
}

// laterKnown reports whether a path is only known during the run.
func (r *rewriting) laterKnown(text string) bool {
	path, err := contracts.ParseExpr(text)
	if err != nil || path.Root() != "params" {
		return true
	}
	if len(path) == 1 {
		return holdsExpr(r.params)
	}
	return holdsExpr(r.params[second(path)])
}

// turned swaps the sides of a condition that compares a parameter with a result, because the run
// does not have the parameter.
func turned(in contracts.Condition) (contracts.Condition, error) {
	left := any(opening + in.Path + "}")
	for _, turn := range []struct {
		side *any
		made func(path string) contracts.Condition
	}{
		{in.Equals, func(path string) contracts.Condition { return contracts.Condition{Path: path, Equals: &left} }},
		{in.GTE, func(path string) contracts.Condition { return contracts.Condition{Path: path, LTE: &left} }},
		{in.LTE, func(path string) contracts.Condition { return contracts.Condition{Path: path, GTE: &left} }},
	} {
		if turn.side == nil {
			continue
		}
		if path, whole := wholeExpr(*turn.side); whole {
			return turn.made(path.String()), nil
		}
	}
	return in, contracts.Errorf(contracts.CodeUnsupported,
		"a condition on %q cannot compare it with results; put the result on the left", in.Path)
}
