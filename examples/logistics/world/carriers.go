package world

import (
	"fmt"
	"slices"
	"strings"
)

// Carrier is a freight company.
type Carrier struct {
	DOT       string `json:"dot"`
	Name      string `json:"name"`
	Region    string `json:"region"`
	Equipment string `json:"equipment"`
	Founded   int    `json:"founded"`
	// CentsPerMile is the pay of a new driver.
	CentsPerMile int `json:"cents_per_mile"`
	// WeeklyMiles are the miles of a driver in a usual week.
	WeeklyMiles int `json:"weekly_miles"`
	// HomeDays are the days at home per month.
	HomeDays         int    `json:"home_days"`
	DetentionPerHour int    `json:"detention_per_hour"`
	OpenSeats        int    `json:"open_seats"`
	Rating           string `json:"rating"`
	Plan             string `json:"plan"`
	// Documents such as insurance and permits, with their expiry dates.
	Documents []Document `json:"documents"`
	// Results of roadside inspections in 24 months.
	Inspections, VehicleOOS, DriverOOS, Violations, Crashes int
	Reviews                                                 []Review
	// JourneyDone is the number of completed onboarding steps.
	JourneyDone int
}

// Document is a document with an expiry date.
type Document struct {
	Name string `json:"name"`
	Ends string `json:"ends"`
}

// Review is a driver's review of a carrier.
type Review struct {
	Stars int    `json:"stars"`
	About string `json:"about"`
	Text  string `json:"text"`
	Day   string `json:"day"`
}

// carrierNames returns fixed names, so that the manifest can use some.
func carrierNames() []string {
	return []string{
		"Blue Ridge Freight", "Cedar Line Transport", "Prairie Star Logistics", "Ironwood Haulage", "Harbor Point Carriers", "Red Mesa Trucking",
		"Northgate Express", "Silver Creek Lines", "Lone Pine Freight", "Summit Crest Transport", "Delta Bend Carriers", "Granite Pass Haulers",
		"Copper Valley Trucking", "Maple Run Logistics", "Great Basin Freight", "Tidewater Transport",
	}
}

// Equipment returns the kinds of trailers.
func Equipment() []string { return []string{"dry van", "reefer", "flatbed", "tanker"} }

// Plans returns the subscription plans with their monthly price in US dollars.
func Plans() map[string]int { return map[string]int{"starter": 199, "pro": 599, "enterprise": 1490} }

// JourneySteps returns the onboarding steps of a carrier.
func JourneySteps() []string {
	return []string{
		"profile complete", "insurance uploaded", "first lane posted", "first driver matched", "first hire",
		"fleet connected", "benchmarks shared", "second campaign", "annual review",
	}
}

func (w *World) carriers(d dice) {
	regions := Regions()
	for i, name := range carrierNames() {
		// The quality of the management affects all figures of a carrier.
		quality := d.Float64()
		c := Carrier{
			DOT: fmt.Sprint(1_204_511 + i*31_337 + d.IntN(9_000)), Name: name, Region: regions[i%len(regions)],
			Equipment: pick(d, Equipment()), Founded: d.between(1978, 2019),
			CentsPerMile: int(d.about(50+16*quality, 5)), WeeklyMiles: int(d.about(2_350, 350)), HomeDays: int(d.about(6+5*quality, 2)),
			DetentionPerHour: 10 + 5*d.IntN(5), OpenSeats: d.between(2, 14),
			Plan: pick(d, []string{"starter", "pro", "pro", "enterprise"}), JourneyDone: d.between(3, len(JourneySteps())),
		}
		w.records(d, &c, quality)
		w.reviews(d, &c, quality)
		w.Carriers = append(w.Carriers, c)
	}
}

// records generates the inspections and documents.
func (w *World) records(d dice, c *Carrier, quality float64) {
	c.Inspections = d.between(40, 180)
	for range c.Inspections {
		if d.happens(0.34 - 0.2*quality) {
			c.VehicleOOS++
		}
		if d.happens(0.10 - 0.07*quality) {
			c.DriverOOS++
		}
		if d.happens(0.55 - 0.3*quality) {
			c.Violations++
		}
	}
	c.Crashes = int(d.about(5-4*quality, 1.5))
	c.Rating = "satisfactory"
	if float64(c.VehicleOOS)/float64(c.Inspections) > 0.27 {
		c.Rating = "conditional"
	}
	for _, name := range []string{"liability insurance", "cargo insurance", "IFTA licence", "UCR registration", "operating authority"} {
		c.Documents = append(c.Documents, Document{name, w.Day(d.between(-5, 320))})
	}
}

func (w *World) reviews(d dice, c *Carrier, quality float64) {
	praise := map[string]string{
		"pay": "settlements are right and on time", "home time": "they get me home when they say", "equipment": "the trucks are new and kept well",
		"dispatch": "dispatch listens and plans ahead", "detention": "detention is paid without asking",
	}
	blame := map[string]string{
		"pay": "miles are short of what was promised", "home time": "home time slips every month", "equipment": "too many breakdowns on old tractors",
		"dispatch": "dispatch changes loads at the last minute", "detention": "hours at the dock go unpaid",
	}
	topics := []string{"pay", "home time", "equipment", "dispatch", "detention"}
	for range d.between(6, 18) {
		stars := max(1, min(5, int(d.about(2+3*quality, 1.6)+0.5)))
		about := pick(d, topics)
		text := praise[about]
		if stars < 4 {
			text = blame[about]
		}
		c.Reviews = append(c.Reviews, Review{stars, about, text, w.Day(-d.between(3, 700))})
	}
}

// FindCarrier returns a carrier by its DOT number, its name or a unique prefix of it.
func (w *World) FindCarrier(query string) (*Carrier, bool) {
	query = Fold(query)
	if query == "" {
		return nil, false
	}
	var found *Carrier
	for i := range w.Carriers {
		c := &w.Carriers[i]
		if c.DOT == query || Fold(c.Name) == query {
			return c, true
		}
		if strings.HasPrefix(Fold(c.Name), query) {
			if found != nil {
				return nil, false // ambiguous
			}
			found = c
		}
	}
	return found, found != nil
}

// Stars returns the average rating, or 0 without reviews.
func (c *Carrier) Stars() float64 {
	sum := make([]float64, len(c.Reviews))
	for i, r := range c.Reviews {
		sum[i] = float64(r.Stars)
	}
	return Round1(Mean(sum))
}

// VehicleOOSRate returns the percentage of inspected trucks that were put out of service.
func (c *Carrier) VehicleOOSRate() float64 { return Share(c.VehicleOOS, c.Inspections) }

// DriverOOSRate returns the percentage of inspected drivers who were put out of service.
func (c *Carrier) DriverOOSRate() float64 { return Share(c.DriverOOS, c.Inspections) }

// WeeklyPay returns the pay of a new driver in a usual week, in US dollars.
func (c *Carrier) WeeklyPay() int { return c.WeeklyMiles * c.CentsPerMile / 100 }

// Turnover returns the percentage of drivers who left in the last year.
func (w *World) Turnover(c *Carrier) float64 {
	left := 0
	for i := range w.Departures {
		if w.Departures[i].DOT == c.DOT {
			left++
		}
	}
	return Share(left, len(w.DriversOf(c.DOT)))
}

// Percentile returns the percentage of carriers whose value is not higher.
func (w *World) Percentile(value float64, of func(*Carrier) float64) int {
	n := 0
	for i := range w.Carriers {
		if of(&w.Carriers[i]) <= value {
			n++
		}
	}
	return 100 * n / len(w.Carriers)
}

// Values returns one figure for each carrier.
func (w *World) Values(of func(*Carrier) float64) []float64 {
	out := make([]float64, len(w.Carriers))
	for i := range w.Carriers {
		out[i] = of(&w.Carriers[i])
	}
	return out
}

// CarriersOf returns the carriers of a region, or all for "".
func (w *World) CarriersOf(region string) []*Carrier {
	var out []*Carrier
	for i := range w.Carriers {
		if c := &w.Carriers[i]; region == "" || c.Region == region {
			out = append(out, c)
		}
	}
	return out
}

// Expiring returns the documents that expire within a number of days, earliest first.
func (w *World) Expiring(documents []Document, within int) []Document {
	var out []Document
	for _, doc := range documents {
		if w.DaysUntil(doc.Ends) <= within {
			out = append(out, doc)
		}
	}
	slices.SortStableFunc(out, func(a, b Document) int { return strings.Compare(a.Ends, b.Ends) })
	return out
}
