package local

import (
	"cmp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func sortCandidates(candidates []Candidate) {
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Score, a.Score))
	})
}

// rated is a hit with its filled parameters.
type rated struct {
	hit

	filled slots.Filled
	cover  slots.Coverage
	silent float64 // share of required parameters without a candidate value
	absent float64 // the same as a signal
	begins bool    // the text begins with a verb of its examples
	gives  bool    // it provides what the message asks for
}

// The shares of the score for coverage of the text and for complete parameters. They separate
// capabilities that match the same words.
const (
	shareCovered  = 0.15
	shareComplete = 0.3
)

// rate ranks capabilities for a part, fills the parameters of the first hits and ranks them again.
func (s *sentenceReader) rate(p *part) readings {
	tokens := s.m.Tokens[p.from:p.to]
	hits, encoded := s.search(p.from, p.to)
	s.crossLingual.encoded = s.crossLingual.encoded || encoded
	tokens = s.crossLingual.search(p, hits, tokens)
	of := readings{tokens: tokens, timed: s.timed(p), terms: tokenize.FeaturesOf(tokens, s.x.words.values).Terms, encoded: encoded}
	head, wanted := modality.CommandStem(s.x.tools.Lexicon, tokens), s.wanted(p)
	for _, h := range hits[:min(len(hits), readDeeply)] {
		r := rated{hit: h}
		set, m := s.x.set(s.x.caps[h.number]), s.crossLingual.message(s.x.caps[h.number], s.m)
		run := slots.Range{From: p.from, To: p.to}
		r.filled = set.Fill(m, run, nil)
		modality.MarkNaming(s.said, run.From, r.filled.Covered)
		r.cover = slots.CoverageOf(s.x.tools.Lexicon, set, m.Tokens[p.from:p.to], r.filled.Covered, of.timed)
		r.silent = set.Absent(m, run, r.filled)
		r.absent = s.absent(h, run, r)
		r.score += shareCovered * r.cover.Share
		if r.filled.Whole() {
			r.score += shareComplete
		}
		if head != "" && slices.Contains(s.x.caps[h.number].begins, head) {
			r.score += shareHead
			r.begins = true
		}
		if s.gives(s.x.caps[h.number], wanted, r.filled) || s.sendsMessage(s.x.caps[h.number], run, r.filled) {
			r.score += shareHead
			r.gives = true
		}
		of.all = append(of.all, r)
	}
	slices.SortStableFunc(of.all, func(a, b rated) int { return cmp.Compare(b.score, a.score) })
	return of
}

// absent returns the weight of missing parameter values. A capability with examples may be asked
// for without values. For one that is only described, a request without values is rarely meant.
func (s *sentenceReader) absent(h hit, run slots.Range, r rated) float64 {
	c := s.x.caps[h.number]
	if c.examples == 0 {
		return s.x.set(c).Doubt(s.m, run, r.filled)
	}
	return r.silent * (1 - r.cover.Share)
}

// timed marks the tokens of a part that are numbers or dates.
func (s *sentenceReader) timed(p *part) []bool {
	out := make([]bool, p.to-p.from)
	for _, e := range s.m.Entities {
		for i := max(e.First, p.from); i <= min(e.Last, p.to-1); i++ {
			out[i-p.from] = true
		}
	}
	return out
}

// weighed returns the candidates with their confidence. With the shipped weights no candidate
// exceeds the first one: the score ranks, and the weights only tell the confidence.
func (s *sentenceReader) weighed(p *part, of readings) []Candidate {
	out := make([]Candidate, 0, len(of.all))
	most := 1.0
	certainty, calibrates := s.certainty(of.encoded)
	foreign := of.foreign()
	for k, r := range of.all {
		conf := certainty.confidence(s.x.caps[r.number].examples == 0, s.x.signals(of, k))
		learned := calibrates && s.x.caps[r.number].examples > 0
		if !learned {
			conf = min(conf, most)
			most = conf
		}
		if k == 0 && of.encoded && (r.begins || !foreign && of.leads(k) || s.saysAll(r)) {
			// A fitted model must not lower the confidence if the embedding agrees with the words,
			// the verb matches, or all words are known.
			conf = max(conf, s.x.calibration.confidence(s.x.caps[r.number].examples == 0, s.x.signals(of, k)))
		}
		if foreign && !r.begins {
			conf = min(chance(s.x.embeddings.foreign.odds(s.x.signals(of, k))), certainIdentifier)
		}
		if k == 0 && s.isPlainRead(of) {
			conf = max(conf, plainConfidence)
		}
		if first := !slices.ContainsFunc(of.all[:k], func(o rated) bool { return o.gives }); first && r.gives && len(r.filled.Missing) == 0 {
			conf = max(conf, DefaultClarify) // at least a question
		}
		out = append(out, s.candidate(p, r, conf, learned, foreign))
	}
	sortCandidates(out)
	return out
}

// saysAll reports whether a request has only known words, a value and all required parameters.
func (s *sentenceReader) saysAll(r rated) bool {
	return r.cover.Strange == 0 && r.cover.Asked > 0 && len(r.filled.Values) > 0 && len(r.filled.Missing) == 0 && !s.x.caps[r.number].entry.Policy.SideEffectClass.Writes()
}

// leads reports whether a candidate has the highest embedding similarity.
func (of readings) leads(k int) bool {
	return !slices.ContainsFunc(of.all, func(o rated) bool { return o.meant > of.all[k].meant })
}

// plainConfidence is the minimum confidence of the first candidate for a plain command.
const plainConfidence = 0.8

// isPlainRead reports whether a part is a command for a read with only known words and all required
// parameters, whose verb no other candidate has.
func (s *sentenceReader) isPlainRead(of readings) bool {
	r := of.all[0]
	return r.begins && len(r.filled.Missing) == 0 && r.cover.Strange == 0 && r.cover.Asked > 1 &&
		!s.x.caps[r.number].entry.Policy.SideEffectClass.Writes() &&
		!slices.ContainsFunc(of.all[1:], func(o rated) bool { return o.begins && len(o.filled.Missing) == 0 && o.score > r.score/2 })
}

// candidate converts a rated hit to a candidate and limits its confidence. learned is set for a
// model fitted to this catalog, foreign if only embeddings match.
func (s *sentenceReader) candidate(p *part, r rated, conf float64, learned, foreign bool) Candidate {
	c := s.x.caps[r.number]
	writes, anyValue := c.entry.Policy.SideEffectClass.Writes(), len(r.filled.Values) > 0
	explained := r.cover.Explained
	switch {
	case r.exact:
		conf = certainExample
	case r.cover.Asked == 0 && c.examples > 0 && !isInconclusive(r): // such as "two weeks off for Ana from Monday": only values, all of which fit
	case s.x.identifies(c, s.m, p):
		conf = certainIdentifier
	case r.against > r.best && r.against >= hardNegativeSimilarity:
		conf = min(conf, hardNegativeConfidence)
	case foreign:
		explained = r.cover.Content * conf // the words of an identifier are not in the vocabulary
	case writes:
		conf = min(conf, r.cover.Limit(r.best, anyValue), r.cover.LimitForeign(anyValue, len(r.filled.Missing) == 0, slots.NewRequestWords(s.x.set(c)).Unnamed(r.filled.Missing), r.silent))
	case !learned:
		conf = min(conf, r.cover.Limit(r.best, anyValue))
	}
	out := Candidate{
		Entry: c.entry, Confidence: conf, Score: r.score, Exact: r.exact,
		Parameters: r.filled.Values, Evidence: r.filled.Evidence, Missing: r.filled.Missing,
		modality: r.modality, nearest: r.best, begins: r.begins, informs: s.verbKinds(p.first)&(lexicon.KindOf("send")|lexicon.KindOf("notify")) != 0, gives: r.gives, explained: explained, contested: r.filled.Contested,
	}
	return out
}

// saysAll is the number of values that identify a capability by themselves.
const saysAll = 3

// isInconclusive reports whether the values do not identify a capability: too few, none of them
// certain, or some missing.
func isInconclusive(r rated) bool { return len(r.filled.Values) < saysAll || typed(r.filled) == 0 }

// identifies reports whether the text contains the identifier of the capability.
func (x *Index) identifies(c *indexed, m *slots.Message, p *part) bool {
	name := c.entry.Capability.Name
	if !strings.ContainsAny(name, "_.-") {
		name = c.entry.Ref()
	}
	for _, ch := range m.Chunks {
		if ch.First >= p.from && ch.Last < p.to && (strings.EqualFold(ch.Text, name) || strings.EqualFold(ch.Text, c.entry.Ref())) {
			return true
		}
	}
	return false
}

// valued reports whether a token is part of a value.
func (c Candidate) valued(t tokenize.Token) bool {
	for _, ev := range c.Evidence {
		if t.Start >= ev.Span[0] && t.End <= ev.Span[1] {
			return true
		}
	}
	return false
}

// alternative converts a candidate to a choice for the user.
func (c Candidate) alternative() contracts.Alternative {
	return contracts.Alternative{
		Domain: c.Entry.Domain, Capability: c.Entry.Capability.Name,
		Description: firstSentence(c.Entry.Capability.Description), Confidence: c.Confidence,
	}
}
