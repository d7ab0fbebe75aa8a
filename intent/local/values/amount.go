package values

import (
	"strings"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// counted reads a spelled-out number, the longest one of the possible languages. If two languages
// differ, the value is doubtful.
func (s *Scanner) counted(d *Doc, readers []*reader, i int, starting languageSet) (Entity, bool) {
	weights := d.Languages.At(i)
	var best Entity
	found := false
	for _, n := range d.Languages.Order(i) {
		r := readers[n]
		if !starting.has(n) {
			continue
		}
		e, ok := r.amount(i)
		if !ok || !r.inLanguage(weights, i, e.Last+1) {
			continue
		}
		switch {
		case !found || e.Last > best.Last:
			best, found = e, true
		case e.Last == best.Last && (e.Number != best.Number || e.Unit != best.Unit && e.Unit != "" && best.Unit != ""):
			best.Doubt = true
		}
	}
	if !found {
		return best, false
	}
	if best.Unit == "" {
		best = s.withUnit(d, readers, best)
	}
	return best, true
}

// amount reads a spelled-out number with its unit, a span such as "fortnight", or a unit with only
// an article or a half.
func (r *reader) amount(i int) (Entity, bool) {
	if e, ok := r.span(i); ok {
		return e, true
	}
	e, ok := r.spelled(i)
	if !ok {
		return r.oneUnit(i)
	}
	if n, width, ok := r.language.num.Ordinal(r.fold, i); ok && i+width-1 > e.Last && r.d.Tokens[i+width-1].Glued {
		return Entity{Kind: Number, First: i, Last: i + width - 1, Number: float64(n), Ordinal: true, Spelled: true, P: 0.8}, true // such as "twenty-third"
	}
	e = r.addHalf(e)
	if unit, last, ok := r.unitAt(e.Last + 1); ok && !r.parted(e.Last+1) {
		e.Unit, e.Last, e.P = unit, last, max(e.P, 0.9)
		e = r.addHalf(e)
	}
	return e, true
}

// unitAt reads a unit of time, with a modifier such as "úteis"; last is its last token.
func (r *reader) unitAt(i int) (unit string, last int, ok bool) {
	unit, ok = r.language.units[r.fold(i)]
	if ok && r.language.working[r.fold(i+1)] == unit && !r.parted(i+1) {
		i++
	}
	return unit, i, ok
}

// span reads "fortnight", "a fortnight" and "two fortnights".
func (r *reader) span(i int) (Entity, bool) {
	at, times := i, 1.0
	if n, ok := r.spelled(i); ok && !r.parted(n.Last+1) {
		at, times = n.Last+1, n.Number
	} else if r.language.num.Article(r.fold(i)) {
		at = i + 1
	}
	e, ok := r.language.spans[r.fold(at)]
	e.First, e.Last, e.Number = i, at, e.Number*times
	return e, ok && at < len(r.d.Tokens)
}

// oneUnit reads "a day", or "day and a half" with or without an article.
func (r *reader) oneUnit(i int) (Entity, bool) {
	at := i
	if r.language.num.Article(r.fold(i)) {
		at++
	}
	unit, ok := r.language.units[r.fold(at)]
	if !ok || at > i && r.parted(at) {
		return Entity{}, false
	}
	e := Entity{Kind: Number, First: i, Last: at, Number: 1, Unit: unit, P: 0.7}
	half := r.addHalf(e)
	return half, half.Last > e.Last || at > i && unit != "second"
}

// longest returns the end of the longest match of a form, or -1.
func (r *reader) longest(f lexicon.Form, from int) int {
	end := -1
	lexicon.Walk(f, r.d.spaced, from, r, func(next int) { end = max(end, next) })
	return end
}

// addHalf adds a half behind a number: "and a half".
func (r *reader) addHalf(e Entity) Entity {
	for _, f := range r.language.andHalf {
		if end := r.longest(f, e.Last+1); end > 0 {
			e.Number, e.Last, e.P = e.Number+0.5, end-1, max(e.P, 0.85)
			return e
		}
	}
	return e
}

// andHalf adds a half behind digits.
func (s *Scanner) andHalf(d *Doc, readers []*reader, e Entity) Entity {
	for n, r := range readers {
		if d.Languages.At(e.Last).Likely(n) {
			if out := r.addHalf(e); out.Last > e.Last {
				return out
			}
		}
	}
	return e
}

func (r *reader) parted(i int) bool { return i < len(r.d.spaced) && r.d.spaced[i].parted }

// spelled reads number words: "seven", "twenty-five", "a hundred", "einundzwanzig".
func (r *reader) spelled(i int) (Entity, bool) {
	n, last, ok := r.language.num.Read(r.fold, r.parted, i, len(r.d.Tokens))
	if !ok {
		return Entity{}, false
	}
	e := Entity{Kind: Number, First: i, Last: last, Number: n, Spelled: true, P: 0.85}
	if i == last && n == 1 {
		e.P = 0.4 // "that one" is no number
	}
	return e, true
}

// count reads a number in digits or words as part of a form: "in 3 days", "in a week".
func (r *reader) count(i int) (Entity, bool) {
	if c, ok := r.d.ChunkAt(i); ok {
		if e, ok := parseNumber(c, &r.language.data.Numbers); ok && !e.Money && !e.Percent {
			return e, true
		}
	}
	if e, ok := r.spelled(i); ok {
		return e, true
	}
	if r.language.num.Article(r.fold(i)) {
		return Entity{Kind: Number, First: i, Last: i, Number: 1, P: 0.7}, true
	}
	return Entity{}, false
}

// half reads "half a day", "meio dia" and "half a dozen".
func (s *Scanner) half(d *Doc, readers []*reader, i int, starting languageSet) (Entity, bool) {
	weights := d.Languages.At(i)
	for _, n := range d.Languages.Order(i) {
		if !starting.has(n) {
			continue
		}
		r := readers[n]
		for _, f := range r.language.half {
			var out Entity
			found := false
			lexicon.Walk(f, d.spaced, i, r, func(next int) {
				if found || r.parted(next) || next == i {
					return
				}
				if unit, ok := r.language.units[r.fold(next)]; ok {
					out, found = Entity{Kind: Number, First: i, Last: next, Number: 0.5, Unit: unit, P: 0.88}, true
				} else if n, ok := r.language.num.Large(r.fold(next)); ok && n == Dozen {
					out, found = Entity{Kind: Number, First: i, Last: next, Number: Dozen / 2, Spelled: true, P: 0.85}, true
				}
			})
			if found && r.inLanguage(weights, i, out.Last+1) {
				return out, true
			}
		}
	}
	return Entity{}, false
}

// withUnit adds the unit behind a number.
func (s *Scanner) withUnit(d *Doc, readers []*reader, e Entity) Entity {
	i := e.Last + 1
	if i >= len(d.Tokens) || d.Tokens[i].Break {
		return e
	}
	weights := d.Languages.At(i)
	for _, n := range d.Languages.Order(i) {
		r := readers[n]
		if out, ok := s.unitIn(d, readers, r, e); ok && r.inLanguage(weights, i, out.Last+1) {
			return out
		}
	}
	if code := strings.ToUpper(d.fold(i)); s.codes[code] && e.Currency == "" {
		e.Currency, e.Money = code, true
		return e
	}
	if unit, ok := s.measures[d.Src[d.Tokens[i].Start:d.Tokens[i].End]]; ok && !e.Spelled {
		e.Unit = unit
		return e
	}
	if !s.numberWord(readers, d.fold(i)) && !s.lex.StopWord(d.fold(i)) && !d.Tokens[i].Is(tokenize.FormDigits|tokenize.FormMixed) {
		e.Unit = d.Tokens[i].Stem
	}
	return e
}

// unitIn reads a multiplier, a unit of time, a percent sign or a currency behind a number in one
// language.
func (s *Scanner) unitIn(d *Doc, readers []*reader, r *reader, e Entity) (Entity, bool) {
	i := e.Last + 1
	fold := d.fold(i)
	if n, ok := r.language.num.Large(fold); ok && !e.Spelled && !e.Percent {
		e.Number, e.Last = e.Number*n, i
		return s.withUnit(d, readers, e), true
	}
	if unit, last, ok := r.unitAt(i); ok {
		e.Unit, e.Last, e.P = unit, last, max(e.P, 0.9)
		return r.addHalf(e), true
	}
	for _, f := range r.language.percent {
		if end := r.longest(f, i); end > 0 {
			e.Percent, e.Last = true, end-1
			return e, true
		}
	}
	if code, _, ok := r.coin(i); ok && e.Currency == "" {
		e.Currency, e.Money = code, true
		e.Unit = d.Tokens[i].Stem
		return e, true
	}
	return e, false
}

// numberWord reports whether a word is a number in any language.
func (s *Scanner) numberWord(readers []*reader, fold string) bool {
	for _, r := range readers {
		if r.language.num.Counts(fold) {
			return true
		}
	}
	return false
}

// coin reads the name of a currency.
func (r *reader) coin(i int) (code string, last int, ok bool) {
	last = -1
	for _, c := range r.language.money {
		lexicon.Walk(c.form, r.d.spaced, i, r, func(next int) {
			if next-1 > last {
				code, last = c.code, next-1
			}
		})
	}
	return code, last, last >= i
}

// CurrencyAt reads the code or the name of a currency at token i: "CAD", "Canadian dollars".
// "Dollars" alone is ambiguous and has no code.
func (s *Scanner) CurrencyAt(d *Doc, i int) (code string, last int, ok bool) {
	if code := strings.ToUpper(d.fold(i)); len(code) == 3 && s.codes[code] {
		return code, i, true
	}
	for _, r := range s.readers(d, noTime) {
		if code, last, ok := r.coin(i); ok && code != "" {
			return code, last, true
		}
	}
	return "", 0, false
}
