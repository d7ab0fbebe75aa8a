package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// keywords returns the reserved words of CEL.
func keywords() []string {
	return []string{
		"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
		"let", "loop", "package", "namespace", "return", "var", "void", "while",
	}
}

// step checks one step.
func (c *check) step(i int) {
	step := &c.w.Steps[i]
	c.name(i, step.ID)
	c.members(i, step)
	if step.When != nil {
		c.condition(at("steps", i, "when"), *step.When, reader{step: i})
	}
	c.values(at("steps", i, "params"), step.Params, reader{step: i, item: step.ForEach != nil})
	c.values(at("steps", i, "show"), step.Show, reader{step: i, item: step.ForEach != nil})
	if step.ForEach != nil {
		c.values(at("steps", i, "for_each", "items"), step.ForEach.Items, reader{step: i})
	}
	c.set(i, step)
	c.spend(i, step)
	c.rules(i, step)
	switch step.Kind {
	case contracts.StepTool:
		c.tool(i, step)
	case contracts.StepReason:
		c.reason(i, step)
	case contracts.StepHuman:
		c.human(i, step)
	case contracts.StepPlays:
		c.plays(i, step)
	case contracts.StepVerify:
		c.verify(i, step)
	case contracts.StepWorkflow:
		c.inner(i, step)
	case contracts.StepJoin:
		if len(step.DependsOn) == 0 {
			c.faults.add(at("steps", i), "a join needs depends_on: what it brings together")
		}
	case contracts.StepSet:
	}
}

// name refuses ids that have another meaning in an expression.
func (c *check) name(i int, id string) {
	switch {
	case slices.Contains(keywords(), id):
		c.faults.add(at("steps", i, "id"), "%q is a word of the expression language; take another name", id)
	case slices.Contains(contracts.ExprRoots(), id) || id == "parameters":
		c.faults.add(at("steps", i, "id"), "%q is what expressions begin with; take another name", id)
	}
}

// members refuses members that do not belong to the kind of a step, because they would be ignored
// silently, and requires the one that does.
func (c *check) members(i int, step *contracts.Step) {
	has := map[string]bool{
		"tool": step.Tool != "", "params": step.Params != nil, "show": step.Show != nil, "set": step.Set != nil, "plays": step.Plays != "",
		"players": step.Players != "", "domains": step.Domains != nil, "workflow": step.Workflow != "",
		"for_each": step.ForEach != nil, "reason": step.Reason != nil, "human": step.Human != nil, "verify": step.Verify != nil,
	}
	belongs := map[contracts.StepKind][]string{
		contracts.StepTool: {"tool", "params", "show", "for_each"}, contracts.StepReason: {"reason", "for_each"},
		contracts.StepHuman: {"human"}, contracts.StepSet: {"set"}, contracts.StepJoin: {},
		contracts.StepPlays: {"plays", "params", "players", "domains"}, contracts.StepVerify: {"verify"},
		contracts.StepWorkflow: {"workflow", "params"},
	}[step.Kind]
	for _, name := range slices.Sorted(maps.Keys(has)) {
		if has[name] && !slices.Contains(belongs, name) {
			c.faults.add(at("steps", i, name), "a %s step has no %s", step.Kind, name)
		}
	}
	if len(belongs) > 0 && !has[belongs[0]] {
		c.faults.add(at("steps", i), "a %s step needs %s", step.Kind, belongs[0])
	}
}

func (c *check) set(i int, step *contracts.Step) {
	c.values(at("steps", i, "set"), step.Set, reader{step: i})
	for _, name := range slices.Sorted(maps.Keys(step.Set)) {
		if !plainName(name) {
			c.faults.add(at("steps", i, "set", name), "must be a plain name: letters, digits and _")
		}
	}
}

func plainName(name string) bool {
	for k, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (k == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

func (c *check) spend(i int, step *contracts.Step) {
	for _, name := range slices.Sorted(maps.Keys(step.Spend)) {
		place := at("steps", i, "spend", name)
		b, known := c.w.Budgets[name]
		switch {
		case isBuiltin(name):
			c.faults.add(place, "%s is counted by the engine", name)
		case !known:
			c.faults.add(place, "there is no budget %q%s", name, near(name, c.w.Budgets))
		default:
			c.limitKnown(place, i, name, b)
		}
		c.values(place, step.Spend[name], reader{step: i, self: true})
		if !oneExpression(step.Spend[name]) {
			c.faults.add(place, "must be one expression ${…} that gives a number")
		}
	}
}

// limitKnown requires that the steps that a limit reads have ended before a step spends from the
// budget or reads it: otherwise the result would depend on timing.
func (c *check) limitKnown(place string, i int, name string, b contracts.Budget) {
	text, ok := b.Limit.(string)
	if !ok || c.s.up == nil {
		return
	}
	refs, _ := expr.References(text)
	for _, r := range refs {
		id := stepOf(r.Path)
		if j, known := c.s.index[id]; known && j != i && !c.s.before(j, i) {
			c.faults.add(place, "the limit of %s reads the step %q, which is not before %q", name, id, c.s.id(i))
		}
	}
}

func (c *check) rules(i int, step *contracts.Step) {
	for k, rule := range step.On {
		place := at("steps", i, "on", k)
		switch {
		case causes(rule) != 1:
			c.faults.add(place, "needs one of when, answer and error")
		case rule.Answer != "" && !allows(step.Human, rule.Answer):
			c.faults.add(place+"/answer", "the step does not allow the answer %q", rule.Answer)
		}
		if rule.When != nil {
			c.condition(place+"/when", *rule.When, reader{step: i, self: true})
		}
		if rule.Region != nil {
			c.faults.add(place+"/region", "is not for manifests: it follows from goto")
		}
		c.values(place+"/with", rule.With, reader{step: i, self: true})
	}
}

// causes counts the causes of a rule.
func causes(r contracts.Rule) int {
	n := 0
	for _, given := range []bool{r.When != nil, r.Answer != "", r.Error != ""} {
		if given {
			n++
		}
	}
	return n
}

func allows(h *contracts.HumanStep, answer string) bool {
	return h != nil && slices.ContainsFunc(h.Allow, func(a contracts.Allowed) bool { return a.Answer == answer })
}

// tool checks a call of a capability.
func (c *check) tool(i int, step *contracts.Step) {
	if entry := c.capability(at("steps", i, "tool"), step.Tool); entry != nil {
		c.call(at("steps", i, "params"), entry, step.Params)
		c.phase(i, step, entry)
	}
}

func (c *check) phase(i int, step *contracts.Step, entry *contracts.CapabilityEntry) {
	if phases := entry.Capability.Metadata.Phases; step.Phase != "" && len(phases) > 0 && !slices.Contains(phases, step.Phase) {
		c.faults.add(at("steps", i, "phase"), "%s may only be used in the phases %s", entry.Ref(), strings.Join(phases, ", "))
	}
}

// capability finds the capability that a step names. A domain's manifest names its own; a pack may
// name any, and is inactive while one is missing.
func (c *check) capability(place, ref string) *contracts.CapabilityEntry {
	if ref == "" {
		return nil // already reported
	}
	domain, name, qualified := strings.Cut(ref, ".")
	if !qualified {
		domain, name = c.m.Domain, ref
	}
	own := domain == c.m.Domain
	switch {
	case own && c.m.IsPack():
		c.faults.add(place, `a pack has no capabilities of its own; write "domain.%s"`, name)
		return nil
	case !own && !c.m.IsPack():
		c.faults.add(place, "%s is of another domain: a domain calls others by a role (plays), and only a pack names them", ref)
		return nil
	}
	entry, ok := c.catalog.Capability(domain + "." + name)
	if ok && entry.Workflow == nil {
		return entry
	}
	if own {
		if _, isWorkflow := c.m.Workflow(name); isWorkflow {
			c.faults.add(place, "%q is a workflow: use a step of the kind workflow", ref)
		} else if _, declared := c.m.Capability(name); declared {
			c.missing[domain+"."+name] = true // the trust level of the domain does not cover it
		} else {
			c.faults.add(place, "there is no capability %q in this manifest%s", name, near(name, ownNames(c.m)))
		}
		return nil
	}
	c.missing[domain+"."+name] = true
	return nil
}

func ownNames(m *contracts.Manifest) map[string]bool {
	out := map[string]bool{}
	for _, capability := range m.Capabilities {
		out[capability.Name] = true
	}
	return out
}

// call checks parameters against the schema of a capability: their names, the required ones, and
// the known values.
func (c *check) call(place string, entry *contracts.CapabilityEntry, params map[string]any) {
	view := entry.View()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if _, known := view.Property(name); !known && len(view.Properties) > 0 {
			c.faults.add(place+at(name), "%s has no parameter %q%s", entry.Ref(), name, near(name, membersOf(view)))
			continue
		}
		c.literal(place+at(name), entry, name, params[name])
	}
	for _, name := range view.Required {
		if _, given := params[name]; !given {
			c.faults.add(place, "%s requires %s", entry.Ref(), name)
		}
	}
}

func membersOf(view *contracts.SchemaView) map[string]bool {
	out := map[string]bool{}
	for _, p := range view.Properties {
		out[p.Name] = true
	}
	return out
}

// literal checks a value without expressions against the schema of its parameter.
func (c *check) literal(place string, entry *contracts.CapabilityEntry, name string, value any) {
	if value == nil || holdsExpression(value) {
		return
	}
	input, err := entry.Input()
	if err != nil || input == nil {
		return
	}
	property, ok := input.Property(name)
	if !ok {
		return
	}
	for _, f := range property.Validate(value) {
		c.faults.add(place+f.Pointer, "%s", f.Message)
	}
}

func holdsExpression(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${")
	case []any:
		return slices.ContainsFunc(v, holdsExpression)
	case map[string]any:
		for _, member := range v {
			if holdsExpression(member) {
				return true
			}
		}
	}
	return false
}

func (c *check) reason(i int, step *contracts.Step) {
	r := step.Reason
	if r == nil {
		return
	}
	place := at("steps", i, "reason")
	if r.SkillSHA256 != "" {
		c.faults.add(place+"/skill_sha256", "is not for manifests: the plan pins the skill")
	}
	c.skill(place+"/skill", r.Skill)
	reads := reader{step: i, item: step.ForEach != nil, noArtifacts: true}
	c.values(place+"/inputs", r.Inputs, reads)
	c.schema(place+"/output_schema", r.OutputSchema)
	if r.Fallback == nil {
		return
	}
	reads.noArtifacts = false
	c.values(place+"/fallback/params", r.Fallback.Params, reads)
	at, params, where := place+"/fallback", r.Fallback.Params, place+"/fallback/params"
	if params == nil {
		params, where = r.Inputs, place+"/inputs"
	}
	entry := c.capability(at, r.Fallback.Capability)
	if entry == nil {
		return
	}
	if entry.Policy.SideEffectClass.Writes() {
		c.faults.add(at, "%s writes; a fallback reads or suggests", entry.Ref())
	}
	c.call(where, entry, params)
	c.fits(at, entry, r.OutputSchema)
}

func (c *check) skill(place, name string) {
	if _, ok := c.m.Skills[name]; !ok {
		c.faults.add(place, "there is no skill %q in this manifest%s", name, near(name, c.m.Skills))
	}
}

func (c *check) schema(place string, schema map[string]any) {
	raw, err := json.Marshal(schema)
	if err == nil {
		_, err = contracts.CompileSchema(raw)
	}
	if err != nil {
		c.faults.add(place, "%s", err)
	}
	if schema["type"] != "object" {
		c.faults.add(place, `must have the type "object"`)
	}
}

// fits requires that a fallback declares the required outputs of the step.
func (c *check) fits(place string, entry *contracts.CapabilityEntry, schema map[string]any) {
	var output struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(entry.Capability.OutputSchema, &output) != nil || len(output.Properties) == 0 {
		return
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		text, _ := name.(string)
		if _, ok := output.Properties[text]; !ok {
			c.faults.add(place, "%s gives no %s, which output_schema requires", entry.Ref(), text)
		}
	}
}

func (c *check) verify(i int, step *contracts.Step) {
	v := step.Verify
	if v == nil {
		return
	}
	place := at("steps", i, "verify")
	for k, assertion := range v.Assertions {
		c.condition(place+at("assertions", k), assertion, reader{step: i})
	}
	if v.Judge != nil {
		if v.Judge.SkillSHA256 != "" {
			c.faults.add(place+"/judge/skill_sha256", "is not for manifests: the plan pins the skill")
		}
		c.skill(place+"/judge/skill", v.Judge.Skill)
		c.values(place+"/judge/inputs", v.Judge.Inputs, reader{step: i, noArtifacts: true})
	}
}

// plays checks a call by role.
func (c *check) plays(i int, step *contracts.Step) {
	if step.Plays == "" {
		return
	}
	if len(playing(c.catalog, c.m, c.w, *step)) == 0 {
		c.missing[nobody(c.catalog, c.m, *step)] = true
	}
	for k, domain := range step.Domains {
		if _, ok := c.catalog.Domain(domain); !ok {
			c.doubts.add(at("steps", i, "domains", k), "there is no domain %q now", domain)
		}
	}
	if step.Plays != contracts.RoleNotifier {
		return
	}
	if _, ok := step.Params["message"]; !ok {
		c.faults.add(at("steps", i, "params"), "the role %s requires message", step.Plays)
	}
	for _, name := range slices.Sorted(maps.Keys(step.Params)) {
		if !slices.Contains([]string{"message", "title", "channel"}, name) {
			c.faults.add(at("steps", i, "params", name), "the role %s has no parameter %q; it has message, title and channel", step.Plays, name)
		}
	}
}

// inner checks a workflow that replaces a step.
func (c *check) inner(i int, step *contracts.Step) {
	if step.Workflow == "" {
		return
	}
	place := at("steps", i, "workflow")
	w, _ := c.workflow(c.m, step.Workflow)
	if w != nil {
		entry := &contracts.CapabilityEntry{Domain: c.m.Domain, Capability: w.AsCapability()}
		c.call(at("steps", i, "params"), entry, step.Params)
		return
	}
	domain, _, qualified := strings.Cut(step.Workflow, ".")
	switch {
	case qualified && domain != c.m.Domain && c.m.IsPack():
		c.missing[step.Workflow] = true
	case qualified && domain != c.m.Domain:
		c.faults.add(place, "%s is of another domain; only a pack names it", step.Workflow)
	default:
		names := map[string]bool{}
		for _, other := range c.m.Workflows {
			names[other.Name] = true
		}
		c.faults.add(place, "there is no workflow %q in this manifest%s", step.Workflow, near(step.Workflow, names))
	}
}

func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		return int(v), v == float64(int(v))
	case json.Number:
		n, err := strconv.Atoi(string(v))
		return n, err == nil
	default:
		return 0, false
	}
}
