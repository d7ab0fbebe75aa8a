package slots

// evidence is one thing that speaks for or against a value.
type evidence int

// The evidence for words as the value of a parameter.
const (
	evBias evidence = iota
	evOptional
	evProper         // written as a name
	evProperExpected // and the parameter takes names
	evProperOdd      // but the parameter takes ordinary words
	evPlainExpected  // ordinary words, and the parameter takes them
	evPlainOdd       // ordinary words, but the parameter takes names
	evSmall          // the same in a text without any capital
	evPrepFits       // the preposition announces what the parameter is about
	evPrepOther      // it announces something else
	evPrepTaken      // it announces what another parameter is about
	evPrepAny        // it announces nothing in particular
	evBare           // a content word stands right before
	evNameBefore     // the parameter's own name stands before
	evNameAfter      // or right behind
	evNameInside     // or is part of a name, as in "Harbour Hotel"
	evOwnWord        // a word of its description stands beside
	evOtherName      // the name of another parameter stands beside
	evKnown          // share of its words that the request knows
	evCut            // content words that it leaves out
	evSevered        // names that it leaves out behind a word such as "de"
	evBridged        // it goes on over "of"
	evDigits         // it has digits
	evCode           // digits where a code is expected
	evLearned        // a word that stood before values in the examples
	evCalendarOdd    // a month or a day of the week where no time is expected
	evCalendar       // the same where one is
	evWritten        // it is written as no word is: a path, a version, an address
	evWrittenFits    // and the parameter takes such, or it is a currency and the parameter is one
	evWrittenOdd     // but the parameter takes names of people and places
	evStart          // it begins the sentence
	evApposition     // a comma stands before
	evNews           // words that the request does not know, and that it explains
	evSole           // nothing else is asked for
	evSoleProper     // as many names as are asked for
	evModifies       // a word of the description stands right behind
	evKind           // a word of the request does, and the parameter is a kind of thing
	evHead           // a word of the request does, and the parameter is none
	evKindProper     // written as a name, but the parameter is a kind of thing
	evVerbal         // nothing but forms of verbs in small letters
	evVerbalEnd      // several words of which the last is a participle: "the chairs painted"
	evDone           // it stands where a verb does: behind "I", "to" or "who", in small letters
	evArticle        // an article stands right before
	evCounted        // a number stands right before
	evCountedEnd     // the same where the parameter is what is turned into something; -1 where it is what it becomes
	evEnd            // it ends the request
	evEven           // as many strange words in small letters as are asked for
	evQuoted         // it stands in quotation marks
	evSpeech         // several words in quotation marks: 1 where the parameter holds what somebody says, else -1
	evList           // it is a list, and the parameter takes one
	evOneOf          // it is one of several that stand side by side, and the parameter takes one
	evListOdd        // it is no list, but the parameter takes one
	evOrder          // it comes in the order of the schema beside another value
	evSiblings       // the same of two that differ only in their place, such as "from" and "to"
	evTexts
)

// The evidence for a number as the value of a parameter.
const (
	evFigure evidence = evTexts + iota
	evFigureOptional
	evFigureNamed    // its name stands right before, more of it than of any other name
	evFigureOther    // the name of another parameter does
	evFigureBeside   // words of its name stand somewhere before or behind
	evFigureOwn      // words that only its description has do
	evFigureBehind   // a word of its name stands right behind
	evFigureUnit     // its unit does
	evFigureDesc     // the unit is a word of its description
	evFigureSize     // the unit is one of what the parameter is by its name, as kilograms are of a weight
	evFigureSizeOdd  // it is one of something else
	evFigureUnitElse // the unit belongs to another parameter
	evFigureTimeOdd  // it is a time in another unit
	evFigureMoney    // a sum of money where one is expected
	evFigureMoneyOdd // a sum of money where none is
	evFigureNoMoney  // no sum of money where one is expected
	evFigurePercent  // percent where a share is expected
	evFigurePerOdd   // percent where none is
	evFigureShare    // a number between 0 and 1 where a share is expected
	evFigureYear     // written as a year where one is expected
	evFigureYearOdd  // written as a year where none is
	evFigureNoYear   // not written as a year where one is expected
	evFigureOrdinal
	evFigureSpelled
	evFigureCounts  // it is written in words, and there are enough in digits
	evFigureCount   // it counts the noun behind it where a count is expected
	evFigureNoun    // the same where none is
	evFigureEven    // as many numbers as are asked for
	evFigureSole    // nothing else is asked for
	evFigureLearned // a word that stood before values in the examples
	evFigureTitle   // it ends a name
	evFigureArticle // nothing but an article and a unit, as in "a year"
	evFigureRate    // the same behind a number: "12% a year", "4 hours a day"
	evFigureEnd     // it stands behind the preposition of the end of a range that the parameter is; -1 behind the other one
	evFigureBroken  // it has a fraction, and the parameter takes them
	evFigureOrder
	evFigureSiblings
	evCount
)

// weights are log-odds against leaving the parameter empty.
type weights [evCount]float64

// String gives the name of an evidence, as it is written in this package.
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

// priorWeights are what a fit begins with: set by hand, and held where no sentence
// tells better.
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
