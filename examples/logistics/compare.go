package logistics

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/examples/logistics/world"
)

// forWorkflows adds the capabilities for the workflows: they weigh the evidence that a workflow has
// gathered. They look nothing up, so that a recommendation is based only on what the run shows.
func (d *domain) forWorkflows(svc *domainkit.Service) error {
	return errors.Join(
		add(svc, d, "shortlist_carriers", d.shortlist),
		add(svc, d, "rank_carriers", rankCarriers),
		add(svc, d, "rank_candidates", rankCandidates),
		add(svc, d, "rank_findings", rankFindings),
		add(svc, d, "grade_snapshot", gradeSnapshot),
		add(svc, d, "take_first", takeFirst),
		add(svc, d, "find_change", d.findChange),
	)
}

// option is a possible recommendation with its reasons.
type option struct {
	ID   string `json:"id"`
	Line string `json:"line"`
}

// ranking are the facts of a capability that weighs evidence.
type ranking[T any] struct {
	Rows []T `json:"rows"`
	// Options are the rows that can be recommended, best first.
	Options []option `json:"options"`
	// Missing lists the unavailable evidence.
	Missing []string `json:"missing"`
	// Contradictions lists figures on which two sources disagree.
	Contradictions []string `json:"contradictions"`
	line           string
}

// Summary implements domainkit.Summarizer.
func (r ranking[T]) Summary() string { return r.line }

// choices are the options of a recommendation.
type choices struct {
	Options []option `json:"options" description:"What can be recommended, the best first." min:"1" max:"20"`
}

// choice is a recommendation.
type choice struct {
	Choice string `json:"choice"`
	Reason string `json:"reason"`
}

// takeFirst recommends the first option, without a model: the options are sorted by their figures.
func takeFirst(_ domainkit.Call, in choices) (choice, error) {
	return choice{in.Options[0].ID, in.Options[0].Line}, nil
}

// asked are the carriers to compare.
type asked struct {
	Carriers []string `json:"carriers" description:"Names or DOT numbers." min:"1" max:"5"`
}

// named is a carrier to compare.
type named struct {
	DOT    string `json:"dot"`
	Name   string `json:"name"`
	Region string `json:"region"`
}

// shortlist returns the named carriers. A single one is compared with the two best-paying ones of
// its region.
func (d *domain) shortlist(_ domainkit.Call, in asked) (listing[named], error) {
	var rows []named
	take := func(c *world.Carrier) {
		if !slices.ContainsFunc(rows, func(n named) bool { return n.DOT == c.DOT }) {
			rows = append(rows, named{c.DOT, c.Name, c.Region})
		}
	}
	for _, query := range in.Carriers {
		c, err := d.carrier(query)
		if err != nil {
			return listing[named]{}, err
		}
		take(c)
	}
	if len(rows) == 1 {
		peers := d.world.CarriersOf("")
		slices.SortStableFunc(peers, func(a, b *world.Carrier) int {
			return cmp.Or(cmp.Compare(abroad(a, rows[0].Region), abroad(b, rows[0].Region)), cmp.Compare(b.WeeklyPay(), a.WeeklyPay()))
		})
		for _, c := range peers[:3] {
			if len(rows) < 3 {
				take(c)
			}
		}
	}
	return listed(rows, fmt.Sprintf("%d carriers to compare", len(rows))), nil
}

// abroad returns 1 for a carrier of another region, else 0.
func abroad(c *world.Carrier, region string) int {
	if c.Region == region {
		return 0
	}
	return 1
}

// evidence is the evidence for a comparison of carriers; unavailable parts are absent.
type evidence struct {
	Carriers []named       `json:"carriers" min:"1" max:"5"`
	Safety   []safety      `json:"safety,omitempty"`
	Pay      []pay         `json:"pay,omitempty"`
	Reviews  []opinions    `json:"reviews,omitempty"`
	Turnover []turnoverOf  `json:"turnover,omitempty"`
	Market   []regionState `json:"market,omitempty"`
}

// compared is a carrier with its figures; unknown ones are null.
type compared struct {
	DOT      string   `json:"dot"`
	Carrier  string   `json:"carrier"`
	Score    float64  `json:"score"`
	Weekly   *int     `json:"weekly_pay"`
	Home     *int     `json:"home_days"`
	OOS      *float64 `json:"vehicle_oos_percent"`
	Stars    *float64 `json:"stars"`
	Turnover *float64 `json:"turnover_percent"`
}

// The weights of a comparison. They are normalized to the available evidence.
const (
	weightPay      = 0.35
	weightSafety   = 0.30
	weightStars    = 0.15
	weightTurnover = 0.20
)

func rankCarriers(_ domainkit.Call, in evidence) (ranking[compared], error) {
	out := ranking[compared]{Rows: []compared{}, Options: []option{}, Missing: in.missing(), Contradictions: in.contradictions()}
	for _, c := range in.Carriers {
		out.Rows = append(out.Rows, in.compare(c))
	}
	slices.SortStableFunc(out.Rows, func(a, b compared) int { return cmp.Compare(b.Score, a.Score) })
	for _, r := range out.Rows {
		out.Options = append(out.Options, option{r.DOT, r.line()})
	}
	out.line = "the evidence speaks for " + out.Rows[0].Carrier
	if len(out.Missing) > 0 {
		out.line += fmt.Sprintf(", as far as it goes: %d parts are missing", len(out.Missing))
	}
	return out, nil
}

// weigh computes a weighted average of shares between 0 and 1.
type weigh struct{ sum, weights float64 }

func (w *weigh) add(weight, share float64) {
	w.sum += weight * max(0, min(1, share))
	w.weights += weight
}

func (w *weigh) score() float64 {
	if w.weights == 0 {
		return 0
	}
	return world.Round2(w.sum / w.weights)
}

func (in *evidence) compare(c named) compared {
	row, w := compared{DOT: c.DOT, Carrier: c.Name}, weigh{}
	// A kind of evidence counts only if every carrier has it; otherwise the scores would not be
	// comparable.
	if p := of(in.Pay, c.DOT, func(x pay) string { return x.DOT }); p != nil {
		row.Weekly, row.Home = &p.Weekly, &p.Home
		if len(in.Pay) == len(in.Carriers) {
			w.add(weightPay, float64(p.Weekly)/(2*p.Usual)+float64(p.Home)/60)
		}
	}
	if s := of(in.Safety, c.DOT, func(x safety) string { return x.DOT }); s != nil {
		row.OOS = &s.VehicleOOS
		if len(in.Safety) == len(in.Carriers) {
			w.add(weightSafety, 1-s.VehicleOOS/50-float64(s.Crashes)/40)
		}
	}
	if o := of(in.Reviews, c.DOT, func(x opinions) string { return x.DOT }); o != nil {
		row.Stars = &o.Stars
		if len(in.Reviews) == len(in.Carriers) {
			w.add(weightStars, o.Stars/5)
		}
	}
	if t := of(in.Turnover, c.DOT, func(x turnoverOf) string { return x.DOT }); t != nil {
		row.Turnover = &t.Turnover
		if len(in.Turnover) == len(in.Carriers) {
			w.add(weightTurnover, 1-t.Turnover/120)
		}
	}
	row.Score = w.score()
	return row
}

// of returns the part of the evidence about a carrier, or nil.
func of[T any](parts []T, dot string, id func(T) string) *T {
	for i := range parts {
		if id(parts[i]) == dot {
			return &parts[i]
		}
	}
	return nil
}

func (c compared) line() string {
	line := fmt.Sprintf("%s (%.2f)", c.Carrier, c.Score)
	if c.Weekly != nil && c.Home != nil {
		line += fmt.Sprintf(": about %d USD a week, %d days at home a month", *c.Weekly, *c.Home)
	}
	if c.OOS != nil {
		line += fmt.Sprintf(", %.1f %% of its trucks out of service", *c.OOS)
	}
	if c.Turnover != nil {
		line += fmt.Sprintf(", %.1f %% turnover", *c.Turnover)
	}
	return line
}

// missing returns the kinds of evidence that are not available for every carrier.
func (in *evidence) missing() []string {
	out := []string{}
	for _, part := range []struct {
		name string
		have int
		want int
	}{
		{"safety", len(in.Safety), len(in.Carriers)},
		{"pay", len(in.Pay), len(in.Carriers)},
		{"reviews", len(in.Reviews), len(in.Carriers)},
		{"turnover", len(in.Turnover), len(in.Carriers)},
		{"market", len(in.Market), 1},
	} {
		if part.have < part.want {
			out = append(out, part.name)
		}
	}
	return out
}

// contradictions compares the number of registered trucks with the number in the offer.
func (in *evidence) contradictions() []string {
	out := []string{}
	for _, s := range in.Safety {
		if p := of(in.Pay, s.DOT, func(x pay) string { return x.DOT }); p != nil && 4*abs(p.Trucks-s.Trucks) > s.Trucks {
			out = append(out, fmt.Sprintf("%s has %d trucks by the safety records and %d by its offer", s.Name, s.Trucks, p.Trucks))
		}
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// pool is the evidence for an assessment of candidates.
type pool struct {
	Candidates []applicant   `json:"candidates" max:"20"`
	Region     string        `json:"region"`
	Count      int           `json:"count" min:"1" max:"10"`
	Market     []regionState `json:"market,omitempty"`
	Trends     []trend       `json:"trends,omitempty"`
	Funnel     []step        `json:"funnel,omitempty"`
	Quality    []quality     `json:"quality,omitempty"`
	Benchmarks []benchmark   `json:"benchmarks,omitempty"`
}

// rated is a candidate with the score and its reasons.
type rated struct {
	Candidate string  `json:"candidate"`
	Name      string  `json:"name"`
	Score     float64 `json:"score"`
	Years     int     `json:"years"`
	Wants     int     `json:"wants_cents_per_mile"`
	Offered   float64 `json:"offered_cents_per_mile"`
	Stage     string  `json:"stage"`
}

// rankCandidates compares experience, record and desired pay with the offers in the region.
func rankCandidates(_ domainkit.Call, in pool) (ranking[rated], error) {
	out := ranking[rated]{Rows: []rated{}, Options: []option{}, Missing: []string{}, Contradictions: []string{}}
	if len(in.Candidates) == 0 {
		return out, domainkit.Refusef(contracts.ErrNotFound, "there are no candidates to assess")
	}
	for name, there := range map[string]bool{
		"market": len(in.Market) > 0, "trends": len(in.Trends) > 0, "funnel": len(in.Funnel) > 0, "source quality": len(in.Quality) > 0, "benchmarks": len(in.Benchmarks) > 0,
	} {
		if !there {
			out.Missing = append(out.Missing, name)
		}
	}
	slices.Sort(out.Missing)
	offered := 0.0
	if len(in.Market) > 0 {
		offered = in.Market[0].Offered
	}
	for _, c := range in.Candidates {
		w := weigh{}
		w.add(0.4, float64(c.Years)/12)
		w.add(0.3, 1-float64(c.Violations)/4)
		if offered > 0 {
			w.add(0.3, 1-(float64(c.Wants)-offered)/offered*4)
		}
		out.Rows = append(out.Rows, rated{c.Candidate, c.Name, w.score(), c.Years, c.Wants, offered, c.Stage})
	}
	slices.SortStableFunc(out.Rows, func(a, b rated) int { return cmp.Compare(b.Score, a.Score) })
	out.Rows = out.Rows[:min(in.Count, len(out.Rows))]
	for _, r := range out.Rows {
		out.Options = append(out.Options, option{r.Candidate, fmt.Sprintf("%s (%.2f): %d years, wants %d cents a mile where %.0f are offered", r.Name, r.Score, r.Years, r.Wants, r.Offered)})
	}
	out.line = fmt.Sprintf("%d of the %d best candidates are worth a letter", len(out.Rows), len(in.Candidates))
	return out, nil
}
