package values

import (
	"strings"
	"time"
)

// noTime disables the reading of relative dates.
var noTime time.Time //nolint:gochecknoglobals // the zero time, never changed

// currencyCodes returns the ISO 4217 codes that are recognised beside numbers.
func currencyCodes() map[string]bool {
	out := map[string]bool{}
	for code := range strings.FieldsSeq("USD EUR GBP BRL CHF JPY CNY INR CAD AUD MXN ARS CLP SEK NOK DKK PLN SGD HKD NZD ZAR KRW RUB TRY THB CZK HUF ILS") {
		out[code] = true
	}
	return out
}

type currencySign struct{ sign, code string }

// currencySigns returns the currency symbols, the longest first. An ambiguous symbol has no code.
func currencySigns() []currencySign {
	return []currencySign{{"US$", "USD"}, {"R$", "BRL"}, {"$", ""}, {"€", "EUR"}, {"£", "GBP"}, {"¥", ""}, {"₹", "INR"}}
}

// measureSigns returns the symbols of common units. Symbols that are words or ambiguous beside
// numbers, such as "in", "K" and "C", are left out.
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

// Measure returns the stem of the English name of a unit symbol, or "".
func (s *Scanner) Measure(sign string) string { return s.measures[sign] }
