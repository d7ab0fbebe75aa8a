package execution

import (
	"cmp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/runstate"
)

// maxTargets limits the choices that a step of a workflow offers.
const maxTargets = 10

// workflowQuestion is a question that a workflow puts to a person. It completes with the answer;
// rules and conditions decide what follows. It never replaces a gate.
type workflowQuestion struct{ local }

func (a workflowQuestion) start(t *activation) {
	t.row.Begin(t.now())
	i, err := a.question(t)
	if err != nil {
		t.fail(contracts.ErrBadExpression, err.Error(), contracts.EffectNone)
		return
	}
	if t.run.Run.Plan.Unattended {
		a.answerUnattended(t, i)
		return
	}
	if needsAnswers := len(contracts.AnswersOf(i.Type)) > 0; needsAnswers && len(i.Answers) == 0 {
		t.fail(contracts.ErrPrecondition, "no answer is possible: "+i.Prompt, contracts.EffectNone)
		return
	}
	if i.Type.Expires() {
		i.ExpiresAt = new(t.now().Add(contracts.DefaultApprovalExpiry))
	}
	t.ask(i, contracts.NodeAwaitingInput)
	watchExpiry(t.timers, t.n)
}

// question returns the interrupt, with the answers whose conditions hold and whose loops are not
// used up.
func (a workflowQuestion) question(t *activation) (contracts.Interrupt, error) {
	h := t.n.Spec.Human
	i := contracts.Interrupt{
		Type: h.Interrupt, ResponseSchema: h.ResponseSchema, Roles: h.Roles,
		Workflow:   t.run.Run.Plan.Frames[t.n.Spec.Frame].Workflow,
		Requesters: requesters(t.run.Run.Plan.Owner, nil), Warning: answerWarning(t),
	}
	i.Reason = "a step of " + i.Workflow + " asks"
	prompt, _, err := evaluate(t, h.Prompt)
	if err != nil {
		return i, err
	}
	i.Prompt = contracts.CleanSummary(asText(prompt))
	if i.Show, err = members(t, t.reader(), h.Show); err != nil {
		return i, err
	}
	if i.Value, _, err = evaluate(t, h.Value); err != nil {
		return i, err
	}
	if i.Options, _, err = optionsOf(t, h); err != nil {
		return i, err
	}
	i.Options = i.Options[:min(len(i.Options), maxTargets)]
	if i.Answers, err = a.allowed(t, h, len(i.Options)); err != nil {
		return i, err
	}
	for _, answer := range i.Answers {
		if !decision.NeedsMore(answer) {
			i.Options = append(i.Options, contracts.InterruptOption{ID: answer, Label: labelOfAnswer(answer)})
		}
	}
	i.ActionSHA256, err = contracts.Hash(map[string]any{
		"prompt": i.Prompt, "show": i.Show, "value": i.Value, "options": i.Options, "answers": i.Answers, "node": t.n.ID(),
	})
	return i, err
}

func (workflowQuestion) allowed(t *activation, h *contracts.HumanStep, choices int) ([]string, error) {
	var out []string
	for _, a := range h.Allow {
		if a.When != nil {
			ok, _, err := holds(t, *a.When, nil)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		nothing := a.Answer == contracts.SayChoose && choices == 0
		if !nothing && (!contracts.GoesBack(a.Answer) || mayGoBack(t, a.Answer)) {
			out = append(out, a.Answer)
		}
	}
	return out, nil
}

// mayGoBack reports whether a rule for the answer is not used up.
func mayGoBack(t *activation, answer string) bool {
	for i, r := range t.n.Spec.On {
		if r.Answer == answer && runstate.Taken(t.run, t.n.Node, i) < r.Max {
			return true
		}
	}
	return false
}

func labelOfAnswer(answer string) string {
	words := strings.ReplaceAll(answer, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// answerUnattended gives the answer that the step declares for unattended runs, if it is allowed.
func (a workflowQuestion) answerUnattended(t *activation, i contracts.Interrupt) {
	u := t.n.Spec.Human.Unattended
	choices := len(i.Options) - len(slices.DeleteFunc(slices.Clone(i.Answers), func(s string) bool { return decision.NeedsMore(s) }))
	switch {
	case u == nil || u.Answer == "":
		t.fail(contracts.ErrNeedsPerson, "this needs a person: "+i.Prompt, contracts.EffectNone)
	case !slices.Contains(i.Answers, u.Answer):
		t.fail(contracts.ErrNeedsPerson, u.Answer+" is not possible here, and nobody is there to say more: "+i.Prompt, contracts.EffectNone)
	case u.OnlyIfOne && choices != 1:
		t.fail(contracts.ErrNeedsPerson, "there is more or less than one to choose from: "+i.Prompt, contracts.EffectNone)
	default:
		response := any(u.Answer)
		if u.Answer == contracts.SayChoose {
			response = i.Options[0].ID
		}
		facts, err := decision.Facts(i, response)
		if err != nil {
			t.fail(contracts.ErrNeedsPerson, err.Error(), contracts.EffectNone)
			return
		}
		a.complete(t, facts, "nobody was there; taken: "+u.Answer)
	}
}

func (a workflowQuestion) answer(t *activation, last contracts.InterruptDecided) {
	gate := t.n.Gate
	facts, ok := gate.Response.(map[string]any)
	switch {
	case gate.Status == contracts.InterruptExpired:
		t.row.Result = &Result{Summary: "nobody answered in time"}
		t.end(contracts.NodeRejected)
	case gate.Status != contracts.InterruptAnswered || !ok:
		t.end(contracts.NodeCancelled)
	default:
		if says(facts) {
			noteContributor(t, last)
		}
		a.complete(t, facts, cmp.Or(asText(facts[decision.FactDecision]), "answered")+" by "+last.DecidedBy)
	}
}

// says reports whether an answer has content: a value, a choice, a text. A person who gives such an
// answer counts as a requester of the writes that use it.
func says(facts map[string]any) bool {
	switch facts[decision.FactDecision] {
	case contracts.SayApprove:
		return facts[decision.FactApproach] != nil
	case contracts.SayAccept, contracts.SayRetry, contracts.SaySkip, contracts.SayStop:
		return false
	default:
		return true
	}
}

// complete ends the step with its answer. A rejection without a matching rule ends the branch;
// "stop" ends the run.
func (workflowQuestion) complete(t *activation, facts map[string]any, summary string) {
	t.row.Result = &Result{Summary: contracts.CleanSummary(summary), Facts: facts}
	switch facts[decision.FactDecision] {
	case contracts.SayStop:
		t.row = nil
		t.stopRun(summary)
	case contracts.SayReject:
		t.row.State = contracts.NodeCompleted
		if rule, _, err := t.firstMatchingRule(true); err == nil && rule < 0 {
			t.end(contracts.NodeRejected)
			return
		}
		t.end(contracts.NodeCompleted)
	default:
		t.end(contracts.NodeCompleted)
	}
}
