package slot

import (
	"strings"

	"github.com/manifold-run/manifold/intent/internal/lang"
	"github.com/manifold-run/manifold/intent/internal/text"
)

// sense is what a parameter is about, as far as its name tells, and what a
// preposition announces.
type sense uint16

const (
	sensePlace  sense = 1 << iota // where
	senseSource                   // from where, from whom
	senseTarget                   // to where, to whom
	senseMaker                    // by whom
	senseTopic                    // about what
	senseMeans                    // with what, how
	senseTime                     // when
	senseKind                     // of what kind
)

// cues are the closed classes of words that tell what a text stands for. They
// are the same for every subject; what belongs to a subject comes from its
// manifest.
type cues struct {
	names    map[string]sense // stems of words in names of parameters
	preps    map[string]sense // folded prepositions
	particle map[string]bool
	calendar map[string]bool
	// why are stems of names of parameters that take a reason or a note.
	why     map[string]bool // months, days of the week, seasons
	titles  map[string]bool // before names, with a dot
	deictic map[string]bool // words that point at a time
	// unsaid are words that stand for what is said elsewhere, or not at all.
	unsaid map[string]bool
	// capitalising are the articles of languages in which every noun has a capital.
	capitalising map[string]bool
	// verbal are everyday verbs and adverbs that stand around names.
	verbal   map[string]bool
	everyday text.Everyday
	// english tells English from the others; shared are prepositions of others that
	// are words of another kind in English.
	english, shared map[string]bool
	// utters are the stems of verbs that what is said follows.
	utters map[string]bool
	// tells are verbs of telling and asking in the form of a request.
	tells map[string]bool
	// generic are the stems of words that stand in requests about anything.
	generic map[string]bool
	speech  map[string]bool // stems of names of parameters that hold what somebody says
	proper  map[string]bool // stems of names of parameters whose values are names
	// money, share and count are the stems of names of parameters that are sums of
	// money, shares of something, and how many there are.
	money, share, count map[string]bool
	code                map[string]bool // stems of names of parameters whose values are codes
	// written are those of values that are written as no word is, with the signs of
	// which one is in them.
	written map[string]string
	// openers are words before a name in small letters: "são paulo".
	openers map[string]bool
}

// newCues collects what the files of all languages say.
func newCues(x *lang.Lexica) *cues {
	c := &cues{names: map[string]sense{}, preps: map[string]sense{}, everyday: text.NewEveryday()}
	for class, s := range map[lang.Class]sense{
		lang.NamePlace: sensePlace, lang.NameSource: senseSource, lang.NameTarget: senseTarget, lang.NameMaker: senseMaker,
		lang.NameTopic: senseTopic, lang.NameMeans: senseMeans, lang.NameKind: senseKind, lang.NameTime: senseTime,
	} {
		for stem := range stemSet(x.Words(class)) {
			c.names[stem] |= s
		}
	}
	for class, s := range map[lang.Class]sense{
		lang.PrepPlaceTime: sensePlace | senseTime, lang.PrepPlace: sensePlace, lang.PrepSource: senseSource | senseMaker, lang.PrepTarget: senseTarget,
		lang.PrepMaker: senseMaker, lang.PrepTopic: senseTopic, lang.PrepMeans: senseMeans, lang.PrepOther: 0,
	} {
		for w := range wordSet(x.Words(class)) {
			c.preps[w] |= s
		}
	}
	c.particle, c.titles, c.deictic, c.unsaid = wordSet(x.Words(lang.Particle)), wordSet(x.Words(lang.Title)), wordSet(x.Words(lang.Deictic)), wordSet(x.Words(lang.Unsaid))
	c.capitalising, c.verbal, c.tells, c.openers = wordSet(x.Words(lang.Capitalising)), wordSet(x.Words(lang.Verbal)), wordSet(x.Words(lang.Tells)), wordSet(x.Words(lang.Opener))
	c.utters, c.generic = stemSet(x.Words(lang.Utters)), stemSet(x.Words(lang.Generic))
	c.speech, c.proper, c.code = stemSet(x.Words(lang.NameSpeech)), stemSet(x.Words(lang.NameProper)), stemSet(x.Words(lang.NameCode))
	c.money, c.share, c.count = stemSet(x.Words(lang.NameMoney)), stemSet(x.Words(lang.NameShare)), stemSet(x.Words(lang.NameCount))
	c.calendar, c.why = wordSet(x.Words(lang.Season)), stemSet(x.Words(lang.NameWhy))
	for _, l := range x.Languages {
		c.everyday.Add(l.Capitalises, l.Everyday)
		for w := range strings.FieldsFuncSeq(l.Dates.Months+" "+l.Dates.Weekdays, func(r rune) bool { return r == ' ' || r == '|' || r == '-' }) {
			if len(w) > shortName {
				c.calendar[lang.Fold(w)] = true
			}
		}
	}
	c.written = map[string]string{}
	for class, signs := range map[lang.Class]string{
		lang.NameFile: "/\\.~_", lang.NameHost: ".:", lang.NameAddress: "@", lang.NameSign: "#", lang.NamePhone: "0123456789",
	} {
		for stem := range stemSet(x.Words(class)) {
			c.written[stem] = signs
		}
	}
	c.english = wordSet(strings.Fields("the an is are was were of to for with from what how who where which and my me you i please find get show give can could would need want at by this that it in"))
	c.shared = wordSet(strings.Fields("a no do as um am on per des du en em au aux par pour con des bei"))
	return c
}

// shortName is how many letters a name in the calendar has at most that may be any
// word: "may".
const shortName = 3

func wordSet(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[lang.Fold(w)] = true
	}
	return out
}

func stemSet(words []string) map[string]bool {
	out := map[string]bool{}
	for _, stem := range text.Stems(strings.Join(words, " ")) {
		out[stem] = true
	}
	return out
}

// senseOf tells what a parameter is about. "from_city" is a place and a source.
func (c *cues) senseOf(words []string) sense {
	var s sense
	for _, w := range words {
		s |= c.names[w]
	}
	return s
}
