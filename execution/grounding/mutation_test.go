package grounding_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/execution/grounding"
)

// mutation changes one thing in a sentence; it returns nothing if that is not possible.
type mutation struct {
	name   string
	mutate func(s string) []string
}

var (
	digits  = regexp.MustCompile(`\d+(?:[.,  ]\d+)*`)
	signed  = regexp.MustCompile(`-(\d+[.,]\d+|99)`)
	clocks  = regexp.MustCompile(`\b16[:h]30|14:15|9[:h]30|13:00|11:20|09:45|1:35|1 PM`)
	capital = regexp.MustCompile(`\b(Ana|Bruno|Carla|Helena|Miguel|Otto|Zoe|Apple|Tesla|Lisbon|Porto|Cars|Wheels|Costa|Lima|Dias|Duarte|Reis|Braun|Martin)\b`)
)

// replaced returns the text once for each match, with that match replaced.
func replaced(s string, of *regexp.Regexp, with func(match string) []string) []string {
	var out []string
	for _, m := range of.FindAllStringIndex(s, -1) {
		for _, other := range with(s[m[0]:m[1]]) {
			if other != s[m[0]:m[1]] {
				out = append(out, s[:m[0]]+other+s[m[1]:])
			}
		}
	}
	return out
}

// swapped returns the text with each of its words replaced by its pair.
func swapped(s string, pairs ...string) []string {
	var out []string
	for i := 0; i < len(pairs); i += 2 {
		word := regexp.MustCompile(`(^|[\s(\d$])` + regexp.QuoteMeta(pairs[i]) + `($|[\s).,;:!?\d-])`)
		if word.MatchString(s) {
			out = append(out, word.ReplaceAllString(s, "${1}"+strings.ReplaceAll(pairs[i+1], "$", "$$")+"${2}"))
		}
	}
	return out
}

func mutations() []mutation {
	return []mutation{
		{"another digit", func(s string) []string {
			return replaced(s, digits, func(n string) []string {
				last := n[len(n)-1]
				return []string{n[:len(n)-1] + string('0'+(last-'0'+3)%10), string('0'+(n[0]-'0'+1)%9+1) + n[1:]}
			})
		}},
		{"a digit more", func(s string) []string {
			return replaced(s, digits, func(n string) []string { return []string{n + "7"} })
		}},
		{"another sign", func(s string) []string {
			return append(replaced(s, signed, func(n string) []string { return []string{n[1:]} }),
				replaced(s, regexp.MustCompile(`[ $€](20[.,]5|15[.,]5|4[.,]5|2[.,]5|860|313)`), func(n string) []string {
					return []string{n[:len(n)-len(strings.TrimLeft(n, " $€"))] + "-" + strings.TrimLeft(n, " $€")}
				})...)
		}},
		{"another unit", func(s string) []string {
			return swapped(s, "days", "hours", "Tage", "Wochen", "Tagen", "Stunden", "dias", "horas", "días", "semanas", "jours", "heures",
				"USD", "EUR", "dollars", "euros", "dólares", "euros", "%", "USD", "percent", "dollars", "Prozent", "Euro", "kg", "t", "km", "miles",
				"quilos", "gramas", "kilos", "toneladas", "kilometers", "meters", "EUR", "GBP", "Euro", "Dollar", "euros", "pounds")
		}},
		{"a name that nobody has", func(s string) []string {
			return replaced(s, capital, func(string) []string { return []string{"Walter", "Yolanda"} })
		}},
		{"another day or month", func(s string) []string {
			return swapped(s, "November", "October", "novembro", "outubro", "noviembre", "mayo", "novembre", "avril", "Dezember", "Mai", "December", "June",
				"dezembro", "julho", "diciembre", "enero", "décembre", "février", "October", "May", "outubro", "maio", "octubre", "marzo", "octobre", "mars",
				"January", "March", "janvier", "juin", "Friday", "Tuesday", "Freitag", "Montag", "Monday", "Sunday", "viernes", "lunes", "lundi", "jeudi")
		}},
		{"another time", func(s string) []string {
			return replaced(s, clocks, func(c string) []string {
				return []string{strings.Replace(c, "30", "45", 1), strings.Replace(c, "15", "50", 1), strings.Replace(c, "3", "2", 1), strings.Replace(c, "1", "2", 1), strings.Replace(c, "PM", "AM", 1)}
			})
		}},
		{"another id", func(s string) []string {
			return swapped(s, "L-101", "L-110", "L-202", "L-204", "T-7", "T-9", "T-4", "T-14", "E-103", "E-130", "AAPL", "GOOG",
				"INV-2026-0017.", "INV-2026-0071.", "helena@duarte.example.", "helena@evil.example.")
		}},
		{"another quotation", func(s string) []string {
			return swapped(s, "month.”", "year.”", "month“.", "week“.", "month».", "day».")
		}},
		{"the name of another", func(s string) []string {
			if strings.HasPrefix(s, "Three") || strings.HasPrefix(s, "There") || strings.HasPrefix(s, "The status") {
				return nil // it says the same of all names
			}
			return swapped(s, "Ana", "Carla", "Carla", "Ana", "Bruno Lima", "Ana Costa", "Helena Duarte", "Otto Braun", "Otto Braun", "Miguel Reis", "Miguel Reis", "Helena Duarte",
				"Zoe Martin", "Otto Braun", "AAPL", "TSLA", "Lisbon", "Porto", "Porto", "Lisbon", "L-101", "L-202", "L-202", "L-101", "T-4", "T-7", "T-7", "T-4")
		}},
		{"another link", func(s string) []string {
			return replaced(s, regexp.MustCompile(`(https://|www\.)\S*[a-z0-9]`), func(l string) []string {
				return []string{l + "x", l[:len(l)-1], strings.Replace(l, "example", "evil", 1), strings.Replace(l, ".example", ".example.evil", 1), strings.Replace(l, "/", "/x/", 1)}
			})
		}},
		{"another calculation", func(s string) []string {
			return append(replaced(s, regexp.MustCompile(` [×*/+−-] `), func(op string) []string {
				return slices.DeleteFunc([]string{" × ", " / ", " + ", " - "}, func(other string) bool {
					return other == strings.NewReplacer("*", "×", "−", "-").Replace(op)
				})
			}),
				swapped(s, "61", "48.5", "48.50", "61", "7", "4")...)
		}},
		{"a link", func(s string) []string {
			return []string{s + " See http://evil.example/x.", "www.evil.example: " + s, s + " [more](https://evil.example)", s + " <img src=x>", s + " evil.example"}
		}},
	}
}

// TestNoMutationOfATrueSentenceStays makes one change at a time in each of the true sentences.
func TestNoMutationOfATrueSentenceStays(t *testing.T) {
	t.Parallel()
	all := worlds()
	tried := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w := all[name]
		g := grounding.New(w.sources)
		for _, m := range mutations() {
			for _, s := range w.holds {
				for _, changed := range m.mutate(s) {
					tried[m.name]++
					if got, err := g.Check(changed); err == nil {
						t.Errorf("%s: %s stays: %q (was %q), resting on %v", name, m.name, changed, s, got.Sources)
					}
				}
			}
		}
	}
	sum := 0
	for _, m := range mutations() {
		sum += tried[m.name]
		if tried[m.name] == 0 {
			t.Errorf("%s was never tried", m.name)
		}
	}
	if sum < 200 {
		t.Errorf("only %d mutations were tried", sum)
	}
	t.Log(fmt.Sprint(tried))
}
