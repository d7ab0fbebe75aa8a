package modality

import (
	"slices"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Modality is how a request is said when it is not a plain command: negated, hypothetical,
// asked, reported and so on. A write is held back in such a modality, unless the
// capability's own examples have it.
type Modality uint16

// The modalities; a run of words may have several.
const (
	Negated     Modality = 1 << iota // "don't …"
	Conditional                      // "… if …"
	WhatIf                           // "what would happen if …"
	HowTo                            // "how do I …"
	Permission                       // "can I …"
	Question                         // "did you …", "why …"
	Narrative                        // "I cancelled …"
	Content                          // "… that says …": what is made shall say it
	FollowUp                         // "and of Carla?"
	More                             // "…, and do something else"
	Retracted                        // "…, no, wait"
	Foreign                          // in a language that is not proven
)

// Inherited are the modalities that reach over "and" to the next request.
const Inherited = Negated | WhatIf | HowTo | Permission | Question | Foreign

// Reader classifies the modality of runs of tokens.
type Reader struct {
	lexica *lexicon.Lexica
	// unproven tells that there is a language without its tests.
	unproven bool
}

// NewReader makes a reader for the languages that are compiled in.
func NewReader() *Reader { return NewReaderOf(lexicon.Shipped()) }

// NewReaderOf makes a reader for given lexica, of which some languages may not be verified.
func NewReaderOf(x *lexicon.Lexica) *Reader {
	return &Reader{x, slices.ContainsFunc(x.Languages, func(l *lexicon.Language) bool { return !l.Proven })}
}

// modalityTokens bounds how far into a request its modality is looked for.
const modalityTokens = 64

// audible are the words of a request that can give it a modality.
type audible struct {
	folds   []string
	tokens  []tokenize.Token // of folds
	content int              // the verb of a relative clause, in folds; -1 for none
	begins  bool             // the first of them begins the request, no value does
	apart   bool             // a value stands between the first and the second
	leads   map[int]bool     // words right before a value, by where they begin
}

// listen leaves out quoted words, which have no modality, and those that belong to
// values.
func listen(tokens []tokenize.Token, covered []bool) audible {
	a := audible{content: -1, begins: true, leads: map[int]bool{}}
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

// early is how many words stand at most before one that only ponders or asks to be
// taught.
const early = 4

// Of classifies the modality of a run of tokens; starts says that nothing stands before it.
func (r *Reader) Of(tokens []tokenize.Token, covered []bool, starts bool) Modality {
	a := listen(tokens, covered)
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
		case t.Has(lexicon.Negation), told == Negated, r.faint(a.tokens, i) && (!a.leads[t.Start] || !r.places(a.tokens, i)):
			m |= Negated
		case told == WhatIf, i == 0 && r.wouldDo(t):
			m |= WhatIf
		case told == HowTo, i < early && t.Has(lexicon.Explains):
			m |= HowTo
		case (told == Conditional || t.Has(lexicon.Condition)) && conditionAt(a.tokens, i, possible):
			if m&(WhatIf|HowTo) == 0 {
				m |= Conditional
			}
		case i == a.content && reports(t.Fold):
			m |= Content
		case told == Narrative, (i > 0 || !t.Has(lexicon.Light)) && reports(t.Fold), i < early && t.Has(lexicon.Ponders):
			m |= Narrative
		}
	}
	return m
}

// possible tells the languages that are not ruled out, when somebody asks.
func (r *Reader) possible(tokens []tokenize.Token) func(int) bool {
	var weights lexicon.Weights
	return func(language int) bool {
		if weights == nil {
			weights = lexicon.DetectLanguages(r.lexica, tokens, nil).At(0)
		}
		return weights.Possible(language)
	}
}

// Begins reports whether the first words of a run say that it is no plain request.
func (r *Reader) Begins(tokens []tokenize.Token) bool {
	return r.start(listen(tokens, nil).tokens) != 0
}

// start looks at the first words.
func (r *Reader) start(tokens []tokenize.Token) Modality {
	hit, _ := lexicon.Find(&r.lexica.Begins, tokens, 0)
	m := modalityOf(hit.Value)
	if m == Negated && !r.speaks(tokens, 0, hit.Language) {
		return 0
	}
	return m
}

// faint tells a word that says no in one language and is a word of grammar in
// others, as "no" in Spanish and Portuguese. The language of its sentence decides,
// and before a verb of its own language it always says no: in a short sentence names
// can drown the language.
func (r *Reader) faint(tokens []tokenize.Token, i int) bool {
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

// places tells a word that says where in a language that is likely, behind a noun and right
// before a value: the Portuguese "38 litros no LM-100". Behind a verb or a name, as in "C-73
// no C-72", it denies.
func (r *Reader) places(tokens []tokenize.Token, i int) bool {
	weights := lexicon.DetectLanguages(r.lexica, tokens, nil).At(i)
	for n := range weights {
		if tokens[i].In(n, lexicon.PrepPlaceTime) && weights.Likely(n) {
			return i > 0 && r.lexica.Kin(tokens[i-1].Fold) == 0 && !r.lexica.Acts(n, tokens[i-1].Fold)
		}
	}
	return false
}

// beforeVerb reports whether a verb of a language stands right behind a word, or behind
// one small word of it: "no lo borres".
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

// speaks reports whether a language is more likely than those others in which a word
// is one of grammar.
func (r *Reader) speaks(tokens []tokenize.Token, i, language int) bool {
	weights := lexicon.DetectLanguages(r.lexica, tokens, nil).At(i)
	for n := range weights {
		if n != language && tokens[i].In(n, lexicon.Function) && weights[n] > weights[language] {
			return false
		}
	}
	return true
}

// wouldDo tells a verb that only supposes, such as "cancelaría". Those of wishes
// and politeness, such as "gostaria", ask.
func (r *Reader) wouldDo(t tokenize.Token) bool {
	return !t.Has(lexicon.Filler) && !t.Has(lexicon.Finite) && !t.Has(lexicon.Want) && !t.Has(lexicon.Function) && r.lexica.Supposes(t.Fold)
}

// Gerund tells forms such as "deleting".
func Gerund(fold string) bool { return lexicon.Shipped().Gerund(fold) }

// StartsWithGerund tells a sentence about doing something: "deleting it is …".
func StartsWithGerund(tokens []tokenize.Token) bool {
	for _, t := range tokens {
		if !t.Has(lexicon.Opening) {
			return Gerund(t.Fold) && !t.Has(lexicon.Leads)
		}
	}
	return false
}

// conditionAt reports whether a condition begins at a token. The words for "if" of
// some languages mean other things too: "sí, …", "chama-se …"; the files say what
// they stand beside.
func conditionAt(tokens []tokenize.Token, i int, possible func(int) bool) bool {
	if tokens[i].Has(lexicon.Condition) {
		return true
	}
	hit, ok := lexicon.FindIn(&lexicon.Shipped().Within, tokens, i, possible)
	return ok && hit.Value == lexicon.ModalityCondition && !tokens[i].Glued && i+1 < len(tokens) && !tokens[i+1].Break
}

// LeadsCondition reports whether a piece of a sentence begins with a condition
// for another piece.
func LeadsCondition(tokens []tokenize.Token) bool {
	return len(tokens) > 0 && conditionAt(tokens, 0, NewReader().possible(tokens))
}

// IsQuestion reports whether words with a question mark behind them ask for an
// answer. What begins as a polite request does, or says "please", asks for a
// deed.
func IsQuestion(tokens []tokenize.Token, covered []bool) bool {
	a := listen(tokens, covered)
	return len(a.tokens) > 0 && (a.apart || !politely(a.tokens)) && !slices.ContainsFunc(tokens, func(t tokenize.Token) bool { return t.Has(lexicon.Courteous) })
}

// politely tells the beginning of a question that is a request: "could you …".
func politely(tokens []tokenize.Token) bool {
	hit, ok := lexicon.Find(&lexicon.Shipped().Begins, tokens, 0)
	return ok && hit.Value == lexicon.ModalityPolite
}

// goesOn tells the first words of what goes on from an earlier message.
func goesOn(tokens []tokenize.Token) bool {
	hit, ok := lexicon.Find(&lexicon.Shipped().Begins, tokens, 0)
	return tokens[0].Has(lexicon.GoesOn) || ok && hit.Value == lexicon.ModalityFollowUp
}

// IsFollowUp tells words that go on from something said before: a value behind
// "and", and nothing that says what is wanted.
func IsFollowUp(lexicon *tokenize.Lexicon, tokens []tokenize.Token, covered []bool) bool {
	if len(tokens) < 2 || !goesOn(tokens) {
		return false
	}
	for i, t := range tokens {
		if !lexicon.StopWord(t.Fold) && !t.Named() && !covered[i] {
			return false
		}
	}
	return true
}

// moreThanUnderstood is said where words are left that may ask for something.
const moreThanUnderstood = "the message says more than I understand"

// Note says in plain words why a modality holds something back.
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
