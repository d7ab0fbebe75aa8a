// Package expr evaluates the small expressions of manifests and plans:
// "${path}" inside values, and conditions over paths. What is more than a path
// is CEL: a pure function of the values that it reads, bounded in cost and size,
// without a clock or a network. A path needs no compiler, and is by far the most
// frequent. The syntax of paths and templates is part of the vocabulary and lives
// in contracts.
package expr

import (
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// Scope holds the values that expressions may read, by root: params (also
// known as parameters), steps, facts, artifacts, result, context, item,
// budgets, round. A scope is only read.
type Scope map[string]any

// Column is one fact of several calls, in the order of the plan: what a fact of
// one call is to a follow-up, this is to one that comes after a list. As a value
// it is a list. A condition on it holds if it holds for one of its values, or for
// the list as a whole; inside other text its values stand one after another.
type Column []any

// Read is a value that was read at a path. A path that leads nowhere is noted
// with a nil value where its absence decided something.
type Read struct {
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// MissingError says that a path leads nowhere.
type MissingError struct{ Path string }

// Error names the path.
func (e *MissingError) Error() string { return "there is no value at " + e.Path }

// Lookup returns the value at a path such as steps.n1.facts.matches[0].value.
// The error is about the path itself: its syntax or an unknown root.
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
	// Go values other than decoded JSON count by their JSON form.
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

// indexOf takes [0] as well as .0 for an element of a list.
func indexOf(step contracts.PathStep) (int, bool) {
	if step.IsIndex {
		return step.Index, true
	}
	i, err := strconv.ParseUint(step.Name, 10, 31)
	return int(i), err == nil
}
