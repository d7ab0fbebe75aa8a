package slot

// priorWeights are what a fit begins with: set by hand, and held where no sentence
// tells better.
func priorWeights() weights {
	return weights{
		evBias: -1.3, evOptional: -2.4, evProper: 0.7, evProperExpected: 0.8, evProperOdd: -1.2, evPlainExpected: 0.2, evPlainOdd: -1.9, evSmall: 0,
		evPrepFits: 2.4, evPrepOther: -0.5, evPrepTaken: -0.9, evPrepAny: 0.6, evBare: 0, evNameBefore: 1.8, evNameAfter: 1.9, evNameInside: 1.5, evOwnWord: 0.6, evOtherName: -1,
		evKnown: -3.3, evCut: -1.1, evBridged: 0.3, evDigits: 0, evCode: 1.7, evLearned: 1.2, evCalendar: 2, evCalendarOdd: -2, evWritten: 1, evWrittenFits: 2, evWrittenOdd: -2, evStart: -2, evApposition: -1.2,
		evNews: 0.3, evSole: -0.2, evSoleProper: 1.8, evModifies: 1.1, evKind: 1, evHead: 0, evKindProper: -0.5, evVerbal: -1, evEnd: 0.3, evEven: 0.5,
		evQuoted: 2.5, evSpeech: 1, evList: 0.5, evListOdd: -2, evOrder: 0.3, evSiblings: 1.2,
		evFigure: -1, evFigureOptional: -1.5, evFigureNamed: 2.5, evFigureOther: -1, evFigureBeside: 1, evFigureOwn: 0.6, evFigureBehind: 2, evFigureUnit: 2, evFigureDesc: 1,
		evFigureUnitElse: -1.5, evFigureTimeOdd: -4, evFigureMoney: 1, evFigureMoneyOdd: -1.5, evFigureNoMoney: -0.5, evFigurePercent: 2, evFigurePerOdd: -1, evFigureShare: 1,
		evFigureYear: 2, evFigureYearOdd: -1.5, evFigureNoYear: -2, evFigureOrdinal: -1.5, evFigureSpelled: -0.5, evFigureCounts: -1.5, evFigureCount: 1, evFigureNoun: -0.5,
		evFigureEven: 1, evFigureSole: 1, evFigureLearned: 1.5, evFigureTitle: -1, evFigureBroken: 0.5, evFigureOrder: 0.3, evFigureSiblings: 1.2,
	}
}
