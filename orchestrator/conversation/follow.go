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
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
)

// follow makes a request of a fragment and the request before it: its values
// with others in their place. false says that the fragment has no value of it.
func (r *reader) follow(ctx context.Context, base orchestrator.Turn, f chat.Fragment, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	at, values := r.valuesOf(base, f)
	if len(values) == 0 {
		return t, false, nil
	}
	changed := slices.Clone(base.Intents)
	in := &changed[at]
	entry, _ := r.catalogs.Catalog().Capability(in.Ref()) // valuesOf has found it
	if f.Kind == chat.FragmentValue {                     // of a read another one is asked for
		f.Kind = chat.FragmentAnother
		if entry.Policy.SideEffectClass.Writes() {
			f.Kind = chat.FragmentChange
		}
	}
	in.Parameters = maps.Clone(in.Parameters)
	for name := range in.Parameters {
		in.Said = in.Said.With(name, contracts.FromCarried)
	}
	for name, value := range values {
		delete(in.Parameters, change.Twin(entry, name))
		in.Parameters[name] = value
		in.Said = in.Said.With(name, contracts.FromSaid)
	}
	in.Said = change.GoneOn(in.Said, t.Message, slices.Sorted(maps.Keys(values))[0])
	if f.Kind == chat.FragmentAnother {
		changed = changed[at : at+1]
	}
	t.Intents, t.Understood, t.Roles, t.Instances, t.DryRun = changed, true, base.Roles, base.Instances, base.DryRun
	t.Goal = change.Goal(base) + "; " + t.Message
	if f.Kind == chat.FragmentAnother {
		return t, true, nil
	}
	return t, true, r.instead(ctx, base, values, &t)
}

// carried makes a request of a message that points at what the last one was about, or
// leaves it out. While a write waits or goes on, "it" may as well be that request: then
// nothing is written for it.
func (r *reader) carried(ctx context.Context, who access.Principal, in Input, s standing, t orchestrator.Turn, unsaid bool) (orchestrator.Turn, bool, error) {
	if s.last == nil || s.now.Sub(s.last.CreatedAt) > fresh {
		return t, false, nil
	}
	wrote := r.writes(s.last.Intents)
	if f, is := chat.ReadFragment(in.Message); is && wrote && f.Kind != chat.FragmentAnother { // "make it 3" is about that write
		return t, false, nil
	}
	u, ok := r.intents.Carry(ctx, intent.Request{
		Message: in.Message, Catalog: r.catalogs.Catalog(), Domain: in.Model, Roles: rolesOf(who), Now: r.now(),
	}, s.last.Intents, unsaid)
	if !ok {
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

// saidMore takes an answer to what is meant that says more of it: "at 205" to "an alert,
// or the list of them?" leaves only one. What was asked is read with it, as one message.
func (r *reader) saidMore(ctx context.Context, who access.Principal, message string, q contracts.Interrupt, t orchestrator.Turn) (orchestrator.Turn, bool) {
	asking, err := waitingFor(ctx, r.turns, q.InterruptID)
	if err != nil || asking.Asked == nil || !asking.Asked.Capability || len(asking.Intents) > 1 || r.isRequest(ctx, who, message) {
		return t, false
	}
	joined := asking.Message + "; " + message
	var found []intent.Understanding
	for _, o := range q.Options {
		u, err := r.intents.Understand(ctx, intent.Request{
			Message: joined, Catalog: r.catalogs.Catalog(), Only: []string{o.ID}, Roles: rolesOf(who), Now: r.now(), Local: true,
		})
		if err == nil && u.Outcome == contracts.GateAccept && len(u.Intents) == 1 && len(u.Unused) == 0 && saysAfter(u.Intents[0], len(asking.Message)) {
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

// saysAfter tells whether a value of an intent is said behind a place of its message.
func saysAfter(in contracts.Intent, at int) bool {
	for _, ev := range in.Evidence {
		if ev.Span[0] >= at {
			return true
		}
	}
	return false
}

// writes tells whether one of some requests has an effect.
func (r *reader) writes(intents []contracts.Intent) bool {
	return slices.ContainsFunc(intents, func(in contracts.Intent) bool {
		entry, ok := r.catalogs.Catalog().Capability(in.Ref())
		return !ok || entry.Policy.SideEffectClass.Writes()
	})
}

// instead says what becomes of the request that is changed: one that waits is
// replaced; of one that has written it is asked what is wanted.
func (r *reader) instead(ctx context.Context, base orchestrator.Turn, values map[string]any, t *orchestrator.Turn) error {
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
		if len(written) == 1 && r.canUndo(written[0]) {
			i.Options = append(i.Options, contracts.InterruptOption{ID: "redo", Label: "Undo it, and do it anew"})
		}
		i.Options = append(i.Options,
			contracts.InterruptOption{ID: "second", Label: "Do a second one"}, contracts.InterruptOption{ID: "leave", Label: "Leave it as it is"})
		t.Replaces = &orchestrator.Replaced{RunID: base.RunID, NodeID: written[len(written)-1].NodeID}
		t.Asked = &orchestrator.Asked{Done: true}
		*t = ask(*t, i, r.now())
	case !run.State.Terminal():
		t.Replaces = &orchestrator.Replaced{RunID: base.RunID}
	}
	return nil
}

func (r *reader) canUndo(n contracts.NodeView) bool {
	entry, ok := r.catalogs.Catalog().Capability(n.Tool)
	return ok && entry.Capability.Metadata.Compensation != nil
}

// valuesOf reads the values of a fragment, for the last intent that takes them
// all. Words that are neither values nor words of the capability say something
// that is not understood: then there are none.
func (r *reader) valuesOf(base orchestrator.Turn, f chat.Fragment) (int, map[string]any) {
	for at := range slices.Backward(base.Intents) {
		in := base.Intents[at]
		entry, ok := r.catalogs.Catalog().Capability(in.Ref())
		if !ok {
			continue
		}
		texts := []string{f.Rest}
		if aimed, is := chat.Aimed(f.Rest); is { // "it's for Bruno" may be nothing but the name
			texts = append(texts, aimed)
		}
		for _, text := range texts {
			values, evidence := r.valuesIn(entry, in, f.Kind, text)
			for name := range values {
				if f.Kind != chat.FragmentChange && in.Parameters[name] == nil && in.Parameters[change.Twin(entry, name)] == nil && base.RunID != "" {
					delete(values, name) // "and for Bruno" names what was named before
				}
			}
			if len(values) > 0 && answer.Explains(entry, text, evidence, r.intents.Small) {
				return at, values
			}
		}
	}
	return 0, nil
}

// valuesIn reads the values of a text for one intent.
func (r *reader) valuesIn(entry *contracts.CapabilityEntry, in contracts.Intent, kind chat.FragmentKind, text string) (map[string]any, map[string]contracts.Evidence) {
	values, evidence := r.intents.Fill(entry, text, nil, r.now())
	values = maps.Clone(values)
	if kind == chat.FragmentRename {
		values, evidence = change.Renamed(in, text)
	}
	if len(values) == 0 {
		values, evidence = r.nameOf(entry, in, text)
	}
	if n, is := chat.Number(text); is {
		return change.Number(entry, in, n), map[string]contracts.Evidence{"": {Span: [2]int{0, len(text)}}}
	}
	return values, evidence
}

// restore makes a request that was changed and still waits what it was before; where
// nothing waits that was changed, what was done last is undone.
func (r *reader) restore(ctx context.Context, s standing, t orchestrator.Turn) (orchestrator.Turn, error) {
	undo := t
	undo.Kind, undo.Command = orchestrator.TurnCommand, chat.Undo
	base, ok := s.changedFrom()
	if !ok {
		return undo, nil
	}
	run, err := r.runner.View(ctx, s.last.RunID)
	switch {
	case contracts.CodeOf(err) == contracts.CodeNotFound:
		return undo, nil
	case err != nil:
		return t, err
	case run.State.Terminal() || len(change.Written(run)) > 0:
		return undo, nil
	}
	t.Intents, t.Understood, t.Roles, t.Instances, t.DryRun = base.Intents, true, base.Roles, base.Instances, base.DryRun
	t.Goal, t.Replaces = change.Goal(base), &orchestrator.Replaced{RunID: s.last.RunID}
	return t, nil
}

// changedFrom is the request that the last one is a change of.
func (s standing) changedFrom() (orchestrator.Turn, bool) {
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

// nameOf reads a text that is written as a name, and that nothing else is read from,
// as the one text that an intent has: "and Carla?". Whether there is one of that
// name is for the look-up to say.
func (r *reader) nameOf(entry *contracts.CapabilityEntry, in contracts.Intent, text string) (map[string]any, map[string]contracts.Evidence) {
	var named []string
	for name, value := range in.Parameters {
		if _, ok := value.(string); ok {
			named = append(named, name)
		}
	}
	if len(named) != 1 || !isName(text) {
		return nil, nil
	}
	return r.intents.Fill(entry, text, named, r.now())
}

// replace ends what a request takes the place of. done says that it was too
// late: it has had its effect.
func (m *machine) replace(ctx context.Context, t orchestrator.Turn) (done bool, err error) {
	old := *t.Replaces
	if old.RunID == "" {
		return false, m.close(ctx, t, old.InterruptID)
	}
	err = m.runner.Cancel(ctx, old.RunID, t.By.Subject())
	if err != nil && contracts.CodeOf(err) != contracts.CodeConflict {
		return false, err
	}
	var run contracts.RunView
	err = orchestrator.Until(ctx, m.notifier, t.SessionID, withdrawn, func(ctx context.Context) (bool, error) {
		run, err = m.runner.View(ctx, old.RunID)
		return run.State.Terminal(), err
	})
	if err == nil && !run.State.Terminal() {
		err = contracts.Errorf(contracts.CodeUnavailable, "the request before is still ending; say it again in a moment")
	}
	return len(change.Written(run)) > 0, err
}

// close commits that a question before there is a plan is no longer asked.
func (m *machine) close(ctx context.Context, t orchestrator.Turn, id string) error {
	i, err := execution.InterruptNow(ctx, m.store, id)
	if contracts.CodeOf(err) == contracts.CodeNotFound || err == nil && i.Status != contracts.InterruptOpen {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = m.gates.Drop(ctx, t.By, i)
	return err
}
