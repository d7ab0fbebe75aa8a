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

// restraining are the modalities of a request that hold back a write that a model
// proposes: forbidden, taken back, supposed, asked about, reported, or under a condition.
const restraining = modality.Negated | modality.Retracted | modality.WhatIf | modality.HowTo | modality.Permission | modality.Question | modality.Narrative | modality.Conditional

// What holds a call back besides modalities.
const (
	noteExcepted = "the message leaves out what would be done"
	noteQuoted   = "the message quotes a request"
	noteNothing  = "the message says nothing but what would be written"
)

// Restrains tells, of a call that a model proposes for a message, why its words do not
// plainly ask for it: they forbid it, take it back, suppose it, ask about it, report it,
// quote it, make it depend on something, or say everything but what would be done. conditions
// says that the plan of the call keeps the conditions of the message.
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
	if why = oddly(s, parts, idx, evidence, stop); why == "" && all && len(req.Earlier) == 0 {
		return noteNothing
	}
	return why
}

// partial leaves out of the evidence what is the whole message: then no word is left that
// would ask for anything, and which belong to the value cannot be told. What takes a request
// in its own words is meant so.
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

// coveredBy tells the words that belong to values.
func coveredBy(s *sentenceReader, evidence map[string]contracts.Evidence) []bool {
	out := make([]bool, len(s.m.Tokens))
	for _, ev := range evidence {
		for i, t := range s.m.Tokens {
			out[i] = out[i] || t.Start < ev.Span[1] && ev.Span[0] < t.End
		}
	}
	return out
}

// quotesAction tells a message that quotes a command, and has no verb of the capability's kind
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

// oddly tells the modality of the parts of a message that a call may be read from. One part that
// asks for it plainly is enough.
func oddly(s *sentenceReader, parts []*part, of *indexed, evidence map[string]contracts.Evidence, stop modality.Modality) (why string) {
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
		if m = held.unlike(p, of, &p.candidates[0]) & stop; m == 0 {
			return "" // one part asks for it plainly
		}
	}
	if m == 0 {
		return ""
	}
	return m.Note()
}

// within reports whether a value stands among words.
func within(tokens []tokenize.Token, evidence map[string]contracts.Evidence) bool {
	from, to := tokens[0].Start, tokens[len(tokens)-1].End
	for _, ev := range evidence {
		if ev.Span[0] < to && from < ev.Span[1] {
			return true
		}
	}
	return false
}

// about reports whether a part of a message holds values of a call; where there is one part,
// or no value stands in the message, each part may.
func (s *sentenceReader) about(p *part, evidence map[string]contracts.Evidence, parts int) bool {
	if parts == 1 || len(evidence) == 0 {
		return true
	}
	return within(s.m.Tokens[p.from:p.to], evidence)
}

// excludes tells a message that leaves something out ("all but …"). A plan may keep that, where
// no value of it is what is left out.
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

// unlike are the modalities of a part that neither the most similar example has nor, where the part
// begins as examples do, what it says something shall say.
func (r restraint) unlike(p *part, of *indexed, c *Candidate) modality.Modality {
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

// depends tells a message with a clause that says under which condition, in which no value
// stands: "as soon as the audit is over".
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
