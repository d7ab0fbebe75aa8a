package logistics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// everybody has the capabilities for several roles.
type everybody struct{ *domain }

func (d everybody) register(svc *domainkit.Service) error {
	return errors.Join(
		add(svc, d.domain, "get_platform_benchmarks", d.benchmarks),
		add(svc, d.domain, "get_industry_trends", d.trends),
		add(svc, d.domain, "get_regional_analysis", d.regional),
		add(svc, d.domain, "get_fuel_cost_forecast", d.fuelForecast),
		add(svc, d.domain, "estimate_operating_costs", d.operatingCosts),
		add(svc, d.domain, "get_lifecycle_summary", d.lifecycle),
		add(svc, d.domain, "get_carrier_turnover", d.turnover),
		add(svc, d.domain, "get_api_health", d.apiHealth),
		add(svc, d.domain, "query_safety_api", d.querySafety),
		add(svc, d.domain, "query_intel_api", d.queryIntel),
		add(svc, d.domain, "get_media_pipeline", d.mediaPipeline),
		add(svc, d.domain, "get_cost_per_hire", d.costPerHire),
	)
}

// benchmark is the distribution of a figure over all carriers.
type benchmark struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Low    float64 `json:"low_quarter"`
	Median float64 `json:"median"`
	High   float64 `json:"high_quarter"`
	// Better says whether high or low is good.
	Better string `json:"better"`
}

// metric is a figure by which carriers are compared.
type metric struct {
	name, unit, better string
	of                 func(*world.Carrier) float64
}

func (d everybody) metrics() []metric {
	return []metric{
		{"weekly pay", "USD", "high", func(c *world.Carrier) float64 { return float64(c.WeeklyPay()) }},
		{"home days a month", "days", "high", func(c *world.Carrier) float64 { return float64(c.HomeDays) }},
		{"driver turnover a year", "%", "low", d.world.Turnover},
		{"vehicles out of service", "%", "low", (*world.Carrier).VehicleOOSRate},
		{"drivers out of service", "%", "low", (*world.Carrier).DriverOOSRate},
		{"stars of drivers", "stars", "high", (*world.Carrier).Stars},
	}
}

func (d everybody) benchmarks(_ domainkit.Call, _ nothing) (listing[benchmark], error) {
	if err := d.open("market"); err != nil {
		return listing[benchmark]{}, err
	}
	var rows []benchmark
	for _, m := range d.metrics() {
		values := d.world.Values(m.of)
		rows = append(rows, benchmark{
			m.name, m.unit, world.Round1(world.Quantile(values, 0.25)), world.Round1(world.Quantile(values, 0.5)), world.Round1(world.Quantile(values, 0.75)), m.better,
		})
	}
	return listed(rows, fmt.Sprintf("%d benchmarks over %d carriers", len(rows), len(d.world.Carriers))), nil
}

// trend is the change of the market of a region in a year.
type trend struct {
	Region       string  `json:"region"`
	SpotRate     float64 `json:"spot_rate"`
	RateChange   float64 `json:"rate_change_percent"`
	Diesel       float64 `json:"diesel"`
	DieselChange float64 `json:"diesel_change_percent"`
	Openings     int     `json:"openings"`
}

func (d everybody) trends(_ domainkit.Call, in ofRegion) (listing[trend], error) {
	if err := d.open("market"); err != nil {
		return listing[trend]{}, err
	}
	var rows []trend
	for _, region := range world.Regions() {
		if in.Region != "" && in.Region != region {
			continue
		}
		months := d.world.MonthsOf(region)
		first, last := months[0], months[len(months)-1]
		rows = append(rows, trend{
			region, last.SpotRate, growth(first.SpotRate, last.SpotRate), last.Diesel, growth(first.Diesel, last.Diesel), last.Openings,
		})
	}
	return listed(rows, fmt.Sprintf("spot rates in %s: %+.1f %% in a year", rows[0].Region, rows[0].RateChange)), nil
}

func growth(from, to float64) float64 { return world.Round1(100 * (to - from) / from) }

// regionState describes recruiting in a region.
type regionState struct {
	Region     string  `json:"region"`
	Candidates int     `json:"candidates"`
	OpenSeats  int     `json:"open_seats"`
	PerSeat    float64 `json:"candidates_per_seat"`
	// Wanted and Offered are medians, in cents per mile.
	Wanted  float64 `json:"wanted_cents_per_mile"`
	Offered float64 `json:"offered_cents_per_mile"`
	Market  string  `json:"market"`
}

func (d everybody) regional(_ domainkit.Call, in ofRegion) (listing[regionState], error) {
	if err := d.open("market"); err != nil {
		return listing[regionState]{}, err
	}
	var rows []regionState
	for _, region := range world.Regions() {
		if in.Region == "" || in.Region == region {
			rows = append(rows, d.region(region))
		}
	}
	return listed(rows, fmt.Sprintf("%s: %.1f candidates for each open seat; the market is %s", rows[0].Region, rows[0].PerSeat, rows[0].Market)), nil
}

func (d *domain) region(region string) regionState {
	s := regionState{Region: region}
	var wanted, offered []float64
	for i := range d.world.Candidates {
		if c := &d.world.Candidates[i]; c.Region == region && available(d.stage(c)) {
			s.Candidates++
			wanted = append(wanted, float64(c.Wants))
		}
	}
	for _, c := range d.world.CarriersOf(region) {
		s.OpenSeats += c.OpenSeats
		offered = append(offered, float64(c.CentsPerMile))
	}
	s.PerSeat = world.Round1(float64(s.Candidates) / float64(max(1, s.OpenSeats)))
	s.Wanted, s.Offered = world.Quantile(wanted, 0.5), world.Quantile(offered, 0.5)
	switch {
	case s.PerSeat < 1:
		s.Market = "tight"
	case s.PerSeat < 2:
		s.Market = "balanced"
	default:
		s.Market = "easy"
	}
	return s
}

// available reports whether a candidate in a stage can be hired.
func available(stage string) bool {
	return stage != "hired" && stage != "lost" && stage != "onboarding"
}

// fuel is the price of diesel with a forecast.
type fuel struct {
	Region   string  `json:"region"`
	Now      float64 `json:"now"`
	In30Days float64 `json:"in_30_days"`
	In90Days float64 `json:"in_90_days"`
}

// fuelForecast extrapolates the last six months.
func (d everybody) fuelForecast(_ domainkit.Call, in ofRegion) (listing[fuel], error) {
	if err := d.open("market"); err != nil {
		return listing[fuel]{}, err
	}
	var rows []fuel
	for _, region := range world.Regions() {
		if in.Region != "" && in.Region != region {
			continue
		}
		months := d.world.MonthsOf(region)[6:]
		last := months[len(months)-1].Diesel
		slope := (last - months[0].Diesel) / float64(len(months)-1)
		rows = append(rows, fuel{region, last, world.Round2(last + slope), world.Round2(last + 3*slope)})
	}
	return listed(rows, fmt.Sprintf("diesel in %s: %.2f now, about %.2f in 90 days", rows[0].Region, rows[0].Now, rows[0].In90Days)), nil
}

// milesAndUse are the miles and the consumption of a truck.
type milesAndUse struct {
	Miles      int     `json:"miles" description:"Miles in a year." min:"1" max:"300000" default:"110000"`
	MilesPerGa float64 `json:"miles_per_gallon" description:"Miles for a gallon of diesel." above:"1" max:"20" default:"6.8"`
	Region     string  `json:"region" description:"The region whose diesel is bought." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast" default:"Midwest"`
}

// costs are the costs of a truck.
type costs struct {
	Region   string  `json:"region"`
	Miles    int     `json:"miles"`
	Fuel     float64 `json:"fuel"`
	Upkeep   float64 `json:"upkeep"`
	Fixed    float64 `json:"fixed"`
	Total    float64 `json:"total"`
	PerMile  float64 `json:"per_mile"`
	SpotRate float64 `json:"spot_rate"`
	Margin   float64 `json:"margin_per_mile"`
}

// Summary implements domainkit.Summarizer.
func (c costs) Summary() string {
	return fmt.Sprintf("%.2f USD for each mile, of a spot rate of %.2f in %s", c.PerMile, c.SpotRate, c.Region)
}

func (d everybody) operatingCosts(_ domainkit.Call, in milesAndUse) (costs, error) {
	if err := d.open("market"); err != nil {
		return costs{}, err
	}
	const upkeepPerMile, fixedInYear = 0.21, 41_000.0 // service and tyres; truck, insurance and permits
	months := d.world.MonthsOf(in.Region)
	last := months[len(months)-1]
	c := costs{Region: in.Region, Miles: in.Miles, Fixed: fixedInYear, SpotRate: last.SpotRate}
	c.Fuel = world.Round2(float64(in.Miles) / in.MilesPerGa * last.Diesel)
	c.Upkeep = world.Round2(upkeepPerMile * float64(in.Miles))
	c.Total = world.Round2(c.Fuel + c.Upkeep + c.Fixed)
	c.PerMile = world.Round2(c.Total / float64(in.Miles))
	c.Margin = world.Round2(c.SpotRate - c.PerMile)
	return c, nil
}

// stageCount is the number of people in a stage.
type stageCount struct {
	Stage string `json:"stage"`
	Count int    `json:"count"`
}

// lifecycle counts people from lead to departure.
func (d everybody) lifecycle(_ domainkit.Call, in ofRegion) (listing[stageCount], error) {
	counts := map[string]int{}
	for i := range d.world.Candidates {
		if c := &d.world.Candidates[i]; in.Region == "" || c.Region == in.Region {
			counts[d.stage(c)]++
		}
	}
	var rows []stageCount
	for _, stage := range world.Stages() {
		rows = append(rows, stageCount{stage, counts[stage]})
	}
	driving, left := 0, 0
	for _, c := range d.world.CarriersOf(in.Region) {
		driving += len(d.world.DriversOf(c.DOT))
	}
	for _, gone := range d.world.Departures {
		if c, ok := d.world.FindCarrier(gone.DOT); ok && (in.Region == "" || c.Region == in.Region) {
			left++
		}
	}
	rows = append(rows, stageCount{"driving", driving}, stageCount{"left in a year", left})
	return listed(rows, fmt.Sprintf("%d leads, %d hired, %d driving, %d left in a year", counts["lead"], counts["hired"], driving, left)), nil
}

// turnoverOf are the departures of a carrier's drivers.
type turnoverOf struct {
	DOT      string        `json:"dot"`
	Name     string        `json:"name"`
	Drivers  int           `json:"drivers"`
	Left     int           `json:"left"`
	Turnover float64       `json:"turnover_percent"`
	Usual    float64       `json:"usual_percent"`
	Causes   []causeOfMany `json:"causes"`
}

type causeOfMany struct {
	Cause string `json:"cause"`
	Count int    `json:"count"`
}

// Summary implements domainkit.Summarizer.
func (t turnoverOf) Summary() string {
	return fmt.Sprintf("%s: %.1f %% of %d drivers left in a year; usual are %.1f %%", t.Name, t.Turnover, t.Drivers, t.Usual)
}

func (d everybody) turnover(_ domainkit.Call, in ofCarrier) (turnoverOf, error) {
	c, err := d.carrier(in.Carrier)
	if err != nil {
		return turnoverOf{}, err
	}
	if err := d.open("intel"); err != nil {
		return turnoverOf{}, err
	}
	return d.turnoverOf(c), nil
}

func (d *domain) turnoverOf(c *world.Carrier) turnoverOf {
	t := turnoverOf{DOT: c.DOT, Name: c.Name, Drivers: len(d.world.DriversOf(c.DOT)), Turnover: d.world.Turnover(c)}
	t.Usual = world.Round1(world.Quantile(d.world.Values(d.world.Turnover), 0.5))
	counts := map[string]int{}
	for _, gone := range d.world.Departures {
		if gone.DOT == c.DOT {
			counts[gone.Cause]++
			t.Left++
		}
	}
	t.Causes = causes(counts)
	return t
}

// causes sorts counts, most frequent first.
func causes(counts map[string]int) []causeOfMany {
	out := []causeOfMany{}
	for _, cause := range world.Causes() {
		if counts[cause] > 0 {
			out = append(out, causeOfMany{cause, counts[cause]})
		}
	}
	slices.SortStableFunc(out, func(a, b causeOfMany) int { return cmp.Compare(b.Count, a.Count) })
	return out
}
