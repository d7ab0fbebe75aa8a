package conversation

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
)

// applyFragment builds a request from a fragment and the previous request, with the values of the
// fragment. It returns false if the fragment has no value for that request.
func (r *classifier) applyFragment(ctx context.Context, base orchestrator.Turn, f chat.Fragment, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	at, values := r.fragmentValues(ctx, base, f)
	if len(values) == 0 {
		return t, false, nil
	}
	changed := slices.Clone(base.Intents)
	in := &changed[at]
	entry, _ := r.catalogs.Catalog().Capability(in.Ref()) // fragmentValues has checked that it exists
	if f.Kind == chat.FragmentValue {                     // a bare value repeats a read and changes a write
		f.Kind = chat.FragmentAnother
		if entry.Policy.SideEffectClass.Writes() {
			f.Kind = chat.FragmentChange
		}
	}
	in.Parameters = maps.Clone(in.Parameters)
	for name := range in.Parameters {
		in.Utterance = in.Utterance.With(name, contracts.FromCarried)
	}
	for name, value := range values {
		delete(in.Parameters, change.Twin(entry, name))
		in.Parameters[name] = value
		in.Utterance = in.Utterance.With(name, contracts.FromUtterance)
	}
	in.Utterance = change.GoneOn(in.Utterance, t.Message, slices.Sorted(maps.Keys(values))[0])
	if f.Kind == chat.FragmentAnother {
		changed = changed[at : at+1]
	}
	t.Intents, t.Understood, t.Roles, t.Instances, t.DryRun = changed, true, base.Roles, base.Instances, base.DryRun
	t.Goal = change.Goal(base) + "; " + t.Message
	if f.Kind == chat.FragmentAnother {
		return t, true, nil
	}
	return t, true, r.replaceValues(ctx, base, values, &t)
}

// resolveReference builds a request from a message that refers to the object of the last request,
// or omits it if unsaid is set. While a write is pending or running, "it" may mean that request:
// then no write is built.
func (r *classifier) resolveReference(ctx context.Context, who access.Principal, in Input, s sessionContext, t orchestrator.Turn, unsaid bool) (orchestrator.Turn, bool, error) {
	if s.last == nil || s.now.Sub(s.last.CreatedAt) > questionTTL {
		return t, false, nil
	}
	wrote := r.writes(s.last.Intents)
	message, restores := chat.RevertPhrase(in.Message)
	if !restores {
		message = in.Message
	}
	if f, is := chat.ReadFragment(in.Message); is && wrote && !restores && f.Kind != chat.FragmentAnother { // "make it 3" changes that write
		return t, false, nil
	}
	u, ok := r.local.FollowUp(ctx, intent.Request{
		Message: message, Catalog: r.catalogs.Catalog(), Domain: in.Domain, Roles: rolesOf(who), Now: r.now(),
	}, s.last.Intents, unsaid)
	if !ok || restores && u.Intents[0].Confidence < minReapplyConfidence {
		return t, false, nil
	}
	if wrote && r.writes(u.Intents) {
		run, err := r.runner.View(ctx, s.last.RunID)
		if contracts.CodeOf(err) == contracts.CodeNotFound || err == nil && !run.State.Terminal() {
			return t, false, nil
		}
		if err != nil {
			return t, false, err
		}
	}
	t.Intents, t.Unused, t.Understood = u.Intents, u.Unused, true
	return t, true, nil
}

// minReapplyConfidence is the minimum confidence for treating a message as re-doing a write that
// has no compensation.
const minReapplyConfidence = 0.9

// refineChoice handles an answer that leaves only one of the options: "at 205" to "an alert, or the
// list of them?". The answer is read together with the message that led to the question.
func (r *classifier) refineChoice(ctx context.Context, who access.Principal, message string, q contracts.Interrupt, t orchestrator.Turn) (orchestrator.Turn, bool) {
	asking, err := waitingFor(ctx, r.turns, q.InterruptID)
	if err != nil || asking.AnswerTarget == nil || !asking.AnswerTarget.Capability || len(asking.Intents) > 1 || r.isRequest(ctx, who, message) {
		return t, false
	}
	joined := asking.Message + "; " + message
	var found []intent.Understanding
	for _, o := range q.Options {
		u, err := r.intents.Understand(ctx, intent.Request{
			Message: joined, Catalog: r.catalogs.Catalog(), Only: []string{o.ID}, Roles: rolesOf(who), Now: r.now(), Local: true,
		})
		if err == nil && u.Outcome == contracts.ReadingAccepted && len(u.Intents) == 1 && len(u.Unused) == 0 && saysAfter(u.Intents[0], len(asking.Message)) {
			found = append(found, u)
		}
	}
	if len(found) != 1 {
		return t, false
	}
	t.Intents, t.Understood, t.Goal = found[0].Intents, true, joined
	t.Replaces = &orchestrator.Replaced{InterruptID: q.InterruptID}
	return t, true
}

// answerWithExtraValues handles an answer with more values than were asked for: "two, from Monday"
// to "how many days?".
func (r *classifier) answerWithExtraValues(ctx context.Context, who access.Principal, message string, s sessionContext, fits bool, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	q := *s.question
	base := s.asking(q)
	if kind, _ := q.ResponseSchema["type"].(string); kind == "string" && q.ResponseSchema["format"] == nil {
		return t, false, nil // any word may be part of it
	}
	if _, number := chat.ParseNumber(message); number || freeText(q) || q.RunID != "" || q.Workflow != "" || base == nil || base.AnswerTarget == nil || base.AnswerTarget.Param == "" {
		return t, false, nil
	}
	f := chat.Fragment{Kind: chat.FragmentChange, Rest: message}
	at, values := r.fragmentValues(ctx, *base, f)
	_, answers := values[base.AnswerTarget.Param]
	if answers && change.Contradicts(base.Intents[at], values, base.AnswerTarget.Param) { // "the first one is the 16th" is no number of days
		return t, false, nil
	}
	if len(values) == 0 || base.Intents[at].ID != base.AnswerTarget.IntentID || answers && len(values) == 1 || !answers && fits ||
		r.saysWhatToDo(ctx, who, message, base.Intents) {
		return t, false, nil
	}
	return r.applyFragment(ctx, *base, f, t)
}

// saysAfter reports whether a value of the intent occurs at or after a byte offset of the message.
func saysAfter(in contracts.Intent, at int) bool {
	for _, ev := range in.Evidence {
		if ev.Span[0] >= at {
			return true
		}
	}
	return false
}

// writes reports whether any of the requests has side effects. Unknown capabilities count as
// writes.
func (r *classifier) writes(intents []contracts.Intent) bool {
	return slices.ContainsFunc(intents, func(in contracts.Intent) bool {
		entry, ok := r.catalogs.Catalog().Capability(in.Ref())
		return !ok || entry.Policy.SideEffectClass.Writes()
	})
}

// replaceValues decides what happens to the request that is changed: a pending one is replaced; if
// it has already written, the person is asked.
func (r *classifier) replaceValues(ctx context.Context, base orchestrator.Turn, values map[string]any, t *orchestrator.Turn) error {
	if base.RunID == "" {
		t.Replaces = &orchestrator.Replaced{InterruptID: base.InterruptID}
		return nil
	}
	run, err := r.runner.View(ctx, base.RunID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	written := change.Written(run)
	switch {
	case len(written) > 0:
		i := contracts.Interrupt{Type: contracts.InterruptClarification, Prompt: "That is done already. What do you want now, with " + change.Words(values) + "?"}
		if len(written) == 1 && change.CanUndo(r.catalogs.Catalog(), written[0]) {
			i.Options = append(i.Options, contracts.InterruptOption{ID: "redo", Label: "Undo it, and do it anew"})
		}
		i.Options = append(i.Options,
			contracts.InterruptOption{ID: "second", Label: "Do a second one"}, contracts.InterruptOption{ID: "leave", Label: "Leave it as it is"})
		t.Replaces = &orchestrator.Replaced{RunID: base.RunID, NodeID: written[len(written)-1].NodeID}
		t.AnswerTarget = &orchestrator.AnswerTarget{Done: true}
		*t = ask(*t, i, r.now())
	case !run.State.Terminal():
		t.Replaces = &orchestrator.Replaced{RunID: base.RunID}
	}
	return nil
}

// undoByMessage builds an undo from a message that asks to remove what the last request has
// created: "delete it again". The message must not ask for anything else, and no gate may be open
// that it could refer to.
func (r *classifier) undoByMessage(ctx context.Context, who access.Principal, in Input, s sessionContext, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	if s.last == nil || s.last.RunID == "" || len(s.gates) > 0 || s.now.Sub(s.last.CreatedAt) > questionTTL {
		return t, false, nil
	}
	run, err := r.runner.View(ctx, s.last.RunID)
	if contracts.CodeOf(err) == contracts.CodeNotFound {
		return t, false, nil
	}
	undo, ok := change.Undo(r.catalogs.Catalog(), run)
	if err != nil || !ok {
		return t, false, err
	}
	u, ok := r.local.FollowUp(ctx, intent.Request{
		Message: in.Message, Catalog: r.catalogs.Catalog(), Domain: in.Domain, Roles: rolesOf(who), Now: r.now(),
	}, []contracts.Intent{undo}, false)
	if !ok || len(u.Intents) != 1 || len(u.Unused) > 0 || u.Intents[0].Ref() != undo.Ref() || len(u.Intents[0].Parameters) > 1 {
		return t, false, nil
	}
	t.Kind, t.Command = orchestrator.TurnCommand, chat.Undo
	return t, true, nil
}

// revertChange restores the version of a pending request before its last change; if nothing is
// pending, the last write is undone. It returns false if that write cannot be undone.
func (r *classifier) revertChange(ctx context.Context, s sessionContext, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	undo := t
	undo.Kind, undo.Command = orchestrator.TurnCommand, chat.Undo
	if s.last == nil || s.last.RunID == "" {
		return undo, true, nil
	}
	run, err := r.runner.View(ctx, s.last.RunID)
	written := change.Written(run)
	base, changed := s.changedFrom()
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		return undo, true, nil
	case err != nil:
		return t, false, err
	case len(written) > 0 || run.State.Terminal() || !changed:
		return undo, len(written) != 1 || change.CanUndo(r.catalogs.Catalog(), written[0]), nil
	}
	t.Intents, t.Understood, t.Roles, t.Instances, t.DryRun = base.Intents, true, base.Roles, base.Instances, base.DryRun
	t.Goal, t.Replaces = change.Goal(base), &orchestrator.Replaced{RunID: s.last.RunID}
	return t, true, nil
}

// reselectTarget cancels the pending write and asks which object was meant, if exactly one of its
// parameters is resolved by a search.
func (r *classifier) reselectTarget(ctx context.Context, s sessionContext, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	if s.last == nil || s.last.RunID == "" || len(s.last.Intents) != 1 || !r.writes(s.last.Intents) {
		return t, false, nil
	}
	in := s.last.Intents[0]
	entry, _ := r.catalogs.Catalog().Capability(in.Ref()) // an unknown capability has no such parameter
	looked := change.LookedUp(entry, in)
	if len(looked) != 1 {
		return t, false, nil
	}
	run, err := r.runner.View(ctx, s.last.RunID)
	if contracts.CodeOf(err) == contracts.CodeNotFound || err == nil && (run.State.Terminal() || len(change.Written(run)) > 0) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	in.Parameters = maps.Clone(in.Parameters)
	delete(in.Parameters, looked[0])
	in.Missing, in.Utterance = looked, change.GoneOn(in.Utterance, t.Message, looked[0])
	t.Intents, t.Understood, t.Roles, t.Instances, t.DryRun = []contracts.Intent{in}, true, s.last.Roles, s.last.Instances, s.last.DryRun
	t.Goal, t.Replaces = change.Goal(*s.last)+"; "+t.Message, &orchestrator.Replaced{RunID: s.last.RunID}
	return t, true, nil
}

// changedFrom returns the request that the last request is a change of.
func (s sessionContext) changedFrom() (orchestrator.Turn, bool) {
	if s.last == nil || s.last.RunID == "" {
		return orchestrator.Turn{}, false
	}
	goal, ok := strings.CutSuffix(change.Goal(*s.last), "; "+s.last.Message)
	for _, o := range slices.Backward(s.turns) {
		if ok && o.TurnKey != s.last.TurnKey && len(o.Intents) > 0 && change.Goal(o) == goal {
			return o, true
		}
	}
	return orchestrator.Turn{}, false
}

// cancelReplaced cancels the request that t replaces. done reports that it was too late: that
// request has already written something.
func (m *machine) cancelReplaced(ctx context.Context, t orchestrator.Turn) (done bool, err error) {
	old := *t.Replaces
	if old.RunID == "" {
		return false, m.close(ctx, t, old.InterruptID)
	}
	err = m.runner.Cancel(ctx, old.RunID, t.By.Subject())
	if err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
		return false, err
	}
	var run contracts.RunView
	err = orchestrator.WaitFor(ctx, m.notifier, t.SessionID, withdrawn, func(ctx context.Context) (bool, error) {
		run, err = m.runner.View(ctx, old.RunID)
		return run.State.Terminal(), err
	})
	if err == nil && !run.State.Terminal() {
		err = contracts.Errorf(contracts.CodeUnavailable, "the request before is still ending; say it again in a moment")
	}
	return len(change.Written(run)) > 0, err
}

// close drops a question of a request that has no run. It does nothing if the question is not open.
func (m *machine) close(ctx context.Context, t orchestrator.Turn, id string) error {
	i, err := execution.GetInterrupt(ctx, m.store, id)
	if contracts.CodeOf(err) == contracts.CodeNotFound || err == nil && i.Status != contracts.InterruptOpen {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = m.gates.Drop(ctx, t.By, i)
	return err
}
