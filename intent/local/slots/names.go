package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// frees returns the parameters that take free text.
func (r *vicinity) frees() []*param {
	var out []*param
	for _, p := range r.set.params {
		if p.free() && p.named(r.only) && (p.resolver || !p.coded()) {
			out = append(out, p)
		}
	}
	return out
}

// names reads free text with strong evidence: capitals, and words that precede values in the
// examples.
func (r *reading) names() {
	frees := r.near.frees()
	if len(frees) == 0 {
		return
	}
	readHashNames(r, frees)
	r.readSpeech(frees)
	readRelativeSpeech(r, frees)
	readToldMessage(r, frees)
	for i := r.from; i < r.to; i++ {
		if last, ok := r.spelling.Capitals(i); ok {
			if !slices.ContainsFunc(frees, func(p *param) bool { return p.list != "" }) {
				last = r.spelling.SecondSurname(i, last)
			}
			for _, p := range frees {
				if r.try(contextCost) {
					r.offerName(p, i, last)
				}
			}
			splitOwner(r, frees, i, last)
			i = last
			continue
		}
		if !r.doc.Tokens[i].Is(tokenize.FormQuoted) {
			for _, p := range frees {
				if r.try(contextCost) {
					r.lowercaseText(p, i)
				}
			}
		}
	}
}

// splitOwner splits a capitalised run into a single name and the full name of its owner, for two
// parameters: "Luna de Marta Ferro".
func splitOwner(r *reading, frees []*param, first, last int) {
	k := first + 1
	at := slices.IndexFunc(frees, func(q *param) bool { return q.naming && q.written.Words == 1 })
	if at < 0 || k+2 > last || r.learning || !r.set.tools.cues.Particle[r.doc.Tokens[k].Fold] {
		return
	}
	for _, p := range frees {
		if p != frees[at] && p.naming && p.written.Words > 1 && r.near.expects(p.leftContext, k) && r.try(contextCost) {
			r.offerName(frees[at], first, first)
			r.offerName(p, k+1, last)
		}
	}
}

// readHashNames adds a word behind "#" as a candidate for parameters whose values are written so:
// "#random" is a channel.
func readHashNames(r *reading, frees []*param) {
	for _, p := range frees {
		if !slices.ContainsFunc(p.words, func(w string) bool { return r.set.tools.cues.Written[w] == "#" }) {
			continue
		}
		for i := r.from; i < r.to && r.try(1); i++ {
			t := r.doc.Tokens[i]
			if t.Start == 0 || r.doc.Src[t.Start-1] != '#' || t.Is(tokenize.FormQuoted|tokenize.FormDigits|tokenize.FormMixed) || r.learning {
				continue
			}
			if v, ok := r.set.parse(p, r.wording.Text(i, i), r.now); ok {
				r.add(mention{param: p, first: i, last: i, value: v, kind: kindShape, p: 0.86})
			}
		}
	}
}

// offerName scores a capitalised run for a parameter.
func (r *reading) offerName(p *param, first, last int) {
	if !p.resolver && p.list == "" {
		last = r.spelling.Conjoined(first, last, p.naming)
	}
	score := 0.3
	switch {
	case p.resolver:
		score = 0.5
	case p.naming && (r.near.expects(p.leftContext, first-1) || r.near.opensText(p, first, last)):
		score = 0.45
	}
	plain := last == first && r.doc.Tokens[first].Is(tokenize.FormFirst)
	if plain {
		score -= 0.2
	}
	if r.spelling.Noun(first, last) && !r.near.expects(p.leftContext, first-1) {
		score -= 0.3
	}
	if r.near.afterPlacePreposition(p, first) {
		score -= 0.2
	}
	score += r.near.context(p, first, last)
	v, ok := r.set.parse(p, r.wording.Text(first, last), r.now)
	if ok && (score >= floorOptional || r.set.writes || r.learning || p.resolver) {
		r.add(mention{param: p, first: first, last: last, value: v, kind: kindName, p: min(score, 0.92)})
	}
}

// afterPlacePreposition reports whether a preposition of place precedes a name, for a parameter
// that is no place by its name or its examples.
func (r *vicinity) afterPlacePreposition(p *param, first int) bool {
	if first == r.from || p.sense&(SensePlace|SenseTime) != 0 || r.expects(p.leftContext, first-1) {
		return false
	}
	return r.doc.Tokens[first-1].Has(lexicon.Somewhere)
}

// context returns the score of a span for a parameter by the words around it.
func (r *vicinity) context(p *param, first, last int) float64 {
	score := 0.0
	left := r.wording.LeftAt(first - 1)
	switch {
	case slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && r.isModifier(q, first, last) }):
		return 0 // "the Spare OpenAI credential" is no model
	case r.expects(p.leftContext, first-1), p.naming && r.opensText(p, first, last):
		score += 0.32
	case p.naming && introduces(left) && !r.belongsElsewhere(p, left):
		score += 0.16
	}
	if r.after(p, first) {
		score += 0.25
	}
	switch {
	case r.isModifier(p, first, last):
		score += 0.5
	case last+1 < r.to && r.expects(p.rightContext, last+1):
		score += 0.1
	}
	return score
}

// opensText reports whether a name of several words begins the text, for a parameter whose values
// begin some of the examples: "Mill Lane Books needs 30 posters".
func (r *vicinity) opensText(p *param, first, last int) bool {
	if last == first || p.leftContext["^"] == 0 || r.learning || r.spelling.CapitalNouns() && (last+1 >= r.to || !r.doc.Tokens[last+1].Has(lexicon.Want)) {
		return false
	}
	for i := r.from; i < first; i++ {
		if !r.doc.Tokens[i].Has(lexicon.Article) {
			return false
		}
	}
	return true
}

// isModifier reports whether a span stands between an article and the name of a parameter that
// holds no speech: "the Team OpenAI credential".
func (r *vicinity) isModifier(p *param, first, last int) bool {
	name := last + len(p.words)
	return first > r.from && len(p.words) > 0 && !p.speaks(r.set.tools.cues) && name < r.to && r.wording.PhraseEndsAt(p.words, name) &&
		r.doc.Tokens[first-1].Has(lexicon.Article) && !r.doc.Tokens[first].Break && !r.doc.Tokens[last+1].Break
}

// belongsElsewhere reports whether the examples use a word before another parameter.
func (r *vicinity) belongsElsewhere(p *param, stem string) bool {
	return slices.ContainsFunc(r.set.params, func(q *param) bool { return q != p && q.leftContext[stem] > 0 })
}

// introduces reports whether a word often precedes a name.
func introduces(fold string) bool { return InClass(fold, lexicon.Introduces) }

// readSpeech reads the text behind a word such as "saying" as the value of the only required
// free-text parameter.
func (r *reading) readSpeech(frees []*param) {
	var only *param
	for _, p := range frees {
		if !p.required || p.resolver || p.pattern != nil || p.list != "" {
			continue
		}
		if only != nil {
			return
		}
		only = p
	}
	if only == nil {
		return
	}
	for i := r.from + 1; i+1 < r.to; i++ {
		if !speaks(r.doc.Tokens[i].Fold) || r.wording.QuotedFrom(i) {
			continue // the speech is quoted instead
		}
		if v, ok := r.set.parse(only, r.wording.Text(i+1, r.to-1), r.now); ok {
			r.add(mention{param: only, first: i + 1, last: r.to - 1, value: v, kind: kindContext, p: 0.8})
		}
		return
	}
}

func speaks(fold string) bool { return InClass(fold, lexicon.Saying) }

// minLeftExamples is the minimum number of examples in which a word must precede values to
// introduce a value by itself: "the channel lobby".
const minLeftExamples = 2

// lowercaseText scores lower-case text, if the word before it introduces the parameter.
func (r *reading) lowercaseText(p *param, first int) {
	if first == r.from || r.doc.Tokens[first].Break || p.naming && !r.learning && r.spelling.Capitalises() {
		return
	}
	left := r.wording.LeftAt(first - 1)
	learned := r.near.expects(p.leftContext, first-1)
	own := r.near.after(p, first) && (p.resolver || LinksName(r.doc.Tokens[first-1].Fold))
	thing := r.near.takesShortNames(p)
	if LinksName(r.doc.Tokens[first].Fold) || slices.Contains(p.words, r.doc.Tokens[first].Stem) || thing && r.spelling.Familiar(first) {
		return // the value comes later
	}
	if !learned && !own && (!p.resolver || !introduces(left) || r.near.belongsElsewhere(p, left)) {
		return
	}
	last := r.lowercaseEnd(p, first)
	if learned && p.speaks(r.set.tools.cues) && !r.learning {
		last = r.speechEnd(p, first)
	}
	if last < first {
		return
	}
	score := 0.25
	switch {
	case p.naming && last > first:
		score = 0.45
	case p.resolver:
		score = 0.4
	case p.leftContext[left] >= minLeftExamples && !p.speaks(r.set.tools.cues) && first == last:
		score = 0.5
	}
	v, ok := r.set.parse(p, r.wording.Text(first, last), r.now)
	if ok && (p.pattern == nil || p.resolver || p.pattern.MatchString(r.wording.Text(first, last))) {
		r.add(mention{param: p, first: first, last: last, value: v, kind: kindContext, p: min(score+r.near.context(p, first, last), 0.85)})
	}
}

// takesShortNames reports whether the values of a parameter are short names of things, which
// contain no request word.
func (r *vicinity) takesShortNames(p *param) bool {
	return !p.resolver && p.written.Things() && !p.speaks(r.set.tools.cues)
}

// lowercaseEnd returns the last token of a text that begins at first. A resolved name ends at any
// request word or function word, other text only where the next parameter begins.
func (r *reading) lowercaseEnd(p *param, first int) int {
	last, thing := first-1, r.near.takesShortNames(p)
	for i := first; i < r.to && i < first+MaxNameTokens; i++ {
		t := r.doc.Tokens[i]
		if i > first && t.Break || r.inEntity[i] || t.Is(tokenize.FormQuoted) || r.isKnownValue(i) {
			break
		}
		light, known := r.set.tools.Lexicon.StopWord(t.Fold), r.spelling.Familiar(i) || r.spelling.Request.AskedHowMany(r.doc, r.from, i)
		if p.resolver && (light || known || r.set.tools.cues.Verbal[t.Fold]) || i == first && light {
			break
		}
		if i > first && thing && (known && !light || t.Has(lexicon.Finite)) {
			break
		}
		if !p.resolver && light && r.near.belongsElsewhere(p, r.wording.LeftAt(i)) {
			break
		}
		last = i
	}
	for last >= first && r.set.tools.Lexicon.StopWord(r.doc.Tokens[last].Fold) {
		last--
	}
	for last >= first && last+1 < r.to && r.doc.Tokens[last+1].Glued && !r.doc.Tokens[last+1].Is(tokenize.FormQuoted) && r.doc.Tokens[last+1].Fold != "s" {
		last++ // a value does not end inside "10.0.0.7"
	}
	return last
}

// isKnownValue reports whether a known value begins at token i.
func (r *reading) isKnownValue(i int) bool {
	return slices.ContainsFunc(r.mentions, func(m mention) bool {
		return m.first == i && (m.kind == kindAlias || m.kind == kindEnum || m.kind == kindExample || m.kind == kindPattern)
	})
}

// lists follows commas and words such as "and" from a value to further values of the same
// parameter.
func (r *reading) lists() {
	for k := 0; k < len(r.mentions); k++ {
		m := r.mentions[k]
		if m.param.kind != "string" || m.param.list == "" && !m.param.naming || len(m.param.enum) > 0 || m.kind == kindKeyed || m.doubt {
			continue
		}
		first, ok := r.wording.BehindConnector(m.last)
		if !ok || !m.param.free() || !m.param.naming && m.kind != kindName && m.kind != kindContext {
			continue
		}
		last, ok := r.spelling.Capitals(first)
		switch {
		case m.kind == kindQuoted:
			last = r.wording.QuotedTo(first)
		case !ok:
			last = listItem(r, m, first)
		}
		if last < first || r.mentioned(m.param, first, m.p-0.02) {
			continue
		}
		if v, ok := r.set.parse(m.param, r.wording.Text(first, last), r.now); ok {
			r.add(mention{param: m.param, first: first, last: last, value: v, kind: m.kind, p: m.p - 0.01, item: true})
		}
	}
}

// listItem returns the last token of a list item in lower case, or first-1 if there is none. After
// a name or a code no lower-case item follows, and words with more behind them are another
// request: "for Ana and bake a cake".
func listItem(r *reading, m mention, first int) int {
	last := r.lowercaseEnd(m.param, first)
	next := last + 1
	if m.kind == kindPattern || r.doc.Tokens[m.first].Is(tokenize.FormTitle|tokenize.FormCaps) || next < r.to && !r.doc.Tokens[next].Break && !IsCoordination(r.doc.Tokens[next].Fold) {
		return first - 1
	}
	return last
}

// mentioned reports whether a token was already read for the parameter with at least this score.
func (r *reading) mentioned(p *param, first int, atLeast float64) bool {
	return slices.ContainsFunc(r.mentions, func(m mention) bool {
		return m.param == p && m.first <= first && m.last >= first && m.p >= atLeast
	})
}
