package values

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
)

// Length is what units such as metres measure.
const Length = "length"

// unit is what one measures, and how many of the basic unit it is: 0 where it is not turned
// into others.
type unit struct {
	of     string
	factor float64
}

// units are by the stems of their names in all languages.
var units = sync.OnceValue(func() map[string]unit { //nolint:gochecknoglobals // read once, never changed
	out := map[string]unit{}
	for _, l := range lexicon.Shipped().Languages {
		prefixes := pairs(l.Numbers.Prefixes)
		for of, list := range l.Numbers.Measures {
			for word, factor := range pairs(list) {
				out[stem(word)] = unit{of, factor}
				if factor != 1 {
					continue
				}
				for prefix, times := range prefixes {
					out[stem(prefix+word)] = unit{of, times}
				}
			}
		}
	}
	return out
})

// sizes are the stems of words in names by what they say that a value measures. Of what two
// languages write alike, the first one counts.
var sizes = sync.OnceValue(func() map[string]string { //nolint:gochecknoglobals // read once, never changed
	out := map[string]string{}
	for _, l := range lexicon.Shipped().Languages {
		for _, of := range slices.Sorted(maps.Keys(l.Numbers.Sizes)) {
			for word := range strings.FieldsSeq(l.Numbers.Sizes[of]) {
				if _, known := out[stem(word)]; !known {
					out[stem(word)] = of
				}
			}
		}
	}
	return out
})

// pairs reads "kilo 1000 milli 0.001".
func pairs(list string) map[string]float64 {
	out := map[string]float64{}
	fields := strings.Fields(list)
	for i := 0; i+1 < len(fields); i += 2 {
		if v, err := strconv.ParseFloat(fields[i+1], 64); err == nil {
			out[fields[i]] = v
		}
	}
	return out
}

func stem(word string) string { return strings.Join(tokenize.Stems(word), " ") }

// UnitOf gives the unit that is turned into others among the stems of a description, "" where
// it names none or two that differ, and for a rate: "mg per kg" is neither.
func UnitOf(stems map[string]bool) string {
	found := ""
	if stems["per"] {
		return ""
	}
	for _, s := range slices.Sorted(maps.Keys(stems)) {
		u, ok := units()[s]
		switch {
		case !ok || u.factor == 0 || !stems[s]:
		case found != "" && units()[found] != u:
			return ""
		default:
			found = s
		}
	}
	return found
}

// DimensionOf gives what a unit measures, "" for one of which it is not known.
func DimensionOf(unit string) string {
	if IsTimeUnit(unit) {
		return ofTime
	}
	return units()[unit].of
}

// DimensionNamed tells by the last word of a name that is a size what it measures.
func DimensionNamed(words []string) string {
	for _, w := range slices.Backward(words) {
		if of := sizes()[w]; of != "" {
			return of
		}
	}
	return ""
}

// precision is how many parts of one are kept when a number is turned.
const precision = 1e9

// Convert gives a number of one unit as one of another: 30 cm are 0.3 metres.
func Convert(n float64, unit, into string) (float64, bool) {
	from, to := units()[unit], units()[into]
	if from.factor == 0 || to.factor == 0 || from.of != to.of || unit == into {
		return n, false
	}
	return math.Round(n*from.factor/to.factor*precision) / precision, true
}

// Convertible tells a unit that is another one, or is turned into it.
func Convertible(unit, into string) bool {
	_, turned := Convert(1, unit, into)
	return turned || unit == into
}
