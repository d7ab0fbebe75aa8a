package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Refs returns the paths in the expressions of v, sorted, each once.
func Refs(v any) ([]string, error) {
	var c collector
	if err := c.add(v); err != nil {
		return nil, err
	}
	return c.paths(), nil
}

// RefsOf returns the paths in a condition, on both sides.
func RefsOf(cond contracts.Condition) ([]string, error) {
	var c collector
	if cond.Expr != "" {
		err := c.text("", cond.Expr)
		return c.paths(), err
	}
	path, err := contracts.ParseExpr(cond.Path)
	if err != nil {
		return nil, err
	}
	c.found = []Ref{{Path: path}}
	for _, operand := range cond.Operands() {
		if err := c.add(operand.Value); err != nil {
			return nil, err
		}
	}
	return c.paths(), nil
}

// Check returns the faults of the expressions in v, by JSON pointer: syntax errors, and roots other
// than those given. Without roots, all are allowed.
func Check(v any, roots ...string) []contracts.Fault {
	c := collector{keepGoing: true}
	if err := c.add(v); err != nil {
		return []contracts.Fault{{Message: err.Error()}}
	}
	return c.outside(roots)
}

// CheckCondition is Check for a condition, including its form.
func CheckCondition(cond contracts.Condition, roots ...string) []contracts.Fault {
	c := collector{keepGoing: true}
	c.condition(cond)
	return c.outside(roots)
}

// condition collects the paths of a condition, including faults of its form.
func (c *collector) condition(cond contracts.Condition) {
	if err := checkShape(cond); err != nil {
		_ = c.fault("", err)
		if cond.Expr != "" {
			return
		}
	}
	if cond.Expr != "" {
		_ = c.text("", cond.Expr) // errors are recorded as faults
		return
	}
	if path, err := contracts.ParseExpr(cond.Path); err != nil {
		_ = c.fault("/path", err)
	} else {
		c.found = append(c.found, Ref{At: "/path", Path: path})
	}
	for _, operand := range cond.Operands() {
		c.at = "/" + operand.Name
		if err := c.add(operand.Value); err != nil {
			_ = c.fault(c.at, err)
		}
	}
}

// Ref is a path in an expression, with its location.
type Ref struct {
	// At is the JSON pointer of the text.
	At   string
	Path contracts.Path
}

// References returns every path in the expressions of v with its location, and the faults: those of
// Check, and arithmetic on values of unknown type. Workflows are admitted by it.
func References(v any) ([]Ref, []contracts.Fault) {
	c := collector{keepGoing: true, strict: true}
	if err := c.add(v); err != nil {
		return nil, []contracts.Fault{{Message: err.Error()}}
	}
	return c.found, c.faults
}

// ReferencesOf is References for a condition.
func ReferencesOf(cond contracts.Condition) ([]Ref, []contracts.Fault) {
	c := collector{keepGoing: true, strict: true}
	c.condition(cond)
	return c.found, c.faults
}

// collector collects the expressions of a value.
type collector struct {
	at        string
	keepGoing bool // list faults instead of stopping at the first
	strict    bool // refuse arithmetic on values whose type is not known
	found     []Ref
	faults    []contracts.Fault
}

func (c *collector) add(v any) error {
	norm, err := contracts.NormalizeShared(v)
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
			if err := c.walk(at+"/"+contracts.EscapeToken(name), v[name]); err != nil {
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
	parts, err := contracts.SplitTemplate(text)
	if err != nil {
		return c.fault(at, err)
	}
	for _, part := range parts {
		if part.Path != nil {
			c.found = append(c.found, Ref{At: at, Path: part.Path})
		}
		if part.Source == "" {
			continue
		}
		p, err := programs.get(part.Source)
		if err != nil {
			if err = c.fault(at, err); err != nil {
				return err
			}
			continue
		}
		c.program(at, p)
	}
	return nil
}

func (c *collector) program(at string, p *program) {
	for _, path := range p.paths {
		c.found = append(c.found, Ref{At: at, Path: path})
	}
	if c.strict {
		for _, message := range p.untyped {
			c.faults = append(c.faults, contracts.Fault{Pointer: at, Message: message})
		}
	}
}

// fault records an error as a fault, or returns it to stop the walk.
func (c *collector) fault(at string, err error) error {
	if !c.keepGoing {
		return err
	}
	c.faults = append(c.faults, contracts.Fault{Pointer: at, Message: err.Error()})
	return nil
}

func (c *collector) paths() []string {
	paths := make([]string, 0, len(c.found))
	for _, r := range c.found {
		paths = append(paths, r.Path.String())
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (c *collector) outside(roots []string) []contracts.Fault {
	for _, r := range c.found {
		if len(roots) > 0 && !slices.Contains(roots, r.Path.Root()) {
			c.faults = append(c.faults, contracts.Fault{
				Pointer: r.At,
				Message: r.Path.String() + " cannot be read here; allowed are " + strings.Join(roots, ", "),
			})
		}
	}
	return c.faults
}
