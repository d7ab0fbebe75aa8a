package conversation

import (
	"context"
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/answer"
	"github.com/manifold-run/manifold/orchestrator/chat"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
)

// evidences are the positions of values in a text, by parameter.
type evidences = map[string]contracts.Evidence

// fragmentValues reads the values of a fragment for the last intent that accepts all of them. It
// returns none if the fragment has words that are neither values nor words of the capability.
func (r *classifier) fragmentValues(ctx context.Context, base orchestrator.Turn, f chat.Fragment) (int, map[string]any) {
	another := f.Kind == chat.FragmentAnother || f.Kind == chat.FragmentValue
	if f.Kind != chat.FragmentRename && !r.local.Values(f.Rest, another) {
		return 0, nil
	}
	for at := range slices.Backward(base.Intents) {
		in := base.Intents[at]
		if _, ok := r.catalogs.Catalog().Capability(in.Ref()); !ok {
			continue
		}
		texts := []string{f.Rest}
		if aimed, is := chat.StripBeneficiary(f.Rest); is { // "it's for Bruno" may mean only the name
			texts = append(texts, aimed)
		}
		for _, text := range texts {
			if values := r.allValues(ctx, base, in, f.Kind, text); len(values) > 0 {
				return at, values
			}
		}
	}
	return 0, nil
}

// allValues returns the values of a text if it has no other words: first only those of parameters
// that the request has, "and for Bruno"; for a correction also those of other parameters.
func (r *classifier) allValues(ctx context.Context, base orchestrator.Turn, in contracts.Intent, kind chat.FragmentKind, text string) map[string]any {
	entry, _ := r.catalogs.Catalog().Capability(in.Ref()) // fragmentValues has checked that it exists
	values, evidence := r.valuesIn(entry, in, kind, text)
	named := maps.Clone(values)
	if kind != chat.FragmentChange && base.RunID != "" {
		maps.DeleteFunc(named, func(name string, _ any) bool {
			return in.Parameters[name] == nil && in.Parameters[change.Twin(entry, name)] == nil
		})
	}
	left := maps.Clone(evidence)
	maps.DeleteFunc(left, func(name string, _ contracts.Evidence) bool { return values[name] != nil && named[name] == nil })
	switch {
	case len(named) > 0 && answer.Explains(entry, text, left, r.local.Small):
		return named
	case kind == chat.FragmentCorrect && len(named) > 0 && answer.Explains(entry, text, evidence, r.local.Small):
		return values
	case kind != chat.FragmentCorrect && kind != chat.FragmentChange:
		return nil
	}
	return r.valuesForCapability(ctx, entry, in, text)
}

// valuesForCapability reads a text as a message to one capability, in any supported language: every
// word must be a value of a parameter that the request has, or belong to the command.
func (r *classifier) valuesForCapability(ctx context.Context, entry *contracts.CapabilityEntry, in contracts.Intent, text string) map[string]any {
	req := intent.Request{Message: text, Catalog: r.catalogs.Catalog(), AnyRole: true, Now: r.now(), Local: true}
	if u, err := r.intents.Understand(ctx, req); err != nil || u.Outcome == contracts.ReadingAccepted && u.Intents[0].Ref() != entry.Ref() {
		return nil // it is a request for something else
	}
	req.Only = []string{entry.Ref()}
	_, clauses, err := r.local.Explain(ctx, req)
	if err != nil || len(clauses) != 1 || clauses[0].Rejected || len(clauses[0].Candidates) == 0 {
		return nil
	}
	best := clauses[0].Candidates[0]
	values := maps.Clone(best.Parameters)
	maps.DeleteFunc(values, func(name string, _ any) bool { _, said := best.Evidence[name]; return !said })
	for name := range values {
		if in.Parameters[name] == nil && in.Parameters[change.Twin(entry, name)] == nil {
			return nil
		}
	}
	if best.Said == nil || len(best.Said.Texts(contracts.WordOther, contracts.WordIrrelevant, contracts.WordUnused, contracts.WordUnresolved)) > 0 {
		return nil
	}
	return values
}

// valuesIn reads the values of a text for one intent.
func (r *classifier) valuesIn(entry *contracts.CapabilityEntry, in contracts.Intent, kind chat.FragmentKind, text string) (map[string]any, evidences) {
	values, evidence := r.local.Fill(entry, text, nil, r.now())
	values = maps.Clone(values)
	if kind == chat.FragmentRename {
		values, evidence = change.Renamed(in, text)
	}
	if len(values) == 0 && kind != chat.FragmentRename { // no known value matches: it may be a name
		values, evidence = r.nameOf(entry, in, text)
	}
	if n, is := chat.ParseNumber(text); is {
		return change.Number(entry, in, n), evidences{"": {Span: [2]int{0, len(text)}}}
	}
	return values, evidence
}

// nameOf reads a text that is written as a name as the only string parameter of an intent: "and
// Carla?". The later lookup checks that an object of this name exists.
func (r *classifier) nameOf(entry *contracts.CapabilityEntry, in contracts.Intent, text string) (map[string]any, evidences) {
	var named []string
	for name, value := range in.Parameters {
		if _, ok := value.(string); ok {
			named = append(named, name)
		}
	}
	if len(named) != 1 || !isName(text) {
		return nil, nil
	}
	return r.local.Fill(entry, text, named, r.now())
}
