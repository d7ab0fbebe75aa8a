package contracts

import (
	"slices"
	"strings"
)

// The values that expressions may read: before the call, before its result, and after it. "facts"
// is short for the facts of the current result.
var (
	beforeCall   = []string{"params", "context.principal"}
	beforeResult = []string{"params", "context.principal", "context.idempotency_key"}
	afterResult  = []string{
		"params", "context.principal", "context.idempotency_key",
		"result.summary", "result.facts", "result.artifacts", "facts",
	}
)

// checkCall checks a call of another capability: that it exists, has these parameters, gets its
// required ones, and that the expressions may be read. It returns the capability if it belongs to
// this manifest.
func (c *manifestCheck) checkCall(at string, cap *checkedCapability, call CapabilityCall, allowed []string) *checkedCapability {
	c.checkExpressions(at+"/param_map", cap, call.ParamMap, allowed)
	target := c.resolve(at+"/capability", call.Capability)
	if target == nil {
		return nil
	}
	c.checkTargets(at+"/param_map", target, call.ParamMap)
	if target.in != nil {
		for _, name := range target.in.View().Required {
			if _, ok := call.ParamMap[name]; !ok {
				c.faults.add(at+"/param_map", "%q requires %s", target.Name, name)
			}
		}
	}
	return target
}

// checkTargets checks that a capability has the parameters that a map sets. A schema without
// properties accepts any.
func (c *manifestCheck) checkTargets(at string, target *checkedCapability, paramMap map[string]any) {
	if target.in == nil {
		return
	}
	known := target.in.Properties()
	for _, name := range sortedKeys(paramMap) {
		if len(known) > 0 && !slices.Contains(known, name) {
			c.faults.add(child(at, name), "%q has no parameter %q in its schema", target.Name, name)
		}
	}
}

// checkExpressions checks every "${path}" inside v: its syntax, its root, and that the named
// parameters of cap exist. A nil cap disables the last check.
func (c *manifestCheck) checkExpressions(at string, cap *checkedCapability, v any, allowed []string) {
	switch v := v.(type) {
	case string:
		c.checkTemplate(at, cap, v, allowed)
	case []any:
		for i, item := range v {
			c.checkExpressions(child(at, i), cap, item, allowed)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			c.checkExpressions(child(at, name), cap, v[name], allowed)
		}
	}
}

func (c *manifestCheck) checkTemplate(at string, cap *checkedCapability, text string, allowed []string) {
	parts, err := ParseTemplate(text)
	if err != nil {
		c.faults.add(at, "%s", err)
		return
	}
	for _, part := range parts {
		if part.Path != nil {
			c.checkPath(at, cap, part.Path, allowed)
		}
	}
}

func (c *manifestCheck) checkCondition(at string, cap *checkedCapability, cond Condition, allowed []string) {
	if len(cond.Operands()) != 1 {
		c.faults.add(at, "needs exactly one of equals, in, exists, gte and lte (a null is none; absence is exists: false)")
	}
	path, err := ParseExpr(cond.Path)
	if err != nil {
		c.faults.add(at+"/path", "%s", err)
	} else {
		c.checkPath(at+"/path", cap, path, allowed)
	}
	for _, right := range cond.Operands() {
		c.checkExpressions(at+"/"+right.Name, cap, right.Value, allowed)
	}
}

func (c *manifestCheck) checkPath(at string, cap *checkedCapability, path Path, allowed []string) {
	covered := func(prefix string) bool {
		root, member, nested := strings.Cut(prefix, ".")
		return path.Root() == root && (!nested || len(path) > 1 && path[1].Name == member)
	}
	if !slices.ContainsFunc(allowed, covered) {
		c.faults.add(at, "%s cannot be read here; allowed are %s", path, strings.Join(allowed, ", "))
		return
	}
	if path.Root() == "params" && len(path) > 1 && cap != nil {
		c.property(at, cap, path[1].Name)
	}
}
