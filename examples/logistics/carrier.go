package logistics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// carriers has the capabilities for the staff of a carrier, about that carrier.
type carriers struct{ *domain }

func (d carriers) register(svc *domainkit.Service) error {
	return errors.Join(
		add(svc, d.domain, "get_fleet_status", d.fleet),
		add(svc, d.domain, "list_maintenance_due", d.maintenance),
		add(svc, d.domain, "list_expiring_documents", d.expiring),
		add(svc, d.domain, "get_csa_scores", d.csa),
		add(svc, d.domain, "list_driver_messages", d.messages),
		write(svc, d.domain, "send_driver_notice", d.notice),
		add(svc, d.domain, "get_journey_stage", d.journey),
		add(svc, d.domain, "list_next_steps", d.nextSteps),
		add(svc, d.domain, "list_shippers", d.shippers),
		add(svc, d.domain, "get_account_health", d.accountHealth),
	)
}

// fleet describes the trucks of a carrier.
type fleet struct {
	DOT     string  `json:"dot"`
	Carrier string  `json:"carrier"`
	Trucks  int     `json:"trucks"`
	OnRoad  int     `json:"on_the_road"`
	Waiting int     `json:"waiting"`
	InShop  int     `json:"in_the_shop"`
	Use     float64 `json:"use_percent"`
	Age     float64 `json:"age_years_median"`
	Idle    float64 `json:"idle_percent_median"`
}

// Summary implements domainkit.Summarizer.
func (f fleet) Summary() string {
	return fmt.Sprintf("%s: %d of %d trucks on the road, %d in the shop", f.Carrier, f.OnRoad, f.Trucks, f.InShop)
}

func (d carriers) fleet(call domainkit.Call, _ nothing) (fleet, error) {
	c := d.us(call)
	f, ages, idle := fleet{DOT: c.DOT, Carrier: c.Name}, []float64{}, []float64{}
	for _, t := range d.world.TrucksOf(c.DOT) {
		f.Trucks++
		switch t.State {
		case "on the road":
			f.OnRoad++
		case "waiting":
			f.Waiting++
		default:
			f.InShop++
		}
		ages, idle = append(ages, float64(d.world.Today.Year()-t.Year)), append(idle, float64(t.IdlePercent))
	}
	f.Use, f.Age, f.Idle = world.Share(f.OnRoad, f.Trucks), world.Quantile(ages, 0.5), world.Quantile(idle, 0.5)
	return f, nil
}

// withinMiles limits when service is due.
type withinMiles struct {
	Miles int `json:"miles" description:"Within how many miles the service is due." min:"0" max:"50000" default:"2000"`
}

func (d carriers) maintenance(call domainkit.Call, in withinMiles) (listing[world.Truck], error) {
	rows := slices.DeleteFunc(d.world.TrucksOf(d.us(call).DOT), func(t world.Truck) bool { return t.ServiceIn > in.Miles })
	slices.SortStableFunc(rows, func(a, b world.Truck) int { return cmp.Compare(a.ServiceIn, b.ServiceIn) })
	late := 0
	for _, t := range rows {
		if t.ServiceIn < 0 {
			late++
		}
	}
	return listed(rows, fmt.Sprintf("%d trucks are due for service within %d miles, %d of them overdue", len(rows), in.Miles, late)), nil
}

func (d carriers) expiring(call domainkit.Call, in within) (listing[paper], error) {
	c := d.us(call)
	all := slices.Clone(c.Documents)
	for _, dr := range d.world.DriversOf(c.DOT) {
		for _, doc := range dr.Documents {
			all = append(all, world.Document{Name: doc.Name + " of " + dr.Name, Ends: doc.Ends})
		}
	}
	rows := d.papers(all, in.Days)
	ended := 0
	for _, p := range rows {
		if p.DaysLeft < 0 {
			ended++
		}
	}
	return listed(rows, fmt.Sprintf("%d documents end within %d days, %d have ended", len(rows), in.Days, ended)), nil
}

// csa is a figure from roadside inspections.
type csa struct {
	Figure     string  `json:"figure"`
	Value      float64 `json:"value"`
	Percentile int     `json:"percentile"`
	State      string  `json:"state"`
}

func (d carriers) csa(call domainkit.Call, _ nothing) (listing[csa], error) {
	c := d.us(call)
	const alert = 80 // the percentile from which inspectors stop the trucks
	var rows []csa
	bad := 0
	for _, m := range []metric{
		{"vehicles out of service", "%", "", (*world.Carrier).VehicleOOSRate},
		{"drivers out of service", "%", "", (*world.Carrier).DriverOOSRate},
		{"violations for each inspection", "", "", func(c *world.Carrier) float64 { return world.Round2(float64(c.Violations) / float64(c.Inspections)) }},
		{"crashes in 24 months", "", "", func(c *world.Carrier) float64 { return float64(c.Crashes) }},
	} {
		row := csa{m.name, m.of(c), d.world.Percentile(m.of(c), m.of), "good"}
		if row.Percentile >= alert {
			row.State, bad = "alert", bad+1
		}
		rows = append(rows, row)
	}
	return listed(rows, fmt.Sprintf("%s: %d of %d figures are among the worst fifth", c.Name, bad, len(rows))), nil
}

func (d carriers) messages(call domainkit.Call, in openOnly) (listing[world.Message], error) {
	dot := d.us(call).DOT
	rows := slices.DeleteFunc(slices.Clone(d.world.Messages), func(m world.Message) bool { return m.DOT != dot || in.OpenOnly && !m.Open })
	return listed(rows, fmt.Sprintf("%d messages of drivers", len(rows))), nil
}

// notice is a message to all drivers of a carrier.
type notice struct {
	Text string `json:"text" description:"What the drivers are told." min:"5" max:"600"`
}

func (d carriers) notice(call domainkit.Call, in notice) (world.Change, error) {
	return d.note(call, "all drivers of "+d.us(call).Name, in.Text, ""), nil
}

// journey is the onboarding progress of a carrier.
type journey struct {
	Carrier string  `json:"carrier"`
	Done    int     `json:"steps_done"`
	Of      int     `json:"steps"`
	Percent float64 `json:"percent"`
	Next    string  `json:"next,omitempty"`
}

// Summary implements domainkit.Summarizer.
func (j journey) Summary() string {
	return fmt.Sprintf("%s has done %d of %d steps", j.Carrier, j.Done, j.Of)
}

func (d carriers) journey(call domainkit.Call, _ nothing) (journey, error) {
	c, steps := d.us(call), world.JourneySteps()
	j := journey{Carrier: c.Name, Done: c.JourneyDone, Of: len(steps), Percent: world.Share(c.JourneyDone, len(steps))}
	if c.JourneyDone < len(steps) {
		j.Next = steps[c.JourneyDone]
	}
	return j, nil
}

// todo is a remaining step.
type todo struct {
	Step int    `json:"step"`
	What string `json:"what"`
}

func (d carriers) nextSteps(call domainkit.Call, _ nothing) (listing[todo], error) {
	var rows []todo
	for i, what := range world.JourneySteps() {
		if i >= d.us(call).JourneyDone {
			rows = append(rows, todo{i + 1, what})
		}
	}
	return listed(rows, fmt.Sprintf("%d steps are left", len(rows))), nil
}

func (d carriers) shippers(call domainkit.Call, _ nothing) (listing[world.Shipper], error) {
	rows := d.world.ShippersOf(d.us(call).DOT)
	slices.SortStableFunc(rows, func(a, b world.Shipper) int { return cmp.Compare(b.Revenue, a.Revenue) })
	return listed(rows, fmt.Sprintf("%d shippers; %s brings the most, %d USD a month", len(rows), rows[0].Name, rows[0].Revenue)), nil
}

// accountHealth are the figures of the business with all shippers.
type accountHealth struct {
	Carrier   string  `json:"carrier"`
	Shippers  int     `json:"shippers"`
	Revenue   int     `json:"revenue_month"`
	OnTime    float64 `json:"on_time_percent"`
	DaysToPay float64 `json:"days_to_pay_median"`
	// Biggest is the share of the biggest customer; a high share is a risk.
	Biggest float64 `json:"biggest_share_percent"`
}

// Summary implements domainkit.Summarizer.
func (a accountHealth) Summary() string {
	return fmt.Sprintf("%s: %d shippers, %d USD a month, %.1f %% on time; the biggest is %.1f %% of it", a.Carrier, a.Shippers, a.Revenue, a.OnTime, a.Biggest)
}

func (d carriers) accountHealth(call domainkit.Call, _ nothing) (accountHealth, error) {
	c := d.us(call)
	a, onTime, days, biggest := accountHealth{Carrier: c.Name}, 0, []float64{}, 0
	loads := 0
	for _, s := range d.world.ShippersOf(c.DOT) {
		a.Shippers++
		a.Revenue += s.Revenue
		loads += s.LoadsMonth
		onTime += s.OnTime * s.LoadsMonth
		days, biggest = append(days, float64(s.DaysToPay)), max(biggest, s.Revenue)
	}
	a.OnTime = world.Round1(float64(onTime) / float64(max(1, loads)))
	a.DaysToPay, a.Biggest = world.Quantile(days, 0.5), world.Share(biggest, a.Revenue)
	return a, nil
}
