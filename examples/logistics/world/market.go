package world

import (
	"strings"
	"time"
)

// Lane is a freight route.
type Lane struct {
	Origin      string  `json:"origin"`
	Destination string  `json:"destination"`
	Region      string  `json:"region"`
	Miles       int     `json:"miles"`
	LoadsWeekly int     `json:"loads_weekly"`
	RatePerMile float64 `json:"rate_per_mile"`
	// Conditions on the road today.
	Weather      string `json:"weather"`
	DelayMinutes int    `json:"delay_minutes"`
	Closure      string `json:"closure,omitempty"`
}

// Stop is a place where trucks rest and refuel.
type Stop struct {
	Name   string  `json:"name"`
	Region string  `json:"region"`
	Places int     `json:"places"`
	Free   int     `json:"free"`
	Diesel float64 `json:"diesel"`
}

// Month is one month of the market of a region.
type Month struct {
	Month    string  `json:"month"`
	Region   string  `json:"region"`
	SpotRate float64 `json:"spot_rate"`
	Diesel   float64 `json:"diesel"`
	Openings int     `json:"openings"`
}

// Regions returns the regions of the market.
func Regions() []string {
	return []string{"Southeast", "Midwest", "Northeast", "Southwest", "Mountain", "West Coast"}
}

func cities() map[string][]string {
	return map[string][]string{
		"Southeast": {"Atlanta", "Charlotte", "Savannah", "Nashville"}, "Midwest": {"Chicago", "Columbus", "St. Louis", "Omaha"},
		"Northeast": {"Albany", "Harrisburg", "Newark", "Hartford"}, "Southwest": {"Dallas", "Houston", "Phoenix", "Tulsa"},
		"Mountain": {"Denver", "Boise", "Salt Lake City", "Cheyenne"}, "West Coast": {"Los Angeles", "Fresno", "Portland", "Seattle"},
	}
}

func (w *World) market(d dice) {
	for i, region := range Regions() {
		towns := cities()[region]
		next := cities()[Regions()[(i+1)%len(Regions())]]
		for j, town := range towns {
			w.Lanes = append(w.Lanes, w.lane(d, town, towns[(j+1)%len(towns)], region, d.between(140, 520)), w.lane(d, town, pick(d, next), region, d.between(560, 1450)))
			for _, brand := range []string{"Travel Plaza", "Truck Stop"} {
				places := d.between(40, 180)
				w.Stops = append(w.Stops, Stop{town + " " + brand, region, places, d.IntN(places), Round2(d.about(3.8, 0.35))})
			}
		}
		w.months(d, region)
	}
}

func (w *World) lane(d dice, from, to, region string, miles int) Lane {
	l := Lane{
		Origin: from, Destination: to, Region: region, Miles: miles, LoadsWeekly: d.between(8, 90), RatePerMile: Round2(d.about(2.35, 0.6)),
		Weather: pick(d, []string{"clear", "clear", "rain", "fog", "snow", "wind"}),
	}
	if l.Weather != "clear" {
		l.DelayMinutes = d.between(10, 110)
	}
	if d.happens(0.1) {
		l.Closure, l.DelayMinutes = "one lane closed for work", l.DelayMinutes+d.between(20, 60)
	}
	return l
}

// months generates the last twelve months, each from the one before.
func (w *World) months(d dice, region string) {
	rate, diesel, openings := d.about(2.2, 0.3), d.about(3.7, 0.2), d.about(60, 20)
	first := time.Date(w.Today.Year(), w.Today.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, -11, 0)
	for m := range 12 {
		w.Months = append(w.Months, Month{first.AddDate(0, m, 0).Format("2006-01"), region, Round2(rate), Round2(diesel), int(openings)})
		rate, diesel, openings = rate+d.about(0.01, 0.08), diesel+d.about(0.005, 0.07), max(5, openings+d.about(0.5, 7))
	}
}

// MonthsOf returns the months of a region, oldest first.
func (w *World) MonthsOf(region string) []Month {
	var out []Month
	for _, m := range w.Months {
		if m.Region == region {
			out = append(out, m)
		}
	}
	return out
}

// LanesOf returns the lanes of a region, or all for "".
func (w *World) LanesOf(region string) []Lane {
	var out []Lane
	for _, l := range w.Lanes {
		if region == "" || l.Region == region {
			out = append(out, l)
		}
	}
	return out
}

// FindLane returns the lane between two towns, in either direction.
func (w *World) FindLane(from, to string) (Lane, bool) {
	for _, l := range w.Lanes {
		if strings.EqualFold(l.Origin, from) && strings.EqualFold(l.Destination, to) || strings.EqualFold(l.Origin, to) && strings.EqualFold(l.Destination, from) {
			return l, true
		}
	}
	return Lane{}, false
}
