package intent

import (
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// mood is how something is said, when it is not a plain request. What has an
// effect is never done on words in such a mood, unless the capability's own
// examples are said that way.
type mood uint8

const (
	moodNegated     mood = 1 << iota // "don't …"
	moodConditional                  // "… if …"
	moodWhatIf                       // "what would happen if …"
	moodHowTo                        // "how do I …"
	moodPermission                   // "can I …"
	moodQuestion                     // "did you …", "why …"
	moodNarrative                    // "I cancelled …"
	moodContent                      // "… that says …": what is made shall say it
)

// inherited are the moods that reach over "and" to the next request.
const inherited = moodNegated | moodWhatIf | moodHowTo | moodPermission | moodQuestion

// moodReader holds the first words that give a sentence its mood.
type moodReader struct {
	starts []moodStart
	common map[string]bool // all first words of starts
}

type moodStart struct {
	mood  mood
	words [][]string // for each place the words that may stand there
}

func newMoodReader() *moodReader {
	r := &moodReader{common: map[string]bool{}}
	for _, group := range moodPhrases() {
		for _, phrase := range group.phrases {
			start := moodStart{mood: group.mood}
			for place := range strings.FieldsSeq(phrase) {
				start.words = append(start.words, strings.Split(place, "|"))
			}
			for _, w := range start.words[0] {
				r.common[w] = true
			}
			r.starts = append(r.starts, start)
		}
	}
	return r
}

// moodTokens bounds how far into a request its mood is looked for.
const moodTokens = 64

// of reads the mood of a run of tokens. Quoted words have none, nor have those
// that belong to values.
func (r *moodReader) of(tokens []text.Token, covered []bool) mood {
	folds := make([]string, 0, min(len(tokens), moodTokens))
	content := -1 // the verb of a relative clause, in folds
	for i, t := range tokens {
		if len(folds) == moodTokens {
			break
		}
		if !t.Is(text.FormQuoted) && (i >= len(covered) || !covered[i]) {
			if givesContent(tokens, covered, i) {
				content = len(folds)
			}
			folds = append(folds, t.Fold)
		}
	}
	for len(folds) > 0 && opening(folds[0]) {
		folds, content = folds[1:], content-1
	}
	m := r.start(folds)
	if len(folds) > 0 && lacking(folds[0]) {
		m |= moodNegated // "without deleting it, …"
	}
	for i, f := range folds {
		switch {
		case negation(f), negates(folds[i:]):
			m |= moodNegated
		case supposes(folds[i:]):
			m |= moodWhatIf
		case condition(f) && m&(moodWhatIf|moodHowTo) == 0:
			m |= moodConditional
		case i == content && reports(f):
			m |= moodContent
		case reports(f):
			m |= moodNarrative
		}
	}
	return m
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
	case "without":
		return gerund(next)
	case "hold", "stop", "skip", "forget", "postpone", "delay", "resist", "refuse", "abstain", "cease", "quit":
		return slices.ContainsFunc(folds[1:min(len(folds), 4)], gerund)
	}
	return false
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

// gerund tells forms such as "deleting".
func gerund(fold string) bool { return strings.HasSuffix(fold, "ing") && len(fold) > 5 }

// startsWithGerund tells a sentence about doing something: "deleting it is …".
func startsWithGerund(tokens []text.Token) bool {
	for _, t := range tokens {
		if !opening(t.Fold) {
			return gerund(t.Fold) && !leads(t.Fold)
		}
	}
	return false
}

// leads tells gerunds that stand before a request like a preposition.
func leads(fold string) bool {
	return slices.Contains([]string{"starting", "beginning", "regarding", "concerning", "including", "following", "according", "during", "string"}, fold)
}

// opening tells words before a request that do not change it.
func opening(fold string) bool {
	switch fold {
	case "please", "hi", "hello", "hey", "ok", "okay", "so", "and", "then", "also", "now", "well", "but", "or", "por", "favor", "bitte", "oi", "ola":
		return true
	}
	return false
}

// start looks at the first words.
func (r *moodReader) start(folds []string) mood {
	if len(folds) > 0 && r.common[folds[0]] {
		for _, s := range r.starts {
			if s.begins(folds) {
				return s.mood
			}
		}
	}
	return narrative(folds)
}

func (s moodStart) begins(folds []string) bool {
	for i, words := range s.words {
		if i >= len(folds) || !slices.Contains(words, folds[i]) {
			return false
		}
	}
	return true
}

type moodGroup struct {
	mood    mood
	phrases []string
}

// moodPhrases are the first words by mood; "|" separates words that may stand
// for each other.
func moodPhrases() []moodGroup {
	return []moodGroup{
		{moodWhatIf, []string{
			"what would|will|could|happens|happened|if", "suppose|imagine|supposing|assuming", "if i|we|you|he|she|they were|would|had|could|did",
			"e|y se|si", "o que acontece|aconteceria|aconteceu", "que pasa|pasaria|pasara", "was passiert|wurde|ware", "que se passe",
		}},
		{moodHowTo, []string{
			"how do|can|could|would|should|to|does|did|might", "explain|describe", "tell|show|teach me|us how", "is there a|any way|option", "is it possible|allowed|ok|safe", "would it be",
			"what is the way|process|procedure", "como posso|faco|fazer|se|puedo|hago", "wie kann|mache", "comment",
		}},
		{moodPermission, []string{"can|could|may|might|should|must|shall i|we", "am i allowed|able", "do i|we have|need to", "posso|podemos|devo|devemos|puedo", "kann|darf|soll ich", "puis je"}},
		{moodQuestion, []string{
			"did|was|were|has|have|had|is|are|does|am|why|who|whose|whom", "when did|was|were|is|are|does|do|will|can|has|have", "do i|we|you|they", "will it|he|she|they|that|this|the",
			"por|warum|pourquoi que", "warum|wieso|wer|quem|quien|qui|quando|cuando", "foi|fue|wurde|hat|habe",
		}},
	}
}

// narrative tells sentences that report: "I cancelled it yesterday".
func narrative(folds []string) mood {
	if len(folds) < 2 || !slices.Contains([]string{"i", "we", "he", "she", "they", "you", "it", "somebody", "someone", "nobody"}, folds[0]) {
		return 0
	}
	for _, f := range folds[1:min(len(folds), 4)] {
		switch {
		case f == "would" || f == "d":
			if i := slices.Index(folds, f); i+1 < len(folds) && !slices.Contains([]string{"like", "love", "prefer", "appreciate", "want", "need", "wish", "please"}, folds[i+1]) {
				return moodWhatIf
			}
			return 0
		case slices.Contains([]string{"need", "needed", "want", "wanted", "like", "wish", "must", "am", "m"}, f):
			return 0
		case strings.HasSuffix(f, "ed") && len(f) > 4, f == "have", f == "had", f == "has", f == "was", f == "were", f == "ve", f == "did":
			return moodNarrative
		}
	}
	return 0
}

// reports tells words that hand on what somebody else said, or what came to
// pass.
func reports(fold string) bool {
	switch fold {
	case "was", "were", "been", "foi", "foram", "fue", "fueron", "wurde", "wurden":
		return true
	case "says", "said", "wrote", "writes", "claims", "claimed", "told", "tells", "asked", "asks", "diz", "disse", "dice", "dijo", "sagt", "sagte", "schreibt", "dit":
		return true
	}
	return false
}

func negation(fold string) bool {
	switch fold {
	case "not", "dont", "never", "cannot", "cant", "wont", "didnt", "doesnt", "shouldnt", "mustnt", "wouldnt", "couldnt", "avoid", "refrain", "nobody", "nothing", "neither",
		"nao", "nunca", "jamais", "nenhum", "nenhuma", "ninguem", "nicht", "nie", "niemals", "niemand", "kein", "keine", "keinen", "keinesfalls", "pas":
		return true
	}
	return false
}

// lacking tells words that put a request aside when they begin it.
func lacking(fold string) bool {
	switch fold {
	case "without", "sem", "sin", "ohne", "sans", "statt", "anstatt":
		return true
	}
	return false
}

func condition(fold string) bool {
	switch fold {
	case "if", "unless", "when", "whenever", "once", "provided", "assuming", "case", "quando", "caso", "cuando", "wenn", "falls", "sobald", "quand", "lorsque":
		return true
	}
	return false
}

// leadsCondition tells whether a piece of a sentence begins with a condition
// for another piece.
func leadsCondition(tokens []text.Token) bool {
	return len(tokens) > 0 && condition(tokens[0].Fold)
}

// note says for people why a mood holds something back.
func (m mood) note() string {
	switch {
	case m&moodNegated != 0:
		return "the message says not to do it"
	case m&moodWhatIf != 0:
		return "the message asks what would happen"
	case m&moodHowTo != 0:
		return "the message asks how it is done"
	case m&moodPermission != 0:
		return "the message asks whether it may be done"
	case m&moodQuestion != 0:
		return "the message is a question"
	case m&(moodNarrative|moodContent) != 0:
		return "the message tells what happened"
	case m&moodConditional != 0:
		return "the message makes it depend on a condition"
	}
	return ""
}
