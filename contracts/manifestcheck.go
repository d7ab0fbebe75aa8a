package contracts

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// checkCapability runs all checks on one capability.
func (c *manifestCheck) checkCapability(cap *checkedCapability) {
	c.checkPolicy(cap)
	c.checkWriteRules(cap)
	c.checkLocks(cap)
	c.checkSpecs(cap)
	c.checkPlays(cap)
	c.checkDecomposition(cap)
	c.checkComposition(cap)
	c.checkFlow(cap)
	c.checkPresent(cap)
	c.checkExamples(cap)
}

func (c *manifestCheck) checkExamples(cap *checkedCapability) {
	for i, example := range cap.Metadata.Examples {
		if cap.in != nil {
			c.faults.addAt(child(cap.at+"/metadata/examples", i)+"/parameters", cap.in.Validate(example.Parameters))
		}
	}
}

// checkPolicy rejects contradictory declarations. It does not reject declarations that are too
// lenient, because Metadata.Policy ignores them.
func (c *manifestCheck) checkPolicy(cap *checkedCapability) {
	m, at := cap.Metadata, cap.at+"/metadata"
	if m.SideEffectClass.Writes() && m.Idempotency == IdempotencyNotApplicable {
		c.faults.add(at+"/idempotency", "a write must say natural, keyed or none")
	}
	if m.SideEffectClass.Writes() && m.RiskLevel == RiskRead {
		c.faults.add(at+"/risk_level", "a write has at least risk low")
	}
	timeout := Metadata{TimeoutMS: m.TimeoutMS}.Policy(false).TimeoutMS
	if m.NodeTimeoutMS > 0 && m.NodeTimeoutMS < timeout {
		c.faults.add(at+"/node_timeout_ms", "must not be less than timeout_ms (%d)", timeout)
	}
}

// checkWriteRules checks compensation, reconcile and verify.
func (c *manifestCheck) checkWriteRules(cap *checkedCapability) {
	m, at := cap.Metadata, cap.at+"/metadata"
	if call := m.Compensation; call != nil {
		target := c.checkCall(at+"/compensation", cap, *call, afterResult)
		if target != nil && !target.Metadata.SideEffectClass.Writes() {
			c.faults.add(at+"/compensation/capability", "must be a capability that writes; one that undoes itself with what was before may name itself")
		}
	}
	if call := m.Reconcile; call != nil {
		// An unknown outcome has no result to read.
		target := c.checkCall(at+"/reconcile", cap, *call, beforeResult)
		c.wantRead(at+"/reconcile/capability", target)
	}
	if rule := m.Verify; rule != nil {
		target := c.checkCall(at+"/verify", cap, CapabilityCall{rule.Capability, rule.ParamMap}, afterResult)
		c.wantRead(at+"/verify/capability", target)
		for i, assertion := range rule.Assertions {
			c.checkCondition(child(at+"/verify/assertions", i), cap, assertion, afterResult)
		}
	}
}

func (c *manifestCheck) wantRead(at string, target *checkedCapability) {
	if target != nil && target.Metadata.SideEffectClass != ClassRead {
		c.faults.add(at, "%q must be of side_effect_class read", target.Name)
	}
}

var lockPlace = regexp.MustCompile(`\{([^{}]*)\}`)

func (c *manifestCheck) checkLocks(cap *checkedCapability) {
	for i, lock := range cap.Metadata.Locks {
		at := child(cap.at+"/metadata/locks", i)
		for _, place := range lockPlace.FindAllStringSubmatch(lock, -1) {
			c.property(at, cap, place[1])
		}
		if strings.ContainsAny(lockPlace.ReplaceAllString(lock, ""), "{}") {
			c.faults.add(at, "the braces do not match")
		}
	}
}

func (c *manifestCheck) checkPlays(cap *checkedCapability) {
	seen := map[string]bool{}
	for i, play := range cap.Metadata.Plays {
		at := child(cap.at+"/metadata/plays", i)
		if seen[play.Role] {
			c.faults.add(at, "the role %q stands here twice", play.Role)
		}
		seen[play.Role] = true
		if len(play.ParamMap) > 0 {
			c.checkTargets(at+"/param_map", cap, play.ParamMap)
			c.checkExpressions(at+"/param_map", nil, play.ParamMap, []string{"params", "context.principal"})
		} else if play.Role == RoleNotifier && cap.in != nil && !slices.Contains(cap.in.Properties(), "message") {
			c.faults.add(at, "a notifier takes message; name the parameter that stands for it in a param_map")
		}
	}
}

func (c *manifestCheck) checkDecomposition(cap *checkedCapability) {
	if cap.Metadata.Decomposition == nil {
		return
	}
	seen := map[string]bool{}
	for i, rule := range cap.Metadata.Decomposition.ArrayParams {
		at := child(cap.at+"/metadata/decomposition/array_params", i)
		if rule.ParamName == rule.SingleParamName {
			c.faults.add(at+"/single_param_name", "must differ from param_name")
		}
		for _, name := range []string{rule.ParamName, rule.SingleParamName} {
			if seen[name] {
				c.faults.add(at, "the parameter %q is in another rule already", name)
			}
			seen[name] = true
		}
		c.property(at+"/single_param_name", cap, rule.SingleParamName)
		if list := c.property(at+"/param_name", cap, rule.ParamName); list != nil {
			if kind := list.View().Type; kind != "" && kind != "array" {
				c.faults.add(at+"/param_name", "%q must be of type array", rule.ParamName)
			}
		}
	}
}

func (c *manifestCheck) checkComposition(cap *checkedCapability) {
	rule := cap.Metadata.Composition
	if rule == nil {
		return
	}
	at := cap.at + "/metadata/composition"
	if rule.EnabledIf != nil {
		c.checkCondition(at+"/enabled_if", cap, *rule.EnabledIf, afterResult)
	}
	c.checkExpressions(at+"/param_map", cap, rule.ParamMap, afterResult)
	if !slices.Contains(rule.FollowupRoles, RoleNotifier) {
		return
	}
	if _, ok := rule.ParamMap["message"]; !ok {
		c.faults.add(at+"/param_map", "a notifier needs message")
	}
	for _, name := range sortedKeys(rule.ParamMap) {
		if len(rule.FollowupRoles) == 1 && !slices.Contains([]string{"message", "title", "channel"}, name) {
			c.faults.add(child(at+"/param_map", name), "a notifier takes message, title and channel")
		}
	}
}

func (c *manifestCheck) checkFlow(cap *checkedCapability) {
	if cap.Metadata.Flow == nil {
		return
	}
	// A parameter may have one step that searches for given text and one that looks it up
	// without.
	type way struct {
		param string
		looks bool
	}
	seen := map[way]bool{}
	for i, step := range cap.Metadata.Flow.Pre {
		at := child(cap.at+"/metadata/flow/pre", i)
		by := way{step.Param, step.IsLookup()}
		if seen[by] {
			c.faults.add(at+"/param", "the parameter %q is resolved by another step already", step.Param)
		}
		seen[by] = true
		c.checkPre(at, cap, step)
	}
	c.checkStaleOn(cap)
	for i, step := range cap.Metadata.Flow.Post {
		at := child(cap.at+"/metadata/flow/post", i)
		target := c.checkCall(at, cap, CapabilityCall{step.Capability, step.ParamMap}, afterResult)
		if target != nil && target.Metadata.SideEffectClass.Writes() {
			c.faults.add(at+"/capability", "%q must be of side_effect_class read or suggest", target.Name)
		}
	}
}

// checkStaleOn rejects types outside the domain's namespace, because the core defines the meaning
// of the standard ones, and writes without lookups to repeat.
func (c *manifestCheck) checkStaleOn(cap *checkedCapability) {
	flow := cap.Metadata.Flow
	for i, kind := range flow.StaleOn {
		at := child(cap.at+"/metadata/flow/stale_on", i)
		switch {
		case !strings.HasPrefix(kind, "domain.") || len(kind) > 64:
			c.faults.add(at, "must be a type of error of the domain's own, \"domain.…\"")
		case slices.Contains(flow.StaleOn[:i], kind):
			c.faults.add(at, "is named twice")
		case !cap.Metadata.SideEffectClass.Writes():
			c.faults.add(at, "only a write can find what it was approved for changed")
		case !slices.ContainsFunc(flow.Pre, PreStep.IsLookup):
			c.faults.add(at, "there is no step in flow.pre that looks a parameter up by others alone, so nothing could be made again")
		}
	}
}

func (c *manifestCheck) checkPre(at string, cap *checkedCapability, step PreStep) {
	c.property(at+"/param", cap, step.Param)
	if step.ResultPath != "" {
		path, err := ParsePath(step.ResultPath)
		if err != nil {
			c.faults.add(at+"/result_path", "%s", err)
		} else if path.Root() != "facts" {
			c.faults.add(at+"/result_path", "must begin with facts")
		}
	}
	target := c.resolve(at+"/search_capability", step.SearchCapability)
	if target == nil {
		return
	}
	if target == cap || target.Metadata.SideEffectClass.Writes() {
		c.faults.add(at+"/search_capability", "must be another capability, of side_effect_class read or suggest")
	}
	if len(step.ParamMap) > 0 {
		asked := step.ParamMap
		if step.SearchParam != "" {
			asked = maps.Clone(asked)
			asked[step.SearchParam] = "" // the search text is added by the call
		}
		c.checkCall(at, cap, CapabilityCall{step.SearchCapability, asked}, beforeCall)
		return
	}
	param := step.SearchParam
	if param == "" {
		param = "query"
	}
	c.checkTargets(at+"/search_param", target, map[string]any{param: nil})
}

func (c *manifestCheck) checkPresent(cap *checkedCapability) {
	present := cap.Metadata.Present
	if present == nil {
		return
	}
	at := cap.at + "/metadata/present"
	check := func(at, path string) {
		if _, err := ParsePath(path); err != nil {
			c.faults.add(at, "%s", err)
		}
	}
	if present.Rows != "" {
		check(at+"/rows", present.Rows)
	}
	for i, column := range present.Columns {
		check(child(at+"/columns", i)+"/path", column.Path)
	}
}

// checkSpecs rejects hints that contradict the schema, which is authoritative.
func (c *manifestCheck) checkSpecs(cap *checkedCapability) {
	for _, name := range sortedKeys(cap.Metadata.ParameterSpecs) {
		at := child(cap.at+"/metadata/parameter_specs", name)
		if property := c.property(at, cap, name); property != nil {
			c.checkSpec(at, cap.Metadata.ParameterSpecs[name], property, slices.Contains(cap.in.View().Required, name))
		}
	}
}

func (c *manifestCheck) checkSpec(at string, spec ParameterSpec, property *Schema, required bool) {
	view := property.View()
	if spec.Type != "" && view.Type != "" && spec.Type != view.Type && (spec.Type != "null" || !view.Nullable) {
		c.faults.add(at+"/type", "contradicts the schema, which says %v", view.Type)
	}
	if given := slices.DeleteFunc(slices.Clone(spec.Enum), func(v any) bool { return v == nil }); spec.Enum != nil && len(view.Enum) > 0 {
		c.checkCopy(at+"/enum", view.Enum, given)
	}
	if spec.Pattern != "" {
		if _, err := regexp.Compile(spec.Pattern); err != nil {
			c.faults.add(at+"/pattern", "is no RE2 pattern")
		} else if view.Pattern != "" {
			c.checkCopy(at+"/pattern", view.Pattern, spec.Pattern)
		}
	}
	if spec.Default != nil {
		if view.Default != nil {
			c.checkCopy(at+"/default", view.Default, spec.Default)
		}
		c.faults.addAt(at+"/default", property.Validate(spec.Default))
	}
	if items, ok := property.Items(); ok && len(spec.Items) > 0 {
		c.checkCopy(at+"/items", items.Raw(), spec.Items)
	}
	if spec.Required != nil && *spec.Required != required {
		c.faults.add(at+"/required", "contradicts the schema, which says %v", required)
	}
	for _, spoken := range sortedKeys(spec.Aliases) {
		c.checkAlias(child(at+"/aliases", spoken), property, spec.Aliases[spoken])
	}
}

// checkCopy compares a hint with the schema keyword that it repeats.
func (c *manifestCheck) checkCopy(at string, said, hint any) {
	want, err := Canonical(said)
	got, bad := Canonical(hint)
	if err != nil || bad != nil || !bytes.Equal(want, got) {
		c.faults.add(at, "contradicts the schema, which says %.100s", want)
	}
}

// checkAlias checks that the value of an alias is valid for the parameter, or for an item of a
// list.
func (c *manifestCheck) checkAlias(at string, property *Schema, value any) {
	wrong := property.Validate(value)
	if items, ok := property.Items(); ok && wrong != nil {
		wrong = items.Validate(value)
	}
	c.faults.addAt(at, wrong)
}
