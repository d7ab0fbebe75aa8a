package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Sense is what a parameter is about, as far as its name tells, and what a
// preposition announces.
type Sense uint16

// What a parameter may be about.
const (
	SensePlace  Sense = 1 << iota // where
	SenseSource                   // from where, from whom
	SenseTarget                   // to where, to whom
	SenseMaker                    // by whom
	SenseTopic                    // about what
	SenseMeans                    // with what, how
	SenseTime                     // when
	SenseKind                     // of what kind
)

// Cues are the closed classes of words that tell what a text stands for. They
// are the same for every subject; what belongs to a subject comes from its
// manifest.
type Cues struct {
	Names    map[string]Sense // stems of words in names of parameters
	Preps    map[string]Sense // folded prepositions
	Particle map[string]bool
	Calendar map[string]bool // months, days of the week, seasons
	// Why are stems of names of parameters that take a reason or a note.
	Why     map[string]bool
	Titles  map[string]bool // before names, with a dot
	Deictic map[string]bool // words that point at a time
	// Unsaid are words that stand for what is said elsewhere, or not at all.
	Unsaid map[string]bool
	// Capitalising are the articles of languages in which every noun has a capital.
	Capitalising map[string]bool
	// Verbal are everyday verbs and adverbs that stand around names.
	Verbal   map[string]bool
	Everyday tokenize.Everyday
	// English tells English from the others; Shared are prepositions of others that
	// are words of another kind in English.
	English, Shared map[string]bool
	// Utters are the stems of verbs that what is said follows.
	Utters map[string]bool
	// Tells are verbs of telling and asking in the form of a request.
	Tells map[string]bool
	// Generic are the stems of words that stand in requests about anything.
	Generic map[string]bool
	Speech  map[string]bool // stems of names of parameters that hold what somebody says
	Proper  map[string]bool // stems of names of parameters whose values are names
	// Money, Share and Count are the stems of names of parameters that are sums of
	// money, shares of something, and how many there are.
	Money, Share, Count map[string]bool
	// Low and High are those of parameters that are an end of a range or a change.
	Low, High map[string]bool
	Code      map[string]bool // stems of names of parameters whose values are codes
	// Written are those of values that are written as no word is, with the signs of
	// which one is in them.
	Written map[string]string
	// Openers are words before a name in small letters: "são paulo".
	Openers map[string]bool
}

// NewCues collects what the files of all languages say; english and shared are words with
// spaces between.
func NewCues(x *lexicon.Lexica, english, shared string) *Cues {
	c := &Cues{Names: map[string]Sense{}, Preps: map[string]Sense{}, Everyday: tokenize.NewEveryday()}
	for class, s := range map[lexicon.Class]Sense{
		lexicon.NamePlace: SensePlace, lexicon.NameSource: SenseSource, lexicon.NameTarget: SenseTarget, lexicon.NameMaker: SenseMaker,
		lexicon.NameTopic: SenseTopic, lexicon.NameMeans: SenseMeans, lexicon.NameKind: SenseKind, lexicon.NameTime: SenseTime,
	} {
		for stem := range stemSet(x.Words(class)) {
			c.Names[stem] |= s
		}
	}
	for class, s := range map[lexicon.Class]Sense{
		lexicon.PrepPlaceTime: SensePlace | SenseTime, lexicon.PrepPlace: SensePlace, lexicon.PrepSource: SenseSource | SenseMaker, lexicon.PrepTarget: SenseTarget,
		lexicon.PrepMaker: SenseMaker, lexicon.PrepTopic: SenseTopic, lexicon.PrepMeans: SenseMeans, lexicon.PrepOther: 0,
	} {
		for w := range wordSet(x.Words(class)) {
			c.Preps[w] |= s
		}
	}
	c.Particle, c.Titles, c.Deictic, c.Unsaid = wordSet(x.Words(lexicon.Particle)), wordSet(x.Words(lexicon.Title)), wordSet(x.Words(lexicon.Deictic)), wordSet(x.Words(lexicon.Unsaid))
	c.Capitalising, c.Verbal, c.Tells, c.Openers = wordSet(x.Words(lexicon.Capitalising)), wordSet(x.Words(lexicon.Verbal)), wordSet(x.Words(lexicon.Tells)), wordSet(x.Words(lexicon.Opener))
	c.Utters, c.Generic = stemSet(x.Words(lexicon.Utters)), stemSet(x.Words(lexicon.Generic))
	c.Speech, c.Proper, c.Code = stemSet(x.Words(lexicon.NameSpeech)), stemSet(x.Words(lexicon.NameProper)), stemSet(x.Words(lexicon.NameCode))
	c.Money, c.Share, c.Count = stemSet(x.Words(lexicon.NameMoney)), stemSet(x.Words(lexicon.NameShare)), stemSet(x.Words(lexicon.NameCount))
	c.Low, c.High = stemSet(x.Words(lexicon.NameLow)), stemSet(x.Words(lexicon.NameHigh))
	c.Calendar, c.Why = wordSet(x.Words(lexicon.Season)), stemSet(x.Words(lexicon.NameWhy))
	for _, l := range x.Languages {
		c.Everyday.Add(l.Capitalises, l.Everyday)
		for w := range strings.FieldsFuncSeq(l.Dates.Months+" "+l.Dates.Weekdays, func(r rune) bool { return r == ' ' || r == '|' || r == '-' }) {
			if len(w) > shortName {
				c.Calendar[lexicon.Fold(w)] = true
			}
		}
	}
	c.Written = map[string]string{}
	for class, signs := range map[lexicon.Class]string{
		lexicon.NameFile: "/\\.~_", lexicon.NameHost: ".:", lexicon.NameAddress: "@", lexicon.NameSign: "#", lexicon.NamePhone: "0123456789",
	} {
		for stem := range stemSet(x.Words(class)) {
			c.Written[stem] = signs
		}
	}
	c.English, c.Shared = wordSet(strings.Fields(english)), wordSet(strings.Fields(shared))
	return c
}

// shortName is how many letters a name in the calendar has at most that may be any
// word: "may".
const shortName = 3

func wordSet(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[lexicon.Fold(w)] = true
	}
	return out
}

func stemSet(words []string) map[string]bool {
	out := map[string]bool{}
	for _, stem := range tokenize.Stems(strings.Join(words, " ")) {
		out[stem] = true
	}
	return out
}

// SenseOf tells what a parameter is about. "from_city" is a place and a source.
func (c *Cues) SenseOf(words []string) Sense {
	var s Sense
	for _, w := range words {
		s |= c.Names[w]
	}
	return s
}
