package tokenize

// Everyday holds words that distinguish languages with and without capitalised nouns.
type Everyday struct{ capitalising, others map[string]bool }

// NewEveryday returns an empty Everyday.
func NewEveryday() Everyday {
	return Everyday{map[string]bool{}, map[string]bool{}}
}

// Add adds the words of a language.
func (e Everyday) Add(capitalising bool, words []string) {
	set := e.others
	if capitalising {
		set = e.capitalising
	}
	for _, w := range words {
		set[Fold(w)] = true
	}
}

// Has reports whether a token is one of the words.
func (e Everyday) Has(t Token) bool { return e.capitalising[t.Fold] || e.others[t.Fold] }

// CapitalNouns reports whether a text is in a language that capitalises all nouns, so that a
// capital does not indicate a name.
func (e Everyday) CapitalNouns(tokens []Token) bool {
	capitalising, others := 0, 0
	for _, t := range tokens {
		switch {
		case t.Is(FormQuoted):
		case e.capitalising[t.Fold]:
			capitalising++
		case e.others[t.Fold]:
			others++
		}
	}
	return capitalising > others
}
