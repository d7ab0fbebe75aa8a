package planner

import (
	"math"
	"strings"
)

// languageCounts counts the function words of each language in a text. It is only used to order
// equivalent phrasings.
type languageCounts []float64

func languageCountsOf(text string) languageCounts {
	languages := smallWords()
	out := make(languageCounts, len(languages))
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, "?!.,;:¿¡\"'“”")
		for i, words := range languages {
			if strings.Contains(words, " "+word+" ") {
				out[i]++
			}
		}
	}
	return out
}

// likeness returns the cosine similarity of two counts, 0 if one is empty.
func (t languageCounts) likeness(other languageCounts) float64 {
	var dot, a, b float64
	for i := range t {
		dot, a, b = dot+t[i]*other[i], a+t[i]*t[i], b+other[i]*other[i]
	}
	if dot == 0 {
		return 0
	}
	return dot / math.Sqrt(a*b)
}

// smallWords returns function words of English, Portuguese, Spanish, German and French.
func smallWords() []string {
	return []string{
		" the of for from to a an and my in on at is what when how half one two three week please ",
		" o os a as do da dos das de em no na um uma para com e meu minha partir desde meio dois duas três que quando por ",
		" el la los las del de al en un una para con y mi desde medio dos tres que cuando por ",
		" der die das den dem des ein eine einen für von vom ab am und mein meine halben zwei drei wann wie bitte auf ",
		" le la les des du de d l en un une pour avec et mon ma à partir demi deux trois que quand sur ",
	}
}
