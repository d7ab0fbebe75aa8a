package slots

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Sense is the semantic role of a parameter, derived from its name, or that a preposition
// announces.
type Sense uint16

// The semantic roles.
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

// Cues are closed word classes that indicate what a span stands for. They are independent of the
// domain; domain words come from manifests.
type Cues struct {
	Names    map[string]Sense // stems in parameter names
	Preps    map[string]Sense // folded prepositions
	Particle map[string]bool
	Calendar map[string]bool // months, weekdays, seasons
	// Why holds stems of names of parameters that take a reason or a note.
	Why     map[string]bool
	Titles  map[string]bool // titles before names, with a dot
	Deictic map[string]bool // deictic words of time, such as "next"
	// Unsaid holds words that refer to something outside of the sentence, or to nothing.
	Unsaid map[string]bool
	// Capitalising holds the articles of languages that capitalise all nouns.
	Capitalising map[string]bool
	// Verbal holds common verbs and adverbs that stand around names.
	Verbal   map[string]bool
	Everyday tokenize.Everyday
	// English holds words that indicate English; Shared holds prepositions of other languages that
	// are other words in English.
	English, Shared map[string]bool
	// Utters holds stems of verbs that introduce speech.
	Utters map[string]bool
	// Tells holds imperatives of verbs of telling and asking.
	Tells map[string]bool
	// Generic holds stems of words that occur in requests about anything.
	Generic map[string]bool
	Speech  map[string]bool // stems of names of parameters that hold speech
	Proper  map[string]bool // stems of names of parameters that hold proper names
	// Money, Share and Count hold stems of names of parameters for amounts of money, ratios and
	// counts.
	Money, Share, Count map[string]bool
	// Low and High hold stems of names of parameters for the lower and upper end of a range or a
	// change.
	Low, High map[string]bool
	Code      map[string]bool // stems of names of parameters that hold codes
	// Written maps stems of names of parameters to the special characters of which their values
	// contain one.
	Written map[string]string
	// Openers holds words that begin a name, such as "são" in "são paulo".
	Openers map[string]bool
}

// NewCues collects the cues from the lexica of all languages. english and shared are
// space-separated word lists.
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

// shortName is the maximum length of a calendar name that may be another word, such as "may".
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

// SenseOf returns the roles of a parameter by the stems of its name. "from_city" is a place and a
// source.
func (c *Cues) SenseOf(words []string) Sense {
	var s Sense
	for _, w := range words {
		s |= c.Names[w]
	}
	return s
}
