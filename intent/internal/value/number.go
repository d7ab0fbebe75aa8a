package value

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/internal/text"
)

// number reads a number at token i: digits with signs and units, or words.
func (s *Scanner) number(d *Doc, i int) (Entity, bool) {
	if e, ok := s.half(d, i); ok {
		return e, true
	}
	if c, ok := d.ChunkAt(i); ok {
		if e, ok := parseNumber(c); ok {
			return s.withUnit(d, s.andHalf(d, e)), true
		}
		if e, ok := s.joined(d, c); ok {
			return e, true
		}
	}
	if e, ok := s.spelled(d, i); ok {
		return s.withUnit(d, s.andHalf(d, e)), true
	}
	return s.article(d, i)
}

// parseNumber reads one chunk such as 40, -1.5, 1,000, $250, 15% or 40k.
func parseNumber(c Chunk) (Entity, bool) {
	e := Entity{Kind: Number, First: c.First, Last: c.Last, P: 0.9}
	body := c.Text
	body, e.Currency, e.Money = cutCurrency(body)
	factor := 1.0
	switch {
	case strings.HasSuffix(body, "%"):
		e.Percent, body = true, body[:len(body)-1]
	case len(body) > 1:
		body, factor = cutMagnitude(body)
	}
	n, doubt, ok := digits(body)
	if !ok {
		n, ok = scientific(body)
	}
	if !ok {
		return Entity{}, false
	}
	e.Number = n * factor
	// 298K may be a temperature as well as a number of thousands.
	e.Doubt = doubt || strings.HasSuffix(c.Text, "K") && e.Currency == ""
	return e, !math.IsInf(e.Number, 0)
}

// cutCurrency takes a currency sign or code off a number.
func cutCurrency(s string) (rest, code string, money bool) {
	for _, sign := range []struct{ sign, code string }{
		{"R$", "BRL"}, {"US$", "USD"}, {"$", ""}, {"€", "EUR"}, {"£", "GBP"}, {"¥", ""}, {"₹", "INR"},
	} {
		if after, ok := strings.CutPrefix(s, sign.sign); ok {
			return after, sign.code, true
		}
		if before, ok := strings.CutSuffix(s, sign.sign); ok && before != "" {
			return before, sign.code, true
		}
	}
	return s, "", false
}

func cutMagnitude(s string) (rest string, factor float64) {
	last := s[len(s)-1]
	before := s[len(s)-2]
	if before < '0' || before > '9' {
		return s, 1
	}
	switch last {
	case 'k', 'K':
		return s[:len(s)-1], 1e3
	case 'M':
		return s[:len(s)-1], 1e6
	}
	return s, 1
}

// digits reads 40, 40.5, 40,5, 1,000 and 1.000.000; doubt says that a comma or
// a dot could be either sign.
func digits(s string) (n float64, doubt, ok bool) {
	s = strings.TrimPrefix(s, "+")
	body, negative := strings.CutPrefix(s, "-")
	if body == "" || strings.ContainsFunc(body, func(r rune) bool { return r != '.' && r != ',' && (r < '0' || r > '9') }) {
		return 0, false, false
	}
	if strings.HasPrefix(body, ".") && strings.Count(body, ".") == 1 {
		body = "0" + body
	}
	if body[0] == '.' || body[0] == ',' || body[len(body)-1] == ',' {
		return 0, false, false
	}
	plain, doubt, ok := decimal(body)
	if !ok {
		return 0, false, false
	}
	n, err := strconv.ParseFloat(plain, 64)
	if negative {
		n = -n
	}
	return n, doubt, err == nil
}

// scientific reads 1e-9 and 2.5E3.
func scientific(s string) (float64, bool) {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	if !ok || mantissa == "" || len(exponent) > 4 || strings.ContainsFunc(mantissa, func(r rune) bool { return r != '.' && r != '-' && (r < '0' || r > '9') }) {
		return 0, false
	}
	n, err := strconv.ParseFloat(mantissa+"e"+exponent, 64)
	return n, err == nil
}

// decimal rewrites a number with a dot as its only sign.
func decimal(s string) (plain string, doubt, ok bool) {
	dots, commas := strings.Count(s, "."), strings.Count(s, ",")
	switch {
	case dots == 0 && commas == 0:
		return s, false, true
	case dots == 1 && commas == 0:
		return s, groups(s, "."), true
	case dots == 0 && commas == 1 && !groups(s, ","):
		return strings.Replace(s, ",", ".", 1), false, true
	case commas > 0 && dots <= 1 && groups(before(s, "."), ","):
		return strings.ReplaceAll(s, ",", ""), false, true
	case dots > 0 && commas <= 1 && groups(before(s, ","), "."):
		return strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1), false, true
	}
	return "", false, false
}

func before(s, sep string) string {
	head, _, _ := strings.Cut(s, sep)
	return head
}

// groups tells whether a sign separates groups of three digits.
func groups(s, sign string) bool {
	parts := strings.Split(s, sign)
	if len(parts) < 2 || parts[0] == "" || len(parts[0]) > 3 || parts[0] == "0" {
		return false
	}
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return false
		}
	}
	return true
}

// joined reads a number with its unit in one chunk: 8h, 30min, 2-day, 70kg.
func (s *Scanner) joined(d *Doc, c Chunk) (Entity, bool) {
	cut := strings.IndexFunc(c.Text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' })
	if cut <= 0 {
		return Entity{}, false
	}
	n, doubt, ok := digits(c.Text[:cut])
	if !ok {
		return Entity{}, false
	}
	ending := c.Text[cut:]
	unit, known := s.words.units[text.Fold(strings.TrimPrefix(ending, "-"))]
	if !known {
		unit, known = s.words.shortUnits[ending]
	}
	if !known {
		unit, known = s.words.measures[ending]
	}
	e := Entity{Kind: Number, First: c.First, Last: c.Last, Number: n, Doubt: doubt, Unit: unit, P: 0.9}
	switch {
	case known && c.Last-c.First <= 1:
		return hemisphere(d, e), true
	case ordinal(ending) && n >= 1 && n < 1000 && c.Last == c.First:
		e.Ordinal, e.P = true, 0.8
		return s.withUnit(d, e), true
	}
	return Entity{}, false
}

// hemisphere makes degrees of the south and of the west negative.
func hemisphere(d *Doc, e Entity) Entity {
	i := e.Last + 1
	if e.Unit != "degre" || i >= len(d.Tokens) {
		return e
	}
	switch d.Src[d.Tokens[i].Start:d.Tokens[i].End] {
	case "S", "W":
		e.Number, e.Last = -e.Number, i
	case "N", "E":
		e.Last = i
	}
	return e
}

// ordinal tells the endings of 1st, 2nd, 3rd and 4th.
func ordinal(ending string) bool {
	switch ending {
	case "st", "nd", "rd", "th":
		return true
	}
	return false
}

// spelled reads number words: seven, twenty five, a hundred, two thousand.
func (s *Scanner) spelled(d *Doc, i int) (Entity, bool) {
	total, current, last := 0.0, 0.0, -1
	for j := i; j < len(d.Tokens) && j < i+8; j++ {
		if j > i && d.Tokens[j].Break {
			break
		}
		fold := d.fold(j)
		if fold == "and" && last == j-1 && last >= 0 && current >= 100 && s.words.small[d.fold(j+1)] > 0 {
			last = j
			continue
		}
		if n, ok := s.words.small[fold]; ok && (last < 0 || addable(current, n)) {
			current, last = current+n, j
			continue
		}
		factor, ok := s.words.large[fold]
		if !ok || last < 0 && fold != "dozen" {
			break
		}
		current = max(current, 1) * factor
		last = j
		if factor >= 1000 {
			total, current = total+current, 0
		}
	}
	if last < 0 {
		return Entity{}, false
	}
	e := Entity{Kind: Number, First: i, Last: last, Number: total + current, Spelled: true, P: 0.85}
	if i == last && d.fold(i) == "one" {
		e.P = 0.4 // "that one" is no number
	}
	return e, true
}

// addable tells whether a number word continues the one before: twenty + five.
func addable(current, n float64) bool {
	switch {
	case current == 0:
		return true
	case n < 10:
		return math.Mod(current, 10) == 0 && math.Mod(current, 100) != 10
	case n < 100:
		return math.Mod(current, 100) == 0
	}
	return false
}

// half reads "half a day", "half day", "a half day" and "meio dia".
func (s *Scanner) half(d *Doc, i int) (Entity, bool) {
	j := i
	if d.fold(j) == "a" {
		j++
	}
	if !s.words.half[d.fold(j)] {
		return Entity{}, false
	}
	next := j + 1
	if f := d.fold(next); f == "a" || f == "an" || f == "of" {
		next++
	}
	unit, ok := s.words.units[d.fold(next)]
	if !ok {
		return Entity{}, false
	}
	return Entity{Kind: Number, First: i, Last: next, Number: 0.5, Unit: unit, P: 0.88}, true
}

// andHalf adds a half that follows: 2 and a half, one and a half.
func (s *Scanner) andHalf(d *Doc, e Entity) Entity {
	i := e.Last + 1
	if d.fold(i) == "and" && d.fold(i+1) == "a" && d.fold(i+2) == "half" {
		e.Number, e.Last = e.Number+0.5, i+2
	}
	return e
}

// withUnit looks at the words after a number.
func (s *Scanner) withUnit(d *Doc, e Entity) Entity {
	i := e.Last + 1
	if i >= len(d.Tokens) || d.Tokens[i].Break {
		return e
	}
	fold := d.fold(i)
	if factor := s.words.large[fold]; factor >= 1000 && !e.Spelled && !e.Percent {
		e.Number, e.Last = e.Number*factor, i
		return s.withUnit(d, e)
	}
	if unit, ok := s.words.units[fold]; ok {
		e.Unit, e.Last, e.P = unit, i, max(e.P, 0.9)
		return e
	}
	if fold == "percent" || fold == "pct" {
		e.Percent, e.Last = true, i
		return e
	}
	if code := strings.ToUpper(fold); s.words.currencies[code] && e.Currency == "" {
		e.Currency, e.Money = code, true
		return e
	}
	if unit, ok := s.words.measures[d.Src[d.Tokens[i].Start:d.Tokens[i].End]]; ok && !e.Spelled {
		e.Unit = unit
		return e
	}
	if !s.words.number(fold) && !s.lex.Light(fold) && !d.Tokens[i].Is(text.FormDigits|text.FormMixed) {
		e.Unit = d.Tokens[i].Stem
	}
	return e
}

// article reads "a day" and "an hour" as one.
func (s *Scanner) article(d *Doc, i int) (Entity, bool) {
	if f := d.fold(i); f != "a" && f != "an" {
		return Entity{}, false
	}
	unit, ok := s.words.units[d.fold(i+1)]
	if !ok || d.Tokens[i+1].Break || unit == "second" || unit != d.fold(i+1) {
		return Entity{}, false
	}
	return Entity{Kind: Number, First: i, Last: i + 1, Number: 1, Unit: unit, P: 0.7}, true
}
