package logistics

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// health is the availability of a source.
type health struct {
	Source string  `json:"source"`
	State  string  `json:"state"`
	Up     float64 `json:"up_percent"`
	P95    int     `json:"p95_ms"`
	Probes int     `json:"probes"`
}

func (d everybody) apiHealth(_ domainkit.Call, in lately) (listing[health], error) {
	var rows []health
	up := 0
	for _, source := range world.Sources() {
		h := health{Source: source, State: d.source(source)}
		good, times := 0, []float64{}
		for _, p := range d.world.Platform.Probes {
			if p.Source == source && p.HoursAgo < float64(in.Hours) {
				h.Probes++
				times = append(times, float64(p.Ms))
				if p.OK {
					good++
				}
			}
		}
		h.Up, h.P95 = world.Share(good, h.Probes), int(world.Quantile(times, 0.95))
		if h.State == world.Up {
			up++
		}
		rows = append(rows, h)
	}
	return listed(rows, fmt.Sprintf("%d of %d sources are up", up, len(rows))), nil
}

// safety is a carrier's record of roadside inspections.
type safety struct {
	DOT         string  `json:"dot"`
	Name        string  `json:"name"`
	Rating      string  `json:"rating"`
	Inspections int     `json:"inspections"`
	VehicleOOS  float64 `json:"vehicle_oos_percent"`
	DriverOOS   float64 `json:"driver_oos_percent"`
	Crashes     int     `json:"crashes"`
	// Percentile is the carrier's percentile of vehicles out of service: low is good.
	Percentile int `json:"percentile"`
	// Trucks is the number of registered trucks.
	Trucks int `json:"trucks"`
}

// Summary implements domainkit.Summarizer.
func (s safety) Summary() string {
	return fmt.Sprintf("%s: %s, %.1f %% of its trucks out of service, %d crashes in 24 months", s.Name, s.Rating, s.VehicleOOS, s.Crashes)
}

func (d *domain) querySafety(_ domainkit.Call, in ofCarrier) (safety, error) {
	c, err := d.carrier(in.Carrier)
	if err != nil {
		return safety{}, err
	}
	if err := d.open("safety"); err != nil {
		return safety{}, err
	}
	return safety{
		DOT: c.DOT, Name: c.Name, Rating: c.Rating, Inspections: c.Inspections, VehicleOOS: c.VehicleOOSRate(), DriverOOS: c.DriverOOSRate(),
		Crashes: c.Crashes, Percentile: d.world.Percentile(c.VehicleOOSRate(), (*world.Carrier).VehicleOOSRate), Trucks: len(d.world.TrucksOf(c.DOT)),
	}, nil
}

// intel is other data about a carrier.
type intel struct {
	DOT       string  `json:"dot"`
	Name      string  `json:"name"`
	Region    string  `json:"region"`
	Equipment string  `json:"equipment"`
	Founded   int     `json:"founded"`
	Trucks    int     `json:"trucks"`
	Drivers   int     `json:"drivers"`
	OpenSeats int     `json:"open_seats"`
	Customers int     `json:"customers"`
	Turnover  float64 `json:"turnover_percent"`
}

// Summary implements domainkit.Summarizer.
func (i intel) Summary() string {
	return fmt.Sprintf("%s: %s, %s, %d trucks, %d drivers, %d open seats", i.Name, i.Region, i.Equipment, i.Trucks, i.Drivers, i.OpenSeats)
}

func (d everybody) queryIntel(_ domainkit.Call, in ofCarrier) (intel, error) {
	c, err := d.carrier(in.Carrier)
	if err != nil {
		return intel{}, err
	}
	if err := d.open("intel"); err != nil {
		return intel{}, err
	}
	return intel{
		DOT: c.DOT, Name: c.Name, Region: c.Region, Equipment: c.Equipment, Founded: c.Founded, Trucks: len(d.world.TrucksOf(c.DOT)),
		Drivers: len(d.world.DriversOf(c.DOT)), OpenSeats: c.OpenSeats, Customers: len(d.world.ShippersOf(c.DOT)), Turnover: d.world.Turnover(c),
	}, nil
}

// funnel counts the people brought by a campaign, a platform or all, by stage.
type funnel struct {
	Of          string  `json:"of"`
	Spend       int     `json:"spend"`
	Clicks      int     `json:"clicks"`
	Leads       int     `json:"leads"`
	Applied     int     `json:"applied"`
	Hired       int     `json:"hired"`
	CostPerLead float64 `json:"cost_per_lead"`
	CostPerHire float64 `json:"cost_per_hire,omitempty"`
}

// funnelOf computes the funnel of campaigns.
func (d *domain) funnelOf(name string, campaigns []world.Campaign) funnel {
	f := funnel{Of: name}
	for _, from := range campaigns {
		f.Spend, f.Clicks = f.Spend+from.Spend, f.Clicks+from.Clicks
		for j := range d.world.Candidates {
			c := &d.world.Candidates[j]
			if c.Campaign != from.ID {
				continue
			}
			f.Leads++
			if world.Reached(d.stage(c), "applied") {
				f.Applied++
			}
			if d.stage(c) == "hired" {
				f.Hired++
			}
		}
	}
	if f.Leads > 0 {
		f.CostPerLead = world.Round2(float64(f.Spend) / float64(f.Leads))
	}
	if f.Hired > 0 {
		f.CostPerHire = world.Round2(float64(f.Spend) / float64(f.Hired))
	}
	return f
}

func (d everybody) mediaPipeline(_ domainkit.Call, in ofRegion) (listing[funnel], error) {
	if err := d.open("ads"); err != nil {
		return listing[funnel]{}, err
	}
	var rows []funnel
	hired := 0
	for _, c := range d.world.Campaigns {
		if in.Region == "" || c.Region == in.Region {
			rows = append(rows, d.funnelOf(c.Name, []world.Campaign{c}))
			hired += rows[len(rows)-1].Hired
		}
	}
	slices.SortStableFunc(rows, func(a, b funnel) int { return cmp.Compare(b.Hired, a.Hired) })
	return listed(rows, fmt.Sprintf("%d campaigns brought %d hires", len(rows), hired)), nil
}

func (d everybody) costPerHire(_ domainkit.Call, _ nothing) (listing[funnel], error) {
	rows, err := d.byPlatform()
	if err != nil {
		return listing[funnel]{}, err
	}
	return listed(rows, fmt.Sprintf("the cheapest hires come from %s, for %.0f USD each", rows[0].Of, rows[0].CostPerHire)), nil
}

// byPlatform returns the funnel of each platform, lowest cost per hire first.
func (d *domain) byPlatform() ([]funnel, error) {
	if err := d.open("ads"); err != nil {
		return nil, err
	}
	var rows []funnel
	for _, platform := range world.Platforms() {
		var of []world.Campaign
		for _, c := range d.world.Campaigns {
			if c.Platform == platform {
				of = append(of, c)
			}
		}
		rows = append(rows, d.funnelOf(platform, of))
	}
	// Platforms without hires have no cost per hire and come last.
	slices.SortStableFunc(rows, func(a, b funnel) int {
		return cmp.Or(cmp.Compare(min(b.Hired, 1), min(a.Hired, 1)), cmp.Compare(a.CostPerHire, b.CostPerHire))
	})
	return rows, nil
}
