package planner

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
	"github.com/manifold-run/manifold/internal/expr"
)

func (c *capability) preSteps() []contracts.PreStep {
	if f := c.Capability.Metadata.Flow; f != nil {
		return f.Pre
	}
	return nil
}

func (c *capability) postSteps() []contracts.PostStep {
	if f := c.Capability.Metadata.Flow; f != nil {
		return f.Post
	}
	return nil
}

// searches returns the pre steps that the given parameters need. A value from an expression comes
// from a capability, not from a person, and is not searched for. A text that is a valid value is
// searched for only if the step says always. A look-up by other parameters is made if its own is
// not given.
func (c *capability) searches(params map[string]any) []contracts.PreStep {
	var out []contracts.PreStep
	for _, step := range c.preSteps() {
		value, given := params[step.Param]
		text, ok := plain(value).(string)
		taken := slices.ContainsFunc(out, func(s contracts.PreStep) bool { return s.Param == step.Param })
		words := ok && !taken && !deferred(value) && (step.Always || !c.settled(step.Param, text))
		if step.IsLookup() && !given || !step.IsLookup() && words {
			out = append(out, step)
		}
	}
	return out
}

// settled reports whether a text already is a value of the parameter. Without a pattern or another
// rule that distinguishes values, it returns false.
func (c *capability) settled(name, text string) bool {
	property := c.property(name)
	if property.Pattern == "" && property.Format == "" && len(property.Enum) == 0 {
		re, err := regexp.Compile(c.spec(name).Pattern)
		return err == nil && re.String() != "" && re.MatchString(text)
	}
	return len(c.checkEach(map[string]any{name: text})) == 0
}

// search adds the nodes that resolve a parameter, a search and a choice, and returns the id of the
// choice. Equal searches are made once.
func (c *compiler) search(cl *call, m *member, step contracts.PreStep, branch string, required bool) (string, error) {
	what := fmt.Sprintf("flow.pre %q of %s", step.Type, cl.target.Ref())
	target, err := c.helper(cl.target, step.SearchCapability, what)
	if err != nil {
		return "", err
	}
	params, after, err := c.searchParams(cl, m, step, what)
	if err != nil {
		return "", err
	}
	if err := derived(target, params, what); err != nil {
		return "", err
	}
	schema := cl.target.schemaOf(step.Param)
	key, err := contracts.Hash([]any{target.Ref(), params, step.ResultPath, step.Choose, schema, cl.deps, cl.after, cl.when})
	if err != nil {
		return "", err
	}
	if choose, ok := c.chosen[key]; ok {
		c.require(choose, required)
		return choose, nil
	}
	node, err := c.tool(target, params)
	if err != nil {
		return "", err
	}
	node.Role, node.BranchID, node.IntentID = contracts.RolePreSearch, branch, cl.intent
	node.DependsOn, node.RunAfter, node.When, node.Required = slices.Concat(cl.deps, after), slices.Clone(cl.after), cl.when, required
	id, err := c.graph.add(node)
	if err != nil {
		return "", err
	}
	human, err := choice(cl.target, step, id, m.params[step.Param], schema)
	if err != nil {
		return "", err
	}
	choose, err := c.graph.add(contracts.Node{
		Kind: contracts.KindHuman, Role: contracts.RolePreChoose, Title: "Choose " + objectName(step.Param), Human: human,
		DependsOn: []string{id}, When: cl.when, Phase: node.Phase, BranchID: branch, IntentID: cl.intent, Required: required,
	})
	c.chosen[key] = choose
	return choose, err
}

// searchParams returns the parameters of a search, and the steps that they read: the given text,
// and what the manifest maps from the other parameters.
func (c *compiler) searchParams(cl *call, m *member, step contracts.PreStep, what string) (params map[string]any, after []string, err error) {
	if len(step.ParamMap) == 0 {
		return map[string]any{cmp.Or(step.SearchParam, "query"): m.params[step.Param]}, nil, nil
	}
	if m.each != nil {
		return nil, nil, contracts.Errorf(contracts.CodeUnsupported, "%s cannot look anything up for a call that repeats over a list only known while it runs", what)
	}
	if params, _, err = c.mapped(cl, step.ParamMap, bindings{params: m.scope(cl.given)}, what); err != nil {
		return nil, nil, err
	}
	if !step.IsLookup() {
		params[step.SearchParam] = m.params[step.Param]
	}
	refs, err := expr.Refs(params)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	for _, ref := range refs {
		path, err := contracts.ParseExpr(ref)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", what, err)
		}
		if id := second(path); path.Root() == "steps" && !slices.Contains(cl.deps, id) && !slices.Contains(after, id) {
			after = append(after, id)
		}
	}
	return params, after, nil
}

// require marks a shared search as required if one of its calls is.
func (c *compiler) require(choose string, required bool) {
	if node := c.graph.node(choose); required {
		node.Required, c.graph.node(node.DependsOn[0]).Required = true, true
	}
}

// choice returns the question that ends a search.
func choice(target *capability, step contracts.PreStep, search string, said any, schema map[string]any) (*contracts.HumanStep, error) {
	path, err := contracts.ParsePath(cmp.Or(step.ResultPath, "facts.matches"))
	if err == nil {
		path, err = resultPath(path, search)
	}
	if err != nil {
		return nil, fmt.Errorf("result_path of flow.pre %q of %s: %w", step.Type, target.Ref(), err)
	}
	spec, human := target.spec(step.Param), &contracts.HumanStep{
		Interrupt: contracts.InterruptClarification, Prompt: fmt.Sprintf("Which %s?", objectName(step.Param)), OptionsFrom: expression(path),
		Choose: cmp.Or(step.Choose, contracts.ChooseAsk), Param: step.Param, ResponseSchema: schema, LooksUp: step.IsLookup(),
	}
	if said != nil && !spec.PII {
		human.Prompt = contracts.CleanSummary(fmt.Sprintf("Which %s is meant by %q?", objectName(step.Param), cut(spoken(plain(said)), 120)))
	}
	if spec.Subject != nil {
		human.Ask = spec.Ask
	}
	return human, nil
}

// objectName returns what the identifier in a parameter refers to: "chatflow" for chatflow_id.
func objectName(param string) string {
	return gateview.ParameterWords(param)
}

// posts adds the reads that follow a call.
func (c *compiler) posts(cl *call, m *member, id, branch string, out *placedCall) error {
	for _, step := range cl.target.postSteps() {
		what := fmt.Sprintf("flow.post %q of %s", step.Type, cl.target.Ref())
		if m.each != nil {
			if step.Required {
				return contracts.Errorf(contracts.CodeUnsupported, "%s cannot follow a call that repeats over a list only known while it runs", what)
			}
			c.note(what + " is left out: its call repeats over a list that is only known while it runs")
			continue
		}
		post, err := c.post(cl, m, step, id, what)
		if code := contracts.CodeOf(err); code == contracts.CodeUnavailable || code == contracts.CodeForbidden {
			if err := c.without(step.Required, err); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		post.BranchID = branch
		added, err := c.graph.add(post)
		if err != nil {
			return err
		}
		out.ends = append(out.ends, added)
	}
	return nil
}

func (c *compiler) post(cl *call, m *member, step contracts.PostStep, id, what string) (contracts.Node, error) {
	target, err := c.helper(cl.target, step.Capability, what)
	if err != nil {
		return contracts.Node{}, err
	}
	params, complete, err := c.mapped(cl, step.ParamMap, bindings{node: id, params: m.scope(cl.given)}, what)
	if err != nil {
		return contracts.Node{}, err
	}
	if complete {
		if err := derived(target, params, what); err != nil {
			return contracts.Node{}, err
		}
	}
	node, err := c.tool(target, params)
	node.Role, node.ForNode, node.IntentID = contracts.RolePost, id, cl.intent
	node.DependsOn, node.When, node.Required = []string{id}, cl.when, step.Required && cl.required
	return node, err
}

// helper finds a capability that another one uses internally. It must not write.
func (c *compiler) helper(of *capability, ref, what string) (*capability, error) {
	entry, err := c.req.Catalog.Resolve(ref, of.Domain)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeUnavailable, "%s names a capability that is not there: %w", what, err)
	}
	if entry.Policy.SideEffectClass.Writes() {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%s names %s, which writes; only reads are possible there", what, entry.Ref())
	}
	return c.capability(entry), nil
}
