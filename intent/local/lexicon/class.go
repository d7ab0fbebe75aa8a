package lexicon

// Class is a closed class of words. In a file it is a key of a table: "reports" of
// [restraint] is the class "restraint.reports".
type Class uint8

// The classes, by their table.
const (
	// Grammar: words that carry the structure of a sentence.
	Function    Class = iota // articles, prepositions, conjunctions, auxiliaries
	Filler                   // greetings, politeness, light verbs
	Pronoun                  // refers to something said elsewhere
	Subject                  // pronouns that a sentence begins with: "I", "they"
	Article                  // "the", "a"
	Third                    // third-person reference to something said before: "her", "it"
	Hung                     // clitic of a verb: "bórralo", "apagá-lo"
	Asks                     // question words
	Opening                  // before a request, does not change it
	Leads                    // a gerund that is a preposition: "regarding"
	BeforeVerb               // between polite words and a verb: "could", "to"
	Courteous                // only in requests: "please"
	Relative                 // begins a relative clause
	Joins                    // coordinates items
	Listing                  // between and around list items
	Abbreviates              // abbreviation with a dot that ends no sentence
	Finite                   // an auxiliary or modal in a finite form: "is", "did", "will"
	GoesOn                   // begins a continuation of an earlier message
	HowMany                  // asks for a number by itself
	Separates                // separable verb particle at the end of its clause: "sag … ab"
	Stress                   // modal particle: "actually"

	// Restraint: words that can hold back a request. They count in every language that the message
	// may be in.
	Negation  // "not", "never"
	Denial    // negative answer by itself: "nope", "wait"
	Lacking   // retracts a request at its beginning: "without"
	Condition // "if", "unless"
	Needing   // verb of needing
	Bidding   // with Needing forms an obligation: "need to"
	Ending    // "any more"
	Reports   // reported speech or events
	Past      // auxiliary of a past tense
	Did       // irregular past tense: "sent"
	Helps     // auxiliary of a statement about somebody: "has", "will"
	Others    // third-person subject: "they"
	Ponders   // only considers an action
	Explains  // asks for instructions
	Saying    // introduces content: "saying"
	Says      // the same in a relative clause: "that says"
	Faint     // negation that is a function word in other languages: "no"
	Further   // makes a number an increment: "one more", "3 less"
	Anaphor   // refers to another thing of the same kind: "another one"
	Switches  // negates the next word
	Ought     // obligation: "should", "must"
	Lasting   // verb of an unchanged state: "stays"

	// Request: words that form a command.
	Light // light verbs of giving or showing; a command at the head of a segment
	Want  // verbs of wanting: "needs two days off"
	Takes // verbs that form a statement with a noun: "takes two days off"

	// Slots: words around values.
	Particle     // inside names: "de", "van"
	Inside       // joins parts of a name in any context: "zu", "bin"
	Title        // before names: "Dr"
	Deictic      // deictic word of time
	Unsaid       // refers to something said elsewhere: "the given"
	Indefinite   // indefinite: "something"
	Capitalising // article of a language that capitalises all nouns
	Verbal       // common verbs and adverbs around names
	Utters       // introduces speech
	Tells        // imperative of telling and asking
	Learns       // behind the recipient: "let them know"
	Informs      // noun for a notification: "a message"
	Conveys      // between the recipient and the message
	Generic      // occurs in requests about anything
	Opener       // before a lower-case name: "são paulo"
	Links        // between a parameter name and its value
	Introduces   // often precedes a name
	Announces    // often precedes a date
	Versus       // between two opponents
	Somewhere    // preposition of place
	Tops         // before a count: "top 5"
	Participle   // irregular participle: "made"
	Copula       // between a parameter name and its value
	Switchable   // makes a name a question: "is", "has"
	Yes          // sets a boolean to true
	No           // sets a boolean to false
	Season       // part of the year or the week
	Starts       // begins a period
	Ends         // ends a period
	Within       // between these and a date
	As           // before the name of a new thing: "as"
	Counted      // behind a number of units, makes it a duration: "3 days of"
	Speaker      // first person: "me"
	Mine         // first-person possessive: "my"

	// Names: stems of words in parameter names.
	NamePlace
	NameSource
	NameTarget
	NameMaker
	NameTopic
	NameMeans
	NameKind
	NameTime
	NameSpeech
	NameWhy
	NameProper
	NameMoney
	NameShare
	NameCount
	NameLow  // lower end of a range or source of a change: "min", "old"
	NameHigh // upper end of a range or target of a change: "max", "new"
	NameCode
	NameDate
	NameClock
	NameYear
	NameCurrency
	NameFile
	NameHost
	NameAddress
	NameSign
	NamePhone

	// Prepositions: the roles that they announce.
	PrepPlaceTime
	PrepPlace
	PrepSource
	PrepTarget
	PrepMaker
	PrepTopic
	PrepMeans
	PrepOther

	// Value holds the words of numbers, dates and times, which files do not list by class.
	Value

	classes // number of classes
)

// classNames returns the keys of the classes in files.
func classNames() [classes]string {
	return [classes]string{
		Function: "grammar.function", Filler: "grammar.filler", Pronoun: "grammar.pronoun", Subject: "grammar.subject", Article: "grammar.article", Third: "grammar.third", Hung: "grammar.hung",
		Asks: "grammar.asks", Opening: "grammar.opening", Leads: "grammar.leads", BeforeVerb: "grammar.before_verb", Courteous: "grammar.courteous",
		Relative: "grammar.relative", Joins: "grammar.joins", Listing: "grammar.listing", Abbreviates: "grammar.abbreviates", Finite: "grammar.finite",
		GoesOn: "grammar.goes_on", HowMany: "grammar.how_many", Separates: "grammar.separates", Stress: "grammar.stress",
		Negation: "restraint.negation", Denial: "restraint.denial", Lacking: "restraint.lacking", Condition: "restraint.condition", Needing: "restraint.needing",
		Bidding: "restraint.bidding", Ending: "restraint.ending", Reports: "restraint.reports", Past: "restraint.past", Did: "restraint.did", Helps: "restraint.helps", Others: "restraint.others", Ponders: "restraint.ponders",
		Explains: "restraint.explains", Saying: "restraint.saying", Says: "restraint.says", Faint: "restraint.faint", Further: "restraint.further", Switches: "restraint.switches", Anaphor: "grammar.anaphor", Ought: "restraint.ought", Lasting: "restraint.lasting",
		Light: "request.light", Want: "request.want", Takes: "request.takes",
		Particle: "slots.particle", Inside: "slots.inside", Title: "slots.title", Deictic: "slots.deictic", Unsaid: "slots.unsaid", Indefinite: "slots.indefinite", Capitalising: "slots.capitalising",
		Verbal: "slots.verbal", Utters: "slots.utters", Tells: "slots.tells", Learns: "slots.learns", Informs: "slots.informs", Conveys: "slots.conveys", Generic: "slots.generic", Opener: "slots.opener",
		Links: "slots.links", Introduces: "slots.introduces", Announces: "slots.announces", Versus: "slots.versus", Somewhere: "slots.somewhere",
		Tops: "slots.tops", Participle: "slots.participle", Copula: "slots.copula", Switchable: "slots.switchable", Yes: "slots.yes", No: "slots.no",
		Season: "slots.season", Starts: "slots.starts", Ends: "slots.ends", Within: "slots.within", As: "slots.as", Counted: "slots.counted", Speaker: "slots.speaker", Mine: "slots.mine",
		NamePlace: "names.place", NameSource: "names.source", NameTarget: "names.target", NameMaker: "names.maker", NameTopic: "names.topic",
		NameMeans: "names.means", NameKind: "names.kind", NameTime: "names.time", NameSpeech: "names.speech", NameWhy: "names.why", NameProper: "names.proper",
		NameMoney: "names.money", NameShare: "names.share", NameCount: "names.count", NameLow: "names.low", NameHigh: "names.high", NameCode: "names.code", NameDate: "names.date",
		NameClock: "names.clock", NameYear: "names.year", NameCurrency: "names.currency", NameFile: "names.file", NameHost: "names.host",
		NameAddress: "names.address", NameSign: "names.sign", NamePhone: "names.phone",
		PrepPlaceTime: "prepositions.place_or_time", PrepPlace: "prepositions.place", PrepSource: "prepositions.source", PrepTarget: "prepositions.target",
		PrepMaker: "prepositions.maker", PrepTopic: "prepositions.topic", PrepMeans: "prepositions.means", PrepOther: "prepositions.other", Value: "values.",
	}
}

func (c Class) String() string { return classNames()[c] }

// marks is a set of classes.
type marks [(classes + 63) / 64]uint64

func (m *marks) add(c Class)      { m[c/64] |= 1 << (c % 64) }
func (m *marks) has(c Class) bool { return m[c/64]&(1<<(c%64)) != 0 }
