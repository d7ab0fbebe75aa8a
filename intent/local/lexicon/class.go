package lexicon

// Class is a closed class of words. In a file it is a key of a table: "reports" of
// [restraint] is the class "restraint.reports".
type Class uint8

// The classes, by the table that they stand in.
const (
	// Grammar: what carries a sentence, whatever it is about.
	Function    Class = iota // articles, prepositions, conjunctions, auxiliaries
	Filler                   // greetings, politeness, verbs that only hand on
	Pronoun                  // refers to something said elsewhere
	Subject                  // pronouns that a sentence begins with: "I", "they"
	Article                  // "the", "a"
	Third                    // points at somebody or something said before: "her", "it"
	Hung                     // points at something from the end of a verb: "bórralo", "apagá-lo"
	Asks                     // makes a question
	Opening                  // stands before a request and does not change it
	Leads                    // a gerund that is a preposition: "regarding"
	BeforeVerb               // between politeness and a verb: "could", "to"
	Courteous                // only a request has it: "please"
	Relative                 // begins a relative clause
	Joins                    // puts equal things beside each other
	Listing                  // between and around the items of a list
	Abbreviates              // ends with a dot that ends no sentence
	Finite                   // an auxiliary or modal in a finite form: "is", "did", "will"
	GoesOn                   // begins what goes on from an earlier message
	HowMany                  // asks for a number by itself
	Separates                // the first half of a verb, at the end of its clause: "sag … ab"
	Stress                   // lays stress on what is said: "actually"

	// Restraint: what keeps a request from being done. These count in every language
	// that a message may be in.
	Negation  // "not", "never"
	Denial    // says no by itself: "nope", "wait"
	Lacking   // puts a request aside when it begins it: "without"
	Condition // "if", "unless"
	Needing   // has use of something
	Bidding   // behind these makes an order of it: "need to"
	Ending    // "any more"
	Reports   // hands on what somebody said, or what came to pass
	Past      // an auxiliary of what came to pass
	Did       // a verb of what came to pass that no ending shows: "sent"
	Helps     // an auxiliary with which something is told of somebody: "has", "will"
	Others    // subjects that are neither who speaks nor who listens: "they"
	Ponders   // only thinks of it
	Explains  // asks to be taught
	Saying    // says what something shall say: "saying"
	Says      // the same behind a relative: "that says"
	Faint     // says no in its language, and is a word of grammar in others: "no"
	Further   // makes a number one that is added or taken away: "one more", "3 less"
	Anaphor   // stands for a thing of the kind that was said: "another one"
	Switches  // turns the next word into its opposite
	Ought     // says what shall be: "should", "must"
	Lasting   // says that something is as it was: "stays"

	// Request: what makes a command of words.
	Light // verbs that hand something on or show it; at the head of a segment they command
	Want  // verbs that turn a noun into a request: "needs two days off"
	Takes // verbs with which a noun is told of: "takes two days off"

	// Slots: what stands around values.
	Particle     // inside names: "de", "van"
	Inside       // joins the parts of a name, whatever is asked for: "zu", "bin"
	Title        // before names: "Dr"
	Deictic      // points at a time
	Unsaid       // stands for what is said elsewhere: "the given"
	Indefinite   // stands for what is not said: "something"
	Capitalising // an article of a language in which every noun has a capital
	Verbal       // everyday verbs and adverbs around names
	Utters       // what is said follows
	Tells        // telling and asking as a request
	Learns       // behind who is told: "let them know"
	Informs      // a noun of what somebody is told with: "a message"
	Conveys      // between who is told and what is told
	Generic      // stands in requests about anything
	Opener       // before a name in small letters: "são paulo"
	Links        // between the name of a parameter and its value
	Introduces   // often stands before a name
	Announces    // often stands before a date
	Versus       // between two that meet
	Somewhere    // announces a place
	Tops         // says how many: "top 5"
	Participle   // looks like none: "made"
	Copula       // between the name of a thing and its value
	Switchable   // makes a name a question: "is", "has"
	Yes          // turns a switch on
	No           // turns a switch off
	Season       // names a part of the year or the week
	Starts       // begins a period
	Ends         // ends a period
	Within       // between these and a date
	As           // before the name of what is made: "as"
	Counted      // behind a number of units makes an amount of it: "3 days of"
	Speaker      // is whoever speaks: "me"
	Mine         // is of whoever speaks: "my"

	// Names: stems of words in names of parameters.
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
	NameLow  // is where a range or a change begins: "min", "old"
	NameHigh // is where it ends: "max", "new"
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

	// Prepositions: what they announce.
	PrepPlaceTime
	PrepPlace
	PrepSource
	PrepTarget
	PrepMaker
	PrepTopic
	PrepMeans
	PrepOther

	// Value are the words of numbers, dates and times. No file lists them by class.
	Value

	classes // how many there are
)

// classNames are the classes as files write them.
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
