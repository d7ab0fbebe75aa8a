package local

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// sendResults builds a plan in which the last request sends a message without a given text. The text
// is then the result of the requests before it: "assign the load and tell the dispatchers".
func (r *Reader) sendResults(q Query, u intent.Understanding) intent.Understanding {
	last := len(u.Intents) - 1
	if u.Outcome != contracts.ReadingAccepted || last < 1 || len(u.Unused) > 0 || slices.ContainsFunc(u.Intents[:last], func(in contracts.Intent) bool { return len(in.Missing) > 0 }) {
		return u
	}
	entry, known := q.Catalog.Capability(u.Intents[last].Ref())
	if !known {
		return u
	}
	name, ok := r.missingText(entry, u.Intents[last].Parameters)
	if _, asks := r.Unagreed(q.Catalog, u.Intents); !ok || asks {
		return u
	}
	var draft contracts.Draft
	var found []string
	for i, in := range u.Intents {
		params, _ := contracts.EscapeTemplates(in.Parameters).(map[string]any)
		step := contracts.DraftStep{ID: in.ID, Tool: in.Ref(), Params: params, DependsOn: slices.Clone(in.After), Said: in.Utterance}
		if i == last {
			step.Params = contracts.WithField(params, name, strings.Join(found, " "))
			step.Said = in.Utterance.With(name, contracts.FromLookup)
			step.DependsOn = ids(u.Intents[:last])
		}
		found = append(found, "${"+in.ID+".summary}")
		draft.Steps = append(draft.Steps, step)
	}
	u.Draft = &draft
	return u
}

func ids(intents []contracts.Intent) []string {
	out := make([]string, len(intents))
	for i, in := range intents {
		out[i] = in.ID
	}
	return out
}

// sendsResult reports whether a candidate may send the result of the requests before it: it begins
// with a verb of its examples or one of telling, has a recipient, and lacks only the text. No
// example shows such a request, so its confidence is not informative; its approval gate shows what
// would be sent to whom.
func (g *gating) sendsResult(c Candidate) bool {
	_, lacks := g.missingText(c.Entry, c.Parameters)
	return lacks && g.open == nil && len(g.out.Intents) > 0 && (c.begins || c.informs) && len(c.Parameters) > 0 && c.Entry.Policy.ApprovalRequired
}

// missingText returns the only missing parameter of a write if it is a free text for a reader, by
// its name.
func (r *Reader) missingText(entry *contracts.CapabilityEntry, params map[string]any) (name string, ok bool) {
	if r.local == nil || !entry.Policy.SideEffectClass.Writes() {
		return "", false
	}
	for _, required := range entry.View().Required {
		if _, given := params[required]; given {
			continue
		}
		if name != "" {
			return "", false
		}
		name = required
	}
	p, declared := entry.View().Property(name)
	flow := entry.Capability.Metadata.Flow
	switch {
	case !declared || p.Type != "string" || p.Format != "" || p.Pattern != "" || len(p.Enum) > 0:
	case flow != nil && slices.ContainsFunc(flow.Pre, func(s contracts.PreStep) bool { return s.Param == name }):
	default:
		return name, slots.HoldsSpeech(r.local.slots(entry), name)
	}
	return "", false
}
