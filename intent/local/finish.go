package local

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/modality"
	"github.com/manifold-run/manifold/intent/local/slots"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// judgement finishes the proposed parts of one message.
type judgement struct {
	s *sentenceReader
	// alone is set if the message has a single request.
	alone bool
}

// finish judges the proposed parts: which parts ask for nothing, the modality of the others, which
// values the words support, and the role of each word in the best candidate of each part.
func (s *sentenceReader) finish(parts []*part) []Clause {
	j := judgement{s: s}
	parts = j.requests(parts)
	j.alone = len(parts) == 1
	held := restraint{s}
	held.spreadModalities(parts)
	for at, p := range parts {
		held.limit(p)
		j.acceptByEmbedding(p)
		j.complete(p)
		j.refer(parts, at)
	}
	var out []Clause
	for i, p := range parts {
		first := len(out)
		for _, one := range j.splitConjuncts(p) {
			out = append(out, j.clause(one, parts, i))
		}
		p.clauses = [2]int{first, len(out)}
	}
	j.order(parts, out)
	return out
}

// maxRivalShare is the maximum confidence of the other candidates relative to one that is accepted
// by embedding similarity.
const maxRivalShare = 0.34

// minForeignConfidence and maxForeignRivalShare are the minimum confidence and the maximum
// relative confidence of the others for a message in a language that no domain supports.
const minForeignConfidence, maxForeignRivalShare = 0.2, 0.1

// clearScore is the minimum score of an unambiguous candidate, clearLead its minimum relative lead
// over all others.
const clearScore, clearLead = 2.1, 0.15

// acceptByEmbedding accepts a read with too few known words if it is by far the nearest by
// embedding and all required parameters are set. Candidates that are held back do not count as
// near.
func (j judgement) acceptByEmbedding(p *part) {
	if !j.s.crossLingual.encoded || p.refused || len(p.candidates) == 0 {
		return
	}
	best := &p.candidates[0]
	if best.Held || best.Entry.Policy.SideEffectClass.Writes() || len(best.Missing) > 0 || !modality.HasContentWord(j.s.said, p.from, p.to, best.Evidence) {
		return
	}
	next, score := 0.0, 0.0
	for _, c := range p.candidates[1:] {
		if !c.Held {
			next, score = max(next, c.Confidence), max(score, c.Score)
		}
	}
	idx, ok := j.s.x.refs[best.Entry.Ref()]
	ahead := best.Confidence >= DefaultClarify && next <= maxRivalShare*best.Confidence
	far := ok && j.s.isForeign(idx, p.from) && best.Confidence >= minForeignConfidence && next <= maxForeignRivalShare*best.Confidence
	clear := best.Score >= clearScore && score <= (1-clearLead)*best.Score && best.Confidence != actionConfidence
	if ahead || far || clear {
		best.Confidence = max(best.Confidence, DefaultAccept)
	}
}

// requests removes the parts that are no request by themselves. They belong to the request before
// them, or to the first one.
func (j judgement) requests(parts []*part) []*part {
	for _, p := range parts {
		p.since, p.until = p.from, p.to
	}
	clear := func(p *part) bool {
		return len(p.candidates) > 0 && p.plain >= DefaultClarify
	}
	if !slices.ContainsFunc(parts, clear) {
		return parts
	}
	var out []*part
	since := -1
	for _, p := range parts {
		switch {
		case !j.exception(p) && (clear(p) && !modality.IsAlternative(j.s.said, p.from) || j.commandsAt(p)):
			if since >= 0 {
				p.since, since = since, -1
			}
			out = append(out, p)
		case len(out) > 0:
			out[len(out)-1].until = p.to
		case since < 0:
			since = p.from
		}
	}
	return out
}

// exception reports whether a part follows "but" and has no verb of its own: "delete everything
// but the draft".
func (j judgement) exception(p *part) bool {
	but := p.from - 1
	return but > 0 && j.s.segments[p.first].Contrast && !j.s.m.Tokens[but].Break && !j.s.m.Tokens[p.from].Break && j.s.verbKinds(p.first) == 0 && !j.commandsAt(p)
}

// commandsAt reports whether a part begins like a request. "It should say …" describes the object
// of an earlier request.
func (j judgement) commandsAt(p *part) bool {
	if j.describes(p.from, p.to) {
		return false
	}
	for i := p.from; i < p.to; i++ {
		t := j.s.m.Tokens[i]
		switch {
		case j.s.x.segmenter.Bids(t), t.Has(lexicon.Light):
			return true
		case !j.s.x.tools.Lexicon.StopWord(t.Fold) && !modality.Opening(t.Fold):
			return false
		}
	}
	return false
}

// clause converts a part to a Clause of the matcher's result.
func (j judgement) clause(p *part, parts []*part, at int) Clause {
	j.assignRoles(p, parts, at)
	start, end := j.s.m.Tokens[p.from].Start, j.s.partEnd(p)
	source := p.source
	if source == "" {
		source = sourceLocal
	}
	return Clause{
		Text: tokenize.Clean(j.s.q.Message[start:end]), Span: [2]int{start, end},
		Candidates: p.candidates, Rejected: p.refused, Source: source,
	}
}

// assignRoles classifies the tokens of the message for the best candidate of a part, and removes
// the values that the words do not support.
func (j judgement) assignRoles(p *part, parts []*part, at int) {
	if len(p.candidates) == 0 || p.candidates[0].Confidence < DefaultClarify && !p.candidates[0].Held && !j.hinted(p) {
		return
	}
	best := &p.candidates[0]
	idx, ok := j.s.x.refs[best.Entry.Ref()]
	if !ok {
		return
	}
	asked := slots.NewRequestWords(j.s.x.set(idx))
	var others [][2]int
	for k, o := range parts {
		if k != at {
			others = append(others, [2]int{o.since, o.until})
		}
	}
	others = append(others, p.apart...)
	read := func() modality.Roles {
		return j.s.said.RolesOf(modality.RoleRequest{From: p.since, To: p.until, Values: j.valuesOf(asked, best), Knows: vocabulary{asked, idx, j.s, p.from}, Reads: !best.Entry.Policy.SideEffectClass.Writes(), Gives: best.gives, Kinds: len(asked.OpenKinds(best.Parameters)) > 0, Takes: asked.Takes(j.s.m, best.Parameters), Open: asked.Open(best.Parameters), Others: others})
	}
	a := read()
	until := len(j.s.m.Tokens)
	if at+1 < len(parts) {
		until = parts[at+1].since
	}
	if j.extendNames([2]int{p.since, until}, asked, best, a) {
		a = read()
	}
	if len(a.Misused) > 0 {
		redirect(asked, best, a)
		a = read()
	}
	if a.Retracted && !best.Exact {
		best.Held, best.Note = true, modality.Retracted.Note()
	}
	best.Said, best.operated, best.excepted, best.unknown = j.sentence(a, best), a.Operated, a.Excepted, a.Unknown
	best.unreadForeign = j.s.isForeign(idx, p.from) && len(asked.OpenKinds(best.Parameters)) > 0 && best.Said.HasOmissions()
	switch {
	case best.confidenceIfUnread > 0 && best.Said.HasOmissions():
		best.Confidence = best.confidenceIfUnread
	case j.wordy(p, idx):
		best.Confidence = min(best.Confidence, wordyConfidence)
	case j.fullyExplained(p, idx):
		best.Confidence = max(best.Confidence, plainConfidence)
	}
}

// wordyConfidence is the maximum confidence of a write with fewer typed values than any of its
// examples.
const wordyConfidence = 0.7

// wordy reports whether a write has only free-text values although all its examples have a number
// or a date: "warn the manager" is no alert at a price.
func (j judgement) wordy(p *part, of *indexed) bool {
	best := &p.candidates[0]
	if best.Exact || !best.Entry.Policy.SideEffectClass.Writes() || of.examples < fewestExamples || of.figures < of.examples || len(best.Missing) > 0 {
		return false
	}
	for _, ev := range best.Evidence {
		if !slots.IsFreeText(ev) {
			return false
		}
	}
	return !slices.Contains(j.s.timed(p), true)
}

// fewestExamples is the minimum number of examples for such a conclusion.
const fewestExamples = 3

// unrivalled is the maximum relative confidence of the other candidates of a fully explained
// request.
const unrivalled = 0.5

// farScore is the maximum relative score of a candidate with a missing parameter, if another one
// provides all that is wanted.
const farScore = 0.67

// fullyExplained reports whether a write leaves no word unread, or in a language that the domain
// lacks none but synonyms: its verb is the capability's, all required parameters are set, and no
// other candidate is near.
func (j judgement) fullyExplained(p *part, of *indexed) bool {
	best := &p.candidates[0]
	if len(j.s.segments) == 0 || !best.Entry.Policy.SideEffectClass.Writes() || best.Held || p.refused || len(best.Missing) > 0 || len(best.Evidence) == 0 || best.Confidence < DefaultClarify && !j.hinted(p) ||
		len(best.Said.Texts(contracts.WordUnresolved)) > 0 || informs(j.s, p, of, best) || !j.s.isForeign(of, p.from) && best.unknown {
		return false
	}
	done := j.s.verbKinds(p.first)
	if !best.begins && !best.gives && !best.fromStatement && done&of.kinds == 0 && !j.named(p) {
		return false
	}
	return !slices.ContainsFunc(p.candidates[1:], func(o Candidate) bool {
		idx, ok := j.s.x.refs[o.Entry.Ref()]
		// A candidate without the kind of the verb, or that provides nothing of what is wanted,
		// does not count as near.
		other := ok && done&of.kinds != 0 && done&idx.kinds == 0 || best.gives && (!o.gives && !o.Entry.Policy.SideEffectClass.Writes() || len(o.Missing) > 0 && o.Score < farScore*best.Score)
		return !other && o.Confidence > unrivalled*best.Confidence
	})
}

// hintedConfidence is the minimum confidence of a request without a verb.
const hintedConfidence = 0.2

// hinted reports whether a request without a verb may be accepted if all its words are read.
func (j judgement) hinted(p *part) bool {
	best := &p.candidates[0]
	return best.Confidence >= hintedConfidence && len(best.Missing) == 0 && best.Entry.Policy.SideEffectClass.Writes() && j.named(p)
}

// fewestNamed is the number of values that identify a request without a verb.
const fewestNamed = 3

// named reports whether a request without a verb names its object and has several values: "1 day
// off for Bruno on December 16".
func (j judgement) named(p *part) bool {
	best := &p.candidates[0]
	typed := 0
	for _, ev := range best.Evidence {
		if slots.IsTypedValue(ev) || slots.IsCertain(ev) {
			typed++
		}
	}
	if typed == 0 || len(best.Evidence) < fewestNamed {
		return false
	}
	for i := p.from; i < p.to; i++ {
		t := j.s.m.Tokens[i]
		if !best.valued(t) && !t.Has(lexicon.Starts) && j.s.x.tools.Lexicon.Kin(t.Fold) != 0 {
			return false
		}
	}
	return true
}

// extendNames extends values by the rest of a name: the words right behind a free-text value, or
// behind a word such as "as".
func (j judgement) extendNames(said [2]int, asked slots.RequestWords, best *Candidate, a modality.Roles) bool {
	grown := false
	take := func(name string, first, last int) {
		if v, ev, ok := asked.Read(j.s.m, name, first, last); ok {
			best.Parameters, best.Evidence = maps.Clone(best.Parameters), maps.Clone(best.Evidence)
			best.Parameters[name], best.Evidence[name] = v, ev
			best.Missing = slices.DeleteFunc(slices.Clone(best.Missing), func(m string) bool { return m == name })
			grown = true
		}
	}
	for _, v := range j.valuesOf(asked, best) {
		next := v.Last + 1
		if v.Loose && next < len(a.Classes) && a.Classes[next] == contracts.WordUnresolved {
			last := max(slots.NameExtent(j.s.m, v.Last), modality.NameEnd(j.s.said, v.First, next))
			if last > v.Last && !slices.ContainsFunc(a.Classes[next:last+1], func(c contracts.WordClass) bool { return c == contracts.WordValue }) {
				take(v.Parameter, v.First, last)
			}
		}
	}
	for i, class := range a.Classes {
		as := modality.NamingPhrase(j.s.said, i)
		if class == contracts.WordUnresolved && j.s.m.Tokens[i].Has(lexicon.As) {
			as = i
		}
		name, first, last := asked.NamedAs(j.s.m, max(as, 0), best.Parameters)
		if name == "" || as < 0 {
			continue
		}
		last = max(last, modality.NameEnd(j.s.said, first, last+1))
		if said := a.Classes[first : last+1]; slices.Contains(said, contracts.WordUnresolved) && !slices.Contains(said, contracts.WordValue) {
			take(name, first, last) // such as "under the name Customer help"
		}
	}
	name := asked.Explains(best.Parameters)
	if first, last, ok := modality.ToldClause(j.s.said, said[0], said[1], a.Classes); ok && name != "" {
		take(name, first, last) // such as "retire it, the frame is bent"
	}
	return grown
}

// redirect removes the values behind an excluding word. A number moves to the other end of the
// range if that has no value.
func redirect(asked slots.RequestWords, best *Candidate, a modality.Roles) {
	values, evidence := map[string]any{}, map[string]contracts.Evidence{}
	for name, v := range best.Parameters {
		if slices.Contains(a.Misused, name) {
			continue
		}
		values[name], evidence[name] = v, best.Evidence[name]
	}
	best.Parameters, best.Evidence = values, evidence
	best.Missing = asked.Lacks(values, best.Missing)
}

// vocabulary implements modality.Vocabulary for a capability.
type vocabulary struct {
	slots.RequestWords

	of     *indexed
	reader *sentenceReader
	// from is the first token of the part.
	from int
}

// Head reports whether a token is a request word. For a read this includes words matched across
// languages.
func (v vocabulary) Head(t tokenize.Token) bool {
	return v.RequestWords.Head(t) || !v.of.entry.Policy.SideEffectClass.Writes() && v.reader.crossLingual.at(v.of, t.Start)
}

// Verbs returns the stems that the examples begin with.
func (v vocabulary) Verbs() []string { return v.of.begins }

// valuesOf returns the values of a candidate with their tokens.
func (j judgement) valuesOf(asked slots.RequestWords, c *Candidate) []modality.RoleValue {
	var out []modality.RoleValue
	for name, ev := range c.Evidence {
		first, last := j.s.m.TokensIn(ev.Span)
		if last < first {
			continue
		}
		if first > 0 && asked.Honoured(j.s.m, first) {
			first--
		}
		v := modality.RoleValue{First: first, Last: last, Parameter: name, Up: asked.Bound(name), Stated: slices.Contains(c.stated, name)}
		v.Start, v.End = asked.Period(name)
		v.Loose = asked.Loose(name, ev)
		_, v.List = c.Parameters[name].([]any)
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b modality.RoleValue) int {
		return cmp.Or(a.First-b.First, a.Last-b.Last, strings.Compare(a.Parameter, b.Parameter))
	})
	return out
}

// sentence converts the token roles to the contract type of an intent.
func (j judgement) sentence(a modality.Roles, c *Candidate) *contracts.Utterance {
	out := &contracts.Utterance{Text: j.s.q.Message, Values: map[string]contracts.Provenance{}}
	for i, class := range a.Classes {
		t := j.s.m.Tokens[i]
		parameter := contracts.FieldPath(a.Parameters[i])[0]
		if n := len(out.Words); n > 0 && out.Words[n-1].Class == class && out.Words[n-1].Parameter == parameter {
			out.Words[n-1].Span[1] = t.End
			continue
		}
		out.Words = append(out.Words, contracts.WordUse{Span: [2]int{t.Start, t.End}, Class: class, Parameter: parameter})
	}
	for field := range c.Parameters {
		name := contracts.FieldPath(field)[0]
		out.Values[name] = contracts.FromModel
		switch ev, ok := c.Evidence[field]; {
		case ok && ev.Kind == kindReferred:
			out.Values[name] = contracts.FromCarried
		case ok:
			out.Values[name] = contracts.FromUtterance
		}
	}
	return out
}

// splitConjuncts splits a part into several requests that share a verb.
func (j judgement) splitConjuncts(p *part) []*part {
	if len(p.candidates) == 0 || p.refused {
		return []*part{p}
	}
	best := p.candidates[0]
	idx, ok := j.s.x.refs[best.Entry.Ref()]
	if !ok {
		return []*part{p}
	}
	read := slots.Filled{Values: best.Parameters, Evidence: best.Evidence, Missing: best.Missing, Several: best.several}
	either := func(i int) bool { return modality.IsAlternative(j.s.said, i) }
	shares := j.s.x.segmenter.Conjuncts(slots.Coordination{Message: j.s.crossLingual.message(idx, j.s.m), Set: j.s.x.set(idx), Run: slots.Range{From: p.from, To: p.to}, Read: read, Either: either})
	if len(shares) == 0 {
		return []*part{p}
	}
	out := make([]*part, 0, len(shares))
	for _, share := range shares {
		q := *p
		q.candidates, q.apart = slices.Clone(p.candidates), share.Apart
		first := &q.candidates[0]
		first.Parameters, first.Evidence, first.Missing = share.Values, share.Evidence, nil
		out = append(out, &q)
	}
	return out
}

// complete fills the best candidate from free text. Free text fits any candidate, so it is not
// used to rank them.
func (j judgement) complete(p *part) {
	if len(p.candidates) == 0 || p.candidates[0].Confidence < DefaultClarify {
		return
	}
	j.preferReferent(p)
	best := &p.candidates[0]
	idx, ok := j.s.x.refs[best.Entry.Ref()]
	if !ok {
		return
	}
	set, run := j.s.x.set(idx), slots.Range{From: p.from, To: p.to}
	m := j.s.crossLingual.message(idx, j.s.m)
	f := set.Complete(m, run, nil, set.Fill(m, run, nil))
	best.Parameters, best.Evidence, best.Missing, best.several = f.Values, f.Evidence, f.Missing, f.Several
	if name := slots.VerbatimParameter(set); name != "" {
		j.extendVerbatim(p, best, set, name)
	}
	if j.alone {
		j.fillFromStatement(set, best, slots.Range{To: p.from})
		j.fillFromStatement(set, best, slots.Range{From: p.to, To: len(j.s.m.Tokens)})
	}
	j.fillStated(p, best, set, m)
	j.fillMentioned(p, best, set)
}

// extendVerbatim extends a verbatim parameter by the statements beside the request, unless one of
// them is a retraction.
func (j judgement) extendVerbatim(p *part, best *Candidate, set *slots.Set, name string) {
	if j.retracts() {
		best.Held, best.Note = true, modality.Retracted.Note()
		return
	}
	since, until := p.since, p.until
	if j.alone {
		since, until = 0, len(j.s.m.Tokens)
	}
	around := append(slices.Clone(j.s.m.Tokens[since:p.from]), j.s.m.Tokens[p.to:until]...)
	if len(around) == 0 || j.s.x.modalityReader.Of(around, nil, true)&(modality.Retracted|modality.Negated) != 0 {
		return
	}
	value, _ := slots.VerbatimText(set, j.s.q.Message, j.s.m.Tokens, slots.Range{From: since, To: until})
	_, evidence := slots.VerbatimText(set, j.s.q.Message, j.s.m.Tokens, slots.Range{From: p.from, To: until})
	best.Parameters[name], best.Evidence[name] = value, evidence
}

// retracts reports whether the message contains words such as "just kidding".
func (j judgement) retracts() bool {
	for i := range j.s.m.Tokens {
		hit, ok := lexicon.Find(&lexicon.Shipped().Operators, j.s.m.Tokens, i)
		if ok && hit.Value == lexicon.NotMeant && !j.s.m.Tokens[i].Is(tokenize.FormQuoted) {
			return true
		}
	}
	return false
}
