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
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/planner"
)

// turn takes one message of a session to an answer, a question or a run. The
// same message again is the same turn; one that was interrupted is finished.
func (s *Conversation) turn(ctx context.Context, who access.Principal, session orchestrator.Session, t orchestrator.Turn) error {
	t.CreatedAt = s.cfg.Now()
	existing, created, err := s.turns.BeginTurn(ctx, t)
	if err != nil {
		return err
	}
	if !created {
		if existing.Fingerprint != t.Fingerprint {
			return contracts.Errorf(contracts.CodeConflict, "this idempotency key was used with another request")
		}
		if existing.Outcome != "" {
			return nil
		}
		t = existing
	}
	return s.understand(ctx, who, session, t)
}

// understand takes a turn that is new, or was interrupted, to its outcome.
func (s *Conversation) understand(ctx context.Context, who access.Principal, session orchestrator.Session, t orchestrator.Turn) error {
	if asksForHelp(t.Message) {
		t.Outcome, t.Answer = orchestrator.TurnAnswered, answer.Overview(s.catalogs.Catalog(), who, t.Model)
		return s.turns.SaveTurn(ctx, t)
	}
	u, err := s.intents.Understand(ctx, intent.Request{
		Message: t.Message, Catalog: s.catalogs.Catalog(), Domain: t.Model, Roles: rolesOf(who), Now: s.cfg.Now(),
	})
	if err != nil {
		return err
	}
	t.Intents, t.Unused = u.Intents, u.Unused
	switch u.Outcome {
	case contracts.GateAccept:
		return s.proceed(ctx, who, session, t)
	case contracts.GateClarify:
		return s.askCapability(ctx, session, t, u)
	default:
		t.Outcome, t.Answer = orchestrator.TurnAnswered, declined(u)
		return s.turns.SaveTurn(ctx, t)
	}
}

func rolesOf(who access.Principal) []string { return who.Contract().Roles }

// proceed compiles the turn's intents: to a question, or to a run.
func (s *Conversation) proceed(ctx context.Context, who access.Principal, session orchestrator.Session, t orchestrator.Turn) error {
	result, err := planner.Compile(s.planRequest(who, session, t))
	if err != nil {
		return s.refused(ctx, t, err)
	}
	if len(result.Questions) > 0 {
		return s.askPlanner(ctx, session, t, result.Questions[0])
	}
	if err := who.CoversPlan(result.Plan); err != nil {
		return s.refused(ctx, t, err)
	}
	// The id follows from the turn: a turn that is finished after a crash does
	// not make a second run.
	result.Plan.RunID = orchestrator.DerivedID("run", t.Conversation, t.Key, t.Model)
	runID, err := s.runner.Submit(ctx, session.ID, result.Plan)
	if contracts.CodeOf(err) == contracts.CodeConflict {
		runID, err = result.Plan.RunID, nil
	}
	if err != nil {
		return err
	}
	t.Outcome, t.RunID, t.Asked, t.InterruptID, t.Notes = orchestrator.TurnRun, runID, nil, "", result.Notes
	return s.turns.SaveTurn(ctx, t)
}

func (s *Conversation) planRequest(who access.Principal, session orchestrator.Session, t orchestrator.Turn) planner.Request {
	instances := maps.Clone(session.Instances)
	if instances == nil {
		instances = map[string]string{}
	}
	maps.Copy(instances, t.Instances)
	return planner.Request{
		Goal: contracts.CleanSummary(t.Message), Intents: t.Intents, Catalog: s.catalogs.Catalog(), Owner: who.Contract(),
		Instances: instances, Roles: t.Roles, Budgets: session.Budgets, DryRun: t.DryRun,
	}
}

// refused answers a request that cannot be planned, where a person can read
// why; faults of ours go up.
func (s *Conversation) refused(ctx context.Context, t orchestrator.Turn, err error) error {
	switch contracts.CodeOf(err) {
	case contracts.CodeForbidden, contracts.CodeUnsupported, contracts.CodeInvalid, contracts.CodeBudgetExceeded, contracts.CodeConflict:
		t.Outcome = orchestrator.TurnAnswered
		t.Answer = &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockError, Text: err.Error()}}}
		return s.turns.SaveTurn(ctx, t)
	default:
		return err
	}
}

// askCapability asks which capability was meant.
func (s *Conversation) askCapability(ctx context.Context, session orchestrator.Session, t orchestrator.Turn, u intent.Understanding) error {
	if len(u.Choices) == 0 {
		t.Outcome, t.Answer = orchestrator.TurnAnswered, declined(u)
		return s.turns.SaveTurn(ctx, t)
	}
	i := s.question(session, u.Question)
	for _, c := range u.Choices {
		i.Options = append(i.Options, contracts.InterruptOption{
			ID: c.Domain + "." + c.Capability, Label: cmp.Or(c.Description, c.Domain+"."+c.Capability),
		})
	}
	t.Asked = &orchestrator.Asked{IntentID: u.Unclear, Capability: true}
	return s.ask(ctx, t, i)
}

// askPlanner asks for what a plan is missing.
func (s *Conversation) askPlanner(ctx context.Context, session orchestrator.Session, t orchestrator.Turn, q planner.Question) error {
	i := s.question(session, q.Prompt)
	i.Type, i.Options, i.ResponseSchema = q.Kind, q.Options, q.Schema
	t.Asked = &orchestrator.Asked{IntentID: q.IntentID, Param: q.Param, Role: q.Role, Domain: q.Domain}
	return s.ask(ctx, t, i)
}

func (s *Conversation) question(session orchestrator.Session, prompt string) contracts.Interrupt {
	return contracts.Interrupt{
		InterruptID: execution.NewID("gate"), Code: execution.NewCode(), Type: contracts.InterruptClarification,
		Status: contracts.InterruptOpen, SessionID: session.ID, Prompt: prompt, CreatedAt: s.cfg.Now(),
		Requesters: []string{access.SubjectOf(session.Owner)},
	}
}

// ask opens the turn's question. The turn is saved first: a question without
// its turn could not be answered, a turn without its question is asked again.
func (s *Conversation) ask(ctx context.Context, t orchestrator.Turn, i contracts.Interrupt) error {
	t.Outcome, t.InterruptID = orchestrator.TurnClarifying, i.InterruptID
	for n := range i.Options {
		o := &i.Options[n]
		o.Label, o.Detail = contracts.CleanSummary(o.Label), contracts.CleanSummary(o.Detail)
	}
	if err := s.turns.SaveTurn(ctx, t); err != nil {
		return err
	}
	err := s.runs.OpenInterrupt(ctx, i, contracts.Event{
		SessionID: i.SessionID, At: s.cfg.Now(), Type: contracts.EventInterrupt, Status: string(i.Type),
		Summary: contracts.CleanSummary(i.Prompt),
	})
	s.hub.Committed(i.SessionID, "")
	return err
}

// continueTurn goes on with a turn whose question was answered.
func (s *Conversation) continueTurn(ctx context.Context, who access.Principal, i contracts.Interrupt) error {
	t, err := s.turns.TurnByInterrupt(ctx, i.InterruptID)
	if err != nil || t.Outcome != orchestrator.TurnClarifying || t.Asked == nil {
		return err
	}
	session, err := s.dir.Get(ctx, i.SessionID)
	if err != nil {
		return err
	}
	if err := s.takeAnswer(&t, i.Response); err != nil {
		return err
	}
	return s.proceed(ctx, who, session, t)
}

// takeAnswer puts an answer where the turn's question says it belongs.
func (s *Conversation) takeAnswer(t *orchestrator.Turn, response any) error {
	asked := *t.Asked
	switch {
	case asked.Role != "":
		t.Roles = withText(t.Roles, asked.Role, response)
	case asked.Domain != "":
		t.Instances = withText(t.Instances, asked.Domain, response)
	case asked.Capability:
		return s.chooseCapability(t, asked.IntentID, response)
	default:
		for n := range t.Intents {
			if t.Intents[n].ID == asked.IntentID {
				t.Intents[n].Parameters = withValue(t.Intents[n].Parameters, asked.Param, response)
			}
		}
	}
	return nil
}

// chooseCapability replaces the reading of one clause; its parameters are read
// again from its own words, not from the answer.
func (s *Conversation) chooseCapability(t *orchestrator.Turn, intentID string, response any) error {
	ref, _ := response.(string) // a value that is no text resolves to nothing
	at := slices.IndexFunc(t.Intents, func(i contracts.Intent) bool { return i.ID == intentID })
	if at < 0 {
		t.Intents = append(t.Intents, contracts.Intent{ID: cmp.Or(intentID, "i1"), Clause: t.Message})
		at = len(t.Intents) - 1
	}
	chosen, err := s.intents.Choose(s.catalogs.Catalog(), t.Intents[at], ref, s.cfg.Now())
	if err != nil {
		return err
	}
	t.Intents[at] = chosen
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

func withValue(m map[string]any, key string, value any) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	out[key] = value
	return out
}

// answerOpenQuestion takes a message as the answer to the session's open
// question before there is a plan, if it fits; approvals are never read out of
// a message.
func (s *Conversation) answerOpenQuestion(ctx context.Context, who access.Principal, session orchestrator.Session, message string) (bool, error) {
	open, err := s.runs.Interrupts(ctx, execution.InterruptFilter{
		SessionID: session.ID, Status: contracts.InterruptOpen, Types: []contracts.InterruptType{contracts.InterruptClarification},
	})
	if err != nil || len(open) != 1 {
		return false, err
	}
	i := open[0]
	value, fits := s.readAnswer(ctx, who, i, message)
	if !fits {
		return false, nil
	}
	_, err = s.decide(ctx, who, i, contracts.Resume{Response: value})
	return err == nil, err
}

// readAnswer reads a typed answer: an option, or a value of the asked
// parameter. A free text that is itself an understandable request is no answer.
func (s *Conversation) readAnswer(ctx context.Context, who access.Principal, i contracts.Interrupt, message string) (any, bool) {
	text := strings.TrimSpace(message)
	if words, ok := execution.SearchAgain(i, text); ok && !s.isRequest(ctx, who, text) {
		return words, true
	}
	if value, err := execution.AnswerValue(i, text); err == nil && (len(i.Options) > 0 || !s.isRequest(ctx, who, text)) {
		return value, true
	}
	t, err := s.turns.TurnByInterrupt(ctx, i.InterruptID)
	if err != nil || t.Asked == nil || t.Asked.Param == "" {
		return nil, false
	}
	for _, in := range t.Intents {
		if in.ID != t.Asked.IntentID {
			continue
		}
		entry, ok := s.catalogs.Catalog().Capability(in.Ref())
		if !ok {
			return nil, false
		}
		values, _ := s.intents.Fill(entry, text, []string{t.Asked.Param}, s.cfg.Now())
		for _, value := range values { // a list parameter may stand in for the single one
			if _, err := execution.AnswerValue(i, value); err == nil {
				return value, true
			}
		}
	}
	return nil, false
}

func (s *Conversation) isRequest(ctx context.Context, who access.Principal, text string) bool {
	u, err := s.intents.Understand(ctx, intent.Request{
		Message: text, Catalog: s.catalogs.Catalog(), Roles: rolesOf(who), Now: s.cfg.Now(),
	})
	return err == nil && u.Outcome == contracts.GateAccept
}

// remarks names the parts of a message that nothing was done about, and what
// was left out of the plan.
func remarks(t orchestrator.Turn) []contracts.Block {
	var out []contracts.Block
	if len(t.Unused) > 0 {
		quoted := make([]string, len(t.Unused))
		for i, p := range t.Unused {
			quoted[i] = "“" + contracts.CleanSummary(p) + "”"
		}
		out = append(out, contracts.Block{
			Kind: contracts.BlockNote, Text: "Nothing was done about " + strings.Join(quoted, ", ") + ": I did not understand it.",
		})
	}
	for _, note := range t.Notes {
		out = append(out, contracts.Block{Kind: contracts.BlockNote, Text: note})
	}
	return out
}

// declined says honestly that a message was not understood, and what could be.
func declined(u intent.Understanding) *contracts.Answer {
	a := &contracts.Answer{Blocks: []contracts.Block{{
		Kind: contracts.BlockText, Text: cmp.Or(u.Question, "I did not understand that as something that I can do."),
	}}}
	if len(u.Choices) > 0 {
		list := contracts.Block{Kind: contracts.BlockList, Title: "What I can do"}
		for _, c := range u.Choices {
			list.Items = append(list.Items, cmp.Or(c.Description, c.Capability)+" ("+c.Domain+"."+c.Capability+")")
		}
		a.Blocks = append(a.Blocks, list)
	}
	return a
}

// fingerprint is the hash of a request, to tell a repeat from another one.
func fingerprint(v any) string {
	hash, err := contracts.Hash(v)
	if err != nil {
		return ""
	}
	return hash
}

// sessionWait is how long continuing a turn may take after its caller has gone.
const sessionWait = 30 * time.Second

// asksForHelp tells whether a message asks what there is to ask for. No domain
// is chosen for such a message, so it is answered before the matcher sees it.
func asksForHelp(message string) bool {
	c, ok := chat.Parse(message)
	return ok && c.Verb == chat.Help || chat.Greets(message)
}
