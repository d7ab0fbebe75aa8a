package values

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func named(t tokenize.Token) bool { return t.Is(tokenize.FormTitle) }

// number reads a number at token i: digits with signs and units, or words.
func (s *Scanner) number(d *Doc, readers []*reader, i int, starting languageSet) (Entity, bool) {
	if e, ok := s.half(d, readers, i, starting); ok {
		return e, true
	}
	if e, ok := s.digits(d, readers, i); ok {
		return s.withUnit(d, readers, e), true
	}
	if c, ok := d.ChunkAt(i); ok {
		if e, ok := s.joined(d, readers, c); ok {
			return e, true
		}
	}
	if e, ok := s.counted(d, readers, i, starting); ok {
		return e, true
	}
	return s.signed(d, readers, i)
}

// digits reads a number in digits, with a fraction behind it: "2 1/2". The format depends on the
// possible languages.
func (s *Scanner) digits(d *Doc, readers []*reader, i int) (Entity, bool) {
	c, ok := d.ChunkAt(i)
	if !ok || c.Text[0] > '9' && !strings.ContainsAny(c.Text, "$€£¥₹") {
		return Entity{}, false
	}
	weights := d.Languages.At(i)
	var out Entity
	found := false
	for _, n := range d.Languages.Order(i) {
		if found && !weights.Likely(n) {
			break
		}
		e, ok := parseNumber(grouped(d, c, readers[n]), &readers[n].language.data.Numbers)
		switch {
		case !ok:
		case !found:
			out, found = e, true
		case e.Number != out.Number && e.Last == out.Last:
			out.Doubt = true
		}
	}
	if !found {
		return Entity{}, false
	}
	out = s.spaced(d, fraction(d, out))
	return s.andHalf(d, readers, out), true
}

// grouped joins groups of three digits separated by spaces, for a language that writes so: "1
// 500".
func grouped(d *Doc, c Chunk, r *reader) Chunk {
	if r.language.data.Numbers.Group != " " || len(c.Text) > 3 || strings.ContainsFunc(c.Text, func(x rune) bool { return !unicode.IsDigit(x) }) {
		return c
	}
	out := c
	for {
		next, ok := d.ChunkAt(out.Last + 1)
		whole, _, _ := strings.Cut(next.Text, ",")
		gap := d.Src[out.Span.End:max(out.Span.End, next.Span.Start)]
		if !ok || len(whole) != 3 || strings.ContainsFunc(next.Text, func(x rune) bool { return !unicode.IsDigit(x) && x != ',' }) || len([]rune(gap)) != 1 || !unicode.IsSpace([]rune(gap)[0]) {
			return out
		}
		out.Text += next.Text
		out.Span.End, out.Last = next.Span.End, next.Last
	}
}

// fraction adds "1/2" behind a whole number.
func fraction(d *Doc, e Entity) Entity {
	c, ok := d.ChunkAt(e.Last + 1)
	over, under, cut := strings.Cut(c.Text, "/")
	if !ok || !cut || len(over) != 1 || len(under) != 1 || e.Number != math.Trunc(e.Number) {
		return e
	}
	a, b := float64(over[0]-'0'), float64(under[0]-'0')
	if a >= 1 && a < b && b <= 9 {
		e.Number, e.Last = e.Number+a/b, c.Last
	}
	return e
}

// parseNumber parses a chunk such as 40, -1.5, 1,000, $250, 15% or 40k.
func parseNumber(c Chunk, by *lexicon.Numbers) (Entity, bool) {
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
	n, ok := parseDigits(strings.ReplaceAll(body, "'", ""), by)
	if !ok {
		n, ok = scientific(body)
	}
	if !ok {
		return Entity{}, false
	}
	e.Number = n * factor
	// 298K may be a temperature or 298 thousand.
	e.Doubt = strings.HasSuffix(c.Text, "K") && e.Currency == ""
	return e, !math.IsInf(e.Number, 0)
}

// cutCurrency removes a currency symbol or code from a number.
func cutCurrency(s string) (rest, code string, money bool) {
	for _, sign := range currencySigns() {
		if after, ok := strings.CutPrefix(s, sign.sign); ok {
			return after, sign.code, true
		}
		if before, ok := strings.CutSuffix(s, sign.sign); ok && before != "" {
			return before, sign.code, true
		}
	}
	return s, "", false
}

// spaced adds a sign that is separated from its number by a space: "R$ 40", "40 €", "15 %".
func (s *Scanner) spaced(d *Doc, e Entity) Entity {
	before := strings.TrimRight(d.Src[:d.Tokens[e.First].Start], " \u00a0")
	behind := strings.TrimLeft(d.Src[d.Tokens[e.Last].End:], " \u00a0\u202f")
	if strings.HasPrefix(behind, "%") {
		e.Percent = true
	}
	for _, sign := range currencySigns() {
		if e.Money && (e.Currency != "" || sign.code == "") {
			continue
		}
		if strings.HasSuffix(before, sign.sign) || strings.HasPrefix(behind, sign.sign) {
			e.Currency, e.Money = sign.code, true
			e.First -= lettersOf(d, e.First, before, sign.sign)
			break
		}
	}
	return e
}

// lettersOf returns 1 if the token before a number is the letters of its currency symbol, as "R"
// in "R$ 40", else 0.
func lettersOf(d *Doc, first int, before, sign string) int {
	letters, ok := strings.CutSuffix(sign, "$")
	if !ok || letters == "" || first == 0 || !strings.HasSuffix(before, sign) || d.Src[d.Tokens[first-1].Start:d.Tokens[first-1].End] != letters {
		return 0
	}
	return 1
}

// signed reads a number behind a currency symbol with letters: "R$40".
func (s *Scanner) signed(d *Doc, readers []*reader, i int) (Entity, bool) {
	c, ok := d.ChunkAt(i)
	if !ok || !strings.Contains(c.Text, "$") {
		return Entity{}, false
	}
	return parseNumber(c, &readers[d.Languages.At(i).Best()].language.data.Numbers)
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

// parseDigits parses 40, 40.5, 40,5, 1,000 and 1.000.000. The language decides what a separator
// before three digits means.
func parseDigits(s string, by *lexicon.Numbers) (float64, bool) {
	s = strings.TrimPrefix(s, "+")
	body, negative := strings.CutPrefix(s, "-")
	if body == "" || strings.ContainsFunc(body, func(r rune) bool { return r != '.' && r != ',' && (r < '0' || r > '9') }) {
		return 0, false
	}
	if strings.HasPrefix(body, ".") && strings.Count(body, ".") == 1 {
		body = "0" + body
	}
	if body[0] == '.' || body[0] == ',' || body[len(body)-1] == ',' {
		return 0, false
	}
	plain, ok := decimal(body, by)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(plain, 64)
	if negative {
		n = -n
	}
	return n, err == nil
}

// scientific parses 1e-9 and 2.5E3.
func scientific(s string) (float64, bool) {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	if !ok || mantissa == "" || len(exponent) > 4 || strings.ContainsFunc(mantissa, func(r rune) bool { return r != '.' && r != '-' && (r < '0' || r > '9') }) {
		return 0, false
	}
	n, err := strconv.ParseFloat(mantissa+"e"+exponent, 64)
	return n, err == nil
}

// decimal normalises a number to a decimal point and no group separators.
func decimal(s string, by *lexicon.Numbers) (plain string, ok bool) {
	dots, commas := strings.Count(s, "."), strings.Count(s, ",")
	switch {
	case dots == 0 && commas == 0:
		return s, true
	case dots == 1 && commas == 0:
		if groups(s, ".") && by.Decimal != "." {
			return strings.Replace(s, ".", "", 1), true
		}
		return s, true
	case dots == 0 && commas == 1:
		if groups(s, ",") && by.Decimal != "," {
			return strings.Replace(s, ",", "", 1), true
		}
		return strings.Replace(s, ",", ".", 1), true
	case commas > 0 && dots <= 1 && groups(before(s, "."), ","):
		return strings.ReplaceAll(s, ",", ""), true
	case dots > 0 && commas <= 1 && groups(before(s, ","), "."):
		return strings.Replace(strings.ReplaceAll(s, ".", ""), ",", ".", 1), true
	}
	return "", false
}

func before(s, sep string) string {
	head, _, _ := strings.Cut(s, sep)
	return head
}

// groups reports whether a separator separates groups of three digits.
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
func (s *Scanner) joined(d *Doc, readers []*reader, c Chunk) (Entity, bool) {
	cut := strings.IndexFunc(c.Text, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != ',' })
	if cut <= 0 {
		return Entity{}, false
	}
	main := readers[d.Languages.At(c.First).Best()]
	n, ok := parseDigits(c.Text[:cut], &main.language.data.Numbers)
	if !ok {
		return Entity{}, false
	}
	ending := c.Text[cut:]
	unit, known := s.units[tokenize.Fold(strings.TrimPrefix(ending, "-"))]
	if !known {
		unit, known = s.shorts[ending]
	}
	if !known {
		unit, known = s.measures[ending]
	}
	e := Entity{Kind: Number, First: c.First, Last: c.Last, Number: n, Unit: unit, P: 0.9}
	switch {
	case known && c.Last-c.First <= 1:
		return hemisphere(d, e), true
	case s.ordinalEnding(ending) && n >= 1 && n < 1000 && c.Last == c.First:
		e.Ordinal, e.P = true, 0.8
		return s.withUnit(d, readers, e), true
	}
	return Entity{}, false
}

// hemisphere makes southern latitudes and western longitudes negative.
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

// ordinalEnding reports whether a text is the ending of an ordinal such as 1st, 2nd, 3rd or 4th.
func (s *Scanner) ordinalEnding(ending string) bool {
	for _, t := range s.languages {
		for _, e := range t.num.Endings {
			if len(e) > 1 && e == ending {
				return true
			}
		}
	}
	return false
}
