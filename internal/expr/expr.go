// Package expr evaluates the expressions of manifests and plans: "${path}" inside values, and
// conditions over paths. An expression that is more than a path is CEL: a pure function of the
// values that it reads, limited in cost and size, without a clock or a network. A path needs no
// compiler, and is by far the most frequent. The syntax of paths and templates is in package
// contracts.
package expr

import (
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// Scope has the values that expressions may read, by root: params (also known as parameters),
// steps, facts, artifacts, result, context, item, budgets, round. A scope is never modified.
type Scope map[string]any

// Column is one fact of several calls, in plan order. A step after a list reads it where a step
// after one call reads a fact. As a value it is a list. A condition on it holds if it holds for one
// of its values, or for the whole list; inside other text its values are separated by commas.
type Column []any

// Read is a value that was read at a path. A missing path is recorded with a nil value if its
// absence affected the result.
type Read struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// MissingError means that there is no value at a path.
type MissingError struct{ Path string }

// Error returns a message with the path.
func (e *MissingError) Error() string { return "there is no value at " + e.Path }

// Lookup returns the value at a path such as steps.n1.facts.matches[0].value. An error concerns the
// path itself: its syntax or an unknown root.
func Lookup(scope Scope, path string) (value any, found bool, err error) {
	parsed, err := contracts.ParseExpr(path)
	if err != nil {
		return nil, false, err
	}
	value, found = lookup(scope, parsed)
	if column, ok := value.(Column); ok {
		value = []any(column)
	}
	return value, found, nil
}

func lookup(scope Scope, path contracts.Path) (any, bool) {
	root, ok := scope[path.Root()]
	if !ok && path.Root() == "params" {
		root, ok = scope["parameters"]
	}
	if !ok {
		return nil, false
	}
	return walk(root, path[1:])
}

func walk(v any, path contracts.Path) (any, bool) {
	for _, step := range path {
		next, ok := descend(v, step)
		if !ok {
			return nil, false
		}
		v = next
	}
	return v, true
}

func descend(v any, step contracts.PathStep) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[step.Name]
		return next, ok && !step.IsIndex
	case []any:
		i, ok := indexOf(step)
		if !ok || i >= len(v) {
			return nil, false
		}
		return v[i], true
	case Column:
		return descend([]any(v), step)
	case nil, bool, string, float64:
		return nil, false
	}
	// Other Go values are converted to their JSON form.
	norm, err := contracts.Normalize(v)
	if err != nil {
		return nil, false
	}
	switch norm.(type) {
	case map[string]any, []any:
		return descend(norm, step)
	default:
		return nil, false
	}
}

// indexOf accepts both [0] and .0 for an element of a list.
func indexOf(step contracts.PathStep) (int, bool) {
	if step.IsIndex {
		return step.Index, true
	}
	i, err := strconv.ParseUint(step.Name, 10, 31)
	return int(i), err == nil
}
