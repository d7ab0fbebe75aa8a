package tokenize

// Everyday has words that tell languages apart that do and do not give every noun
// a capital.
type Everyday struct{ capitalising, others map[string]bool }

// NewEveryday makes one without words.
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

// Has tells an everyday word of any language.
func (e Everyday) Has(t Token) bool { return e.capitalising[t.Fold] || e.others[t.Fold] }

// CapitalNouns tells a text in a language in which every noun has a capital, so
// that a capital alone says little of a name.
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
