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

// Length is the dimension of units such as metres.
const Length = "length"

// unit is a unit with its dimension and its factor to the base unit; 0 if it is not converted.
type unit struct {
	of     string
	factor float64
}

// units holds the units of all languages by the stems of their names.
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

// sizes holds the dimensions by the stems of size words in names, such as "height". On a conflict
// the first language wins.
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

// pairs parses "kilo 1000 milli 0.001".
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

// UnitOf returns the convertible unit among the stems of a description. It returns "" if there is
// none, if two differ, or for a rate such as "mg per kg".
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

// DimensionOf returns the dimension of a unit, or "".
func DimensionOf(unit string) string {
	if IsTimeUnit(unit) {
		return ofTime
	}
	return units()[unit].of
}

// DimensionNamed returns the dimension of the last size word of a name, or "".
func DimensionNamed(words []string) string {
	for _, w := range slices.Backward(words) {
		if of := sizes()[w]; of != "" {
			return of
		}
	}
	return ""
}

// precision is the inverse of the rounding unit of a conversion.
const precision = 1e9

// Convert converts a number to another unit: 30 cm are 0.3 metres.
func Convert(n float64, unit, into string) (float64, bool) {
	from, to := units()[unit], units()[into]
	if from.factor == 0 || to.factor == 0 || from.of != to.of || unit == into {
		return n, false
	}
	return math.Round(n*from.factor/to.factor*precision) / precision, true
}

// Convertible reports whether two units are equal or can be converted.
func Convertible(unit, into string) bool {
	_, turned := Convert(1, unit, into)
	return turned || unit == into
}
