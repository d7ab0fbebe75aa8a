package lexicon

import (
	"math"
	"slices"
	"strings"
)

// Weights holds the probability of each language, by its index in Lexica.Languages.
type Weights []float64

// A language with a probability below ruledOut does not count for restraint; one of at least
// likely counts for values.
const (
	ruledOut = 0.02
	likely   = 0.2
)

// Possible reports whether a language is not ruled out. Operators and negations count in every
// possible language.
func (w Weights) Possible(language int) bool { return language < len(w) && w[language] >= ruledOut }

// Likely reports whether values may be read in a language: its probability is at least one fifth,
// or half of the best one.
func (w Weights) Likely(language int) bool {
	return language < len(w) && (w[language] >= likely || w[language] >= slices.Max(w)/2)
}

// Best returns the most probable language.
func (w Weights) Best() int {
	best := 0
	for i := range w {
		if w[i] > w[best] {
			best = i
		}
	}
	return best
}

// sound holds the log-probabilities of the character trigrams of a language.
type sound map[string]float64

// listen trains the trigram models on the words and samples of the languages.
func (c *compiler) listen() {
	counts := make([]map[string]float64, len(c.files))
	all := map[string]bool{}
	for n, f := range c.files {
		counts[n] = map[string]float64{}
		add := func(word string, times float64) {
			eachTrigram(Lower(word), func(g string) {
				counts[n][g] += times
				all[g] = true
			})
		}
		for class, words := range c.lexica.Languages[n].words {
			if strings.HasPrefix(Class(class).String(), "names.") {
				continue
			}
			for _, w := range words {
				add(w, 1)
			}
		}
		for w := range strings.FieldsSeq(f.Sample) {
			add(strings.Trim(w, ".,;:!?'"), 3)
		}
	}
	for n := range counts {
		total := 0.0
		for _, k := range counts[n] {
			total += k
		}
		s := sound{"": -math.Log(total + float64(len(all)))}
		for g, k := range counts[n] {
			s[g] = math.Log(k+1) - math.Log(total+float64(len(all)))
		}
		c.lexica.sounds = append(c.lexica.sounds, s)
	}
}

func eachTrigram(word string, yield func(string)) {
	padded := " " + word + " "
	var starts []int
	for i := range padded {
		starts = append(starts, i)
	}
	starts = append(starts, len(padded))
	for k := 0; k+3 < len(starts); k++ {
		yield(padded[starts[k]:starts[k+3]])
	}
}

// The weight of a word that only some lexica have, and the bounds of the weight of its trigrams.
const (
	wordVote  = 1.6
	soundVote = 1.2
	soundStep = 0.35
)

// vote adds the evidence of a word to the log-probabilities of the languages.
func (l *Lexica) vote(w Word, votes []float64) {
	if w.entry != nil {
		known := 0
		for n := range votes {
			if w.entry.in[n] != (marks{}) {
				known++
			}
		}
		if known == 0 || known == len(votes) {
			return
		}
		for n := range votes {
			if w.entry.in[n] != (marks{}) {
				votes[n] += wordVote / math.Sqrt(float64(known))
			}
		}
		return
	}
	if len(w.Fold) < 3 {
		return
	}
	var sum [16]float64
	grams := 0
	eachTrigram(w.Lower, func(g string) {
		grams++
		for n, s := range l.sounds {
			if p, ok := s[g]; ok {
				sum[n] += p
			} else {
				sum[n] += s[""]
			}
		}
	})
	mean := 0.0
	for n := range votes {
		mean += sum[n] / float64(len(votes))
	}
	for n := range votes {
		votes[n] += max(-soundVote, min(soundVote, soundStep*(sum[n]-mean)))
	}
}

// Detectable is a token from which the language can be detected.
type Detectable interface {
	Spoken
	// Votes reports whether the token belongs to the language of the sentence: no name, value or
	// quotation.
	Votes() bool
	// Begins reports whether the token begins a sentence.
	Begins() bool
}

// LanguageMix is the probability of each language in each sentence of a message.
type LanguageMix struct {
	sentences []int // sentence index by token
	weights   []Weights
	orders    [][]int
}

// whole is the weight of the other sentences of a message.
const whole = 0.4

// DetectLanguages estimates the languages of a message. prior holds those of its author; nil if
// unknown.
func DetectLanguages[T Detectable](l *Lexica, tokens []T, prior Weights) LanguageMix {
	v := LanguageMix{sentences: make([]int, len(tokens))}
	languages := len(l.Languages)
	var votes [][]float64
	sum := make([]float64, languages)
	for i, t := range tokens {
		if i == 0 || t.Begins() {
			votes = append(votes, make([]float64, languages))
		}
		v.sentences[i] = len(votes) - 1
		if t.Votes() {
			l.vote(t.Spelling(), votes[len(votes)-1])
		}
	}
	for _, s := range votes {
		for n := range s {
			sum[n] += s[n]
		}
	}
	for _, s := range votes {
		w := make(Weights, languages)
		for n := range w {
			w[n] = s[n] + whole*(sum[n]-s[n])
			if n < len(prior) {
				w[n] += math.Log(max(prior[n], 0.01))
			}
		}
		v.weights = append(v.weights, w.normal())
		v.orders = append(v.orders, w.order())
	}
	return v
}

// normal converts log-probabilities to probabilities.
func (w Weights) normal() Weights {
	top := slices.Max(w)
	total := 0.0
	for n := range w {
		w[n] = math.Exp(w[n] - top)
		total += w[n]
	}
	for n := range w {
		w[n] /= total
	}
	return w
}

// order returns the languages by descending probability.
func (w Weights) order() []int {
	out := make([]int, len(w))
	for i := range out {
		out[i] = i
		for k := i; k > 0 && w[out[k]] > w[out[k-1]]; k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// Order returns the languages of the sentence of a token by descending probability.
func (v LanguageMix) Order(i int) []int {
	if i < 0 || i >= len(v.sentences) {
		return nil
	}
	return v.orders[v.sentences[i]]
}

// At returns the language probabilities of the sentence of a token.
func (v LanguageMix) At(i int) Weights {
	if i < 0 || i >= len(v.sentences) {
		return nil
	}
	return v.weights[v.sentences[i]]
}

// Prior returns weights for a language preference.
func (l *Lexica) Prior(code string) Weights {
	w := make(Weights, len(l.Languages))
	n := l.Language(code)
	if n < 0 {
		return nil
	}
	for i := range w {
		w[i] = 0.15 / float64(max(len(w)-1, 1))
	}
	w[n] = 0.85
	return w
}
