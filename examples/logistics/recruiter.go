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

// recruiters has the capabilities for recruiters.
type recruiters struct{ *domain }

func (d recruiters) register(svc *domainkit.Service) error {
	return errors.Join(
		add(svc, d.domain, "list_campaigns", d.campaigns),
		write(svc, d.domain, "set_campaign_budget", d.setBudget),
		add(svc, d.domain, "get_campaign_performance", d.performance),
		add(svc, d.domain, "compare_ad_platforms", d.platforms),
		add(svc, d.domain, "draft_outreach", d.draft),
		write(svc, d.domain, "send_outreach", d.outreach),
		add(svc, d.domain, "list_outreach", d.sent),
		add(svc, d.domain, "get_recruiting_funnel", d.recruitingFunnel),
		add(svc, d.domain, "get_source_quality", d.sourceQuality),
		add(svc, d.domain, "list_onboarding", d.onboarding),
		add(svc, d.domain, "get_onboarding_gaps", d.gaps),
		add(svc, d.domain, "list_pipeline", d.pipeline),
		write(svc, d.domain, "move_candidate", d.move),
		write(svc, d.domain, "return_candidate", d.move),
		add(svc, d.domain, "get_retention_risk", d.retention),
		add(svc, d.domain, "get_turnover_causes", d.turnoverCauses),
		add(svc, d.domain, "find_candidates", d.findCandidates),
		add(svc, d.domain, "match_candidate", d.match),
	)
}

// stage returns the current stage of a candidate.
func (d *domain) stage(c *world.Candidate) string { return d.book.Setting("stage", c.ID) }

// budget returns the current daily budget of a campaign.
func (d recruiters) budget(c *world.Campaign) string { return d.book.Setting("budget", c.ID) }

func (d recruiters) campaigns(_ domainkit.Call, in ofRegion) (listing[world.Campaign], error) {
	var rows []world.Campaign
	running := 0
	for _, c := range d.world.Campaigns {
		if in.Region != "" && c.Region != in.Region {
			continue
		}
		_, _ = fmt.Sscan(d.budget(&c), &c.DailyBudget) // always a number, because only this domain writes it
		rows = append(rows, c)
		if c.State == "running" {
			running++
		}
	}
	return listed(rows, fmt.Sprintf("%d campaigns, %d of them running", len(rows), running)), nil
}

// campaignBudget changes the budget of a campaign.
type campaignBudget struct {
	Campaign string `json:"campaign" description:"The id of a campaign, such as cp-03, or its name." min:"2" max:"80"`
	Budget   int    `json:"daily_budget" description:"Dollars a day." min:"5" max:"5000"`
}

func (d recruiters) setBudget(call domainkit.Call, in campaignBudget) (world.Change, error) {
	c, ok := d.world.FindCampaign(in.Campaign)
	if !ok {
		return world.Change{}, domainkit.Refusef(contracts.ErrNotFound, "there is no campaign %q", in.Campaign)
	}
	return d.note(call, c.ID, in.Budget, "budget/"+c.ID), nil
}

// performance are the results of a campaign for its cost.
type performance struct {
	Campaign string  `json:"campaign"`
	Name     string  `json:"name"`
	Platform string  `json:"platform"`
	Spend    int     `json:"spend"`
	CTR      float64 `json:"click_rate_percent"`
	Leads    int     `json:"leads"`
	PerLead  float64 `json:"cost_per_lead"`
}

func (d recruiters) performance(_ domainkit.Call, in ofRegion) (listing[performance], error) {
	if err := d.open("ads"); err != nil {
		return listing[performance]{}, err
	}
	var rows []performance
	for _, c := range d.world.Campaigns {
		if in.Region != "" && c.Region != in.Region {
			continue
		}
		f := d.funnelOf(c.Name, []world.Campaign{c})
		rows = append(rows, performance{c.ID, c.Name, c.Platform, c.Spend, world.Round2(100 * float64(c.Clicks) / float64(max(1, c.Impressions))), f.Leads, f.CostPerLead})
	}
	slices.SortStableFunc(rows, func(a, b performance) int { return cmp.Compare(a.PerLead, b.PerLead) })
	return listed(rows, fmt.Sprintf("%d campaigns; the cheapest leads are of %s, %.2f USD each", len(rows), rows[0].Name, rows[0].PerLead)), nil
}

func (d recruiters) platforms(_ domainkit.Call, _ nothing) (listing[funnel], error) {
	rows, err := d.byPlatform()
	if err != nil {
		return listing[funnel]{}, err
	}
	slices.SortStableFunc(rows, func(a, b funnel) int { return cmp.Compare(a.CostPerLead, b.CostPerLead) })
	return listed(rows, fmt.Sprintf("the cheapest leads come from %s, for %.2f USD each", rows[0].Of, rows[0].CostPerLead)), nil
}

// draftOf says for whom a message is drafted.
type draftOf struct {
	Region string `json:"region" description:"The region of the candidates." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
	Topic  string `json:"topic,omitempty" description:"What the message is about." enum:"pay,home time,equipment"`
}

// drafted is a message that was not sent.
type drafted struct {
	Region string `json:"region"`
	Text   string `json:"text"`
}

// Summary returns the text.
func (x drafted) Summary() string { return x.Text }

// draft writes about what is best in the region, by the figures of its carriers.
func (d recruiters) draft(_ domainkit.Call, in draftOf) (drafted, error) {
	of := d.world.CarriersOf(in.Region)
	best := slices.MaxFunc(of, func(a, b *world.Carrier) int { return cmp.Compare(a.WeeklyPay(), b.WeeklyPay()) })
	offer := fmt.Sprintf("about %d USD a week at %s", best.WeeklyPay(), best.Name)
	switch in.Topic {
	case "home time":
		best = slices.MaxFunc(of, func(a, b *world.Carrier) int { return cmp.Compare(a.HomeDays, b.HomeDays) })
		offer = fmt.Sprintf("%d days at home a month at %s", best.HomeDays, best.Name)
	case "equipment":
		offer = fmt.Sprintf("%s work at %s", best.Equipment, best.Name)
	}
	return drafted{in.Region, fmt.Sprintf("We look for drivers in the %s: %s. Shall we talk?", in.Region, offer)}, nil
}

// letter is a message to candidates.
type letter struct {
	Candidates []string `json:"candidates" description:"The ids of the candidates, such as ca-012." min:"1" max:"20"`
	Text       string   `json:"text" description:"What they are told." min:"10" max:"600"`
}

func (d recruiters) outreach(call domainkit.Call, in letter) (world.Change, error) {
	for _, id := range in.Candidates {
		c, ok := d.world.FindCandidate(id)
		if !ok {
			return world.Change{}, domainkit.Refusef(contracts.ErrNotFound, "there is no candidate %q", id)
		}
		if !available(d.stage(c)) {
			return world.Change{}, domainkit.Refusef(contracts.ErrPrecondition, "%s (%s) is %s", c.ID, c.Name, d.stage(c))
		}
	}
	return d.note(call, strings.Join(in.Candidates, ", "), in.Text, ""), nil
}

func (d recruiters) sent(_ domainkit.Call, _ nothing) (listing[world.Change], error) {
	rows := d.book.By("send_outreach")
	return listed(rows, fmt.Sprintf("%d messages to candidates", len(rows))), nil
}

// step is how many people reach a stage from the one before.
type step struct {
	Stage string  `json:"stage"`
	Count int     `json:"reached"`
	Share float64 `json:"of_the_stage_before_percent"`
}

func (d recruiters) recruitingFunnel(_ domainkit.Call, in ofRegion) (listing[step], error) {
	var rows []step
	before := 0
	for _, stage := range world.Stages()[:6] {
		n := 0
		for i := range d.world.Candidates {
			if c := &d.world.Candidates[i]; (in.Region == "" || c.Region == in.Region) && world.Reached(d.stage(c), stage) {
				n++
			}
		}
		share := 100.0
		if len(rows) > 0 {
			share = world.Share(n, before)
		}
		rows, before = append(rows, step{stage, n, share}), n
	}
	return listed(rows, fmt.Sprintf("of %d leads, %d applied and %d were hired", rows[0].Count, rows[2].Count, rows[5].Count)), nil
}

// quality are the figures of a platform's candidates.
type quality struct {
	Platform   string  `json:"platform"`
	Candidates int     `json:"candidates"`
	Years      float64 `json:"years_median"`
	Clean      float64 `json:"without_violations_percent"`
	Hired      float64 `json:"hired_percent"`
}

func (d recruiters) sourceQuality(_ domainkit.Call, in ofRegion) (listing[quality], error) {
	var rows []quality
	for _, platform := range world.Platforms() {
		q, clean, hired, years := quality{Platform: platform}, 0, 0, []float64{}
		for i := range d.world.Candidates {
			c := &d.world.Candidates[i]
			from, ok := d.world.FindCampaign(c.Campaign)
			if !ok || from.Platform != platform || in.Region != "" && c.Region != in.Region {
				continue
			}
			q.Candidates++
			years = append(years, float64(c.Years))
			if c.Violations == 0 {
				clean++
			}
			if d.stage(c) == "hired" {
				hired++
			}
		}
		q.Years, q.Clean, q.Hired = world.Quantile(years, 0.5), world.Share(clean, q.Candidates), world.Share(hired, q.Candidates)
		rows = append(rows, q)
	}
	slices.SortStableFunc(rows, func(a, b quality) int { return cmp.Compare(b.Hired, a.Hired) })
	return listed(rows, fmt.Sprintf("%s brings the most hires: %.1f %% of %d candidates", rows[0].Platform, rows[0].Hired, rows[0].Candidates)), nil
}

// newcomer is a person in onboarding.
type newcomer struct {
	Candidate string  `json:"candidate"`
	Name      string  `json:"name"`
	Region    string  `json:"region"`
	Done      float64 `json:"done_percent"`
	Next      string  `json:"next"`
}

func (d recruiters) newcomers(region string) []newcomer {
	var rows []newcomer
	for i := range d.world.Candidates {
		c := &d.world.Candidates[i]
		if d.stage(c) != "onboarding" || region != "" && c.Region != region {
			continue
		}
		rows = append(rows, newcomer{c.ID, c.Name, c.Region, world.Share(c.TasksDone, len(world.Tasks())), world.Tasks()[c.TasksDone]})
	}
	return rows
}

func (d recruiters) onboarding(_ domainkit.Call, in ofRegion) (listing[newcomer], error) {
	rows := d.newcomers(in.Region)
	return listed(rows, fmt.Sprintf("%d people are in the onboarding", len(rows))), nil
}

// gap is an onboarding task at which people wait.
type gap struct {
	Task    string `json:"task"`
	Waiting int    `json:"waiting"`
}

func (d recruiters) gaps(_ domainkit.Call, in ofRegion) (listing[gap], error) {
	waiting := map[string]int{}
	for _, n := range d.newcomers(in.Region) {
		waiting[n.Next]++
	}
	var rows []gap
	for _, task := range world.Tasks() {
		rows = append(rows, gap{task, waiting[task]})
	}
	slices.SortStableFunc(rows, func(a, b gap) int { return cmp.Compare(b.Waiting, a.Waiting) })
	return listed(rows, fmt.Sprintf("most wait for: %s (%d)", rows[0].Task, rows[0].Waiting)), nil
}

// applicant is a candidate with the current stage.
type applicant struct {
	Candidate  string `json:"candidate"`
	Name       string `json:"name"`
	Region     string `json:"region"`
	Years      int    `json:"years"`
	Wants      int    `json:"wants_cents_per_mile"`
	Violations int    `json:"violations"`
	Hazmat     bool   `json:"hazmat"`
	Stage      string `json:"stage"`
}

func (d recruiters) applicant(c *world.Candidate) applicant {
	return applicant{c.ID, c.Name, c.Region, c.Years, c.Wants, c.Violations, slices.Contains(c.Endorsements, "hazmat"), d.stage(c)}
}

// inStage filters the pipeline.
type inStage struct {
	Stage  string `json:"stage,omitempty" description:"The stage of the candidates." enum:"lead,contacted,applied,interviewed,onboarding,hired,lost"`
	Region string `json:"region,omitempty" description:"The region of the candidates." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
}

func (d recruiters) pipeline(_ domainkit.Call, in inStage) (listing[applicant], error) {
	var rows []applicant
	for i := range d.world.Candidates {
		c := &d.world.Candidates[i]
		if (in.Region == "" || c.Region == in.Region) && (in.Stage == "" || d.stage(c) == in.Stage) {
			rows = append(rows, d.applicant(c))
		}
	}
	return listed(rows, fmt.Sprintf("%d candidates", len(rows))), nil
}

// newStage changes the stage of a candidate.
type newStage struct {
	Candidate string `json:"candidate" description:"The id of the candidate, such as ca-012." pattern:"^ca-[0-9]{3}$"`
	Stage     string `json:"stage" description:"The stage to move to." enum:"lead,contacted,applied,interviewed,onboarding,hired,lost"`
}

func (d recruiters) move(call domainkit.Call, in newStage) (world.Change, error) {
	c, ok := d.world.FindCandidate(in.Candidate)
	if !ok {
		return world.Change{}, domainkit.Refusef(contracts.ErrNotFound, "there is no candidate %q", in.Candidate)
	}
	return d.note(call, c.ID, in.Stage, "stage/"+c.ID), nil
}

// risk is how likely drivers leave a carrier.
type risk struct {
	DOT      string  `json:"dot"`
	Carrier  string  `json:"carrier"`
	Turnover float64 `json:"turnover_percent"`
	New      int     `json:"newer_than_90_days"`
	Risk     string  `json:"risk"`
}

func (d recruiters) retention(_ domainkit.Call, in ofRegion) (listing[risk], error) {
	var rows []risk
	high := 0
	for _, c := range d.world.CarriersOf(in.Region) {
		r := risk{DOT: c.DOT, Carrier: c.Name, Turnover: d.world.Turnover(c), Risk: "low"}
		for _, dr := range d.world.DriversOf(c.DOT) {
			if dr.JoinedDaysAgo < 90 {
				r.New++
			}
		}
		switch {
		case r.Turnover > 80:
			r.Risk, high = "high", high+1
		case r.Turnover > 45:
			r.Risk = "medium"
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b risk) int { return cmp.Compare(b.Turnover, a.Turnover) })
	return listed(rows, fmt.Sprintf("the risk is high at %d of %d carriers", high, len(rows))), nil
}

func (d recruiters) turnoverCauses(_ domainkit.Call, in ofRegion) (listing[causeOfMany], error) {
	counts := map[string]int{}
	for _, c := range d.world.CarriersOf(in.Region) {
		for _, row := range d.turnoverOf(c).Causes {
			counts[row.Cause] += row.Count
		}
	}
	rows := causes(counts)
	line := "nobody left"
	if len(rows) > 0 {
		line = fmt.Sprintf("most leave for: %s (%d)", rows[0].Cause, rows[0].Count)
	}
	return listed(rows, line), nil
}

// wanted describes the candidates that a recruiter looks for.
type wanted struct {
	Region      string `json:"region" description:"The region of the candidates." enum:"Southeast,Midwest,Northeast,Southwest,Mountain,West Coast"`
	Endorsement string `json:"endorsement,omitempty" description:"What the licence must allow." enum:"hazmat,tanker,doubles"`
	MinYears    int    `json:"min_years,omitempty" description:"How many years of experience at least." min:"0" max:"40"`
}

func (d recruiters) findCandidates(_ domainkit.Call, in wanted) (listing[applicant], error) {
	var rows []applicant
	for i := range d.world.Candidates {
		c := &d.world.Candidates[i]
		if c.Region == in.Region && c.Years >= in.MinYears && available(d.stage(c)) && (in.Endorsement == "" || slices.Contains(c.Endorsements, in.Endorsement)) {
			rows = append(rows, d.applicant(c))
		}
	}
	slices.SortStableFunc(rows, func(a, b applicant) int {
		return cmp.Or(cmp.Compare(a.Violations, b.Violations), cmp.Compare(b.Years, a.Years))
	})
	return listed(rows, fmt.Sprintf("%d candidates in the %s", len(rows), in.Region)), nil
}

// ofCandidate selects a candidate.
type ofCandidate struct {
	Candidate string `json:"candidate" description:"The id of the candidate, such as ca-012." pattern:"^ca-[0-9]{3}$"`
}

// fit is how well a carrier fits a candidate.
type fit struct {
	DOT     string  `json:"dot"`
	Carrier string  `json:"carrier"`
	Offers  int     `json:"offers_cents_per_mile"`
	Seats   int     `json:"open_seats"`
	Fit     float64 `json:"fit"`
}

func (d recruiters) match(_ domainkit.Call, in ofCandidate) (listing[fit], error) {
	c, ok := d.world.FindCandidate(in.Candidate)
	if !ok {
		return listing[fit]{}, domainkit.Refusef(contracts.ErrNotFound, "there is no candidate %q", in.Candidate)
	}
	var rows []fit
	for _, carrier := range d.world.CarriersOf("") {
		score := 0.6 * min(1, float64(carrier.CentsPerMile)/float64(c.Wants))
		if carrier.Region == c.Region {
			score += 0.3
		}
		score += 0.1 * carrier.Stars() / 5
		rows = append(rows, fit{carrier.DOT, carrier.Name, carrier.CentsPerMile, carrier.OpenSeats, world.Round2(score)})
	}
	slices.SortStableFunc(rows, func(a, b fit) int { return cmp.Compare(b.Fit, a.Fit) })
	return listed(rows[:5], fmt.Sprintf("%s fits %s best (%.2f)", c.Name, rows[0].Carrier, rows[0].Fit)), nil
}
