package expr

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// Holds reports whether a condition holds, and returns what it read. A null counts as absent. An
// absent value on either side equals nothing, is in nothing and is not ordered. Numbers compare by
// value, times (RFC 3339) by instant, other text by bytes; values of different types are unequal
// and not ordered. An element of in that is an expression with a list result stands for all
// elements of the list. A condition on a Column holds if it holds for one of its values. For a
// condition in object form, an error concerns the condition itself, never values.
func Holds(c contracts.Condition, scope Scope) (bool, []Read, error) {
	r := &resolver{scope: scope, reads: map[string]any{}}
	if c.Expr != "" {
		holds, err := r.truth(c.Expr)
		return holds, r.sorted(), err
	}
	if err := checkShape(c); err != nil {
		return false, nil, err
	}
	path, err := contracts.ParseExpr(c.Path)
	if err != nil {
		return false, nil, err
	}
	left, err := r.optional(path)
	if err != nil {
		return false, nil, err
	}
	holds, err := r.compare(c, left)
	if column, ok := left.([]any); ok && r.several(path) {
		for n := 0; n < len(column) && err == nil && !holds; n++ {
			holds, err = r.compare(c, column[n])
		}
	}
	if err != nil {
		return false, nil, err
	}
	return holds, r.sorted(), nil
}

// checkShape requires exactly one comparison.
func checkShape(c contracts.Condition) error {
	if c.Expr != "" {
		_, err := wholeExpression(c.Expr)
		return err
	}
	if n := len(c.Operands()); n != 1 {
		return contracts.Errorf(contracts.CodeInvalid,
			"the condition on %q needs exactly one of equals, in, exists, gte and lte, but has %d", c.Path, n)
	}
	return nil
}

// wholeExpression requires exactly one expression without other text.
func wholeExpression(text string) (contracts.TemplatePart, error) {
	parts, err := contracts.SplitTemplate(text)
	if err != nil {
		return contracts.TemplatePart{}, err
	}
	if len(parts) != 1 || !parts[0].IsExpression() {
		return contracts.TemplatePart{}, contracts.Errorf(contracts.CodeInvalid, "the condition %.60q must be one expression ${…}", text)
	}
	return parts[0], nil
}

// truth returns the value of a condition in expression form.
func (r *resolver) truth(text string) (bool, error) {
	part, err := wholeExpression(text)
	if err != nil {
		return false, err
	}
	value, err := r.part("", part)
	if err == nil && len(r.missing) > 0 {
		err = missingError(r.missing)
	}
	if err != nil {
		return false, err
	}
	holds, ok := value.(bool)
	if !ok {
		return false, contracts.Errorf(contracts.CodeInvalid, "the condition %.80s gives neither true nor false", text)
	}
	return holds, nil
}

func (r *resolver) compare(c contracts.Condition, left any) (bool, error) {
	switch {
	case c.Exists != nil:
		return (left != nil) == *c.Exists, nil
	case c.In != nil:
		return r.in(left, c.In)
	case c.Equals != nil:
		right, err := r.operand(*c.Equals)
		return err == nil && left != nil && right != nil && equal(left, right), err
	case c.GTE != nil:
		right, err := r.operand(*c.GTE)
		sign, ordered := order(left, right)
		return err == nil && ordered && sign >= 0, err
	default:
		right, err := r.operand(*c.LTE)
		sign, ordered := order(left, right)
		return err == nil && ordered && sign <= 0, err
	}
}

func (r *resolver) in(left any, items []any) (bool, error) {
	holds := false
	for _, item := range items {
		right, err := r.operand(item)
		if err != nil {
			return false, err
		}
		if list, ok := right.([]any); ok && isExpression(item) {
			for _, element := range list {
				holds = holds || left != nil && equal(left, element)
			}
		}
		holds = holds || left != nil && right != nil && equal(left, right)
	}
	return holds, nil
}

func isExpression(v any) bool {
	text, ok := v.(string)
	if !ok {
		return false
	}
	parts, err := contracts.SplitTemplate(text)
	return err == nil && len(parts) == 1 && parts[0].IsExpression()
}

// operand returns the right side, nil if it reads a missing path.
func (r *resolver) operand(v any) (any, error) {
	norm, err := contracts.Normalize(v)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "compare: %w", err)
	}
	before := len(r.missing)
	out, err := r.value("", norm)
	for _, m := range r.missing[before:] {
		r.reads[m.Message] = nil
		out = nil
	}
	return out, err
}

// optional returns the value at a path, nil if there is none, and records the read.
func (r *resolver) optional(path contracts.Path) (any, error) {
	v, ok := lookup(r.scope, path)
	if !ok {
		r.reads[path.String()] = nil
		return nil, nil
	}
	return r.note(path, v)
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		list, ok := b.([]any)
		return ok && equalLists(a, list)
	case map[string]any:
		members, ok := b.(map[string]any)
		return ok && equalMaps(a, members)
	case float64, json.Number:
		x, y := number(a), number(b)
		return y != nil && x.Cmp(y) == 0
	default:
		return isPlain(b) && a == b
	}
}

// isPlain excludes maps and lists, for which == would panic.
func isPlain(v any) bool {
	switch v.(type) {
	case nil, bool, string:
		return true
	default:
		return false
	}
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalMaps(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		other, ok := b[name]
		if !ok || !equal(v, other) {
			return false
		}
	}
	return true
}

// order compares numbers with numbers and text with text.
func order(a, b any) (sign int, ordered bool) {
	if x, y := number(a), number(b); x != nil && y != nil {
		return x.Cmp(y), true
	}
	s, isText := a.(string)
	t, alsoText := b.(string)
	if !isText || !alsoText {
		return 0, false
	}
	at, errA := time.Parse(time.RFC3339Nano, s)
	bt, errB := time.Parse(time.RFC3339Nano, t)
	if errA == nil && errB == nil {
		return at.Compare(bt), true
	}
	switch {
	case s < t:
		return -1, true
	case s > t:
		return 1, true
	default:
		return 0, true
	}
}

// number returns the exact value of a JSON number, nil for anything else.
func number(v any) *big.Rat {
	switch v := v.(type) {
	case float64:
		return new(big.Rat).SetFloat64(v)
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			return r
		}
	}
	return nil
}
