package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
	"github.com/manifold-run/manifold/planner"
)

// request runs the next step of a request: it understands the message and compiles a plan, which
// leads to a run, a question or an answer, or it opens the question.
func (m *machine) request(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	if t.Question != nil {
		return m.open(ctx, t)
	}
	if t.Replaces != nil {
		next, err := m.clearReplaced(ctx, t)
		if err != nil || next.Outcome != "" {
			return next, err
		}
		t = next
	}
	if !t.Understood {
		next, err := m.understand(ctx, t)
		if err != nil || next.Outcome != "" || next.Question != nil {
			return next, err
		}
		if len(next.Calls) > 0 { // model calls are saved before their result is used
			return next, nil
		}
		t = next
	}
	return m.compile(ctx, t)
}

// clearReplaced removes the request that t replaces: it is cancelled, or undone with a gate of its
// own.
func (m *machine) clearReplaced(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	if t.Undo {
		if _, _, err := m.runs.Compensate(ctx, t.By, t.Replaces.RunID, t.Replaces.NodeID); err != nil {
			return refusal(t, err)
		}
		t.Replaces, t.Undo = nil, false
		return t, nil
	}
	done, err := m.cancelReplaced(ctx, t)
	if err != nil {
		return t, err
	}
	t.Replaces = nil
	if done {
		return answered(t, &contracts.Answer{Blocks: []contracts.Block{{
			Kind: contracts.BlockNote, Text: "It was approved and done before that, so nothing was changed. Say it again, and I ask what is to be done about it.",
		}}}), nil
	}
	return t, nil
}

// understand determines the intents of a turn, or asks a question, or answers why there are none.
func (m *machine) understand(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	kind, talk := talkOf(m.local, t.Message)
	if talk && !asksAbout(kind) {
		return answered(t, m.talk(t, kind)), nil
	}
	req := intent.Request{Message: t.Message, Catalog: m.catalogs.Catalog(), Domain: t.Model, Roles: rolesOf(t.By), Now: m.now()}
	var s sessionContext
	if m.intents.HasModel() {
		var err error
		if s, err = m.surroundings(ctx, t, &req); err != nil {
			return t, err
		}
	}
	u, err := m.intents.Understand(ctx, req)
	if err != nil {
		return t, err
	}
	t.Calls = append(t.Calls, u.Calls...)
	if u.ModelFault != "" {
		t.Notes = append(t.Notes, "Read without the model: "+contracts.CleanSummary(u.ModelFault)+".")
		if next, err := m.byWords(ctx, t); err != nil || next.Kind != orchestrator.TurnRequest || next.Understood || next.Question != nil {
			return next, err
		}
	}
	if next, ok, err := m.proposed(ctx, t, s, u); ok || err != nil {
		return next, err
	}
	if talk && u.Outcome != contracts.ReadingAccepted { // a capability may answer who somebody is
		return answered(t, m.talk(t, kind)), nil
	}
	if u.Outcome != contracts.ReadingAccepted {
		anyone, err := m.intents.Understand(ctx, intent.Request{
			Message: t.Message, Catalog: m.catalogs.Catalog(), Domain: t.Model, AnyRole: true, Now: m.now(), Local: true,
		})
		if err != nil {
			return t, err
		}
		if withheld := answer.Withheld(m.catalogs.Catalog(), t.By, anyone); withheld != nil {
			return answered(t, withheld), nil
		}
	}
	t.Draft, t.More = u.Draft, u.More
	t.Intents, t.Unused, t.Understood = u.Intents, u.Unused, u.Outcome == contracts.ReadingAccepted
	if t.Draft != nil {
		t.Intents = nil // the steps of the draft contain them
	}
	switch {
	case t.Understood:
		return t, nil
	case u.Outcome == contracts.ReadingUnclear && len(u.Choices) > 0:
		return m.askCapability(t, u), nil
	default:
		return answered(t, answer.Declined(u, m.absent()...)), nil
	}
}

func answered(t orchestrator.Turn, a *contracts.Answer) orchestrator.Turn {
	t.Outcome, t.Answer = orchestrator.TurnAnswered, a
	return t
}

func rolesOf(who access.Principal) []string { return who.Contract().Roles }

// compile plans the turn's intents, which leads to a question or a run, and submits the run. The
// run's id is derived from the turn, so that a turn that is finished after a crash does not start a
// second run.
func (m *machine) compile(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	session, err := m.dir.Get(ctx, t.SessionID)
	if err != nil {
		return t, err
	}
	result, err := planner.Compile(m.planRequest(session, t))
	if err != nil {
		return refusal(t, err)
	}
	if len(result.Questions) > 0 {
		return m.askPlanner(t, result.Questions[0]), nil
	}
	if err := t.By.CoversPlan(result.Plan); err != nil {
		return refusal(t, err)
	}
	if u, open := m.local.Unagreed(m.catalogs.Catalog(), t.Intents); open {
		return m.askCapability(t, u), nil
	}
	down, all := m.down(result.Plan)
	if all {
		return answered(t, &contracts.Answer{Blocks: []contracts.Block{{
			Kind: contracts.BlockError, Text: strings.Join(down, ". ") + ". Nothing was done; ask again in a moment.",
		}}}), nil
	}
	result.Notes = append(result.Notes, down...)
	result.Plan.RunID = execution.DerivedRunID(t.CreatedAt, t.Conversation, t.Key, t.Model)
	runID, err := m.runner.Submit(ctx, session.ID, result.Plan)
	if contracts.CodeOf(err) == contracts.CodeConflict {
		runID, err = result.Plan.RunID, nil
	}
	if err != nil {
		return t, err
	}
	t.Outcome, t.RunID, t.AnswerTarget, t.InterruptID, t.Notes = orchestrator.TurnRun, runID, nil, "", append(t.Notes, result.Notes...)
	return t, nil
}

// absent returns the registered domains without an active manifest, whose capabilities are unknown:
// the server has just started, or the manifest was rejected.
func (m *machine) absent() []string {
	catalog := m.catalogs.Catalog()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(m.catalogs.Health())) {
		if !slices.ContainsFunc(catalog.Domains, func(d *contracts.DomainEntry) bool { return d.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// down returns a sentence for each domain of a plan that was unreachable at its last health check.
// all reports whether that is every domain of the plan.
func (m *machine) down(plan contracts.Plan) (said []string, all bool) {
	health, seen := m.catalogs.Health(), map[string]bool{}
	for _, n := range plan.Nodes {
		domain, _, _ := strings.Cut(n.Tool, ".")
		if n.Kind != contracts.KindTool || seen[domain] {
			continue
		}
		seen[domain] = true
		if health[domain] == contracts.HealthDown {
			said = append(said, answer.CannotReach(m.catalogs.Catalog(), domain))
		}
	}
	return said, len(said) > 0 && len(said) == len(seen)
}

func (m *machine) planRequest(session orchestrator.Session, t orchestrator.Turn) planner.Request {
	instances := maps.Clone(session.Instances)
	if instances == nil {
		instances = map[string]string{}
	}
	maps.Copy(instances, t.Instances)
	return planner.Request{
		Goal: contracts.CleanSummary(change.Goal(t)), Intents: t.Intents, Draft: t.Draft, More: t.More, Catalog: m.catalogs.Catalog(), Owner: t.By.Contract(),
		Instances: instances, Roles: t.Roles, Budgets: session.Budgets, DryRun: t.DryRun,
		Unattended: t.Unattended, Phase: t.Phase,
	}
}

// refusal turns the error of a request that cannot be planned into its answer; internal errors are
// returned.
func refusal(t orchestrator.Turn, err error) (orchestrator.Turn, error) {
	switch contracts.CodeOf(err) {
	case contracts.CodeForbidden, contracts.CodeUnsupported, contracts.CodeInvalid, contracts.CodeBudgetExceeded, contracts.CodeConflict:
		return couldNot(t, err), nil
	default:
		return t, err
	}
}

func couldNot(t orchestrator.Turn, err error) orchestrator.Turn {
	return answered(t, &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockError, Text: err.Error()}}})
}

// askCapability asks which capability was meant.
func (m *machine) askCapability(t orchestrator.Turn, u intent.Understanding) orchestrator.Turn {
	i := contracts.Interrupt{Type: contracts.InterruptClarification, Prompt: u.Question, Options: answer.Options(u.Choices)}
	t.AnswerTarget = &orchestrator.AnswerTarget{IntentID: u.Unclear, Capability: true}
	return ask(t, i, m.now())
}

// askPlanner asks for a value that the plan lacks.
func (m *machine) askPlanner(t orchestrator.Turn, q planner.Question) orchestrator.Turn {
	t.Understood = true
	t.AnswerTarget = &orchestrator.AnswerTarget{IntentID: q.IntentID, Param: q.Param, Role: q.Role, Domain: q.Domain}
	return ask(t, contracts.Interrupt{Type: q.Kind, Prompt: q.Prompt, Options: q.Options, ResponseSchema: q.Schema}, m.now())
}

// ask stores a new question in the turn; the next step opens it.
func ask(t orchestrator.Turn, i contracts.Interrupt, now time.Time) orchestrator.Turn {
	i.InterruptID, i.Code, i.Status = execution.NewID("gate"), execution.NewCode(), contracts.InterruptOpen
	i.SessionID, i.CreatedAt, i.Requesters = t.SessionID, now, []string{t.By.Subject()}
	for n := range i.Options {
		o := &i.Options[n]
		o.Label, o.Detail = contracts.CleanSummary(o.Label), contracts.CleanSummary(o.Detail)
	}
	t.Question, t.InterruptID = &i, i.InterruptID
	return t
}

// open opens the turn's question. The turn was saved with it before: a question without its turn
// could not be answered.
func (m *machine) open(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	i := *t.Question
	_, err := execution.GetInterrupt(ctx, m.store, i.InterruptID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		err = m.store.OpenInterrupt(ctx, i, contracts.Event{
			SessionID: i.SessionID, At: m.now(), Type: contracts.EventInterrupt, Status: string(i.Type),
			Summary: contracts.CleanSummary(i.Prompt),
		})
		m.notifier.Committed(i.SessionID, "")
	}
	if contracts.CodeOf(err) == contracts.CodeConflict { // another process has opened it, or its code is taken
		if _, err = execution.GetInterrupt(ctx, m.store, i.InterruptID); contracts.CodeOf(err) == contracts.CodeNotFound {
			i.Code = execution.NewCode()
			t.Question, err = &i, nil
			return t, err
		}
	}
	if err != nil {
		return t, err
	}
	t.Outcome, t.Question = orchestrator.TurnClarifying, nil
	return t, nil
}

// takeAnswer stores an answer in the field that the turn's AnswerTarget names.
func (m *machine) takeAnswer(t *orchestrator.Turn, response any) error {
	if t.AnswerTarget == nil {
		return contracts.Errorf(contracts.CodeInternal, "the turn does not know what it asked")
	}
	asked := *t.AnswerTarget
	switch {
	case asked.Role != "":
		t.Roles = withText(t.Roles, asked.Role, response)
	case asked.Domain != "":
		t.Instances = withText(t.Instances, asked.Domain, response)
	case asked.Words != "":
		words, _ := response.(string)
		t.Dialogue, t.AnswerTarget = append(slices.Clone(t.Dialogue), orchestrator.Exchange{Asked: asked.Words, Answered: words}), nil
	case asked.Done:
		return m.afterDone(t, response)
	case asked.Capability:
		return m.chooseCapability(t, asked.IntentID, response)
	case t.Draft != nil:
		if filled, ok := t.Draft.WithParam(asked.IntentID, asked.Param, response); ok {
			t.Draft = &filled
		}
	default:
		t.Intents = slices.Clone(t.Intents)
		for n := range t.Intents {
			if t.Intents[n].ID == asked.IntentID {
				t.Intents[n].Parameters = contracts.WithField(t.Intents[n].Parameters, asked.Param, response)
				if t.Intents[n].Utterance != nil {
					t.Intents[n].Utterance = t.Intents[n].Utterance.Fill(contracts.FieldPath(asked.Param)[0], response)
				}
			}
		}
	}
	return nil
}

// afterDone handles the choice of what to do about a request that has already written.
func (m *machine) afterDone(t *orchestrator.Turn, response any) error {
	t.AnswerTarget = nil
	switch response {
	case "redo":
		t.Undo = true
	case "second":
		t.Replaces = nil
	default:
		t.Replaces = nil
		*t = answered(*t, &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockNote, Text: "It stays as it is."}}})
	}
	return nil
}

// chooseCapability replaces the capability of one clause. Its parameters are read again from the
// clause, not from the answer.
func (m *machine) chooseCapability(t *orchestrator.Turn, intentID string, response any) error {
	ref, _ := response.(string) // a value that is no string matches no capability
	if t.Draft != nil {
		t.Understood = true
		return nil
	}
	t.Intents = slices.Clone(t.Intents)
	at := slices.IndexFunc(t.Intents, func(i contracts.Intent) bool { return i.ID == intentID })
	if at < 0 {
		t.Intents = append(t.Intents, contracts.Intent{ID: cmp.Or(intentID, "i1"), Clause: t.Message})
		at = len(t.Intents) - 1
	}
	chosen, err := m.local.Choose(m.catalogs.Catalog(), t.Intents[at], ref, m.now())
	if err != nil {
		return err
	}
	t.Intents[at], t.Understood = chosen, true
	return nil
}

func withText(m map[string]string, key string, value any) map[string]string {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]string{}
	}
	out[key], _ = value.(string)
	return out
}
