package local

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// restraining holds the modalities that hold back a write proposed by a model: negated, retracted,
// hypothetical, a question, reported or conditional.
const restraining = modality.Negated | modality.Retracted | modality.WhatIf | modality.HowTo | modality.Permission | modality.Question | modality.Narrative | modality.Conditional

// Other reasons to hold back a call.
const (
	noteExcepted = "the message leaves out what would be done"
	noteQuoted   = "the message quotes a request"
	noteNothing  = "the message says nothing but what would be written"
)

// Restrains returns why a message does not plainly ask for a call that a model proposes: it
// forbids, retracts, supposes, asks about, reports or quotes it, makes it conditional, or says
// nothing about the action. It returns "" if the message asks for it. conditions is set if the
// plan keeps the conditions of the message.
func (r *Reader) Restrains(req intent.Request, entry *contracts.CapabilityEntry, evidence map[string]contracts.Evidence, conditions bool) (why string) {
	x := r.local.Index(req.Catalog)
	q := query(req)
	q.Only, q.AnyRole = []string{entry.Ref()}, true
	s := newReader(x, r.local.tools, q)
	idx, known := x.refs[entry.Ref()]
	if len(s.m.Tokens) == 0 || !known {
		return ""
	}
	evidence, all := partial(s, idx, evidence)
	parts := s.propose()
	covered := coveredBy(s, evidence)
	switch {
	case s.excludes(evidence, covered, conditions):
		return noteExcepted
	case (judgement{s: s}).retracts(), modality.Withdraws(s.m.Tokens, covered):
		return modality.Retracted.Note()
	case modality.Refuses(s.m.Tokens, covered):
		return modality.Negated.Note()
	case quotesAction(s, idx):
		return noteQuoted
	}
	stop := restraining
	if conditions {
		stop &^= modality.Conditional
	}
	if !conditions && depends(s, covered) {
		return modality.Conditional.Note()
	}
	if why = restrainingNote(s, parts, idx, evidence, stop); why == "" && all && len(req.Earlier) == 0 {
		return noteNothing
	}
	return why
}

// partial removes values that are the whole message, since no word would be left that asks for the
// action. Verbatim parameters are kept.
func partial(s *sentenceReader, of *indexed, evidence map[string]contracts.Evidence) (rest map[string]contracts.Evidence, all bool) {
	from, to := s.m.Tokens[0].Start, s.m.Tokens[len(s.m.Tokens)-1].End
	rest, own := maps.Clone(evidence), slots.VerbatimParameter(s.x.set(of))
	maps.DeleteFunc(rest, func(name string, ev contracts.Evidence) bool {
		whole := name != own && ev.Span[0] <= from && ev.Span[1] >= to
		all = all || whole
		return whole
	})
	return rest, all
}

// coveredBy marks the tokens of values.
func coveredBy(s *sentenceReader, evidence map[string]contracts.Evidence) []bool {
	out := make([]bool, len(s.m.Tokens))
	for _, ev := range evidence {
		for i, t := range s.m.Tokens {
			out[i] = out[i] || t.Start < ev.Span[1] && ev.Span[0] < t.End
		}
	}
	return out
}

// quotesAction reports whether a message quotes a command and has no verb of the capability's kind
// outside of the quotation: "translate “delete the file” into German".
func quotesAction(s *sentenceReader, of *indexed) bool {
	quotes := false
	for i := 0; i < len(s.m.Tokens); i++ {
		t := s.m.Tokens[i]
		if !t.Is(tokenize.FormQuoted) {
			if s.x.tools.Lexicon.Kin(t.Fold)&of.kinds != 0 || slices.Contains(of.begins, t.Stem) {
				return false
			}
			continue
		}
		end := i
		for end < len(s.m.Tokens) && s.m.Tokens[end].Is(tokenize.FormQuoted) {
			end++
		}
		quotes = quotes || modality.CommandKinds(s.x.tools.Lexicon, s.m.Tokens[i:end])&lexicon.ActionKinds() != 0
		i = end - 1
	}
	return quotes
}

// restrainingNote returns the restraining modality of the parts that may be the source of a call,
// or "" if one part asks for it plainly.
func restrainingNote(s *sentenceReader, parts []*part, of *indexed, evidence map[string]contracts.Evidence, stop modality.Modality) (why string) {
	for _, p := range parts {
		p.since, p.until = p.from, p.to
		c := Candidate{Entry: of.entry}
		if at := slices.IndexFunc(p.candidates, func(c Candidate) bool { return c.Entry == of.entry }); at >= 0 {
			c = p.candidates[at]
		}
		c.Confidence, c.Evidence = 1, evidence
		first := slices.IndexFunc(s.m.Tokens[p.from:p.to], func(t tokenize.Token) bool { return !modality.Opening(t.Fold) })
		c.begins = first >= 0 && slices.Contains(of.begins, s.m.Tokens[p.from+first].Stem)
		p.candidates = []Candidate{c}
	}
	held := restraint{s}
	held.spreadModalities(parts)
	var m modality.Modality
	for _, p := range parts {
		if !s.about(p, evidence, len(parts)) {
			continue
		}
		if m = held.unlikeNearest(p, of, &p.candidates[0]) & stop; m == 0 {
			return "" // this part asks for it plainly
		}
	}
	if m == 0 {
		return ""
	}
	return m.Note()
}

// within reports whether a value overlaps a run of tokens.
func within(tokens []tokenize.Token, evidence map[string]contracts.Evidence) bool {
	from, to := tokens[0].Start, tokens[len(tokens)-1].End
	for _, ev := range evidence {
		if ev.Span[0] < to && from < ev.Span[1] {
			return true
		}
	}
	return false
}

// about reports whether a part of a message may be the source of a call: it contains a value of
// it, or there is only one part or no value.
func (s *sentenceReader) about(p *part, evidence map[string]contracts.Evidence, parts int) bool {
	if parts == 1 || len(evidence) == 0 {
		return true
	}
	return within(s.m.Tokens[p.from:p.to], evidence)
}

// excludes reports whether a message excludes something ("all but …"). A plan may handle that,
// unless a value of it is what is excluded.
func (s *sentenceReader) excludes(evidence map[string]contracts.Evidence, covered []bool, planned bool) bool {
	tokens := s.m.Tokens
	mix := lexicon.DetectLanguages(lexicon.Shipped(), tokens, nil)
	for i := range tokens {
		hit, ok := lexicon.FindIn(&lexicon.Shipped().Operators, tokens, i, mix.At(i).Possible)
		if !ok || hit.Value != lexicon.Except || covered[i] || tokens[i].Is(tokenize.FormQuoted) {
			continue
		}
		if !planned {
			return true
		}
		end := i + hit.Tokens
		for end < len(tokens) && !tokens[end].Break {
			end++
		}
		for _, ev := range evidence {
			if ev.Span[0] >= tokens[i].Start && ev.Span[0] < tokens[end-1].End {
				return true
			}
		}
	}
	return false
}

// unlikeNearest returns the modalities of a part that the most similar example does not have. If
// the part begins like an example, reported content is allowed.
func (r restraint) unlikeNearest(p *part, of *indexed, c *Candidate) modality.Modality {
	if c.Exact {
		return p.modality &^ p.own
	}
	odd := p.modality &^ (c.modality &^ modality.Negated)
	if c.begins {
		odd &^= modality.Content
	}
	if c.modality&modality.Negated != 0 && !r.orders(p, of) {
		odd &^= modality.Negated
	}
	return odd
}

// depends reports whether a message has a conditional clause without a value: "as soon as the
// audit is over".
func depends(s *sentenceReader, covered []bool) bool {
	tokens := s.m.Tokens
	mix := lexicon.DetectLanguages(lexicon.Shipped(), tokens, nil)
	for i := range tokens {
		hit, ok := lexicon.FindIn(&lexicon.Shipped().Operators, tokens, i, mix.At(i).Possible)
		if !ok || hit.Value != lexicon.Unless && hit.Value != lexicon.Provided || covered[i] || tokens[i].Is(tokenize.FormQuoted) {
			continue
		}
		end := i + hit.Tokens
		for end < len(tokens) && !tokens[end].Break {
			end++
		}
		if starts := i == 0 || tokens[i].Break; (hit.Tokens > 1 || starts) && !slices.Contains(covered[i:end], true) {
			return true
		}
	}
	return false
}
