package slots

// evidence is the index of a feature of a candidate value.
type evidence int

// The features of a span as the value of a parameter.
const (
	evBias evidence = iota
	evOptional
	evProper         // written as a name
	evProperExpected // and the parameter takes names
	evProperOdd      // but the parameter takes common words
	evPlainExpected  // common words, and the parameter takes them
	evPlainOdd       // common words, but the parameter takes names
	evSmall          // the same in a text without capitals
	evPrepFits       // the preposition announces the role of the parameter
	evPrepOther      // the preposition announces another role
	evPrepTaken      // the preposition announces the role of another parameter
	evPrepAny        // the preposition announces no role
	evBare           // a content word stands right before
	evNameBefore     // the parameter name stands before
	evNameAfter      // the parameter name stands right behind
	evNameInside     // the parameter name is part of the span, as in "Harbour Hotel"
	evOwnWord        // a word of the description stands beside it
	evOtherName      // the name of another parameter stands beside it
	evKnown          // share of its words in the request vocabulary
	evCut            // number of adjacent content words that it leaves out
	evSevered        // cost of the parts of a name that it leaves out behind a particle such as "de"
	evBridged        // it is joined by "of"
	evDigits         // it contains digits
	evCode           // it contains digits and the parameter takes codes
	evLearned        // a word stands before it that precedes values in the examples
	evCalendarOdd    // a month or weekday for a parameter that is no time
	evCalendar       // a month or weekday for a parameter that is a time
	evWritten        // it is a code: a path, a version, an address
	evWrittenFits    // a code and the parameter takes codes, or a currency and the parameter is one
	evWrittenOdd     // a code, but the parameter takes names of people and places
	evStart          // it begins the sentence
	evApposition     // a comma stands before it
	evNews           // it covers words outside the request vocabulary
	evSole           // only one parameter is open
	evSoleProper     // as many names as open parameters
	evModifies       // a word of the description stands right behind it
	evKind           // a request word stands right behind it, and the parameter is a kind of thing
	evHead           // a request word stands right behind it, and the parameter is no kind of thing
	evKindProper     // written as a name, but the parameter is a kind of thing
	evVerbal         // only verb forms in lower case
	evVerbalEnd      // several words, the last one a participle: "the chairs painted"
	evDone           // it stands where a verb does, behind "I", "to" or "who", in lower case
	evArticle        // an article stands right before
	evCounted        // a number stands right before
	evCountedEnd     // a number stands right before it, and the parameter is the source of a change; -1 for the target
	evEnd            // it ends the request
	evEven           // as many unknown lower-case words as open parameters
	evQuoted         // it is quoted
	evSpeech         // several quoted words: 1 if the parameter holds speech, else -1
	evList           // a list, and the parameter takes one
	evOneOf          // an item of a list, but the parameter takes one value
	evListOdd        // no list, but the parameter takes one
	evOrder          // in schema order relative to another value
	evSiblings       // the same for two sibling parameters, such as "from" and "to"
	evTexts
)

// The features of a number as the value of a parameter.
const (
	evFigure evidence = evTexts + iota
	evFigureOptional
	evFigureNamed    // its parameter name stands right before, with the longest match
	evFigureOther    // the name of another parameter stands right before
	evFigureBeside   // words of the name stand somewhere in the clause
	evFigureOwn      // words that only this description has stand in the clause
	evFigureBehind   // a word of the name stands right behind
	evFigureUnit     // the unit is that of the parameter
	evFigureDesc     // the unit is in the description
	evFigureSize     // the unit has the dimension of the parameter, such as kilograms for a weight
	evFigureSizeOdd  // the unit has another dimension
	evFigureUnitElse // the unit is that of another parameter
	evFigureTimeOdd  // another unit of time
	evFigureMoney    // an amount of money and the parameter is one
	evFigureMoneyOdd // an amount of money and the parameter is none
	evFigureNoMoney  // no amount of money but the parameter is one
	evFigurePercent  // a percentage and the parameter is a ratio
	evFigurePerOdd   // a percentage and the parameter is no ratio
	evFigureShare    // a number between 0 and 1 and the parameter is a ratio
	evFigureYear     // looks like a year and the parameter is one
	evFigureYearOdd  // looks like a year and the parameter is none
	evFigureNoYear   // does not look like a year but the parameter is one
	evFigureOrdinal
	evFigureSpelled
	evFigureCounts  // spelled out, and there are enough numbers in digits
	evFigureCount   // counts the noun behind it and the parameter is a count
	evFigureNoun    // counts the noun behind it and the parameter is no count
	evFigureEven    // as many numbers as open parameters
	evFigureSole    // only one parameter is open
	evFigureLearned // a word stands before it that precedes values in the examples
	evFigureTitle   // it ends a name
	evFigureArticle // only an article and a unit, as in "a year"
	evFigureRate    // the same as a rate: "12% a year", "4 hours a day"
	evFigureEnd     // the preposition before it fits the end of a range that the parameter is; -1 for the other end
	evFigureBroken  // has a fraction and the parameter takes fractions
	evFigureOrder
	evFigureSiblings
	evCount
)

// weights are log-odds relative to leaving the parameter empty.
type weights [evCount]float64

// String returns the name of a feature.
func (e evidence) String() string { return evidenceNames()[e] }

func evidenceNames() [evCount]string {
	return [evCount]string{
		evBias: "evBias", evOptional: "evOptional", evProper: "evProper", evProperExpected: "evProperExpected", evProperOdd: "evProperOdd", evPlainExpected: "evPlainExpected",
		evPlainOdd: "evPlainOdd", evSmall: "evSmall", evPrepFits: "evPrepFits", evPrepOther: "evPrepOther", evPrepTaken: "evPrepTaken", evPrepAny: "evPrepAny",
		evBare: "evBare", evNameBefore: "evNameBefore", evNameAfter: "evNameAfter", evNameInside: "evNameInside", evOwnWord: "evOwnWord", evOtherName: "evOtherName",
		evKnown: "evKnown", evCut: "evCut", evSevered: "evSevered", evBridged: "evBridged", evDigits: "evDigits", evCode: "evCode", evLearned: "evLearned",
		evCalendarOdd: "evCalendarOdd", evCalendar: "evCalendar", evWritten: "evWritten", evWrittenFits: "evWrittenFits", evWrittenOdd: "evWrittenOdd", evStart: "evStart", evApposition: "evApposition", evNews: "evNews", evSole: "evSole",
		evSoleProper: "evSoleProper", evModifies: "evModifies", evKind: "evKind", evHead: "evHead", evKindProper: "evKindProper", evVerbal: "evVerbal", evVerbalEnd: "evVerbalEnd", evDone: "evDone", evArticle: "evArticle", evCounted: "evCounted", evCountedEnd: "evCountedEnd", evEnd: "evEnd", evEven: "evEven", evQuoted: "evQuoted", evSpeech: "evSpeech",
		evList: "evList", evOneOf: "evOneOf", evListOdd: "evListOdd", evOrder: "evOrder", evSiblings: "evSiblings", evFigure: "evFigure", evFigureOptional: "evFigureOptional",
		evFigureNamed: "evFigureNamed", evFigureOther: "evFigureOther", evFigureBeside: "evFigureBeside", evFigureOwn: "evFigureOwn", evFigureBehind: "evFigureBehind", evFigureUnit: "evFigureUnit",
		evFigureDesc: "evFigureDesc", evFigureSize: "evFigureSize", evFigureSizeOdd: "evFigureSizeOdd", evFigureUnitElse: "evFigureUnitElse", evFigureTimeOdd: "evFigureTimeOdd", evFigureMoney: "evFigureMoney", evFigureMoneyOdd: "evFigureMoneyOdd", evFigureNoMoney: "evFigureNoMoney",
		evFigurePercent: "evFigurePercent", evFigurePerOdd: "evFigurePerOdd", evFigureShare: "evFigureShare", evFigureYear: "evFigureYear", evFigureYearOdd: "evFigureYearOdd", evFigureNoYear: "evFigureNoYear",
		evFigureOrdinal: "evFigureOrdinal", evFigureSpelled: "evFigureSpelled", evFigureCounts: "evFigureCounts", evFigureCount: "evFigureCount", evFigureNoun: "evFigureNoun", evFigureEven: "evFigureEven",
		evFigureSole: "evFigureSole", evFigureLearned: "evFigureLearned", evFigureTitle: "evFigureTitle", evFigureArticle: "evFigureArticle", evFigureRate: "evFigureRate", evFigureEnd: "evFigureEnd", evFigureBroken: "evFigureBroken", evFigureOrder: "evFigureOrder", evFigureSiblings: "evFigureSiblings",
	}
}

// priorWeights returns hand-set weights. A fit starts from them and is regularized towards them.
func priorWeights() weights {
	return weights{
		evBias: -1.3, evOptional: -2.4, evProper: 0.7, evProperExpected: 0.8, evProperOdd: -1.2, evPlainExpected: 0.2, evPlainOdd: -1.9, evSmall: 0,
		evPrepFits: 2.4, evPrepOther: -0.5, evPrepTaken: -0.9, evPrepAny: 0.6, evBare: 0, evNameBefore: 1.8, evNameAfter: 1.9, evNameInside: 1.5, evOwnWord: 0.6, evOtherName: -1,
		evKnown: -3.3, evCut: -1.1, evSevered: -2, evBridged: 0.3, evDigits: 0, evCode: 1.7, evLearned: 1.2, evCalendar: 2, evCalendarOdd: -2, evWritten: 1, evWrittenFits: 2, evWrittenOdd: -2, evStart: -2, evApposition: -1.2,
		evNews: 0.3, evSole: -0.2, evSoleProper: 1.8, evModifies: 1.1, evKind: 1, evHead: 0, evKindProper: -0.5, evVerbal: -1, evVerbalEnd: -0.5, evDone: -0.5, evArticle: 0, evCounted: -0.5, evCountedEnd: 1, evEnd: 0.3, evEven: 0.5,
		evQuoted: 2.5, evSpeech: 1, evList: 0.5, evOneOf: -2, evListOdd: -2, evOrder: 0.3, evSiblings: 1.2,
		evFigure: -1, evFigureOptional: -1.5, evFigureNamed: 2.5, evFigureOther: -1, evFigureBeside: 1, evFigureOwn: 0.6, evFigureBehind: 2, evFigureUnit: 2, evFigureDesc: 1,
		evFigureSize: 1.5, evFigureSizeOdd: -1.5, evFigureUnitElse: -1.5, evFigureTimeOdd: -4, evFigureMoney: 1, evFigureMoneyOdd: -1.5, evFigureNoMoney: -0.5, evFigurePercent: 2, evFigurePerOdd: -1, evFigureShare: 1,
		evFigureYear: 2, evFigureYearOdd: -1.5, evFigureNoYear: -2, evFigureOrdinal: -1.5, evFigureSpelled: -0.5, evFigureCounts: -1.5, evFigureCount: 1, evFigureNoun: -0.5,
		evFigureEven: 1, evFigureSole: 1, evFigureLearned: 1.5, evFigureTitle: -1, evFigureArticle: -0.5, evFigureRate: -3, evFigureEnd: 1, evFigureBroken: 0.5, evFigureOrder: 0.3, evFigureSiblings: 1.2,
	}
}
