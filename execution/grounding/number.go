package grounding

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode"
)

// number is a number of a text.
type number struct { //nolint:recvcheck // what reads it on needs a pointer
	// values are the possible readings: "1.234" is 1234 or 1.234.
	values []*big.Rat
	// decimals is the most decimal places of a reading.
	decimals int
	unit     string
	ordinal  bool
	// exact is set for a number with leading zeros, which must occur unchanged.
	exact string
}

// numberAt parses the number at a token, with its sign, unit and scale.
func numberAt(tokens []token, i int) number {
	t := tokens[i]
	n := number{}
	n.values, n.decimals = readNumber(t.text)
	if len(t.text) > 1 && t.text[0] == '0' && strings.Trim(t.text, "0123456789") == "" {
		n.exact = t.text
	}
	before, minus := i-1, negative(tokens, i-1)
	if minus {
		before--
	}
	if before >= 0 && near(tokens, before) && currency(unitOf(tokens[before].fold)) {
		n.unit = unitOf(tokens[before].fold)
		if before > 0 && tokens[before-1].end == tokens[before].start && unitOf(tokens[before-1].fold+tokens[before].fold) != "" {
			before--
			n.unit = unitOf(tokens[before].fold + "$")
		}
		minus = minus || negative(tokens, before-1)
	}
	if minus {
		for k, v := range n.values {
			n.values[k] = new(big.Rat).Neg(v)
		}
	}
	n.behind(tokens, i)
	return n
}

// near reports whether at most a space follows the token.
func near(tokens []token, i int) bool { return tokens[i+1].start-tokens[i].end <= 2 }

// negative reports whether the token is a minus sign: a dash directly before the number and not
// directly after another token.
func negative(tokens []token, i int) bool {
	if i < 0 {
		return false
	}
	t := tokens[i]
	switch {
	case slices.Contains([]string{"minus", "menos", "moins"}, t.fold):
		return true
	case t.text != "-" && t.text != "−" && t.text != "–":
		return false
	case tokens[i+1].start != t.end:
		return false
	}
	return i == 0 || tokens[i-1].end < t.start || tokens[i-1].text == "(" || currency(unitOf(tokens[i-1].fold))
}

// behind parses what follows a number: an ordinal suffix, a scale, a unit.
func (n *number) behind(tokens []token, i int) {
	at := func(k int) string {
		if k < len(tokens) && (tokens[k].kind == kindWord || tokens[k].kind == kindPunct) {
			return tokens[k].fold
		}
		return ""
	}
	next := i + 1
	if next < len(tokens) && tokens[next].start == tokens[i].end && ordinalEnding(at(next)) {
		n.ordinal = true
		return
	}
	if s := scaleOf(at(next)); s != 0 && (len(at(next)) > 1 || tokens[next].start == tokens[i].end) {
		for k, v := range n.values {
			n.values[k] = new(big.Rat).Mul(v, new(big.Rat).SetInt64(s))
		}
		if next++; slices.Contains([]string{"de", "of", "d'"}, at(next)) {
			next++
		}
	}
	if at(next) == "-" && next+1 < len(tokens) && tokens[next].start == tokens[next-1].end {
		next++
	}
	switch first, second := at(next), at(next+1); {
	case slices.Contains([]string{"por", "pour", "per"}, first) && slices.Contains([]string{"cento", "ciento", "cent"}, second):
		n.unit = percent
	case first == "us" && second == "$", first == "r" && second == "$":
		n.unit = unitOf(first + second)
	case first == "°" && (second == "c" || second == "f"):
		n.unit = unitOf(first + second)
	case unitOf(first) != "":
		n.unit = unitOf(first)
	}
}

// readNumber returns the possible readings of digits with points, commas and spaces.
func readNumber(text string) (values []*big.Rat, decimals int) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\'' || r == '’' {
			return -1
		}
		return r
	}, text)
	add := func(plain string) {
		if v, ok := new(big.Rat).SetString(plain); ok {
			values = append(values, v)
			if _, behind, ok := strings.Cut(plain, "."); ok {
				decimals = max(decimals, len(behind))
			}
		}
	}
	dots, commas := strings.Count(text, "."), strings.Count(text, ",")
	last := strings.LastIndexAny(text, ".,")
	switch {
	case last < 0:
		add(text)
	case dots > 0 && commas > 0: // the last one separates the fraction
		grouped := strings.NewReplacer(".", "", ",", "").Replace(text[:last])
		if strings.Count(text, text[last:last+1]) == 1 {
			add(grouped + "." + text[last+1:])
		}
	case dots+commas > 1:
		add(strings.NewReplacer(".", "", ",", "").Replace(text))
	default:
		whole, behind := text[:last], text[last+1:]
		if len(behind) == 3 && len(whole) <= 3 && whole[0] != '0' {
			add(whole + behind)
		}
		add(whole + "." + behind)
	}
	return values, decimals
}

func ordinalEnding(fold string) bool {
	return slices.Contains([]string{"st", "nd", "rd", "th", "º", "ª", "er", "ere", "eme", "o", "a"}, fold)
}

// scaleOf returns the factor that a word stands for, 0 for none.
func scaleOf(fold string) int64 {
	switch fold {
	case "k", "thousand", "tausend", "mil", "mille", "tsd":
		return 1_000
	case "million", "millions", "mio", "millionen", "milhao", "milhoes", "millon", "millones", "mn":
		return 1_000_000
	case "billion", "billions", "mrd", "milliarde", "milliarden", "bilhao", "bilhoes", "milliard", "milliards", "bn":
		return 1_000_000_000
	default:
		return 0
	}
}

// cardinals returns the numbers that are written as words. One is left out because it is also an
// article.
func cardinals() map[string]int64 {
	out := map[string]int64{}
	for _, line := range []string{
		"two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
		"zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn zwanzig",
		"dois tres quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito dezenove vinte",
		"dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte",
		"deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt",
		"- - - duas - - - - - - - - - - - - - - -",
	} {
		for i, word := range strings.Fields(line) {
			if _, taken := out[word]; !taken && word != "-" {
				out[word] = int64(i + 2)
			}
		}
	}
	out["duas"], out["once"] = 2, 11
	maps.Copy(out, map[string]int64{"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "dreissig": 30, "vierzig": 40, "funfzig": 50, "hundert": 100, "trinta": 30, "quarenta": 40, "cinquenta": 50, "cem": 100, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "cien": 100, "trente": 30, "quarante": 40, "cinquante": 50, "cent": 100})
	return out
}
