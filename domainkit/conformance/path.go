package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// The suite evaluates only plain paths in param_map and assertions: names joined by dots. It is not
// a second expression evaluator. A check whose expression it cannot evaluate is skipped and
// reported as such.

// scope holds the root values of paths.
type scope map[string]any

func writeScope(c call, got outcome) scope {
	return scope{
		"params": c.Parameters, "parameters": c.Parameters,
		"result": map[string]any{"summary": got.result.Summary, "facts": got.result.Facts},
		"context": map[string]any{
			"idempotency_key": c.Context.IdempotencyKey,
			"principal":       map[string]any{"id": c.Context.Principal.ID},
		},
	}
}

// call is the request that the core sends.
type call = contracts.ExecuteRequest

var (
	wholePath = regexp.MustCompile(`^\$\{\s*([A-Za-z0-9_.]+)\s*\}$`)
	plainPath = regexp.MustCompile(`^[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*$`)
)

// unreadError is returned for an expression that the suite cannot evaluate.
type unreadError struct{ expression string }

func (e unreadError) Error() string { return fmt.Sprintf("the suite cannot read %q", e.expression) }

func (s scope) lookup(path string) (value any, found bool, err error) {
	if !plainPath.MatchString(path) {
		return nil, false, unreadError{path}
	}
	value = map[string]any(s)
	for name := range strings.SplitSeq(path, ".") {
		members, ok := value.(map[string]any)
		if !ok {
			return nil, false, nil
		}
		if value, found = members[name]; !found {
			return nil, false, nil
		}
	}
	return value, true, nil
}

// value evaluates a literal or "${path}". It returns unreadError for anything else with "${".
func (s scope) value(v any) (any, error) {
	text, ok := v.(string)
	if !ok || !strings.Contains(text, "${") {
		return v, nil
	}
	whole := wholePath.FindStringSubmatch(text)
	if whole == nil {
		return nil, unreadError{text}
	}
	value, found, err := s.lookup(whole[1])
	if err == nil && !found {
		return nil, fmt.Errorf("%s does not exist", text)
	}
	return value, err
}

// passedOn removes the parameters taken from a parameter that the original call did not have, as
// the core does for a compensation.
func (s scope) passedOn(paramMap map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range paramMap {
		text, _ := v.(string)
		whole := wholePath.FindStringSubmatch(text)
		if whole != nil && strings.HasPrefix(whole[1], "params.") {
			if value, found, err := s.lookup(whole[1]); err == nil && (!found || value == nil) {
				continue
			}
		}
		out[name] = v
	}
	return out
}

func (s scope) parameters(paramMap map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for name, v := range paramMap {
		value, err := s.value(v)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

// holds reports whether a condition is true.
func (s scope) holds(c contracts.Condition) (bool, error) {
	value, found, err := s.lookup(c.Path)
	if err != nil {
		return false, err
	}
	switch {
	case c.Exists != nil:
		return *c.Exists == (found && value != nil), nil
	case c.Equals != nil:
		want, err := s.value(*c.Equals)
		return found && same(value, want), err
	case c.In != nil:
		return s.in(value, c.In)
	case c.GTE != nil:
		return s.compares(value, *c.GTE, func(order int) bool { return order >= 0 })
	case c.LTE != nil:
		return s.compares(value, *c.LTE, func(order int) bool { return order <= 0 })
	default:
		return false, unreadError{c.Path}
	}
}

func (s scope) in(value any, items []any) (bool, error) {
	for _, item := range items {
		want, err := s.value(item)
		if err != nil {
			return false, err
		}
		if same(value, want) {
			return true, nil
		}
	}
	return false, nil
}

func (s scope) compares(value, limit any, fits func(order int) bool) (bool, error) {
	want, err := s.value(limit)
	if err != nil {
		return false, err
	}
	if a, ok := value.(string); ok {
		b, isText := want.(string)
		return isText && fits(strings.Compare(a, b)), nil
	}
	a, isNumber := number(value)
	b, isToo := number(want)
	return isNumber && isToo && fits(a.Cmp(b)), nil
}

func same(a, b any) bool {
	x, isNumber := number(a)
	y, isToo := number(b)
	if isNumber && isToo {
		return x.Cmp(y) == 0
	}
	left, errLeft := contracts.Normalize(a)
	right, errRight := contracts.Normalize(b)
	return cmp.Or(errLeft, errRight) == nil && reflect.DeepEqual(left, right)
}

func number(v any) (*big.Rat, bool) {
	switch v.(type) {
	case int, int64, float64, json.Number:
		return new(big.Rat).SetString(fmt.Sprint(v))
	default:
		return nil, false
	}
}
