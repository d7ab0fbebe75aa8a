package mood

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// Mood is how something is said, when it is not a plain request. What has an
// effect is never done on words in such a Mood, unless the capability's own
// examples are said that way.
type Mood uint16

// The moods; a run of words may have several.
const (
	Negated     Mood = 1 << iota // "don't …"
	Conditional                  // "… if …"
	WhatIf                       // "what would happen if …"
	HowTo                        // "how do I …"
	Permission                   // "can I …"
	Question                     // "did you …", "why …"
	Narrative                    // "I cancelled …"
	Content                      // "… that says …": what is made shall say it
	FollowUp                     // "and of Carla?"
	More                         // "…, and do something else"
	Retracted                    // "…, no, wait"
)

// Inherited are the moods that reach over "and" to the next request.
const Inherited = Negated | WhatIf | HowTo | Permission | Question

// Reader holds the first words that give a sentence its Mood, and the words
// that separate its requests.
type Reader struct {
	starts map[string][]moodStart // by their first word
}

type moodStart struct {
	mood  Mood
	words [][]string // for each place the words that may stand there
}

// New makes a reader of the languages that come with the program.
func New() *Reader {
	r := &Reader{starts: map[string][]moodStart{}}
	for _, group := range moodPhrases() {
		for _, phrase := range group.phrases {
			start := moodStart{mood: group.mood}
			for place := range strings.FieldsSeq(phrase) {
				start.words = append(start.words, strings.Split(place, "|"))
			}
			for _, first := range start.words[0] {
				r.starts[first] = append(r.starts[first], start)
			}
		}
	}
	return r
}

// moodTokens bounds how far into a request its mood is looked for.
const moodTokens = 64

// audible are the words of a request that can give it a mood.
type audible struct {
	folds   []string
	tokens  []text.Token // of folds
	content int          // the verb of a relative clause, in folds; -1 for none
	begins  bool         // the first of them begins the request, no value does
	apart   bool         // a value stands between the first and the second
}

// listen leaves out quoted words, which have no Mood, and those that belong to
// values.
func listen(tokens []text.Token, covered []bool) audible {
	a := audible{content: -1, begins: true}
	for i, t := range tokens {
		if len(a.folds) == moodTokens {
			break
		}
		if t.Is(text.FormQuoted) || i < len(covered) && covered[i] {
			a.begins = a.begins && len(a.folds) > 0
			a.apart = a.apart || len(a.folds) == 1
			continue
		}
		if givesContent(tokens, covered, i) {
			a.content = len(a.folds)
		}
		a.folds, a.tokens = append(a.folds, t.Fold), append(a.tokens, t)
	}
	for len(a.folds) > 0 && Opening(a.folds[0]) && (a.folds[0] != "por" || len(a.folds) < 2 || a.folds[1] == "favor") {
		a.folds, a.tokens, a.content = a.folds[1:], a.tokens[1:], a.content-1
	}
	return a
}

// Of reads the mood of a run of tokens; starts tells that nothing stands before it.
func (r *Reader) Of(tokens []text.Token, covered []bool, starts bool) Mood {
	a := listen(tokens, covered)
	var m Mood
	if a.begins && starts {
		m = r.start(a.folds)
	}
	if len(a.folds) > 0 && lacking(a.folds[0]) {
		m |= Negated // "without deleting it, …"
	}
	spanish := spanishNo(a.folds)
	for i, f := range a.folds {
		switch {
		case Negates(f), negates(a.folds[i:]), f == "no" && (spanish || saysNo(a.folds, i)):
			m |= Negated
		case supposes(a.folds[i:]), i == 0 && wouldDo(a.tokens[i]):
			m |= WhatIf
		case wants(a.folds, i), i < 4 && explains(f):
			m |= HowTo
		case conditionAt(a.tokens, i) && m&(WhatIf|HowTo) == 0:
			m |= Conditional
		case i == a.content && reports(f):
			m |= Content
		case reports(f) && (i > 0 || f != "diz"), i > 0 && handsOn(a.folds[i-1], f), i < 4 && ponders(f):
			m |= Narrative
		}
	}
	return m
}

// Begins tells whether the first words of a run say that it is no plain request.
func (r *Reader) Begins(tokens []text.Token) bool { return r.start(listen(tokens, nil).folds) != 0 }

// start looks at the first words.
func (r *Reader) start(folds []string) Mood {
	if len(folds) == 0 {
		return 0
	}
	for _, s := range r.starts[folds[0]] {
		if s.begins(folds) {
			return s.mood
		}
	}
	if asksHow(folds) {
		return HowTo
	}
	return narrative(folds)
}

func (s *moodStart) begins(folds []string) bool {
	for i, words := range s.words {
		if i >= len(folds) || !slices.Contains(words, folds[i]) {
			return false
		}
	}
	return true
}

// asksHow tells "how" before a verb in languages that need no other word for
// it: "como cancelo …", "wie storniere ich …". A participle is an
// aside: "wie besprochen, storniere …".
func asksHow(folds []string) bool {
	if len(folds) < 2 || !slices.Contains([]string{"wie", "como", "comment"}, folds[0]) {
		return false
	}
	next := folds[1]
	for _, ending := range []string{"ado", "ido", "ada", "ida", "amos", "imos"} {
		if strings.HasSuffix(next, ending) {
			return false
		}
	}
	german := folds[0] == "wie" && slices.ContainsFunc([]string{"be", "ge", "ver", "ab", "vor", "immer"}, func(p string) bool { return strings.HasPrefix(next, p) })
	return !german || slices.ContainsFunc(folds[2:min(len(folds), 4)], func(f string) bool { return slices.Contains([]string{"ich", "man", "wir"}, f) })
}

// negates tells whether words begin with several that say "not" together.
func negates(folds []string) bool {
	next := ""
	if len(folds) > 1 {
		next = folds[1]
	}
	switch folds[0] {
	case "no":
		return slices.Contains([]string{"need", "longer", "reason", "point", "sense", "use", "way", "cause", "circumstances", "circumstance", "condition", "account", "case", "one"}, next)
	case "instead":
		return next == "of"
	case "rather":
		return next == "than"
	case "em", "en", "ao", "au":
		return slices.Contains([]string{"vez", "lugar", "inves", "lieu"}, next)
	case "deixa", "deixe", "deixem", "deja", "deje", "dejen", "pare", "parem":
		return next == "de"
	case "ne", "n":
		return slices.ContainsFunc(folds[1:min(len(folds), 6)], func(f string) bool {
			return slices.Contains([]string{"rien", "aucun", "aucune", "personne", "plus", "guere"}, f)
		})
	case "without":
		return Gerund(next)
	case "hold", "stop", "skip", "forget", "postpone", "delay", "resist", "refuse", "abstain", "cease", "quit":
		return slices.ContainsFunc(folds[1:min(len(folds), 4)], Gerund)
	}
	return false
}

// spanishNo tells whether a "no" is the Spanish "not": in Portuguese it means
// "in the". The small words around it say which language it is.
func spanishNo(folds []string) bool {
	spanish, portuguese := 0, 0
	for _, f := range folds {
		switch f {
		case "el", "la", "los", "las", "lo", "del", "y", "en", "con", "su", "sus", "mi", "mis", "una", "unos", "unas", "ningun", "ninguna", "ninguno", "hay":
			spanish++
		case "o", "os", "da", "do", "das", "dos", "em", "um", "uma", "ao", "aos", "na", "nas", "nao", "com", "meu", "minha", "seu", "sua", "pelo", "pela":
			portuguese++
		}
	}
	return spanish > portuguese
}

// saysNo tells a "no" that means "not" where no small word tells the language:
// at the beginning before what could be a verb, or behind words such as "better".
func saysNo(folds []string, i int) bool {
	if i > 0 {
		return slices.Contains([]string{"ya", "mejor", "prefiero", "pero"}, folds[i-1])
	}
	if len(folds) < 2 || slices.ContainsFunc(folds, portugueseWord) {
		return false
	}
	last := folds[1][len(folds[1])-1]
	return strings.IndexByte("aeosn", last) >= 0
}

func portugueseWord(fold string) bool {
	return slices.Contains([]string{"o", "os", "da", "do", "das", "dos", "em", "um", "uma", "ao", "na", "com", "e"}, fold)
}

// supposes tells words such as "would happen".
func supposes(folds []string) bool {
	if len(folds) < 2 {
		return false
	}
	switch folds[0] {
	case "what":
		return folds[1] == "if"
	case "would", "might":
		return slices.Contains([]string{"happen", "do", "be", "cause", "mean", "cost"}, folds[1])
	}
	return false
}

// wouldDo tells a verb that only supposes, such as "cancelaría". Those of wishes
// and politeness, such as "gostaria", ask.
func wouldDo(t text.Token) bool {
	if t.Has(lang.Filler) || t.Has(lang.Finite) || t.Has(lang.Want) || t.Has(lang.Function) {
		return false
	}
	return slices.ContainsFunc([]string{"aria", "eria", "iria"}, func(e string) bool { return len(t.Fold) > len(e)+3 && strings.HasSuffix(t.Fold, e) })
}

// wants tells an indirect question at a place, such as "to know how". "Let me
// know if" is none.
func wants(folds []string, at int) bool {
	if at > 0 && slices.Contains([]string{"me", "us", "mich", "uns", "moi", "nous"}, folds[at-1]) {
		return false
	}
	return slices.Contains([]string{"know", "learn", "understand", "saber", "wissen", "savoir", "entender", "comprendre"}, folds[at]) &&
		slices.ContainsFunc(folds[at+1:min(len(folds), at+4)], func(f string) bool {
			return slices.Contains([]string{"how", "whether", "if", "como", "se", "si", "wie", "ob", "comment"}, f)
		})
}

// Gerund tells forms such as "deleting".
func Gerund(fold string) bool { return strings.HasSuffix(fold, "ing") && len(fold) > 5 }

// StartsWithGerund tells a sentence about doing something: "deleting it is …".
func StartsWithGerund(tokens []text.Token) bool {
	for _, t := range tokens {
		if !Opening(t.Fold) {
			return Gerund(t.Fold) && !leads(t.Fold)
		}
	}
	return false
}

// narrative tells sentences that report: "I cancelled it yesterday".
func narrative(folds []string) Mood {
	if len(folds) < 2 {
		return 0
	}
	if past(folds) {
		return Narrative
	}
	if !slices.Contains([]string{"i", "we", "he", "she", "they", "you", "it", "somebody", "someone", "nobody"}, folds[0]) {
		return 0
	}
	for _, f := range folds[1:min(len(folds), 4)] {
		switch {
		case f == "would" || f == "d":
			if i := slices.Index(folds, f); i+1 < len(folds) && !slices.Contains([]string{"like", "love", "prefer", "appreciate", "want", "need", "wish", "please"}, folds[i+1]) {
				return WhatIf
			}
			return 0
		case slices.Contains([]string{"need", "needed", "want", "wanted", "like", "wish", "must", "am", "m"}, f):
			return 0
		case strings.HasSuffix(f, "ed") && len(f) > 4, f == "have", f == "had", f == "has", f == "was", f == "were", f == "ve", f == "did":
			return Narrative
		}
	}
	return 0
}

// past tells sentences of the other languages that begin with what was done:
// "ich habe …", "j'ai supprimé …", "he borrado …", "cancelei …".
func past(folds []string) bool {
	first, second := folds[0], folds[1]
	switch first {
	case "ich", "wir", "er":
		return slices.Contains([]string{"habe", "haben", "hat", "hatte", "hatten", "wollte"}, second)
	case "j", "je", "nous", "il", "elle", "on":
		return slices.Contains([]string{"ai", "avons", "a", "avais", "avait", "voulais"}, second) && (len(folds) < 3 || folds[2] != "besoin")
	case "he", "ha", "hemos", "han":
		return strings.HasSuffix(second, "ado") || strings.HasSuffix(second, "ido")
	case "eu":
		return strings.HasSuffix(second, "ei") || strings.HasSuffix(second, "ava")
	case "ja", "ya": // "já apaguei", "ya borré"
		return strings.HasSuffix(second, "e") || strings.HasSuffix(second, "i")
	}
	return len(first) > 4 && strings.HasSuffix(first, "ei")
}

// conditionAt tells whether a condition begins at a token. The words for "if"
// of some languages mean other things too: "sí, …", "s'il te plaît", "que se
// llama …".
func conditionAt(tokens []text.Token, i int) bool {
	t := tokens[i]
	next := text.Token{Break: true}
	if i+1 < len(tokens) {
		next = tokens[i+1]
	}
	switch t.Fold {
	case "si":
		return !next.Break
	case "se":
		return !next.Break && !t.Glued && (i == 0 || t.Start > tokens[i-1].End+1 || !besidesSelf(tokens[i-1].Fold)) && !givesName(next.Fold)
	case "s":
		return !t.Glued && (next.Fold == "il" || next.Fold == "ils") && (i+2 >= len(tokens) || !slices.Contains([]string{"te", "vous", "plait"}, tokens[i+2].Fold))
	case "a":
		return next.Fold == "menos" || next.Fold == "condition"
	}
	return condition(t.Fold)
}

// LeadsCondition tells whether a piece of a sentence begins with a condition
// for another piece.
func LeadsCondition(tokens []text.Token) bool { return len(tokens) > 0 && conditionAt(tokens, 0) }

// IsQuestion tells whether words with a question mark behind them ask for an
// answer. What begins as a polite request does, or says "please", asks for a
// deed.
func IsQuestion(tokens []text.Token, covered []bool) bool {
	a := listen(tokens, covered)
	return len(a.folds) > 0 && (a.apart || !politely(a.folds)) && !slices.ContainsFunc(tokens, func(t text.Token) bool { return courteous(t.Fold) })
}

// IsFollowUp tells words that go on from something said before: a value behind
// "and", and nothing that says what is wanted.
func IsFollowUp(lexicon *text.Lexicon, tokens []text.Token, covered []bool) bool {
	if len(tokens) < 2 || !goesOn(tokens[0].Fold, tokens[1].Fold) {
		return false
	}
	for i, t := range tokens {
		if !lexicon.Light(t.Fold) && !t.Named() && !covered[i] {
			return false
		}
	}
	return true
}

// moreThanUnderstood is said where words are left that may ask for something.
const moreThanUnderstood = "the message says more than I understand"

// Note says for people why a mood holds something back.
func (m Mood) Note() string {
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
	}
	return ""
}
