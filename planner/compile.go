package planner

import (
	"github.com/manifold-run/manifold/contracts"
)

// maxIntents limits one request; a person never says more, and a program can send two requests.
const maxIntents = 100

// maxEdges limits the dependencies of one plan, which can grow with the square of the number of
// intents.
const maxEdges = 20 * contracts.MaxNodes

// Request is the input of Compile.
type Request struct {
	Goal string
	// Intents or Draft is set. A draft also specifies how steps depend on each other.
	Intents []contracts.Intent
	Draft   *contracts.Draft
	// More requests a replan when the results of the plan are known; a draft may request it, too.
	More bool
	// Running is the run that the plan is added to, nil for a new run.
	Running *Running
	Catalog *contracts.Catalog
	Owner   contracts.Principal
	// Instances maps a domain to its instance id; other domains get their default.
	Instances map[string]string
	// Roles maps a role to the capability ("domain.name") that the person chose for it. It has
	// priority over the site's choice.
	Roles   map[string]string
	Budgets contracts.Budgets
	DryRun  bool
	// Unattended means that nobody will answer: missing parameters are an error, and questions of
	// steps get the answer that the step declares for unattended runs.
	Unattended bool
	// Phase restricts the plan to capabilities that may be used in it.
	Phase string
}

// Result is a plan, or the questions that must be answered first.
type Result struct {
	Plan contracts.Plan
	// Questions must be answered first. If there are any, Plan is empty.
	Questions []Question
	// Notes explain to people what was left out of the plan, and why.
	Notes []string
}

// Compile compiles the plan of a request. Errors are typed: invalid with the pointers of all
// faults, forbidden for roles and phases, unsupported for requests that this release cannot plan,
// budget_exceeded for plans that are too large, unavailable if the site's choice for a role is not
// registered.
func Compile(req Request) (Result, error) {
	c, err := newCompiler(req)
	if err != nil {
		return Result{}, err
	}
	asks, err := c.read()
	if err != nil {
		return Result{}, err
	}
	if len(c.questions.list) > 0 {
		return Result{Questions: c.questions.list}, nil
	}
	if err := c.build(asks); err != nil {
		return Result{}, err
	}
	if len(c.questions.list) > 0 {
		return Result{Questions: c.questions.list}, nil
	}
	plan, err := c.finish(asks)
	if err != nil {
		return Result{}, err
	}
	return Result{Plan: plan, Notes: c.notes}, nil
}

// compiler holds the state of one compilation. It is used once, by one goroutine.
type compiler struct {
	req          Request
	graph        graph
	pins         pins
	questions    questions
	capabilities map[string]*capability
	// chosen maps a search to the choose node with its answer, so that a person is asked once.
	chosen map[string]string
	// followed has the existing follow-ups, so that a join has each once.
	followed map[string]bool
	// shared has the join keys that several intents share.
	shared map[string]*sharedJoin
	// frames are the workflows of the plan.
	frames map[string]contracts.Frame
	// drafting compiles the draft, if the request has one.
	drafting drafting
	faults   []contracts.Fault
	notes    []string
}

func newCompiler(req Request) (*compiler, error) {
	if req.Catalog == nil {
		return nil, contracts.Errorf(contracts.CodeInternal, "compile a plan: there is no catalog")
	}
	if err := checkBudgets(req.Budgets); err != nil {
		return nil, err
	}
	c := &compiler{
		req: req, graph: graph{limit: nodeLimit(req.Budgets)}, questions: questions{asked: map[string]bool{}},
		capabilities: map[string]*capability{}, chosen: map[string]string{}, followed: map[string]bool{}, shared: map[string]*sharedJoin{},
	}
	c.drafting.c = c
	if req.Draft != nil {
		c.graph.limit = min(c.graph.limit, contracts.MaxDraftNodes)
	}
	if req.Running != nil {
		c.graph.first = len(req.Running.Nodes)
	}
	c.pins = pins{
		catalog: req.Catalog, wanted: req.Instances, questions: &c.questions, instances: map[string]string{}, digests: map[string]string{},
	}
	return c, c.pins.check()
}

// invalid returns the collected faults as one error, nil if there are none.
func (c *compiler) invalid() error {
	if len(c.faults) == 0 {
		return nil
	}
	return contracts.Invalid("the request cannot be planned", c.faults...)
}

func (c *compiler) fault(pointer, format string, args ...any) {
	c.faults = append(c.faults, fault(pointer, format, args...))
}

func (c *compiler) note(text string) { c.notes = append(c.notes, text) }

// capability returns an entry with its parsed schema, parsed once per compilation.
func (c *compiler) capability(e *contracts.CapabilityEntry) *capability {
	if known, ok := c.capabilities[e.Ref()]; ok {
		return known
	}
	made := newCapability(e)
	c.capabilities[e.Ref()] = made
	return made
}

// build adds the nodes of all intents, then the joins that several share.
func (c *compiler) build(asks []*plannedIntent) error {
	c.findSharedJoins(asks)
	for _, a := range asks {
		if err := c.buildAsk(a); err != nil || len(c.questions.list) > 0 && a.step != nil {
			return err
		}
	}
	for _, a := range asks {
		if err := c.joinShared(a); err != nil {
			return err
		}
	}
	c.pins.pin(c.graph.nodes)
	return nil
}

func (c *compiler) buildAsk(a *plannedIntent) error {
	if a.step != nil {
		return c.drafting.build(a)
	}
	if a.target.Workflow != nil {
		return procedure{c, a}.build()
	}
	a.call.deps, a.call.after = a.edges()
	built, err := c.expand(a.call)
	if err != nil {
		return err
	}
	a.built = built
	if m := c.shared[a.target.Capability.Metadata.JoinKey]; m != nil {
		m.add(a)
		return nil
	}
	return c.compose(a.call, built)
}

// finish assembles the plan and hashes it.
func (c *compiler) finish(asks []*plannedIntent) (contracts.Plan, error) {
	more := c.req.More || c.req.Draft != nil && c.req.Draft.More
	if more && c.req.Running == nil {
		if _, err := c.graph.add(roundNode(c.graph.nextID(), 1, c.graph.nodes)); err != nil {
			return contracts.Plan{}, err
		}
	}
	plan := contracts.Plan{
		More: more, Goal: goal(c.req.Goal, asks), Strategy: strategy(c.graph.nodes, c.frames), Nodes: c.graph.nodes, Frames: c.frames,
		Budgets: c.req.Budgets, Instances: c.pins.instances, CapabilityDigests: c.pins.digests,
		Owner: c.req.Owner, DryRun: c.req.DryRun, Unattended: c.req.Unattended, Phase: c.req.Phase,
	}
	plan.Budgets.MaxNodes = c.graph.limit
	if err := checkReach(plan); err != nil {
		return contracts.Plan{}, err
	}
	var err error
	if plan.PlanHash, err = HashPlan(plan); err != nil {
		return contracts.Plan{}, err
	}
	plan.PlanID = "plan_" + plan.PlanHash[:16]
	return plan, nil
}
