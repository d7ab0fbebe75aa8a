package planner

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// preparedParams are the parameters of one call after aliases, defaults and decomposition.
type preparedParams struct {
	// given are all parameters, with lists not split.
	given   map[string]any
	members []member
	// split means that a list was decomposed into calls, even if it has one item.
	split bool
	// limit is the most members that run at once, 0 for no limit.
	limit int
	// places maps a list to the original indexes of its distinct items.
	places map[string][]int
	// faults have pointers relative to the parameters; missing are names.
	faults  []contracts.Fault
	missing []string
}

// member is one call of a decomposition, or the only call.
type member struct {
	params map[string]any
	// origin maps a parameter to the pointer of its value, if it is not its own name.
	origin map[string]string
	each   *contracts.ForEach
	// pre are the searches that must resolve parameters first.
	pre []contracts.PreStep
	// label distinguishes the members of a decomposition.
	label string
}

// prepare applies the contract's order: aliases, lists by their own schema, decomposition,
// searches, schema. It takes ownership of params.
func (c *compiler) prepare(target *capability, params map[string]any) (preparedParams, error) {
	target.dropNulls(params)
	p := preparedParams{given: params, places: map[string][]int{}, faults: target.unknown(params)}
	target.applyAliases(params)
	rules := p.takeLists(target)
	if len(p.faults) > 0 {
		p.findMore(target)
		return p, nil
	}
	target.applyDefaults(params)
	p.split = len(rules) > 0
	if err := c.checkSize(target, params, rules); err != nil {
		return p, err
	}
	if err := p.decompose(target, rules); err != nil {
		return p, err
	}
	for i := range p.members {
		if err := p.check(target, &p.members[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// findMore adds the faults of the other parameters if some are invalid, so that a caller gets all
// faults at once.
func (p *preparedParams) findMore(target *capability) {
	rest := literals(p.given)
	for _, f := range p.faults {
		delete(rest, param(f.Pointer))
	}
	for _, step := range target.searches(p.given) {
		delete(rest, step.Param)
	}
	p.faults = append(p.faults, target.checkEach(rest)...)
}

// takeLists validates and deduplicates the lists of the array rules, and returns the rules that
// apply.
func (p *preparedParams) takeLists(target *capability) []contracts.ArrayRule {
	var rules []contracts.ArrayRule
	for _, rule := range target.arrayRules() {
		value, given := p.given[rule.ParamName]
		if !given {
			continue
		}
		if _, whole := wholeExpr(value); whole {
			rules = append(rules, rule)
			continue
		}
		items, ok := value.([]any)
		if !ok {
			p.rejectScalar(target, rule, value)
			continue
		}
		if p.takeList(target, rule, items) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// rejectScalar adds a fault for a value that must be a list, unless the parameter accepts both an
// item and a list.
func (p *preparedParams) rejectScalar(target *capability, rule contracts.ArrayRule, value any) {
	if rule.ParamName == rule.SingleParamName {
		return
	}
	faults := target.checkEach(map[string]any{rule.ParamName: plain(value)})
	if len(faults) == 0 {
		faults = []contracts.Fault{fault("/"+contracts.EscapeToken(rule.ParamName), "must be a list")}
	}
	p.faults = append(p.faults, faults...)
}

func (p *preparedParams) takeList(target *capability, rule contracts.ArrayRule, items []any) bool {
	pointer := "/" + contracts.EscapeToken(rule.ParamName)
	if len(items) == 0 {
		p.faults = append(p.faults, fault(pointer, "must have at least one item"))
		return false
	}
	if len(items) > contracts.MaxNodes {
		p.faults = append(p.faults, fault(pointer, "has %d items; at most %d can be planned at once", len(items), contracts.MaxNodes))
		return false
	}
	if !deferred(items) {
		if faults := target.checkEach(map[string]any{rule.ParamName: plain(items)}); len(faults) > 0 {
			p.faults = append(p.faults, faults...)
			return false
		}
	}
	items, p.places[rule.ParamName] = distinct(items)
	p.given[rule.ParamName] = items
	if rule.SingleParamName == rule.ParamName {
		return true
	}
	if single, both := p.given[rule.SingleParamName]; both {
		if !slices.ContainsFunc(items, func(item any) bool { return reflect.DeepEqual(item, single) }) {
			p.faults = append(p.faults, fault("/"+contracts.EscapeToken(rule.SingleParamName), "give it or %q, not both", rule.ParamName))
			return false
		}
		delete(p.given, rule.SingleParamName)
	}
	return true
}

// distinct removes later duplicates and returns the original indexes of the others.
func distinct(items []any) ([]any, []int) {
	seen := make(map[string]bool, len(items))
	out, places := make([]any, 0, len(items)), make([]int, 0, len(items))
	for i, item := range items {
		key, err := contracts.Canonical(item)
		if err == nil && seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		out, places = append(out, item), append(places, i)
	}
	return out, places
}

// checkSize refuses a cross product that is too large before it is built.
func (c *compiler) checkSize(target *capability, params map[string]any, rules []contracts.ArrayRule) error {
	size := 1
	for _, rule := range rules {
		if items, ok := params[rule.ParamName].([]any); ok {
			size *= len(items) // both are at most MaxNodes, so this cannot overflow
		}
		if size > c.graph.limit {
			return tooManyNodes(target.Ref()+" for every combination of its lists", c.graph.limit)
		}
	}
	return nil
}

// decompose builds the members: the cross product of all lists in rule order.
func (p *preparedParams) decompose(target *capability, rules []contracts.ArrayRule) error {
	base := maps.Clone(p.given)
	for _, rule := range rules {
		delete(base, rule.ParamName)
		p.limit = smaller(p.limit, rule.MaxConcurrency)
		if rule.CreateParallelSteps != nil && !*rule.CreateParallelSteps {
			p.limit = 1
		}
	}
	p.members = []member{{params: base, origin: map[string]string{}}}
	for _, rule := range rules {
		if _, known := p.given[rule.ParamName].([]any); !known {
			if err := p.repeat(target, rule); err != nil {
				return err
			}
			continue
		}
		p.multiply(target, rule)
	}
	return nil
}

func (p *preparedParams) multiply(target *capability, rule contracts.ArrayRule) {
	items := listOf(p.given[rule.ParamName])
	secret := target.spec(rule.SingleParamName).PII || target.spec(rule.ParamName).PII
	out := make([]member, 0, len(p.members)*len(items))
	for _, m := range p.members {
		for i, item := range items {
			next := member{params: maps.Clone(m.params), origin: maps.Clone(m.origin), each: m.each, label: m.label}
			next.params[rule.SingleParamName] = item
			next.origin[rule.SingleParamName] = "/" + contracts.EscapeToken(rule.ParamName) + "/" + strconv.Itoa(p.places[rule.ParamName][i])
			if !secret && !deferred(item) {
				next.label = strings.TrimPrefix(next.label+", "+spoken(plain(item)), ", ")
			}
			out = append(out, next)
		}
	}
	p.members = out
}

// repeat defers a list that is not known yet to the run.
func (p *preparedParams) repeat(target *capability, rule contracts.ArrayRule) error {
	for i := range p.members {
		m := &p.members[i]
		if m.each != nil {
			return contracts.Errorf(contracts.CodeUnsupported,
				"%s would repeat over two lists that are only known while it runs; one is possible", target.Ref())
		}
		items, _ := p.given[rule.ParamName].(string)
		m.each = &contracts.ForEach{Items: items, MaxConcurrency: p.limit}
		m.params[rule.SingleParamName] = "${item}"
	}
	return nil
}

// check finds what a member lacks, what must be searched for it, and its schema faults.
func (p *preparedParams) check(target *capability, m *member) error {
	m.pre = target.searches(m.params)
	known := literals(m.params)
	maps.DeleteFunc(known, func(name string, _ any) bool { return m.searched(name) })
	missing := slices.DeleteFunc(target.missing(m.params), m.searched)
	for _, name := range missing {
		if _, replaced := p.given[name]; replaced {
			return contracts.Errorf(contracts.CodeInvalid,
				"the schema of %s demands the list %q, which its decomposition replaces by single calls", target.Ref(), name)
		}
		if !slices.Contains(p.missing, name) {
			p.missing = append(p.missing, name)
		}
		delete(known, contracts.FieldPath(name)[0]) // its other fields are checked when it is complete
	}
	faults, err := target.checkKnown(known, len(missing) == 0 && len(m.pre) == 0 && len(known) == len(m.params))
	for _, f := range faults {
		p.addFault(m.trace(f))
	}
	return err
}

// addFault adds a fault once; members share most parameters.
func (p *preparedParams) addFault(f contracts.Fault) {
	if !slices.Contains(p.faults, f) {
		p.faults = append(p.faults, f)
	}
}

func (m *member) searched(name string) bool {
	return slices.ContainsFunc(m.pre, func(s contracts.PreStep) bool { return s.Param == name })
}

// trace changes the pointer of a fault to where the value was given.
func (m *member) trace(f contracts.Fault) contracts.Fault {
	name := param(f.Pointer)
	if place, ok := m.origin[name]; ok {
		f.Pointer = place + strings.TrimPrefix(f.Pointer, "/"+contracts.EscapeToken(name))
	}
	return f
}

// smaller returns the smaller of two limits, where 0 means no limit.
func smaller(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// spoken formats a value for people.
func spoken(v any) string {
	if text, ok := v.(string); ok {
		return contracts.CleanSummary(text)
	}
	raw, err := contracts.Canonical(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return contracts.CleanSummary(string(raw))
}
