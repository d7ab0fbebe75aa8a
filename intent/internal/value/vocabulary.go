package value

import (
	"strconv"
	"strings"
	"time"
)

// vocabulary holds the words of numbers and units.
type vocabulary struct {
	small      map[string]float64
	large      map[string]float64
	half       map[string]bool
	units      map[string]string
	shortUnits map[string]string
	currencies map[string]bool
	money      map[string]string
	// measures are the signs of units as they are written, with the stem of their
	// English name.
	measures map[string]string
}

func (v *vocabulary) number(fold string) bool {
	_, small := v.small[fold]
	_, large := v.large[fold]
	return small || large
}

func newVocabulary() *vocabulary {
	v := &vocabulary{
		small: map[string]float64{}, half: map[string]bool{"half": true, "meio": true, "meia": true, "medio": true, "halben": true, "halber": true, "demi": true},
		large:      map[string]float64{"hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "dozen": 12, "mil": 1000, "milhoes": 1e6, "milhao": 1e6, "millones": 1e6, "tausend": 1000, "millionen": 1e6, "mille": 1000, "millions": 1e6},
		units:      map[string]string{},
		shortUnits: map[string]string{"h": "hour", "hr": "hour", "hrs": "hour", "m": "minute", "min": "minute", "mins": "minute", "d": "day", "w": "week", "s": "second", "sec": "second"},
		currencies: map[string]bool{}, money: moneyNames(), measures: measureSigns(),
	}
	for _, line := range numberWords() {
		for i, w := range strings.Fields(line.words) {
			v.small[w] = line.from + float64(i)*line.step
		}
	}
	for unit, words := range unitWords() {
		for w := range strings.FieldsSeq(words) {
			v.units[w] = unit
		}
	}
	for code := range strings.FieldsSeq("USD EUR GBP BRL CHF JPY CNY INR CAD AUD MXN ARS CLP SEK NOK DKK PLN SGD HKD NZD ZAR KRW RUB TRY THB CZK HUF ILS") {
		v.currencies[code] = true
	}
	return v
}

// measureSigns gives the signs of the common units. Those that are words or
// have a second meaning beside numbers, such as "in", "K" and "C", are left out.
func measureSigns() map[string]string {
	return map[string]string{
		"mm": "millimet", "cm": "centimet", "km": "kilomet", "ft": "feet", "mi": "mile", "yd": "yard",
		"mg": "milligram", "g": "gram", "kg": "kilogram", "lb": "pound", "lbs": "pound", "oz": "ounc",
		"ml": "millilit", "mL": "millilit", "L": "liter", "l": "liter", "ms": "millisecond",
		"mph": "mph", "kmh": "kmh", "km/h": "kmh", "m/s": "speed", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
		"W": "watt", "kW": "kilowatt", "MW": "megawatt", "kWh": "kilowatt", "V": "volt", "A": "amper", "mA": "milliamper",
		"°C": "celsius", "°F": "fahrenheit", "°": "degre", "J": "joul", "kJ": "kilojoul", "N": "newton", "Pa": "pascal", "kPa": "kilopasc",
		"KB": "kilobyt", "MB": "megabyt", "GB": "gigabyt", "TB": "terabyt", "px": "pixel", "bpm": "bpm", "BPM": "bpm", "kcal": "calori", "cal": "calori",
	}
}

// Measure gives the stem of the English name of a unit's sign, "" for others.
func (s *Scanner) Measure(sign string) string { return s.words.measures[sign] }

type numberLine struct {
	from, step float64
	words      string
}

// numberWords leaves out the word for one in languages where it is the article.
func numberWords() []numberLine {
	return []numberLine{
		{0, 1, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"},
		{20, 10, "twenty thirty forty fifty sixty seventy eighty ninety"},
		{2, 1, "dois tres quatro cinco seis sete oito nove dez"},
		{2, 1, "duas"},
		{3, 1, "tres cuatro cinco seis siete ocho nueve diez"},
		{2, 1, "zwei drei vier funf sechs sieben acht neun zehn"},
		{2, 1, "deux trois quatre cinq six"},
		{8, 1, "huit neuf dix"},
	}
}

func unitWords() map[string]string {
	return map[string]string{
		"second": "second seconds segundo segundos sekunde sekunden seconde secondes",
		"minute": "minute minutes minuto minutos minuten",
		"hour":   "hour hours hora horas stunde stunden heure heures",
		"day":    "day days dia dias tag tage tagen jour jours",
		"week":   "week weeks semana semanas woche wochen semaine semaines",
		"month":  "month months mes meses monat monate monaten mois",
		"year":   "year years ano anos jahr jahre jahren ans annee annees",
	}
}

// monthNames gives the full names, and the English abbreviations; those of
// other languages are words of their own too often.
func monthNames() map[string]time.Month {
	m := map[string]time.Month{}
	for _, line := range []string{
		"january february march april may june july august september october november december",
		"jan feb mar apr may jun jul aug sep oct nov dec",
		"janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"januar februar marz april mai juni juli august september oktober november dezember",
		"janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
	} {
		for i, w := range strings.Fields(line) {
			m[w] = time.Month(i + 1)
		}
	}
	m["sept"] = time.September
	return m
}

func weekdayNames() map[string]time.Weekday {
	m := map[string]time.Weekday{}
	for _, line := range []string{
		"sunday monday tuesday wednesday thursday friday saturday",
		"domingo lunes martes miercoles jueves viernes sabado",
		"sonntag montag dienstag mittwoch donnerstag freitag samstag",
		"dimanche lundi mardi mercredi jeudi vendredi samedi",
	} {
		for i, w := range strings.Fields(line) {
			m[w] = time.Weekday(i)
		}
	}
	return m
}

// dayOf reads a day of the month: 7, 7th, 1º.
func dayOf(fold string) (int, bool) {
	for _, ending := range []string{"st", "nd", "rd", "th", "o", "er"} {
		if d, ok := strings.CutSuffix(fold, ending); ok {
			fold = d
			break
		}
	}
	n, err := strconv.Atoi(fold)
	return n, err == nil && n >= 1 && n <= 31 && len(fold) <= 2
}

func yearOf(fold string) (int, bool) {
	n, err := strconv.Atoi(fold)
	return n, err == nil && len(fold) == 4 && n >= 1900 && n <= 2199
}
