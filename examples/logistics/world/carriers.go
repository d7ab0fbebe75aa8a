package world

import (
	"fmt"
	"slices"
	"strings"
)

// Carrier is a company that moves freight.
type Carrier struct {
	DOT       string `json:"dot"`
	Name      string `json:"name"`
	Region    string `json:"region"`
	Equipment string `json:"equipment"`
	Founded   int    `json:"founded"`
	// CentsPerMile is what a driver begins with.
	CentsPerMile int `json:"cents_per_mile"`
	// WeeklyMiles is what a driver drives in a usual week.
	WeeklyMiles int `json:"weekly_miles"`
	// HomeDays are the days at home in a month.
	HomeDays         int    `json:"home_days"`
	DetentionPerHour int    `json:"detention_per_hour"`
	OpenSeats        int    `json:"open_seats"`
	Rating           string `json:"rating"`
	Plan             string `json:"plan"`
	// Insurance, Permits: the days on which they end, by document.
	Documents []Document `json:"documents"`
	// Inspections of trucks at the roadside in 24 months, and the result of them.
	Inspections, VehicleOOS, DriverOOS, Violations, Crashes int
	Reviews                                                 []Review
	// JourneyDone are the steps of the journey on the platform that are behind it.
	JourneyDone int
}

// Document ends on a day.
type Document struct {
	Name string `json:"name"`
	Ends string `json:"ends"`
}

// Review is what a driver says of a carrier.
type Review struct {
	Stars int    `json:"stars"`
	About string `json:"about"`
	Text  string `json:"text"`
	Day   string `json:"day"`
}

// carrierNames are fixed, so that the manifest can name some.
func carrierNames() []string {
	return []string{
		"Blue Ridge Freight", "Cedar Line Transport", "Prairie Star Logistics", "Ironwood Haulage", "Harbor Point Carriers", "Red Mesa Trucking",
		"Northgate Express", "Silver Creek Lines", "Lone Pine Freight", "Summit Crest Transport", "Delta Bend Carriers", "Granite Pass Haulers",
		"Copper Valley Trucking", "Maple Run Logistics", "Great Basin Freight", "Tidewater Transport",
	}
}

// Equipment are the kinds of trailers.
func Equipment() []string { return []string{"dry van", "reefer", "flatbed", "tanker"} }

// Plans are what carriers pay for, with the price of a month in dollars.
func Plans() map[string]int { return map[string]int{"starter": 199, "pro": 599, "enterprise": 1490} }

// JourneySteps is the way of a carrier on the platform.
func JourneySteps() []string {
	return []string{
		"profile complete", "insurance uploaded", "first lane posted", "first driver matched", "first hire",
		"fleet connected", "benchmarks shared", "second campaign", "annual review",
	}
}

func (w *World) carriers(d dice) {
	regions := Regions()
	for i, name := range carrierNames() {
		// How well a carrier is run shows in everything about it.
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

// records are what the road inspections and the files say.
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

// FindCarrier finds a carrier by its DOT number, its name or the beginning of it.
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
				return nil, false // it fits several
			}
			found = c
		}
	}
	return found, found != nil
}

// Stars is the average of what drivers gave, 0 without reviews.
func (c *Carrier) Stars() float64 {
	sum := make([]float64, len(c.Reviews))
	for i, r := range c.Reviews {
		sum[i] = float64(r.Stars)
	}
	return Round1(Mean(sum))
}

// VehicleOOSRate is the share of inspected trucks that were taken off the road, in percent.
func (c *Carrier) VehicleOOSRate() float64 { return Share(c.VehicleOOS, c.Inspections) }

// DriverOOSRate is the share of inspected drivers that had to stop, in percent.
func (c *Carrier) DriverOOSRate() float64 { return Share(c.DriverOOS, c.Inspections) }

// WeeklyPay is what a driver who begins gets in a usual week, in dollars.
func (c *Carrier) WeeklyPay() int { return c.WeeklyMiles * c.CentsPerMile / 100 }

// Turnover is the share of the drivers who left in the last year, in percent.
func (w *World) Turnover(c *Carrier) float64 {
	left := 0
	for i := range w.Departures {
		if w.Departures[i].DOT == c.DOT {
			left++
		}
	}
	return Share(left, len(w.DriversOf(c.DOT)))
}

// Percentile is the share of carriers whose value is not higher, in percent.
func (w *World) Percentile(value float64, of func(*Carrier) float64) int {
	n := 0
	for i := range w.Carriers {
		if of(&w.Carriers[i]) <= value {
			n++
		}
	}
	return 100 * n / len(w.Carriers)
}

// Values returns one figure of each carrier.
func (w *World) Values(of func(*Carrier) float64) []float64 {
	out := make([]float64, len(w.Carriers))
	for i := range w.Carriers {
		out[i] = of(&w.Carriers[i])
	}
	return out
}

// CarriersOf are the carriers of a region, of all for "".
func (w *World) CarriersOf(region string) []*Carrier {
	var out []*Carrier
	for i := range w.Carriers {
		if c := &w.Carriers[i]; region == "" || c.Region == region {
			out = append(out, c)
		}
	}
	return out
}

// Expiring are documents that end within so many days, the first to end first.
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
