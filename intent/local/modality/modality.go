package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Modality is how a request is said if it is not a plain command: negated, hypothetical, a
// question, reported and so on. A write in such a modality is held back, unless the examples of
// the capability have it.
type Modality uint16

// The modalities; a text may have several.
const (
	Negated     Modality = 1 << iota // "don't …"
	Conditional                      // "… if …"
	WhatIf                           // "what would happen if …"
	HowTo                            // "how do I …"
	Permission                       // "can I …"
	Question                         // "did you …", "why …"
	Narrative                        // "I cancelled …"
	Content                          // "… that says …": the speech is content of the new object
	FollowUp                         // "and of Carla?"
	More                             // "…, and do something else"
	Retracted                        // "…, no, wait"
	Foreign                          // in a language that is not verified
)

// Inherited are the modalities that also apply to a request coordinated with "and".
const Inherited = Negated | WhatIf | HowTo | Permission | Question | Foreign

// Reader classifies the modality of runs of tokens.
type Reader struct {
	lexica *lexicon.Lexica
	// unproven is set if some language is not verified.
	unproven bool
}

// NewReader returns a reader for the compiled-in languages.
func NewReader() *Reader { return NewReaderOf(lexicon.Shipped()) }

// NewReaderOf returns a reader for the given lexica, which may contain unverified languages.
func NewReaderOf(x *lexicon.Lexica) *Reader {
	return &Reader{x, slices.ContainsFunc(x.Languages, func(l *lexicon.Language) bool { return !l.Proven })}
}

// modalityTokens limits how many tokens of a request are inspected.
const modalityTokens = 64

// requestText holds the words of a request that can determine its modality.
type requestText struct {
	folds   []string
	tokens  []tokenize.Token // tokens of folds
	content int              // index in folds of the verb of a relative clause, or -1
	begins  bool             // the request begins with the first of them, not with a value
	apart   bool             // a value stands between the first and the second
	leads   map[int]bool     // indexes of words right before a value
}

// requestWords returns the words outside of quotations and values.
func requestWords(tokens []tokenize.Token, covered []bool) requestText {
	a := requestText{content: -1, begins: true, leads: map[int]bool{}}
	for i, t := range tokens {
		if len(a.folds) == modalityTokens {
			break
		}
		if t.Is(tokenize.FormQuoted) || i < len(covered) && covered[i] {
			a.begins = a.begins && len(a.folds) > 0
			a.apart = a.apart || len(a.folds) == 1
			if i > 1 && !t.Break && !tokens[i-1].Break && !tokens[i-2].Named() && !tokens[i-2].Is(tokenize.FormMixed|tokenize.FormDigits|tokenize.FormQuoted) {
				a.leads[tokens[i-1].Start] = true
			}
			continue
		}
		if givesContent(tokens, covered, i) {
			a.content = len(a.folds)
		}
		a.folds, a.tokens = append(a.folds, t.Fold), append(a.tokens, t)
	}
	for len(a.tokens) > 0 && (a.tokens[0].Has(lexicon.Opening) || len(a.tokens) > 1 && a.tokens[0].Has(lexicon.Function) && a.tokens[1].Has(lexicon.Courteous)) {
		a.folds, a.tokens, a.content = a.folds[1:], a.tokens[1:], a.content-1
	}
	return a
}

// maxWordsBefore is the maximum number of words before one that only considers something or asks for
// instructions.
const maxWordsBefore = 4

// Of classifies the modality of a run of tokens; starts is set if nothing precedes it.
func (r *Reader) Of(tokens []tokenize.Token, covered []bool, starts bool) Modality {
	a := requestWords(tokens, covered)
	var m Modality
	if a.begins && starts {
		m = r.start(a.tokens)
	}
	if r.unproven && len(tokens) > 0 && !r.lexica.Languages[lexicon.DetectLanguages(r.lexica, tokens, nil).At(0).Best()].Proven {
		m |= Foreign
	}
	if len(a.tokens) > 0 && a.tokens[0].Has(lexicon.Lacking) {
		m |= Negated // "without deleting it, …"
	}
	possible := r.possible(tokens)
	for i, t := range a.tokens {
		within, _ := lexicon.FindIn(&r.lexica.Within, a.tokens, i, possible)
		told := modalityOf(within.Value)
		switch {
		case t.Has(lexicon.Negation), told == Negated, r.isAmbiguousNegation(a.tokens, i) && (!a.leads[t.Start] || !r.isPlacePreposition(a.tokens, i)):
			m |= Negated
		case told == WhatIf, i == 0 && r.isHypothetical(t):
			m |= WhatIf
		case told == HowTo, i < maxWordsBefore && t.Has(lexicon.Explains):
			m |= HowTo
		case (told == Conditional || t.Has(lexicon.Condition)) && conditionAt(a.tokens, i, possible):
			if m&(WhatIf|HowTo) == 0 {
				m |= Conditional
			}
		case i == a.content && reports(t.Fold):
			m |= Content
		case told == Narrative, (i > 0 || !t.Has(lexicon.Light)) && reports(t.Fold), i < maxWordsBefore && t.Has(lexicon.Ponders):
			m |= Narrative
		}
	}
	return m
}

// possible returns a lazy check for the languages that are not ruled out.
func (r *Reader) possible(tokens []tokenize.Token) func(int) bool {
	var weights lexicon.Weights
	return func(language int) bool {
		if weights == nil {
			weights = lexicon.DetectLanguages(r.lexica, tokens, nil).At(0)
		}
		return weights.Possible(language)
	}
}

// Begins reports whether the first words of a run indicate that it is no plain request.
func (r *Reader) Begins(tokens []tokenize.Token) bool {
	return r.start(requestWords(tokens, nil).tokens) != 0
}

// start returns the modality that the first words indicate.
func (r *Reader) start(tokens []tokenize.Token) Modality {
	hit, _ := lexicon.Find(&r.lexica.Begins, tokens, 0)
	m := modalityOf(hit.Value)
	if m == Negated && !r.speaks(tokens, 0, hit.Language) {
		return 0
	}
	return m
}

// isAmbiguousNegation reports whether a token is a negation that is a function word in other
// languages, such as "no". The language of the sentence decides. Before a verb of its own language
// it is always a negation, since names can mislead language detection in a short sentence.
func (r *Reader) isAmbiguousNegation(tokens []tokenize.Token, i int) bool {
	if !tokens[i].Has(lexicon.Faint) {
		return false
	}
	for n := range r.lexica.Languages {
		if tokens[i].In(n, lexicon.Faint) && (r.beforeVerb(tokens, i, n) || r.speaks(tokens, i, n) && (i+1 == len(tokens) || tokens[i+1].Break || r.lexica.Bends(n, tokens[i+1].Fold))) {
			return true
		}
	}
	return false
}

// isPlacePreposition reports whether a token is a preposition of place in a likely language,
// between a noun and a value: Portuguese "38 litros no LM-100". Behind a verb or a name it is a
// negation, as in "C-73 no C-72".
func (r *Reader) isPlacePreposition(tokens []tokenize.Token, i int) bool {
	weights := lexicon.DetectLanguages(r.lexica, tokens, nil).At(i)
	for n := range weights {
		if tokens[i].In(n, lexicon.PrepPlaceTime) && weights.Likely(n) {
			return i > 0 && r.lexica.Kin(tokens[i-1].Fold) == 0 && !r.lexica.Acts(n, tokens[i-1].Fold)
		}
	}
	return false
}

// beforeVerb reports whether a verb of a language follows a token, with at most one pronoun or
// article in between: "no lo borres".
func (r *Reader) beforeVerb(tokens []tokenize.Token, i, language int) bool {
	for k := i + 1; k < len(tokens) && k <= i+2 && !tokens[k].Break; k++ {
		if r.lexica.Acts(language, tokens[k].Fold) {
			return true
		}
		if !tokens[k].In(language, lexicon.Pronoun) && !tokens[k].In(language, lexicon.Article) {
			return false
		}
	}
	return false
}

// speaks reports whether a language is at least as likely as the others in which the token is a
// function word.
func (r *Reader) speaks(tokens []tokenize.Token, i, language int) bool {
	weights := lexicon.DetectLanguages(r.lexica, tokens, nil).At(i)
	for n := range weights {
		if n != language && tokens[i].In(n, lexicon.Function) && weights[n] > weights[language] {
			return false
		}
	}
	return true
}

// isHypothetical reports whether a verb form is hypothetical, such as "cancelaría". Polite forms
// such as "gostaria" are requests.
func (r *Reader) isHypothetical(t tokenize.Token) bool {
	return !t.Has(lexicon.Filler) && !t.Has(lexicon.Finite) && !t.Has(lexicon.Want) && !t.Has(lexicon.Function) && r.lexica.Supposes(t.Fold)
}

// Gerund reports whether a word is a form such as "deleting".
func Gerund(fold string) bool { return lexicon.Shipped().Gerund(fold) }

// StartsWithGerund reports whether a sentence is about doing something: "deleting it is …".
func StartsWithGerund(tokens []tokenize.Token) bool {
	for _, t := range tokens {
		if !t.Has(lexicon.Opening) {
			return Gerund(t.Fold) && !t.Has(lexicon.Leads)
		}
	}
	return false
}

// conditionAt reports whether a condition begins at a token. In some languages the words for "if"
// are ambiguous, as in "sí, …" or "chama-se …"; the language files define their context.
func conditionAt(tokens []tokenize.Token, i int, possible func(int) bool) bool {
	if tokens[i].Has(lexicon.Condition) {
		return true
	}
	hit, ok := lexicon.FindIn(&lexicon.Shipped().Within, tokens, i, possible)
	return ok && hit.Value == lexicon.ModalityCondition && !tokens[i].Glued && i+1 < len(tokens) && !tokens[i+1].Break
}

// LeadsCondition reports whether a clause begins with a condition for another clause.
func LeadsCondition(tokens []tokenize.Token) bool {
	return len(tokens) > 0 && conditionAt(tokens, 0, NewReader().possible(tokens))
}

// IsQuestion reports whether a text with a question mark asks for an answer. A polite request, or
// one with "please", asks for an action.
func IsQuestion(tokens []tokenize.Token, covered []bool) bool {
	a := requestWords(tokens, covered)
	return len(a.tokens) > 0 && (a.apart || !isPoliteRequest(a.tokens)) && !slices.ContainsFunc(tokens, func(t tokenize.Token) bool { return t.Has(lexicon.Courteous) })
}

// isPoliteRequest reports whether a question begins as a polite request: "could you …".
func isPoliteRequest(tokens []tokenize.Token) bool {
	hit, ok := lexicon.Find(&lexicon.Shipped().Begins, tokens, 0)
	return ok && hit.Value == lexicon.ModalityPolite
}

// continuesMessage reports whether the first words continue an earlier message.
func continuesMessage(tokens []tokenize.Token) bool {
	hit, ok := lexicon.Find(&lexicon.Shipped().Begins, tokens, 0)
	return tokens[0].Has(lexicon.GoesOn) || ok && hit.Value == lexicon.ModalityFollowUp
}

// IsFollowUp reports whether a text continues an earlier message: a value behind "and", and no
// request words.
func IsFollowUp(lexicon *tokenize.Lexicon, tokens []tokenize.Token, covered []bool) bool {
	if len(tokens) < 2 || !continuesMessage(tokens) {
		return false
	}
	for i, t := range tokens {
		if !lexicon.StopWord(t.Fold) && !t.Named() && !covered[i] {
			return false
		}
	}
	return true
}

// moreThanUnderstood is the note for unread words that may ask for something.
const moreThanUnderstood = "the message says more than I understand"

// Note returns an explanation for the user why a modality holds a request back.
func (m Modality) Note() string {
	switch {
	case m&(Negated|Retracted) != 0:
		return "the message says not to do it"
	case m&FollowUp != 0:
		return "it goes on from another message, and I read each by itself"
	case m&WhatIf != 0:
		return "the message asks what would happen"
	case m&HowTo != 0:
		return "the message asks how it is done"
	case m&Permission != 0:
		return "the message asks whether it may be done"
	case m&Question != 0:
		return "the message is a question"
	case m&(Narrative|Content) != 0:
		return "the message tells what happened"
	case m&Conditional != 0:
		return "the message makes it depend on a condition"
	case m&More != 0:
		return moreThanUnderstood
	case m&Foreign != 0:
		return "the message is in a language that I do not know well"
	}
	return ""
}
