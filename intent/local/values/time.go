package values

import (
	"slices"
	"strings"
)

// ofTime is the dimension of units of time.
const ofTime = "time"

// IsTimeUnit reports whether a unit is a unit of time.
func IsTimeUnit(unit string) bool {
	return slices.Contains([]string{"second", "minute", "hour", "day", "week", "month", "year"}, unit)
}

// TimeUnitOf returns the unit of time in a name, or else the only one in a description, and the
// number of units found.
func TimeUnitOf(words []string, desc map[string]bool) (unit string, named int) {
	stems := []string{"second", "minut", "hour", "day", "week", "month", "year"}
	for _, stem := range stems {
		if slices.Contains(words, stem) {
			return strings.Replace(stem, "minut", "minute", 1), 1
		}
	}
	if slices.Contains(words, "night") {
		return "day", 1
	}
	for _, stem := range stems {
		if desc[stem] {
			unit, named = strings.Replace(stem, "minut", "minute", 1), named+1
		}
	}
	if named > 1 {
		return "", named // ambiguous: "in minutes, an hour is 60"
	}
	return unit, named
}

// TimeUnitsPer returns how many of one unit of time another one has, if that is unambiguous: a
// week has seven nights, but the number of working days is unknown.
func TimeUnitsPer(unit, of string, nights bool) (float64, bool) {
	if of == "day" {
		return 7, unit == "week" && nights
	}
	n, ok := map[[2]string]float64{{"minute", "second"}: 60, {"hour", "second"}: 3600, {"hour", "minute"}: 60, {"day", "hour"}: 24}[[2]string{unit, of}]
	return n, ok
}
