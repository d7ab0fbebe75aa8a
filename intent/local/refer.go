package local

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/followup"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// kindReferred is the evidence kind of a value from a pronoun such as "her", and
// referredConfidence its probability.
const (
	kindReferred       = followup.CarriedEvidence
	referredConfidence = 0.9
)

// refer fills a missing parameter with the referent of a pronoun in the request before: "show
// Ana's balance, then request 2 days off for her". The referent must be unambiguous.
func (j judgement) refer(parts []*part, at int) {
	p := parts[at]
	if at == 0 || len(p.candidates) == 0 || p.candidates[0].Confidence < DefaultClarify {
		return
	}
	best, before := &p.candidates[0], parts[at-1]
	if len(before.candidates) == 0 || before.candidates[0].Confidence < DefaultClarify || before.candidates[0].Entry.Domain != best.Entry.Domain {
		return
	}
	name := followup.MissingParameter(j.s.q.Catalog, best.Entry, best.Missing, best.Parameters, before.candidates[0].Entry, before.candidates[0].Parameters)
	value, ok := before.candidates[0].Parameters[name].(string)
	word := j.pointer(p, best)
	if !ok || word < 0 {
		return
	}
	t := j.s.m.Tokens[word]
	best.Parameters, best.Evidence = maps.Clone(best.Parameters), maps.Clone(best.Evidence)
	best.Parameters[name] = value
	best.Evidence[name] = contracts.Evidence{Kind: kindReferred, P: referredConfidence, Span: [2]int{t.Start, t.End}}
	best.Missing = nil
}

// pointer returns the index of the only pronoun of a part that is no value, or -1.
func (j judgement) pointer(p *part, best *Candidate) int {
	found := -1
	for i := p.from; i < p.to; i++ {
		t := j.s.m.Tokens[i]
		taken := slices.ContainsFunc(slices.Collect(maps.Values(best.Evidence)), func(ev contracts.Evidence) bool { return t.Start < ev.Span[1] && ev.Span[0] < t.End })
		if taken || t.Is(tokenize.FormQuoted) || !j.s.said.Says(i, lexicon.Third) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
