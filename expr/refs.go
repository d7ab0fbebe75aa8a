package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Refs gives the paths that the expressions inside v name, sorted, each once.
func Refs(v any) ([]string, error) {
	var c collector
	if err := c.add(v); err != nil {
		return nil, err
	}
	return c.paths(), nil
}

// RefsOf gives the paths that a condition names, on both sides.
func RefsOf(cond contracts.Condition) ([]string, error) {
	path, err := contracts.ParseExpr(cond.Path)
	if err != nil {
		return nil, err
	}
	c := collector{found: []ref{{path: path}}}
	for _, operand := range cond.Operands() {
		if err := c.add(operand.Value); err != nil {
			return nil, err
		}
	}
	return c.paths(), nil
}

// Check gives what is wrong with the expressions inside v, by JSON pointer:
// their syntax, and roots other than those allowed. No roots allow all.
func Check(v any, roots ...string) []contracts.Fault {
	c := collector{keepGoing: true}
	if err := c.add(v); err != nil {
		return []contracts.Fault{{Message: err.Error()}}
	}
	return c.outside(roots)
}

// CheckCondition is Check for a condition, its shape included.
func CheckCondition(cond contracts.Condition, roots ...string) []contracts.Fault {
	c := collector{keepGoing: true}
	if path, err := contracts.ParseExpr(cond.Path); err != nil {
		c.faults = append(c.faults, contracts.Fault{Pointer: "/path", Message: err.Error()})
	} else {
		c.found = append(c.found, ref{at: "/path", path: path})
	}
	for _, operand := range cond.Operands() {
		c.at = "/" + operand.Name
		if err := c.add(operand.Value); err != nil {
			c.faults = append(c.faults, contracts.Fault{Pointer: c.at, Message: err.Error()})
		}
	}
	if err := checkShape(cond); err != nil {
		c.faults = append(c.faults, contracts.Fault{Message: err.Error()})
	}
	return c.outside(roots)
}

type ref struct {
	at   string
	path contracts.Path
}

// collector walks a value for its expressions.
type collector struct {
	at        string
	keepGoing bool // list faults instead of stopping at the first
	found     []ref
	faults    []contracts.Fault
}

func (c *collector) add(v any) error {
	norm, err := contracts.Normalize(v)
	if err != nil {
		return contracts.Errorf(contracts.CodeInvalid, "read expressions: %w", err)
	}
	return c.walk(c.at, norm)
}

func (c *collector) walk(at string, v any) error {
	switch v := v.(type) {
	case string:
		return c.text(at, v)
	case []any:
		for i, item := range v {
			if err := c.walk(at+"/"+strconv.Itoa(i), item); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := c.walk(at+"/"+escapeToken(name), v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collector) text(at, text string) error {
	if !strings.Contains(text, "${") {
		return nil
	}
	parts, err := contracts.ParseTemplate(text)
	if err != nil && c.keepGoing {
		c.faults = append(c.faults, contracts.Fault{Pointer: at, Message: err.Error()})
		return nil
	}
	for _, part := range parts {
		if part.Path != nil {
			c.found = append(c.found, ref{at: at, path: part.Path})
		}
	}
	return err
}

func (c *collector) paths() []string {
	paths := make([]string, 0, len(c.found))
	for _, r := range c.found {
		paths = append(paths, r.path.String())
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (c *collector) outside(roots []string) []contracts.Fault {
	for _, r := range c.found {
		if len(roots) > 0 && !slices.Contains(roots, r.path.Root()) {
			c.faults = append(c.faults, contracts.Fault{
				Pointer: r.at,
				Message: r.path.String() + " cannot be read here; allowed are " + strings.Join(roots, ", "),
			})
		}
	}
	return c.faults
}
