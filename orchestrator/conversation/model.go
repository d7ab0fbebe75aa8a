package conversation

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
)

// Limits on the context for a model: the number of turns, the characters of each answer, and the
// number of recent capabilities.
const (
	maxEarlier  = 10
	maxAnswered = 800
	maxRecent   = 6
)

// forModel returns the turn of an input if a model is configured. A number or label of an option of
// the last displayed question is taken as the answer without a model call. Everything else is left
// to the model, with the conversation so far.
func (r *classifier) forModel(ctx context.Context, in Input, t orchestrator.Turn) (orchestrator.Turn, error) {
	s, err := r.loadSessionContext(ctx, in)
	if err != nil {
		return t, err
	}
	if old := s.edited(t, in); old != nil {
		return r.edit(ctx, *old, t)
	}
	q := s.question
	if q == nil || len(q.Options) == 0 {
		return t, nil
	}
	value, err := decision.Value(*q, strings.TrimSpace(chat.MatchOption(*q, in.Message)))
	if err != nil {
		return t, nil //nolint:nilerr // it is no plain answer
	}
	t.Kind, t.AnsweredQuestionID, t.Resume = orchestrator.TurnReply, q.InterruptID, &contracts.Resume{Response: value}
	return r.linkAskingTurn(ctx, *q, t)
}

// surroundings adds the context of the conversation to a request for a model.
func (m *machine) surroundings(ctx context.Context, t orchestrator.Turn, req *intent.Request) (sessionContext, error) {
	s, err := m.reader.loadSessionContext(ctx, Input{SessionID: t.SessionID, resolved: &resolvedInput{known: true, session: orchestrator.Session{ID: t.SessionID}}})
	if err != nil {
		return s, err
	}
	s.turns = slices.DeleteFunc(s.turns, func(o orchestrator.Turn) bool {
		return o.TurnKey == t.TurnKey || o.CreatedAt.After(t.CreatedAt)
	})
	for _, o := range s.turns[max(0, len(s.turns)-maxEarlier):] {
		said, err := m.answered(ctx, o)
		if err != nil {
			return s, err
		}
		req.Earlier = append(req.Earlier, intent.Exchange{UserMessage: o.Message, Answered: said})
		for _, in := range o.Intents {
			req.Recent = append([]string{in.Ref()}, slices.DeleteFunc(req.Recent, func(ref string) bool { return ref == in.Ref() })...)
		}
	}
	req.Recent = req.Recent[:min(len(req.Recent), maxRecent)]
	for _, e := range t.Dialogue {
		req.Earlier = append(req.Earlier, intent.Exchange{Answered: e.Asked}, intent.Exchange{UserMessage: e.Answered})
	}
	for _, i := range slices.Concat(s.questions, s.gates) {
		req.Open = append(req.Open, s.open(i))
	}
	return s, nil
}

// answered returns the answer of a turn, shortened to maxAnswered characters.
func (m *machine) answered(ctx context.Context, t orchestrator.Turn) (string, error) {
	a := t.Answer
	if t.RunID != "" && t.RunSession == "" {
		run, err := m.runner.View(ctx, t.RunID)
		if contracts.CodeOf(err) == contracts.CodeNotFound {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		a = answer.Compose(m.catalogs.Catalog(), run)
	}
	out := ""
	if a != nil {
		out = chat.Render(a)
	}
	out = cmp.Or(strings.TrimSpace(out), t.Notice)
	if r := []rune(out); len(r) > maxAnswered {
		out = string(r[:maxAnswered]) + "…"
	}
	return out, nil
}

// open returns a question or gate in the form of the model's prompt.
func (s sessionContext) open(i contracts.Interrupt) intent.Open {
	o := intent.Open{ID: i.InterruptID, Kind: intent.OpenQuestion, Prompt: i.Prompt}
	for _, option := range i.Options {
		o.Options = append(o.Options, option.Label)
	}
	base := s.asking(i)
	if i.Type.IsGate() {
		o.Kind, base = intent.OpenGate, s.turnOfRun(i.RunID)
	}
	if i.Action != nil {
		o.Ref, o.Values = i.Action.Capability, i.Action.Parameters
	}
	if at := intentOf(base, i, o.Ref); at != nil {
		o.Ref, o.Values = at.Ref(), at.Parameters
	}
	return o
}

// turnOfRun returns the turn whose request became the run.
func (s sessionContext) turnOfRun(runID string) *orchestrator.Turn {
	for n := range slices.Backward(s.turns) {
		if runID != "" && s.turns[n].RunID == runID && len(s.turns[n].Intents) > 0 {
			return &s.turns[n]
		}
	}
	return nil
}

// intentOf returns the intent of a turn that a question or gate is about, or nil.
func intentOf(t *orchestrator.Turn, i contracts.Interrupt, ref string) *contracts.Intent {
	if t == nil {
		return nil
	}
	for n := range t.Intents {
		in := &t.Intents[n]
		asked := t.AnswerTarget != nil && t.AnswerTarget.IntentID == in.ID && t.InterruptID == i.InterruptID
		if asked || ref != "" && in.Ref() == ref || len(t.Intents) == 1 && ref == "" {
			return in
		}
	}
	return nil
}

// proposed handles what a model returned instead of intents: an answer, a change, a withdrawal, a
// question or free text. It returns false if the message is a request.
func (m *machine) proposed(ctx context.Context, t orchestrator.Turn, s sessionContext, u intent.Understanding) (orchestrator.Turn, bool, error) {
	switch {
	case u.Answer != nil:
		return m.answers(ctx, t, s, *u.Answer)
	case u.Revision != nil:
		next, ok, err := m.revises(ctx, t, s, *u.Revision)
		if !ok && err == nil {
			next, ok = answered(t, &contracts.Answer{Blocks: []contracts.Block{{Kind: contracts.BlockNote, Text: "That cannot be changed in words. Cancel it, and say the whole request again."}}}), true
		}
		return next, ok, err
	case u.Withdrawal != nil:
		return m.withdraws(t, s, *u.Withdrawal), true, nil
	case u.Reply != "":
		return answered(t, m.ownWords(u)), true, nil
	case u.Outcome == contracts.ReadingUnclear && len(u.Choices) == 0:
		return m.askFreely(t, u), true, nil
	}
	return t, false, nil
}

// answers turns t into the answer to a question. If the value does not fit, the question is
// displayed again.
func (m *machine) answers(ctx context.Context, t orchestrator.Turn, s sessionContext, a intent.Answer) (orchestrator.Turn, bool, error) {
	for _, q := range s.questions {
		if q.InterruptID != a.ID {
			continue
		}
		value := a.Value
		if words, ok := value.(string); ok {
			if read, fits := m.reader.value(ctx, t.By, q, words); fits {
				value = read
			}
		}
		if _, err := decision.Value(q, value); err != nil {
			t.Kind, t.Command, t.RedisplayedQuestionID, t.Notice, t.RunID = orchestrator.TurnCommand, again, q.InterruptID, "I could not take that as an answer.", q.RunID
			return t, true, nil //nolint:nilerr // the question is shown once more
		}
		t.Kind, t.AnsweredQuestionID, t.Resume = orchestrator.TurnReply, q.InterruptID, &contracts.Resume{Response: value}
		next, err := m.reader.linkAskingTurn(ctx, q, t)
		return next, true, err
	}
	return t, false, nil
}

// revises turns t into the previous request with other values. What was pending of that request is
// replaced, and the approver sees the new request in full.
func (m *machine) revises(ctx context.Context, t orchestrator.Turn, s sessionContext, revision intent.Revision) (orchestrator.Turn, bool, error) {
	for _, i := range slices.Concat(s.questions, s.gates) {
		if i.InterruptID != revision.ID {
			continue
		}
		base := s.asking(i)
		if i.Type.IsGate() {
			base = s.turnOfRun(i.RunID)
		}
		ref := ""
		if i.Action != nil {
			ref = i.Action.Capability
		}
		in := intentOf(base, i, ref)
		if in == nil {
			return m.revisesPlan(ctx, t, s, i, revision.Parameters)
		}
		return m.withValues(ctx, t, *base, in.ID, revision.Parameters)
	}
	return t, false, nil
}

// revisesPlan changes a gate of a plan. The gate is edited in place, so that finished steps are
// kept. If a value needs a search and nothing was written yet, a new plan is made with it.
func (m *machine) revisesPlan(ctx context.Context, t orchestrator.Turn, s sessionContext, i contracts.Interrupt, values map[string]any) (orchestrator.Turn, bool, error) {
	if !i.Type.IsGate() || i.Action == nil {
		return t, false, nil
	}
	entry, ok := m.catalogs.Catalog().Capability(i.Action.Capability)
	if !ok {
		return t, false, nil
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(values)), func(name string) bool { return change.IsLookedUp(entry, name) }) {
		return m.redrafts(ctx, t, s, i, values)
	}
	edited := maps.Clone(i.Action.Parameters)
	for name, value := range values {
		delete(edited, change.Twin(entry, name))
		edited[name] = value
	}
	t.Kind, t.Gate = orchestrator.TurnDecision, i.InterruptID
	t.Resume = &contracts.Resume{Decision: contracts.DecisionEdit, EditedParams: edited}
	return t, true, nil
}

// redrafts turns t into the previous plan with other values for the step of a gate.
func (m *machine) redrafts(ctx context.Context, t orchestrator.Turn, s sessionContext, i contracts.Interrupt, values map[string]any) (orchestrator.Turn, bool, error) {
	at := slices.IndexFunc(s.turns, func(o orchestrator.Turn) bool { return o.RunID == i.RunID && o.Draft != nil })
	if at < 0 {
		return t, false, nil
	}
	run, err := m.runner.View(ctx, i.RunID)
	if err != nil {
		return t, false, err
	}
	node := slices.IndexFunc(run.Nodes, func(n contracts.NodeView) bool { return n.NodeID == i.NodeID })
	if node < 0 || len(change.Written(run)) > 0 {
		return t, false, nil
	}
	base := s.turns[at]
	draft := *base.Draft
	for name, value := range values {
		changed, ok := draft.WithParam(run.Nodes[node].IntentID, name, value)
		if !ok {
			return t, false, nil
		}
		draft = changed
	}
	t.Draft, t.Understood, t.Roles, t.Instances, t.DryRun = &draft, true, base.Roles, base.Instances, base.DryRun
	t.Goal, t.Replaces = change.Goal(base)+"; "+t.Message, &orchestrator.Replaced{RunID: i.RunID}
	return t, true, nil
}

// withValues turns t into a request with other values for one of its intents.
func (m *machine) withValues(ctx context.Context, t, base orchestrator.Turn, intentID string, values map[string]any) (orchestrator.Turn, bool, error) {
	changed := slices.Clone(base.Intents)
	at := slices.IndexFunc(changed, func(in contracts.Intent) bool { return in.ID == intentID })
	in := &changed[at]
	entry, ok := m.catalogs.Catalog().Capability(in.Ref())
	if !ok {
		return t, false, nil
	}
	in.Parameters = maps.Clone(in.Parameters)
	for name := range in.Parameters {
		in.Utterance = in.Utterance.With(name, contracts.FromCarried)
	}
	found := m.local.Locate(entry, t.Message, m.now(), values)
	for name, value := range values {
		delete(in.Parameters, change.Twin(entry, name))
		in.Parameters[name] = value
		in.Utterance = in.Utterance.With(name, contracts.FromModel)
		if _, said := found[name]; said {
			in.Utterance = in.Utterance.With(name, contracts.FromUtterance)
		}
	}
	in.Utterance = change.GoneOn(in.Utterance, t.Message, slices.Sorted(maps.Keys(values))[0])
	t.Intents, t.Understood, t.Roles, t.Instances, t.DryRun = changed, true, base.Roles, base.Instances, base.DryRun
	t.Goal = change.Goal(base) + "; " + t.Message
	err := m.reader.replaceValues(ctx, base, values, &t)
	return t, true, err
}

// withdraws turns t into a command: drop for a question of a turn, cancel for a question or gate of
// a run, and otherwise undo of the last write.
func (m *machine) withdraws(t orchestrator.Turn, s sessionContext, w intent.Withdrawal) orchestrator.Turn {
	t.Kind, t.Command = orchestrator.TurnCommand, chat.Undo
	for _, i := range slices.Concat(s.questions, s.gates) {
		if i.InterruptID != w.ID {
			continue
		}
		t.Codes, t.Command = []string{i.Code}, chat.Drop
		if i.RunID != "" {
			t.Command = chat.Cancel
		}
	}
	return t
}

// ownWords returns free text of a model, marked as such: no capability was called for it.
func (m *machine) ownWords(u intent.Understanding) *contracts.Answer {
	if m.plain {
		return answer.Declined(intent.Understanding{Outcome: contracts.ReadingDeclined})
	}
	return &contracts.Answer{Blocks: []contracts.Block{
		{Kind: contracts.BlockText, Text: contracts.CleanSummary(u.Reply)},
		{Kind: contracts.BlockNote, Text: "The model's own words: nothing was looked up, and nothing was done."},
	}}
}

// askFreely asks a question of the model. The message is read again with the answer.
func (m *machine) askFreely(t orchestrator.Turn, u intent.Understanding) orchestrator.Turn {
	i := contracts.Interrupt{Type: contracts.InterruptClarification, Prompt: u.Question, ResponseSchema: map[string]any{"type": "string", "minLength": 1}}
	for _, o := range u.Options {
		i.Options = append(i.Options, contracts.InterruptOption{ID: o, Label: o})
	}
	t.AnswerTarget = &orchestrator.AnswerTarget{Words: u.Question}
	return ask(t, i, m.now())
}

// byWords classifies a message with the local reader, after the model call has failed.
func (m *machine) byWords(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	in := Input{Key: t.Key, SessionID: t.SessionID, Domain: t.Model, Message: t.Message, SaidAt: t.SaidAt, resolved: &resolvedInput{known: true, session: orchestrator.Session{ID: t.SessionID}}}
	return m.reader.classifyMessage(ctx, t.By, in, t)
}
