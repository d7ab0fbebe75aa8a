package logistics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// drivers has the capabilities for drivers, about their own work.
type drivers struct{ *domain }

func (d drivers) register(svc *domainkit.Service) error {
	return errors.Join(
		add(svc, d.domain, "get_driver_dashboard", d.dashboard),
		add(svc, d.domain, "get_next_load", d.nextLoad),
		add(svc, d.domain, "get_road_conditions", d.roadConditions),
		add(svc, d.domain, "find_truck_stops", d.truckStops),
		add(svc, d.domain, "get_carrier_reviews", d.reviews),
		add(svc, d.domain, "list_mentors", d.mentors),
		add(svc, d.domain, "get_hours_of_service", d.hours),
		add(svc, d.domain, "list_my_documents", d.myDocuments),
		add(svc, d.domain, "check_carrier_safety", d.querySafety),
		add(svc, d.domain, "get_carrier_pay", d.carrierPay),
		add(svc, d.domain, "get_settlement", d.settlement),
		add(svc, d.domain, "list_my_applications", d.applications),
		write(svc, d.domain, "apply_to_carrier", d.apply),
		add(svc, d.domain, "plan_route", d.route),
		add(svc, d.domain, "estimate_detention_pay", d.detention),
	)
}

// dashboard is an overview of a driver's day.
type dashboard struct {
	Driver    string  `json:"driver"`
	Carrier   string  `json:"carrier"`
	HoursLeft float64 `json:"hours_left"`
	WeekMiles int     `json:"week_miles"`
	WeekPay   float64 `json:"week_pay"`
	Load      string  `json:"next_load"`
	OnTime    float64 `json:"on_time_percent"`
}

// Summary implements domainkit.Summarizer.
func (b dashboard) Summary() string {
	return fmt.Sprintf("%s, %s: %.1f hours left today, %d miles this week", b.Driver, b.Carrier, b.HoursLeft, b.WeekMiles)
}

func (d drivers) dashboard(call domainkit.Call, _ nothing) (dashboard, error) {
	dr := d.me(call)
	today, _ := dr.HoursLeft()
	out := dashboard{
		Driver: dr.Name, HoursLeft: today, WeekMiles: dr.WeekMiles[0], WeekPay: world.Round2(float64(dr.WeekMiles[0]*dr.CentsPerMile) / 100),
		OnTime: world.Share(dr.OnTime, dr.OnTime+dr.Late),
	}
	if c, ok := d.world.FindCarrier(dr.DOT); ok {
		out.Carrier = c.Name
	}
	if l, ok := d.world.NextLoad(dr.ID); ok {
		out.Load = l.ID
	}
	return out, nil
}

// load is the next load with its pay.
type load struct {
	world.Load
	Origin      string  `json:"origin"`
	Destination string  `json:"destination"`
	Miles       int     `json:"miles"`
	Pay         float64 `json:"pay"`
}

// Summary implements domainkit.Summarizer.
func (l load) Summary() string {
	return fmt.Sprintf("%s from %s to %s, %d miles, pickup in %d hours", l.ID, l.Origin, l.Destination, l.Miles, l.InHours)
}

func (d drivers) nextLoad(call domainkit.Call, _ nothing) (load, error) {
	dr := d.me(call)
	l, ok := d.world.NextLoad(dr.ID)
	if !ok {
		return load{}, domainkit.Refusef(contracts.ErrNotFound, "no load waits for %s", dr.Name)
	}
	lane := d.world.Lanes[l.Lane]
	return load{l, lane.Origin, lane.Destination, lane.Miles, world.Round2(float64(lane.Miles*dr.CentsPerMile) / 100)}, nil
}

func (d drivers) roadConditions(_ domainkit.Call, in ofRegion) (listing[world.Lane], error) {
	if err := d.open("road"); err != nil {
		return listing[world.Lane]{}, err
	}
	rows := slices.Clone(d.world.LanesOf(in.Region))
	slices.SortStableFunc(rows, func(a, b world.Lane) int { return cmp.Compare(b.DelayMinutes, a.DelayMinutes) })
	late := 0
	for _, l := range rows {
		if l.DelayMinutes > 30 {
			late++
		}
	}
	return listed(rows, fmt.Sprintf("%d of %d lanes are more than half an hour late", late, len(rows))), nil
}

func (d drivers) truckStops(_ domainkit.Call, in inRegion) (listing[world.Stop], error) {
	if err := d.open("road"); err != nil {
		return listing[world.Stop]{}, err
	}
	rows := slices.DeleteFunc(slices.Clone(d.world.Stops), func(s world.Stop) bool { return s.Region != in.Region })
	slices.SortStableFunc(rows, func(a, b world.Stop) int { return cmp.Compare(a.Diesel, b.Diesel) })
	return listed(rows, fmt.Sprintf("%d truck stops; the cheapest diesel is %.2f at %s", len(rows), rows[0].Diesel, rows[0].Name)), nil
}

// opinions are the drivers' reviews of a carrier.
type opinions struct {
	DOT     string         `json:"dot"`
	Name    string         `json:"name"`
	Stars   float64        `json:"stars"`
	Reviews int            `json:"reviews"`
	Blamed  string         `json:"blamed"`
	Newest  []world.Review `json:"newest"`
}

// Summary implements domainkit.Summarizer.
func (o opinions) Summary() string {
	return fmt.Sprintf("%s: %.1f stars of %d reviews, blamed most for %s", o.Name, o.Stars, o.Reviews, o.Blamed)
}

func (d drivers) reviews(_ domainkit.Call, in ofCarrier) (opinions, error) {
	c, err := d.carrier(in.Carrier)
	if err != nil {
		return opinions{}, err
	}
	newest := slices.Clone(c.Reviews)
	slices.SortStableFunc(newest, func(a, b world.Review) int { return strings.Compare(b.Day, a.Day) })
	blame := map[string]int{}
	out := opinions{DOT: c.DOT, Name: c.Name, Stars: c.Stars(), Reviews: len(c.Reviews), Blamed: "nothing", Newest: newest[:min(5, len(newest))]}
	for _, r := range newest {
		if r.Stars < 4 {
			blame[r.About]++
			if blame[r.About] > blame[out.Blamed] {
				out.Blamed = r.About
			}
		}
	}
	return out, nil
}

// mentor is a driver who helps others.
type mentor struct {
	Driver  string `json:"driver"`
	Name    string `json:"name"`
	Carrier string `json:"carrier"`
	Years   int    `json:"years"`
}

func (d drivers) mentors(_ domainkit.Call, in ofRegion) (listing[mentor], error) {
	var rows []mentor
	for _, dr := range d.world.DriversOf("") {
		if c, ok := d.world.FindCarrier(dr.DOT); ok && dr.Mentor && (in.Region == "" || dr.Region == in.Region) {
			rows = append(rows, mentor{dr.ID, dr.Name, c.Name, dr.Years})
		}
	}
	slices.SortStableFunc(rows, func(a, b mentor) int { return cmp.Compare(b.Years, a.Years) })
	return listed(rows, fmt.Sprintf("%d mentors", len(rows))), nil
}

// clock are the remaining hours of service.
type clock struct {
	Driver     string  `json:"driver"`
	Today      float64 `json:"hours_left_today"`
	Cycle      float64 `json:"hours_left_in_cycle"`
	UsedToday  float64 `json:"hours_used_today"`
	BreakAfter float64 `json:"break_needed_in_hours"`
}

// Summary implements domainkit.Summarizer.
func (c clock) Summary() string {
	return fmt.Sprintf("%.1f hours left today, %.1f in the cycle", c.Today, c.Cycle)
}

func (d drivers) hours(call domainkit.Call, _ nothing) (clock, error) {
	dr := d.me(call)
	today, cycle := dr.HoursLeft()
	used := dr.HoursDriven[0]
	return clock{dr.Name, today, cycle, used, world.Round1(max(0, 8-used))}, nil
}

// paper is a document with the days until it expires.
type paper struct {
	world.Document
	DaysLeft int `json:"days_left"`
}

func (d *domain) papers(documents []world.Document, days int) []paper {
	rows := []paper{}
	for _, doc := range d.world.Expiring(documents, days) {
		rows = append(rows, paper{doc, d.world.DaysUntil(doc.Ends)})
	}
	return rows
}

func (d drivers) myDocuments(call domainkit.Call, _ nothing) (listing[paper], error) {
	rows := d.papers(d.me(call).Documents, 100_000)
	return listed(rows, fmt.Sprintf("%d documents; the %s ends first, in %d days", len(rows), rows[0].Name, rows[0].DaysLeft)), nil
}

// pay is a carrier's offer to a new driver.
type pay struct {
	DOT       string  `json:"dot"`
	Name      string  `json:"name"`
	Cents     int     `json:"cents_per_mile"`
	Miles     int     `json:"weekly_miles"`
	Weekly    int     `json:"weekly_pay"`
	Home      int     `json:"home_days"`
	Detention int     `json:"detention_per_hour"`
	Usual     float64 `json:"usual_weekly_pay"`
	Trucks    int     `json:"trucks"`
}

// Summary implements domainkit.Summarizer.
func (p pay) Summary() string {
	return fmt.Sprintf("%s: %d cents a mile, about %d USD a week, %d days at home a month", p.Name, p.Cents, p.Weekly, p.Home)
}

func (d drivers) carrierPay(_ domainkit.Call, in ofCarrier) (pay, error) {
	c, err := d.carrier(in.Carrier)
	if err != nil {
		return pay{}, err
	}
	usual := world.Quantile(d.world.Values(func(c *world.Carrier) float64 { return float64(c.WeeklyPay()) }), 0.5)
	return pay{c.DOT, c.Name, c.CentsPerMile, c.WeeklyMiles, c.WeeklyPay(), c.HomeDays, c.DetentionPerHour, usual, len(d.world.TrucksOf(c.DOT))}, nil
}

// weekBack selects a week.
type weekBack struct {
	WeeksAgo int `json:"weeks_ago" description:"How many weeks ago; 0 is this week." min:"0" max:"5" default:"0"`
}

// settlement is the pay of a driver for a week.
type settlement struct {
	Driver    string  `json:"driver"`
	WeeksAgo  int     `json:"weeks_ago"`
	Miles     int     `json:"miles"`
	MilesPay  float64 `json:"miles_pay"`
	Detention float64 `json:"detention_pay"`
	Deducted  float64 `json:"deducted"`
	Net       float64 `json:"net"`
}

// Summary implements domainkit.Summarizer.
func (s settlement) Summary() string {
	return fmt.Sprintf("%s: %.2f USD for %d miles, %.2f after deductions", s.Driver, s.MilesPay, s.Miles, s.Net)
}

func (d drivers) settlement(call domainkit.Call, in weekBack) (settlement, error) {
	const deductedWeekly = 118.0 // insurance and escrow
	dr := d.me(call)
	s := settlement{Driver: dr.Name, WeeksAgo: in.WeeksAgo, Miles: dr.WeekMiles[in.WeeksAgo], Deducted: deductedWeekly}
	s.MilesPay = world.Round2(float64(s.Miles*dr.CentsPerMile) / 100)
	if c, ok := d.world.FindCarrier(dr.DOT); ok && in.WeeksAgo == 0 {
		s.Detention = float64(dr.Detention * c.DetentionPerHour)
	}
	s.Net = world.Round2(s.MilesPay + s.Detention - s.Deducted)
	return s, nil
}

func (d drivers) applications(call domainkit.Call, _ nothing) (listing[world.Change], error) {
	rows := slices.DeleteFunc(d.book.By("apply_to_carrier"), func(c world.Change) bool { return c.Of != d.me(call).ID })
	return listed(rows, fmt.Sprintf("%d applications", len(rows))), nil
}

func (d drivers) apply(call domainkit.Call, in ofCarrier) (world.Change, error) {
	c, err := d.carrier(in.Carrier)
	if err != nil {
		return world.Change{}, err
	}
	if c.OpenSeats == 0 {
		return world.Change{}, domainkit.Refusef(contracts.ErrPrecondition, "%s has no open seats", c.Name)
	}
	return d.note(call, d.me(call).ID, c.Name, ""), nil
}

// way are the ends of a route.
type way struct {
	From string `json:"from" description:"The town to begin in." min:"2" max:"60"`
	To   string `json:"to" description:"The town to go to." min:"2" max:"60"`
}

// route is the route between two towns.
type route struct {
	world.Lane
	DrivingHours float64 `json:"driving_hours"`
	Rests        int     `json:"rests"`
	Fits         bool    `json:"fits_todays_hours"`
}

// Summary implements domainkit.Summarizer.
func (r route) Summary() string {
	return fmt.Sprintf("%s to %s: %d miles, %.1f hours, %d rests", r.Origin, r.Destination, r.Miles, r.DrivingHours, r.Rests)
}

func (d drivers) route(call domainkit.Call, in way) (route, error) {
	const milesAnHour = 52.0
	lane, ok := d.world.FindLane(in.From, in.To)
	if !ok {
		return route{}, domainkit.Refusef(contracts.ErrNotFound, "no lane goes from %s to %s", in.From, in.To)
	}
	hours := world.Round1(float64(lane.Miles)/milesAnHour + float64(lane.DelayMinutes)/60)
	today, _ := d.me(call).HoursLeft()
	return route{lane, hours, int(hours / world.DailyLimit), hours <= today}, nil
}

// stay is the time at a dock.
type stay struct {
	Hours int `json:"hours" description:"How many hours at the dock, all in all." min:"1" max:"72"`
}

// detentionPay is the pay for a stay.
type detentionPay struct {
	Carrier string  `json:"carrier"`
	Paid    int     `json:"hours_paid"`
	PerHour int     `json:"per_hour"`
	Amount  float64 `json:"amount"`
}

// Summary implements domainkit.Summarizer.
func (p detentionPay) Summary() string {
	return fmt.Sprintf("%s pays %d hours at %d USD: %.2f", p.Carrier, p.Paid, p.PerHour, p.Amount)
}

func (d drivers) detention(call domainkit.Call, in stay) (detentionPay, error) {
	const free = 2 // the first hours are not paid
	c, ok := d.world.FindCarrier(d.me(call).DOT)
	if !ok {
		return detentionPay{}, domainkit.Refusef(contracts.ErrNotFound, "you drive for nobody")
	}
	paid := max(0, in.Hours-free)
	return detentionPay{c.Name, paid, c.DetentionPerHour, float64(paid * c.DetentionPerHour)}, nil
}
