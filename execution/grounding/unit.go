package grounding

import (
	"slices"
	"strings"
	"unicode"
)

const percent = "%"

// unitTable has the spellings of units in the languages of answers. Each line begins with the
// canonical name.
const unitTable = `
% percent pct prozent porcento procent pourcent
pp prozentpunkt prozentpunkte prozentpunkten
usd $ us$ dollar dollars dolar dolares
eur € euro euros
gbp £ pound pounds pfund libra libras livre livres
brl r$ real reais reales
jpy ¥ yen
chf franken
aud
cad
cny
inr
mxn
sek
nok
dkk
pln
czk
ms millisecond milliseconds millisekunden
second s sec secs seconds sekunde sekunden segundo segundos seconde secondes
minute min mins minutes minuten minuto minutos
hour h hr hrs hours stunde stunden std hora horas heure heures
day d days tag tage tagen tages dia dias jour jours journee journees
week weeks woche wochen semana semanas semaine semaines
month months monat monate monaten mes meses mois
year years jahr jahre jahren ano anos an ans annee annees
mm millimeter millimetre
cm centimeter centimetre zentimeter
m meter meters metre metres metern metro metros
km kilometer kilometers kilometre kilometres kilometern quilometro quilometros kilometro kilometros
mi mile miles meile meilen milha milhas milla millas
ft foot feet
g gram grams gramm grama gramas gramo gramos gramme grammes
kg kilo kilos kilogram kilograms kilogramm kilogramme quilo quilos
t ton tons tonne tonnes tonnen tonelada toneladas
lb lbs
l liter liters litre litres litern litro litros
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
kwh
°c celsius
°f fahrenheit
`

var units = func() map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(unitTable), "\n") {
		spellings := strings.Fields(line)
		for _, s := range spellings {
			out[s] = spellings[0]
		}
	}
	return out
}()

// unitOf returns the canonical unit of a folded word or sign, "" for none.
func unitOf(fold string) string { return units[strings.TrimSuffix(fold, ".")] }

// ambiguousUnit reports whether a spelling has another meaning if no number is before it.
func ambiguousUnit(fold string) bool {
	return slices.Contains([]string{"second", "segundo", "seconde", "mes", "real", "reais", "ton", "livre", "livres", "libra", "libras", "std", "foot", "min"}, fold)
}

func currency(unit string) bool {
	return slices.Contains([]string{"usd", "eur", "gbp", "brl", "jpy", "chf", "aud", "cad", "cny", "inr", "mxn", "sek", "nok", "dkk", "pln", "czk"}, unit)
}

// keyUnits returns the units in the name of a fact: days_left, priceEUR. Parts with another meaning
// in names, such as min, are ignored.
func keyUnits(key string) []string {
	var out []string
	for _, part := range keyWords(key) {
		if u := unitOf(part); u != "" && len(part) > 1 && part != "min" && part != "real" && part != "second" && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

// namesUnit reports whether a fact declares the unit of the facts beside it.
func namesUnit(key string) bool {
	return slices.ContainsFunc(keyWords(key), func(part string) bool {
		return slices.Contains([]string{"currency", "unit", "units", "uom"}, part)
	})
}

// keyWords returns the folded words of a key.
func keyWords(key string) []string {
	var b strings.Builder
	var last rune
	for _, r := range key {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '%' {
			r = ' '
		}
		b.WriteRune(r)
		last = r
	}
	return strings.Fields(fold(b.String()))
}
