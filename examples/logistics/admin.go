package logistics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// admins has the capabilities for operators of the marketplace.
type admins struct{ *domain }

func (d admins) register(svc *domainkit.Service) error {
	return errors.Join(
		add(svc, d.domain, "get_business_summary", d.business),
		add(svc, d.domain, "get_revenue_by_plan", d.revenue),
		add(svc, d.domain, "list_source_states", d.sourceStates),
		write(svc, d.domain, "set_source_state", d.setSource),
		write(svc, d.domain, "return_source", d.setSource),
		add(svc, d.domain, "list_accounts", d.accounts),
		add(svc, d.domain, "list_incidents", d.incidents),
		add(svc, d.domain, "list_tickets", d.tickets),
		add(svc, d.domain, "get_ticket_backlog", d.backlog),
		add(svc, d.domain, "get_leaderboard", d.leaderboard),
		add(svc, d.domain, "list_badges", d.badges),
		add(svc, d.domain, "get_feature_adoption", d.adoption),
		add(svc, d.domain, "list_unused_features", d.unused),
		add(svc, d.domain, "list_ad_policy_findings", d.policyFindings),
		add(svc, d.domain, "get_ad_spend_guard", d.spendGuard),
		add(svc, d.domain, "get_tracing_dashboard", d.tracing),
		add(svc, d.domain, "get_tool_performance", d.toolPerformance),
		add(svc, d.domain, "get_scoring_accuracy", d.scoring),
	)
}

// business are the key figures of the marketplace.
type business struct {
	Carriers int     `json:"carriers"`
	Drivers  int     `json:"drivers"`
	Revenue  int     `json:"revenue_month"`
	Hires    int     `json:"hires"`
	AdSpend  int     `json:"ad_spend"`
	PerHire  float64 `json:"cost_per_hire"`
}

// Summary implements domainkit.Summarizer.
func (b business) Summary() string {
	return fmt.Sprintf("%d carriers, %d drivers, %d USD a month, %d hires for %.0f USD each", b.Carriers, b.Drivers, b.Revenue, b.Hires, b.PerHire)
}

func (d admins) business(_ domainkit.Call, _ nothing) (business, error) {
	f := d.funnelOf("all", d.world.Campaigns)
	b := business{Carriers: len(d.world.Carriers), Drivers: len(d.world.Drivers), Hires: f.Hired, AdSpend: f.Spend, PerHire: f.CostPerHire}
	for _, p := range plans(d.world) {
		b.Revenue += p.Revenue
	}
	return b, nil
}

// plan is a subscription plan.
type plan struct {
	Plan     string `json:"plan"`
	Accounts int    `json:"accounts"`
	Price    int    `json:"price_month"`
	Revenue  int    `json:"revenue_month"`
}

// plans returns the revenue of each plan.
func plans(w *world.World) []plan {
	var rows []plan
	for _, name := range []string{"enterprise", "pro", "starter"} {
		p := plan{Plan: name, Price: world.Plans()[name]}
		for i := range w.Carriers {
			if w.Carriers[i].Plan == name {
				p.Accounts++
			}
		}
		p.Revenue = p.Accounts * p.Price
		rows = append(rows, p)
	}
	return rows
}

func (d admins) revenue(_ domainkit.Call, _ nothing) (listing[plan], error) {
	rows := plans(d.world)
	sum := 0
	for _, p := range rows {
		sum += p.Revenue
	}
	return listed(rows, fmt.Sprintf("%d USD a month of %d plans", sum, len(rows))), nil
}

// sourceState is the state of a source.
type sourceState struct {
	Source string `json:"source"`
	State  string `json:"state"`
}

func (d admins) sourceStates(_ domainkit.Call, _ nothing) (listing[sourceState], error) {
	states := d.book.Settings("source")
	var rows []sourceState
	up := 0
	for _, s := range world.Sources() {
		rows = append(rows, sourceState{s, states[s]})
		if states[s] == world.Up {
			up++
		}
	}
	return listed(rows, fmt.Sprintf("%d of %d sources are up", up, len(rows))), nil
}

// newSourceState changes the state of a source.
type newSourceState struct {
	Source string `json:"source" description:"The source." enum:"safety,intel,market,road,ads"`
	State  string `json:"state" description:"Whether it is asked." enum:"up,maintenance"`
}

func (d admins) setSource(call domainkit.Call, in newSourceState) (world.Change, error) {
	return d.note(call, in.Source, in.State, "source/"+in.Source), nil
}

// account is a customer of the marketplace.
type account struct {
	DOT     string `json:"dot"`
	Carrier string `json:"carrier"`
	Plan    string `json:"plan"`
	Drivers int    `json:"drivers"`
	Tickets int    `json:"open_tickets"`
}

func (d admins) accounts(_ domainkit.Call, _ nothing) (listing[account], error) {
	var rows []account
	for i := range d.world.Carriers {
		c := &d.world.Carriers[i]
		a := account{DOT: c.DOT, Carrier: c.Name, Plan: c.Plan, Drivers: len(d.world.DriversOf(c.DOT))}
		for _, t := range d.world.Platform.Tickets {
			if t.Open && t.From == c.Name {
				a.Tickets++
			}
		}
		rows = append(rows, a)
	}
	slices.SortStableFunc(rows, func(a, b account) int { return cmp.Compare(b.Tickets, a.Tickets) })
	return listed(rows, fmt.Sprintf("%d accounts", len(rows))), nil
}

// openOnly filters out what is closed.
type openOnly struct {
	OpenOnly bool `json:"open_only" description:"Whether those that are over are left out." default:"true"`
}

func (d admins) incidents(_ domainkit.Call, in openOnly) (listing[world.Incident], error) {
	rows := slices.DeleteFunc(slices.Clone(d.world.Platform.Incidents), func(i world.Incident) bool { return in.OpenOnly && !i.Open })
	slices.SortStableFunc(rows, func(a, b world.Incident) int { return cmp.Compare(a.HoursAgo, b.HoursAgo) })
	return listed(rows, fmt.Sprintf("%d incidents", len(rows))), nil
}

func (d admins) tickets(_ domainkit.Call, in openOnly) (listing[world.Ticket], error) {
	rows := slices.DeleteFunc(slices.Clone(d.world.Platform.Tickets), func(t world.Ticket) bool { return in.OpenOnly && !t.Open })
	slices.SortStableFunc(rows, func(a, b world.Ticket) int { return cmp.Compare(b.AgeHours, a.AgeHours) })
	return listed(rows, fmt.Sprintf("%d tickets", len(rows))), nil
}

// waiting are the open tickets about a topic.
type waiting struct {
	Topic  string  `json:"topic"`
	Open   int     `json:"open"`
	Urgent int     `json:"urgent"`
	Median float64 `json:"age_hours_median"`
}

func (d admins) backlog(_ domainkit.Call, _ nothing) (listing[waiting], error) {
	ages, urgent := map[string][]float64{}, map[string]int{}
	open := 0
	for _, t := range d.world.Platform.Tickets {
		if !t.Open {
			continue
		}
		open++
		ages[t.Topic] = append(ages[t.Topic], float64(t.AgeHours))
		if t.Urgent {
			urgent[t.Topic]++
		}
	}
	var rows []waiting
	for topic, of := range ages {
		rows = append(rows, waiting{topic, len(of), urgent[topic], world.Round1(world.Quantile(of, 0.5))})
	}
	slices.SortFunc(rows, func(a, b waiting) int { return cmp.Or(cmp.Compare(b.Open, a.Open), cmp.Compare(a.Topic, b.Topic)) })
	return listed(rows, fmt.Sprintf("%d open tickets, most about %s", open, rows[0].Topic)), nil
}

// leader is a driver with points.
type leader struct {
	Driver  string `json:"driver"`
	Name    string `json:"name"`
	Carrier string `json:"carrier"`
	Points  int    `json:"points"`
}

// points returns a driver's points for punctuality and mentoring.
func points(dr *world.Driver) int {
	sum := 2*dr.OnTime - 5*dr.Late
	if dr.Mentor {
		sum += 100
	}
	return max(0, sum)
}

func (d admins) leaderboard(_ domainkit.Call, in ofRegion) (listing[leader], error) {
	var rows []leader
	for _, dr := range d.world.DriversOf("") {
		if c, ok := d.world.FindCarrier(dr.DOT); ok && (in.Region == "" || dr.Region == in.Region) {
			rows = append(rows, leader{dr.ID, dr.Name, c.Name, points(dr)})
		}
	}
	slices.SortStableFunc(rows, func(a, b leader) int { return cmp.Compare(b.Points, a.Points) })
	return listed(rows[:10], fmt.Sprintf("%s leads with %d points", rows[0].Name, rows[0].Points)), nil
}

// badge is a badge that drivers can earn.
type badge struct {
	Badge   string `json:"badge"`
	For     string `json:"for"`
	Holders int    `json:"holders"`
}

func (d admins) badges(_ domainkit.Call, _ nothing) (listing[badge], error) {
	rows := []badge{{"Clockwork", "no more than 2 late deliveries", 0}, {"Guide", "being a mentor", 0}, {"Veteran", "20 years on the road", 0}, {"Half a thousand", "500 points", 0}}
	for _, dr := range d.world.DriversOf("") {
		for i, holds := range []bool{dr.Late <= 2, dr.Mentor, dr.Years >= 20, points(dr) >= 500} {
			if holds {
				rows[i].Holders++
			}
		}
	}
	return listed(rows, fmt.Sprintf("%d badges", len(rows))), nil
}

// use is how much a feature is used.
type use struct {
	Feature  string  `json:"feature"`
	Accounts int     `json:"accounts"`
	Share    float64 `json:"share_percent"`
	Change   int     `json:"change_in_8_weeks"`
}

// uses returns the use of each feature, most used first.
func uses(w *world.World) []use {
	var rows []use
	for _, f := range w.Platform.Features {
		rows = append(rows, use{f.Name, f.Weeks[0], world.Share(f.Weeks[0], len(w.Carriers)), f.Weeks[0] - f.Weeks[7]})
	}
	slices.SortStableFunc(rows, func(a, b use) int { return cmp.Compare(b.Share, a.Share) })
	return rows
}

func (d admins) adoption(_ domainkit.Call, _ nothing) (listing[use], error) {
	rows := uses(d.world)
	return listed(rows, fmt.Sprintf("%s is used most, by %.0f %% of the accounts", rows[0].Feature, rows[0].Share)), nil
}

func (d admins) unused(_ domainkit.Call, _ nothing) (listing[use], error) {
	rows := slices.DeleteFunc(uses(d.world), func(u use) bool { return u.Share >= 25 })
	return listed(rows, fmt.Sprintf("%d features are used by fewer than a quarter of the accounts", len(rows))), nil
}

// finding is a violation of the rules for job advertising.
type finding struct {
	Campaign string `json:"campaign"`
	Name     string `json:"name"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
}

func (d admins) policyFindings(_ domainkit.Call, _ nothing) (listing[finding], error) {
	if err := d.open("ads"); err != nil {
		return listing[finding]{}, err
	}
	var rows []finding
	for _, c := range d.world.Campaigns {
		if c.Platform != "Meta" {
			continue
		}
		if c.Category != "employment" {
			rows = append(rows, finding{c.ID, c.Name, "work is advertised in the category employment", "high"})
		}
		if c.Audience != "everybody" {
			rows = append(rows, finding{c.ID, c.Name, "work is not advertised by age", "high"})
		}
		if c.Text == "Earn more per mile, guaranteed." {
			rows = append(rows, finding{c.ID, c.Name, "pay is not guaranteed in an advertisement", "medium"})
		}
	}
	return listed(rows, fmt.Sprintf("%d findings on Meta", len(rows))), nil
}

// pacing compares the spending of a campaign with its budget.
type pacing struct {
	Campaign string  `json:"campaign"`
	Name     string  `json:"name"`
	Spend    int     `json:"spend"`
	Planned  int     `json:"planned"`
	Of       float64 `json:"of_plan_percent"`
	State    string  `json:"state"`
}

func (d admins) spendGuard(_ domainkit.Call, _ nothing) (listing[pacing], error) {
	if err := d.open("ads"); err != nil {
		return listing[pacing]{}, err
	}
	var rows []pacing
	over := 0
	for _, c := range d.world.Campaigns {
		if c.Platform != "Meta" {
			continue
		}
		p := pacing{c.ID, c.Name, c.Spend, c.DailyBudget * c.Days, world.Share(c.Spend, c.DailyBudget*c.Days), "as planned"}
		if p.Of > 105 {
			p.State, over = "over", over+1
		}
		rows = append(rows, p)
	}
	return listed(rows, fmt.Sprintf("%d of %d campaigns on Meta spend more than planned", over, len(rows))), nil
}
