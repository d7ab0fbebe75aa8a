package slots

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// readRelativeSpeech reads the text behind a relative clause such as "that says" as the value of
// the only parameter that holds speech, by its name or because examples have its values behind
// such a verb.
func readRelativeSpeech(r *reading, frees []*param) {
	for i := r.from + 3; i < r.to; i++ {
		if !r.set.tools.cues.Utters[r.doc.Tokens[i].Stem] || r.doc.Tokens[i].Is(tokenize.FormQuoted) {
			continue
		}
		if first := tokenize.QuotedClause(r.doc.Tokens, i); first > r.from {
			if p := r.near.speechParam(frees); p != nil {
				r.utterance(p, first)
			}
			return
		}
		if i+1 == r.to || !tokenize.HeadsRelativeClause(r.doc.Tokens, i) {
			continue
		}
		if p := r.near.speechParam(frees); p != nil {
			r.utterance(p, i+1)
		}
		return
	}
}

// readToldMessage reads the text behind the recipient of a verb of telling or asking: "tell the team
// that lunch is ready", "ask Harbour Bot when the ferry goes".
func readToldMessage(r *reading, frees []*param) {
	p := r.near.speechParam(frees)
	if p == nil {
		return
	}
	for _, m := range append(slices.Clone(r.mentions), namedRecipients(r, frees)...) {
		i, learns := m.last+1, false
		for i < r.to && (slices.Contains(m.param.words, r.doc.Tokens[i].Stem) || r.doc.Tokens[i].Has(lexicon.Learns)) {
			learns = learns || r.doc.Tokens[i].Has(lexicon.Learns)
			i++ // "let the sales channel know"
		}
		if next, half, ok := r.wording.Dictated(i); ok && m.param != p && r.near.followsTellVerb(m.first, half) {
			if v, ok := r.set.parse(p, r.wording.Text(next, r.to-1), r.now); ok { // the text may contain any punctuation
				r.add(mention{param: p, first: next, last: r.to - 1, value: v, kind: kindQuoted, p: 0.9})
			}
			return
		}
		if m.param == p || i+1 >= r.to || !r.near.followsTellVerb(m.first, "") || r.doc.Tokens[i].Is(tokenize.FormQuoted) {
			continue
		}
		switch fold := r.doc.Tokens[i].Fold; {
		case tokenize.Asks(fold) && fold != "como":
			r.utterance(p, i)
			return
		case introducesMessage(fold):
			r.utterance(p, skipRecipient(r, i)+1)
			return
		case learns, clause(r, i): // "let them know the lift works", "tell the crew the lift works"
			r.utterance(p, i)
			return
		}
	}
}

// namedRecipients returns recipients that are named by the name of their parameter and a word that
// is no known value: "tell the night crew that …", "avisa o canal noturno que …".
func namedRecipients(r *reading, frees []*param) []mention {
	at := r.from
	for at < r.to && !r.set.tools.cues.Tells[r.doc.Tokens[at].Fold] {
		at++
	}
	first := at + 1
	for first < r.to && r.set.tools.Lexicon.StopWord(r.doc.Tokens[first].Fold) {
		first++
	}
	named := slices.IndexFunc(frees, func(p *param) bool { return p.naming && !p.speaks(r.set.tools.cues) })
	if last := r.wording.Addressee(first); last >= first && named >= 0 { // "ask Harbour Bot: …"
		r.add(mention{param: frees[named], first: first, last: last, value: r.wording.Text(first, last), kind: kindContext, p: 0.8})
		return r.mentions[len(r.mentions)-1:]
	}
	if first+1 >= r.to || r.doc.Tokens[first+1].Break {
		return nil
	}
	var out []mention
	for _, p := range frees {
		head, before := r.doc.Tokens[first].Stem, slices.Contains(p.words, r.doc.Tokens[first+1].Stem)
		if p.speaks(r.set.tools.cues) || !before && !slices.Contains(p.words, head) && p.leftContext[head] == 0 {
			continue
		}
		out = append(out, mention{param: p, first: at + 1, last: first + 1})
		if v, ok := r.set.parse(p, r.wording.Text(first, first), r.now); ok && before && r.near.followsTellVerb(at+1, "") {
			r.add(mention{param: p, first: first, last: first, value: v, kind: kindContext, p: 0.8})
		}
	}
	return out
}

// clause reports whether a subject, an article or pronoun with a finite verb behind it, begins at
// a token.
func clause(r *reading, i int) bool {
	subject := r.doc.Tokens[i].Has(lexicon.Article) || r.doc.Tokens[i].Has(lexicon.Subject)
	for j := i + 1; subject && j < min(r.to, i+maxRecipientTokens+1); j++ {
		if t := r.doc.Tokens[j]; t.Has(lexicon.Finite) || t.Has(lexicon.Helps) || t.Has(lexicon.Did) || lexicon.Shipped().EndsInPast(0, t.Word) {
			return true
		}
	}
	return false
}

// maxRecipientTokens is the maximum number of tokens between a recipient and the message.
const maxRecipientTokens = 3

// skipRecipient skips the rest of a recipient's name and returns the token behind which the message
// begins: in "diz à equipa de vendas que …" it is "que", since "de" belongs to the name.
func skipRecipient(r *reading, i int) int {
	prep := func(i int) bool {
		_, ok := r.set.tools.cues.Preps[r.doc.Tokens[i].Fold]
		return ok
	}
	if !prep(i) {
		return i
	}
	for j := i + 1; j+1 < r.to && j <= i+maxRecipientTokens; j++ {
		if introducesMessage(r.doc.Tokens[j].Fold) && !prep(j) {
			return j
		}
	}
	return i
}

// followsTellVerb reports whether the request begins with a verb of telling that is separated from
// token first only by request words. With a verb particle (half) a verb of sending counts too.
func (r *vicinity) followsTellVerb(first int, half string) bool {
	for i := first - 1; i >= r.from; i-- {
		t := r.doc.Tokens[i]
		if r.set.tools.cues.Tells[t.Fold] || half != "" && IsSendVerb(t.Fold, half) {
			return r.isAtStart(i)
		}
		if !r.set.tools.Lexicon.StopWord(t.Fold) && !r.spelling.Familiar(i) {
			return false
		}
	}
	return false
}

// isAtStart reports whether only polite phrases precede a token.
func (r *vicinity) isAtStart(i int) bool {
	for j := r.from; j < i; j++ {
		if fold := r.doc.Tokens[j].Fold; !r.set.tools.Lexicon.StopWord(fold) || IsNegation(fold) || tokenize.Asks(fold) {
			return false
		}
	}
	return true
}

// introducesMessage reports whether a word links the recipient to the message, such as "that".
func introducesMessage(fold string) bool { return InClass(fold, lexicon.Conveys) }

// utterance adds the quotation that begins at a token as a candidate, or else the rest of the
// text.
func (r *reading) utterance(p *param, first int) {
	m := mention{param: p, first: first, last: first, kind: kindQuoted, p: 0.9}
	var raw string
	switch {
	case r.doc.Tokens[first].Is(tokenize.FormQuoted):
		for m.last+1 < r.to && r.doc.Tokens[m.last+1].Is(tokenize.FormQuoted) && !ClosesQuote(r.wording.Gap(m.last, m.last+1)) {
			m.last++
		}
		raw = r.wording.Quotation(first, m.last)
	case r.wording.QuotedFrom(first) || r.wording.Broken(first+1, r.to-1):
		return // a comma does not show where unquoted speech ends
	default:
		m.last, m.kind, m.p = utteranceEnd(r, p, first), kindContext, 0.85
		raw = r.wording.Text(first, m.last)
	}
	if v, ok := r.set.parse(p, raw, r.now); ok {
		m.value = v
		r.add(m)
	}
}

// utteranceEnd returns the last token of reported speech: the last of the range, without a
// trailing known value of another parameter behind a preposition, as in "that says lunch is ready
// to the sales channel".
func utteranceEnd(r *reading, p *param, first int) int {
	for _, m := range r.mentions {
		named := m.last+2 == r.to && slices.Contains(m.param.words, r.wording.StemAt(m.last+1))
		if m.param == p || m.last+1 != r.to && !named {
			continue
		}
		i := m.first - 1
		if i > first && IsArticle(r.doc.Tokens[i].Fold) {
			i--
		}
		if _, prep := r.set.tools.cues.Preps[r.doc.Tokens[i].Fold]; prep && i > first {
			return i - 1
		}
	}
	return r.to - 1
}

// speechEnd returns the last token of speech right behind a verb that precedes it in the examples.
// It ends at the preposition of another known value, as in "post hello to all in the sales
// channel". Request words alone are no speech.
func (r *reading) speechEnd(p *param, first int) int {
	last := utteranceEnd(r, p, first)
	if last == r.to-1 || relates(r.doc.Tokens[first].Fold) || r.wording.QuotedFrom(first) || r.wording.Broken(first+1, last) {
		return first - 1
	}
	for i := first; i <= last; i++ {
		t := r.doc.Tokens[i]
		if !r.set.Knows(t) && !r.set.tools.Lexicon.FunctionWord(t.Fold) {
			return last
		}
	}
	return first - 1
}

// speechParam returns the only parameter that can hold speech, by its name or else by the
// examples. It returns nil if there are none or several.
func (r *vicinity) speechParam(frees []*param) *param {
	named := func(p *param) bool { return p.speaks(r.set.tools.cues) }
	shown := func(p *param) bool {
		return slices.ContainsFunc(sortedKeys(p.leftContext), func(left string) bool { return r.set.tools.cues.Utters[left] })
	}
	for _, says := range []func(*param) bool{named, shown} {
		var found []*param
		for _, p := range frees {
			if says(p) && !p.resolver && p.pattern == nil && p.list == "" {
				found = append(found, p)
			}
		}
		if len(found) > 0 {
			return sole(found)
		}
	}
	return nil
}

func sole(params []*param) *param {
	if len(params) != 1 {
		return nil
	}
	return params[0]
}

func relates(fold string) bool { return InClass(fold, lexicon.Relative) }

// OnlyTells reports whether the head of a run is a verb of telling whose message was read as a
// value: "let the sales channel know that …".
func OnlyTells(s *Set, m *Message, run Range, f Filled) bool {
	for i := run.From; i < run.To; i++ {
		t := m.Tokens[i]
		if s.tools.cues.Tells[t.Fold] {
			return slices.ContainsFunc(s.params, func(p *param) bool {
				ev, said := f.Evidence[p.name()]
				return said && p.speaks(s.tools.cues) && ev.Span[0] > t.End
			})
		}
		if !s.tools.Lexicon.StopWord(t.Fold) {
			return false
		}
	}
	return false
}
