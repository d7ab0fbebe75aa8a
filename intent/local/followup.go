package local

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local/followup"
)

// FollowUp understands a message that continues earlier requests: a reference such as "her", or
// with unsaid an omitted parameter, is resolved to their object. It returns false if the message
// is complete by itself, if it stays ambiguous, or if the earlier requests had several objects of
// a kind.
func (a *Reader) FollowUp(ctx context.Context, req intent.Request, before []contracts.Intent, unsaid bool) (intent.Understanding, bool) {
	things := followup.Referents(req.Catalog, before)
	noun := followup.ObjectNoun(before)
	if len(things) == 0 && noun == "" || len(req.Message) > maxFollowUp {
		return intent.Understanding{}, false
	}
	u, err := a.Understand(ctx, req)
	if err != nil {
		return intent.Understanding{}, false
	}
	s := newReader(a.local.Index(req.Catalog), a.local.tools, query(req))
	if at := followup.ElidedNouns(s.said); len(at) == 1 && noun != "" && !unsaid && (u.Outcome != contracts.ReadingAccepted || !followup.IsComplete(u.Intents, s.m.Tokens, at, before[0].Domain)) {
		if u, ok := a.instead(ctx, req, followup.Substitute(req.Message, at, followup.Referent{Domain: before[0].Domain, Value: noun}), len(at)); ok {
			return u, true
		}
	}
	pointers := followup.References(a.local.tools.Lexicon.Lexica, s.said)
	if len(pointers) == 0 || unsaid {
		return leftOut(req.Catalog, u, things, unsaid)
	}
	if u.Outcome == contracts.ReadingAccepted && !followup.IsIncomplete(u.Intents, s.m.Tokens, pointers) {
		return intent.Understanding{}, false
	}
	var found []intent.Understanding
	for _, t := range things {
		if read, ok := a.instead(ctx, req, followup.Substitute(req.Message, pointers, t).Begun(s.m.Tokens), len(pointers)); ok {
			found = append(found, read)
		}
	}
	if len(found) != 1 {
		return intent.Understanding{}, false
	}
	return found[0], true
}

// maxFollowUp limits the length of a message with a reference in bytes.
const maxFollowUp = 400

// leftOut fills the only missing parameter of a message with a single read.
func leftOut(catalog *contracts.Catalog, u intent.Understanding, things []followup.Referent, may bool) (intent.Understanding, bool) {
	if !may || u.Outcome != contracts.ReadingAccepted || len(u.Intents) != 1 || len(u.Unused) > 0 {
		return u, false
	}
	in, ok := followup.FillMissing(catalog, u.Intents[0], things)
	if ok {
		u.Intents = []contracts.Intent{in}
	}
	return u, ok
}

// instead reads a message with the references replaced by their referent. The result must be
// accepted and use the referent with its earlier type. In a write there may be only one reference.
func (a *Reader) instead(ctx context.Context, req intent.Request, e *followup.Substitution, pointers int) (intent.Understanding, bool) {
	req.Message = e.Text()
	u, err := a.Understand(ctx, req)
	if err != nil || u.Outcome != contracts.ReadingAccepted || len(u.Unused) > 0 {
		return u, false
	}
	taken := false
	for n := range u.Intents {
		in := &u.Intents[n]
		entry, ok := req.Catalog.Capability(in.Ref())
		if !ok || entry.Policy.SideEffectClass.Writes() && pointers > 1 {
			return u, false
		}
		taken = e.Restore(in) || taken
	}
	return u, taken || e.Nouns(u.Intents)
}
