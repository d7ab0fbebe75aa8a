package values

import (
	"slices"
	"strings"
)

// ofTime is what units of time measure.
const ofTime = "time"

// IsTimeUnit tells the units of time.
func IsTimeUnit(unit string) bool {
	return slices.Contains([]string{"second", "minute", "hour", "day", "week", "month", "year"}, unit)
}

// TimeUnitOf gives the unit of time that a name says, or the only one that a description does,
// and how many they name.
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
		return "", named // "in minutes, an hour is 60"
	}
	return unit, named
}

// TimeUnitsPer is how many of a unit of time one of another is, where that is in no doubt: a week
// has seven nights, but of working days nobody knows.
func TimeUnitsPer(unit, of string, nights bool) (float64, bool) {
	if of == "day" {
		return 7, unit == "week" && nights
	}
	n, ok := map[[2]string]float64{{"minute", "second"}: 60, {"hour", "second"}: 3600, {"hour", "minute"}: 60, {"day", "hour"}: 24}[[2]string{unit, of}]
	return n, ok
}
